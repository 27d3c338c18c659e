// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/session.h"

#include <QList>
#include <QObject>
#include <QString>

class QAction;
class QActionGroup;
class QMenu;
class QWidget;

namespace residua::app {

class DocumentSession;
class EngineBridge;
class RunController;

/// Chooses where runs train, and edits the named places. If the background engine has a run of a project that is
/// opened, chooses the background, so that the window shows that run and steers it. GUI thread.
class PlaceCommands : public QObject {
    Q_OBJECT
public:
    PlaceCommands(QMenu& menu, const DocumentSession& session, EngineBridge& engine, RunController& controller,
                  QWidget* window);

signals:
    void refused(const QString& reason);
    void noted(const QString& text);

private:
    void fill();
    QAction* add(const QString& text, const QString& toolTip, const engine::EnginePlace& place);
    void edit();
    void findRun();

    QMenu& m_menu;
    const DocumentSession& m_session;
    EngineBridge& m_engine;
    RunController& m_controller;
    QWidget* m_window;
    QActionGroup* m_choices;
    QAction* m_end = nullptr; ///< separates the places from the commands
    QList<QAction*> m_named;
};

} // namespace residua::app
