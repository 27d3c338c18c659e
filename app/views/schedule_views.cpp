// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/schedule_views.h"

#include "app/document/analysis.h"
#include "app/document/document_session.h"
#include "app/runs/run_controller.h"
#include "app/schedule/schedule_panel.h"
#include "app/schedule/schedule_ribbon.h"
#include "app/views/document_views.h"
#include "visualizers/runs/shown_runs.h"

namespace residua::app {

void connectSchedule(const DocumentSession& session, const Analysis& analysis, const RunController& controller,
                     DocumentViews& documents, const visualizers::ShownRuns& shown, SchedulePanel& panel)
{
    const auto show = [&session, &analysis, &panel] {
        if (session.isOpen()) {
            panel.setProject(session.history().projectSnapshot(), analysis.cost());
        }
    };
    QObject::connect(&session, &DocumentSession::opened, &panel, show);
    QObject::connect(&session, &DocumentSession::changed, &panel, show);
    QObject::connect(&analysis, &Analysis::updated, &panel, show);
    QObject::connect(&panel, &SchedulePanel::edited, &documents, [&documents](const projects::StageSchedule& schedule) {
        documents.applyEdit(projects::SetSchedule{schedule});
    });
    QObject::connect(&panel, &SchedulePanel::refused, &documents, &DocumentViews::refused);
    const auto follow = [&controller, &panel] {
        const bool runs = controller.phase() != RunPhase::Idle && controller.phase() != RunPhase::Starting;
        panel.ribbon().setCursorStep(runs ? std::optional(controller.progress().step) : std::nullopt);
    };
    QObject::connect(&controller, &RunController::progressed, &panel, follow);
    QObject::connect(&controller, &RunController::phaseChanged, &panel, follow);
    const auto showBorders = [&shown, &panel] {
        const visualizers::ShownRuns::Run* const run = shown.find(shown.front());
        panel.ribbon().setBorders(run ? run->stages : std::vector<engine::StageRecord>());
    };
    QObject::connect(&shown, &visualizers::ShownRuns::stagesChanged, &panel, showBorders);
    QObject::connect(&shown, &visualizers::ShownRuns::begun, &panel, showBorders);
    QObject::connect(&shown, &visualizers::ShownRuns::frontChanged, &panel, showBorders);
}

} // namespace residua::app
