// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/overlay_memory.h"

#include "app/document/document_session.h"
#include "app/records/runs_model.h"
#include "visualizers/runs/shown_runs.h"

#include <QSettings>
#include <QUrl>
#include <QVariantMap>

namespace residua::app {

namespace {

QString keyOf(const std::filesystem::path& project)
{
    return QStringLiteral("overlays/") +
           QString::fromLatin1(QUrl::toPercentEncoding(QString::fromStdString(project.string())));
}

} // namespace

OverlayMemory::OverlayMemory(const DocumentSession& session, const RunsModel& runs, visualizers::ShownRuns& shown,
                             QObject* parent)
    : QObject(parent), m_session(session), m_runs(runs), m_shown(shown)
{
    // What is closed takes its runs off the plots, which is no choice of the user.
    connect(&session, &DocumentSession::aboutToClose, this, [this] { m_restored.clear(); });
    connect(&runs, &RunsModel::listed, this, &OverlayMemory::restore);
    connect(&shown, &visualizers::ShownRuns::overlaid, this, &OverlayMemory::keep);
    connect(&shown, &visualizers::ShownRuns::overlayRemoved, this, &OverlayMemory::keep);
}

void OverlayMemory::restore()
{
    if (m_session.directory().empty() || m_restored == m_session.directory() || m_runs.runs().empty()) {
        return;
    }
    const QVariantMap colours = QSettings().value(keyOf(m_session.directory())).toMap();
    for (const engine::RunInfo& run : m_runs.runs()) {
        const auto colour = colours.constFind(QString::fromStdString(run.directory));
        if (colour != colours.constEnd()) {
            m_shown.overlay(run.directory);
            m_shown.paint(run.directory, colour->toULongLong());
        }
    }
    m_restored = m_session.directory();
}

void OverlayMemory::keep() const
{
    if (m_restored.empty() || m_restored != m_session.directory()) {
        return;
    }
    QVariantMap colours;
    for (const visualizers::ShownRuns::Run& run : m_shown.runs()) {
        if (run.overlaid) {
            colours.insert(QString::fromStdString(run.key), QVariant::fromValue<qulonglong>(run.colour));
        }
    }
    QSettings().setValue(keyOf(m_session.directory()), colours);
}

} // namespace residua::app
