// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QWidget;

namespace residua::app {

class Workspace;

enum class PanelStep { Next, Previous };

/// Moves the keyboard focus from panel to panel, also where Tab types a character: the canvas in front, then every
/// visible dock. In each panel the widget that had the focus last receives it. GUI thread.
void focusPanel(Workspace& workspace, PanelStep step);
/// The content of the dock that holds a widget, or the canvases; null if neither does.
[[nodiscard]] QWidget* panelOf(const Workspace& workspace, const QWidget* widget);

} // namespace residua::app
