// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/shortcuts/live_weights.h"

#include <vector>

namespace residua::app {

class Workspace;

/// The live weights of the run that is shown: taken once, shared by the canvases and the outline. GUI thread.
class LiveViews {
public:
    explicit LiveViews(Workspace& workspace) : m_workspace(workspace) {}

    /// Shows them with what was shown before; `project` is that of the open document.
    void show(const std::vector<editor::LiveValues>& values, const projects::Project& project);
    /// The same for the weights of a single feature; those of another are forgotten.
    void showFeature(const std::vector<editor::LiveValues>& values, const projects::Project& project);
    void clear();

private:
    void publish();

    Workspace& m_workspace;
    editor::LiveWeights m_live;
};

} // namespace residua::app
