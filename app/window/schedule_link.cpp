// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/schedule_link.h"

#include "app/document/analysis.h"
#include "app/document/document_session.h"
#include "app/runs/run_controller.h"
#include "app/schedule/schedule_panel.h"
#include "app/schedule/schedule_ribbon.h"
#include "app/window/document_link.h"
#include "app/window/workspace.h"

namespace residua::app {

ScheduleLink::ScheduleLink(const DocumentSession& session, const Analysis& analysis, const RunController& controller,
                           DocumentLink& documents, Workspace& workspace, QObject* parent)
    : QObject(parent)
{
    SchedulePanel& panel = workspace.schedule();
    const auto show = [&session, &analysis, &panel] {
        if (session.isOpen()) {
            panel.setProject(session.project(), analysis.cost());
        }
    };
    connect(&session, &DocumentSession::opened, this, show);
    connect(&session, &DocumentSession::changed, this, show);
    connect(&analysis, &Analysis::updated, this, show);
    connect(&panel, &SchedulePanel::edited, &documents, [&documents](const projects::StageSchedule& schedule) {
        documents.applyEdit(projects::SetSchedule{schedule});
    });
    connect(&panel, &SchedulePanel::refused, &documents, &DocumentLink::refused);
    const auto follow = [&controller, &panel] {
        const bool runs = controller.phase() != RunPhase::Idle && controller.phase() != RunPhase::Starting;
        panel.ribbon().setCursorStep(runs ? std::optional(controller.progress().step) : std::nullopt);
    };
    connect(&controller, &RunController::progressed, this, follow);
    connect(&controller, &RunController::phaseChanged, this, follow);
}

} // namespace residua::app
