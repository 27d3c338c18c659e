// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace residua::visualizers {
class ShownRuns;
}

namespace residua::app {

class Analysis;
class DocumentSession;
class DocumentViews;
class RunController;
class SchedulePage;

/// Has the page show the stages of the document, the step of the run under way and what the borders of the run in
/// front did to its loss, and makes its edits. All outlive the page or end with it. GUI thread.
void connectSchedule(const DocumentSession& session, const Analysis& analysis, const RunController& controller,
                     DocumentViews& documents, const visualizers::ShownRuns& shown, SchedulePage& page);

} // namespace residua::app
