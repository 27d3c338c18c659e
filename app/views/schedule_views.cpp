// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/schedule_views.h"

#include "app/document/analysis.h"
#include "app/document/document_session.h"
#include "app/schedule/schedule_page.h"
#include "app/schedule/schedule_ribbon.h"
#include "app/training/run_controller.h"
#include "app/views/document_views.h"
#include "visualizers/runs/shown_runs.h"

namespace residua::app {

void connectSchedule(const DocumentSession& session, const Analysis& analysis, const RunController& controller,
                     DocumentViews& documents, const visualizers::ShownRuns& shown, SchedulePage& page)
{
    const auto show = [&session, &analysis, &page] {
        if (session.isOpen()) {
            page.setProject(session.history().projectSnapshot(), analysis.cost());
        }
    };
    QObject::connect(&session, &DocumentSession::opened, &page, show);
    QObject::connect(&session, &DocumentSession::changed, &page, show);
    QObject::connect(&analysis, &Analysis::updated, &page, show);
    QObject::connect(&page, &SchedulePage::edited, &documents, [&documents](const projects::StageSchedule& schedule) {
        documents.applyEdit(projects::SetSchedule{schedule});
    });
    QObject::connect(&page, &SchedulePage::refused, &documents, &DocumentViews::refused);
    const auto follow = [&controller, &page] {
        const bool runs = controller.isOfDocument() && controller.phase() != RunPhase::Idle &&
                          controller.phase() != RunPhase::Starting;
        page.ribbon().setCursorStep(runs ? std::optional(controller.progress().step) : std::nullopt);
    };
    QObject::connect(&controller, &RunController::progressed, &page, follow);
    QObject::connect(&controller, &RunController::phaseChanged, &page, follow);
    const auto showBorders = [&shown, &page] {
        const visualizers::ShownRuns::Run* const run = shown.find(shown.front());
        page.ribbon().setBorders(run ? run->stages : std::vector<engine::StageRecord>());
    };
    QObject::connect(&shown, &visualizers::ShownRuns::stagesChanged, &page, showBorders);
    QObject::connect(&shown, &visualizers::ShownRuns::begun, &page, showBorders);
    QObject::connect(&shown, &visualizers::ShownRuns::frontChanged, &page, showBorders);
}

} // namespace residua::app
