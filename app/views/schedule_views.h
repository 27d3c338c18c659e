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

/// Connects the page to the document: shows its stages, the step of the training run and the losses at the borders of
/// the run in front, and applies the page's edits. The arguments must outlive the page or be destroyed with it. GUI
/// thread.
void connectSchedule(const DocumentSession& session, const Analysis& analysis, const RunController& controller,
                     DocumentViews& documents, const visualizers::ShownRuns& shown, SchedulePage& page);

} // namespace residua::app
