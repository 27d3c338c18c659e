// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/bundle_commands.h"

#include "app/actions/save_commands.h"
#include "app/actions/window_actions.h"
#include "app/bundle/bundle_dialog.h"
#include "app/document/document_session.h"
#include "app/engine/background.h"
#include "app/look/format.h"
#include "app/runs/runs_panel.h"
#include "app/workspace/banner.h"
#include "app/workspace/workspace.h"
#include "engine/link/bundle/manifest.h"
#include "projects/base/ranges.h"

#include <QDir>
#include <QFileDialog>

namespace residua::app {

BundleCommands::BundleCommands(const WindowParts& parts, SaveCommands& saving) : CommandGroup(parts), m_saving(saving)
{
    connect(m_actions.takeAlong, &QAction::triggered, this, &BundleCommands::takeAlong);
    connect(m_actions.bringBack, &QAction::triggered, this, &BundleCommands::chooseAndBringBack);
    m_workspace.view<RunsPanel>().addCommand(
        "run:takeAlong", RunsPanel::When::AtRest,
        {tr("Take along…"), tr("Write the run with its project as one file, to train on elsewhere")}, this,
        [this](const std::string& run) {
            const std::filesystem::path folder(run);
            take(folder, QString::fromStdString(folder.filename().string()));
        });
}

/// Saves first, because the files on the disk are packed.
void BundleCommands::takeAlong()
{
    if (m_session.isOpen() && m_saving.saveChanges()) {
        take(m_session.directory(), QString::fromStdString(m_session.project().name));
    }
}

void BundleCommands::take(const std::filesystem::path& source, const QString& name)
{
    const std::string file = source.filename().string() + engine::kBundleSuffix;
    auto* dialog = new TakeAlongDialog(source, name, m_session.directory().parent_path() / file, m_window);
    connect(dialog, &BundleDialog::packed, this, &BundleCommands::tellPacked);
    dialog->show();
}

void BundleCommands::chooseAndBringBack()
{
    const QString file =
        QFileDialog::getOpenFileName(m_window, tr("Bring back"), QString::fromStdString(m_folders.projects.string()),
                                     tr("Bundle (*.residua);;All files (*)"));
    if (!file.isEmpty()) {
        bringBack(file.toStdString());
    }
}

void BundleCommands::bringBack(const std::filesystem::path& file)
{
    inBackground(
        this, [file] { return engine::readBundle(file); },
        [this, file](const Result<engine::BundleContents>& contents) {
            if (contents) {
                askWhere(file, *contents);
            } else {
                refuse(QString::fromStdString(contents.error().text()));
            }
        });
}

void BundleCommands::askWhere(const std::filesystem::path& file, const engine::BundleContents& contents)
{
    const bool isHere = m_session.isOpen() && !m_session.isDraft() && !contents.identity.empty() &&
                        engine::identityOf(m_session.directory()) == contents.identity;
    const auto place = isHere ? m_session.directory() : freeProjectFolder(m_folders.projects, contents.folder);
    auto* dialog =
        new BringBackDialog(file, contents, place,
                            isHere ? BringBackDialog::Into::SameProject : BringBackDialog::Into::NewFolder, m_window);
    connect(dialog, &BundleDialog::unpacked, this, &BundleCommands::tellUnpacked);
    dialog->show();
}

void BundleCommands::tellPacked(const engine::PackedBundle& bundle, const QString& file)
{
    note(tr("%1 in %2").arg(formatBytes(static_cast<double>(bundle.size)), QDir::toNativeSeparators(file)));
    tellNotes(bundle.notes);
}

void BundleCommands::tellUnpacked(const engine::UnpackedBundle& bundle)
{
    if (!m_session.isOpen() || m_session.directory() != bundle.project) {
        emit projectCame(bundle.project);
    }
    const int known =
        static_cast<int>(std::ranges::count(bundle.runs, engine::RunArrival::Known, &engine::ArrivedRun::arrival));
    const int came = static_cast<int>(bundle.runs.size()) - known;
    note(known > 0 ? tr("Runs that came: %1; that were here already: %2").arg(came).arg(known)
                   : tr("Runs that came: %1").arg(came));
    tellNotes(bundle.notes);
}

void BundleCommands::tellNotes(const std::vector<std::string>& notes)
{
    auto lines = mapped<QStringList>(notes, QString::fromStdString);
    if (!lines.isEmpty()) {
        m_banner.say(BannerKind::Note, lines.join(QLatin1Char('\n')));
    }
}

} // namespace residua::app
