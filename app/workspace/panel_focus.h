// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Apart from workspace.h, because only the keys for panels use it.

#include <QPointer>
#include <QWidget>

namespace residua::app {

class Workspace;

enum class PanelStep { Next, Previous };

/// Moves the keyboard focus from panel to panel, also where Tab types a character: the canvas in front, then every
/// visible dock. In each panel the widget that had the focus last receives it. GUI thread.
void focusPanel(Workspace& workspace, PanelStep step);

/// A frame around the panel that a key has moved the focus to, until the mouse is pressed or the focus leaves the
/// workspace. Not every widget shows its own focus: a canvas or a plot does not. GUI thread.
class PanelMark : public QWidget {
    Q_OBJECT
public:
    explicit PanelMark(Workspace& workspace);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void follow(QWidget& focused, Qt::FocusReason reason);
    void place();

    Workspace& m_workspace;
    QPointer<QWidget> m_panel; ///< that is framed
};

} // namespace residua::app
