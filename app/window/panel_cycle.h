// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace residua::app {

class Workspace;

enum class PanelStep { Next, Previous };

/// Moves the keys from panel to panel, as Tab cannot where it types: the canvas in front, then every dock that is seen;
/// in each to where they were last. GUI thread.
void focusPanel(Workspace& workspace, PanelStep step);

} // namespace residua::app
