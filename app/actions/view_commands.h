// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

namespace residua::app {

class LiveViews;
class Look;
class Workspace;
struct WindowActions;

/// What is seen of the document and how: the canvas in front and what of it, the panels, the theme. GUI thread.
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
