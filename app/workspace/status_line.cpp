// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workspace/status_line.h"

#include "app/document/analysis.h"
#include "app/document/document_session.h"
#include "app/look/format.h"
#include "app/look/widgets.h"
#include "app/training/run_controller.h"

#include <QDir>
#include <QStatusBar>

namespace residua::app {

namespace {

constexpr int kNoteMilliseconds = 8000;

} // namespace

StatusLine::StatusLine(QStatusBar& bar, const DocumentSession& session, const Analysis& analysis,
                       const RunController& controller)
    : QObject(&bar),
      m_bar(bar),
      m_session(session),
      m_analysis(analysis),
      m_controller(controller),
      m_queue(new QLabel(&bar)),
      m_problems(new QLabel(&bar)),
      m_cost(new QLabel(&bar)),
      m_place(new ElidedLabel(Qt::ElideMiddle, &bar))
{
    for (QLabel* label : std::initializer_list<QLabel*>{m_queue, m_problems, m_cost, m_place}) {
        label->setContentsMargins(8, 0, 8, 0);
        label->setProperty("role", QStringLiteral("muted"));
        bar.addPermanentWidget(label);
    }
    bar.setSizeGripEnabled(false);
    connect(&session, &DocumentSession::aboutToClose, &bar, &QStatusBar::clearMessage);
    connect(&analysis, &Analysis::updated, this, &StatusLine::update);
    connect(&controller, &RunController::phaseChanged, this, &StatusLine::update);
    connect(&controller, &RunController::queueChanged, this, &StatusLine::update);
}

void StatusLine::note(const QString& text)
{
    m_bar.showMessage(text, kNoteMilliseconds);
}

void StatusLine::withdraw(const QString& text)
{
    if (m_bar.currentMessage() == text) {
        m_bar.clearMessage();
    }
}

void StatusLine::setProjectShown(bool shown)
{
    m_shown = shown;
    update();
}

void StatusLine::update()
{
    const auto queued = m_controller.queued();
    m_queue->setText(m_controller.queueHeld() ? tr("Queue stopped: %1").arg(queued)
                     : queued > 0             ? tr("Queued runs: %1").arg(queued)
                                              : QString());
    const auto& problems = m_analysis.problems();
    m_problems->setText(m_shown && !problems.empty() ? tr("Problems: %1").arg(problems.size()) : QString());
    const auto& cost = m_analysis.cost();
    const std::int64_t parameters = cost ? cost->total.parameters : 0;
    m_cost->setText(!m_shown || !cost ? QString()
                    : parameters == 1 ? tr("1 parameter")
                                      : tr("%1 parameters").arg(formatCount(static_cast<double>(parameters))));
    m_place->setText(!m_shown ? QString()
                     : m_session.isDraft()
                         ? tr("not saved yet")
                         : QDir::toNativeSeparators(QString::fromStdString(m_session.directory().string())));
}

} // namespace residua::app
