// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

namespace residua::app {

class LiveViews;
class Look;
class Workspace;
struct WindowActions;

/// The commands on the view of the document: the canvas in front and its display, the panels, the theme. GUI thread.
class ViewCommands : public QObject {
    Q_OBJECT
public:
    ViewCommands(const WindowActions& actions, Look& look, Workspace& workspace, LiveViews& live, QObject* parent);

private:
    void connectCanvases(const WindowActions& actions);
    void connectPanels(const WindowActions& actions);
    void connectValues(const WindowActions& actions);
    void fit();
    void zoomToSelection();

    Workspace& m_workspace;
};

} // namespace residua::app
