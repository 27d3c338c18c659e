// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/window_actions.h"

#include "app/look/icons.h"

#include <QCoreApplication>
#include <QMenu>
#include <QMenuBar>

namespace residua::app {

namespace {

struct Text {
    Q_DECLARE_TR_FUNCTIONS(WindowActions)
};

/// The tooltip ends with the shortcut.
QAction* makeAction(QWidget& window, const QString& icon, const QString& text, const QList<QKeySequence>& keys,
                    const QString& toolTip)
{
    auto* action = new QAction(text, &window);
    if (!icon.isEmpty()) {
        action->setIcon(themedIcon(icon));
    }
    action->setShortcuts(keys);
    const QString key = keys.isEmpty() ? QString() : keys.front().toString(QKeySequence::NativeText);
    action->setToolTip(key.isEmpty() ? toolTip : QStringLiteral("%1 (%2)").arg(toolTip, key));
    action->setStatusTip(toolTip);
    return action;
}

} // namespace

WindowActions::WindowActions(QWidget& window)
{
    const auto make = [&window](const char* icon, const QString& text, const QList<QKeySequence>& keys,
                                const QString& toolTip) {
        return makeAction(window, QString::fromLatin1(icon), text, keys, toolTip);
    };
    create = make("new", Text::tr("&New"), {QKeySequence::New}, Text::tr("A new project from the first example"));
    open = make("open", Text::tr("&Open…"), {QKeySequence::Open}, Text::tr("Open a project's folder"));
    save = make("save", Text::tr("&Save"), {QKeySequence::Save}, Text::tr("Save the project"));
    saveAs = make("", Text::tr("Save &as…"), {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_S)},
                  Text::tr("Save the project to another folder"));
    revert =
        make("", Text::tr("Go back to the &saved version"), {}, Text::tr("Give up the changes since the last save"));
    startPage = make("home", Text::tr("S&tart page"), {QKeySequence(Qt::CTRL | Qt::Key_Home)},
                     Text::tr("Examples and recent projects"));
    quit =
        make("", Text::tr("&Quit"), {QKeySequence(Qt::CTRL | Qt::Key_Q)}, Text::tr("Leave; unsaved changes are kept"));
    undo = make("undo", Text::tr("&Undo"), {QKeySequence(Qt::CTRL | Qt::Key_Z)}, Text::tr("Undo"));
    redo = make("redo", Text::tr("&Redo"),
                {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Z), QKeySequence(Qt::CTRL | Qt::Key_Y)}, Text::tr("Redo"));
    prune = make("", Text::tr("&Prune shortcuts"), {QKeySequence(Qt::Key_Delete), QKeySequence(Qt::Key_Backspace)},
                 Text::tr("Take the selected shortcuts out"));
    freeze = make("", Text::tr("&Freeze or thaw shortcuts"), {QKeySequence(Qt::Key_F)},
                  Text::tr("Keep the selected shortcuts at their value, or let them learn again"));
    selectAll =
        make("", Text::tr("Select &all"), {QKeySequence::SelectAll}, Text::tr("Select every layer and shortcut"));
    deselect =
        make("", Text::tr("&Deselect"), {QKeySequence(Qt::Key_Escape)}, Text::tr("Give up a drag, then the selection"));
    fit = make("fit", Text::tr("&Fit"), {QKeySequence(Qt::Key_Period), QKeySequence(Qt::Key_F)},
               Text::tr("Show the whole network"));
    zoomToSelection =
        make("", Text::tr("&Zoom to selection"), {QKeySequence(Qt::Key_Z)}, Text::tr("Show what is selected"));
    theme = make("theme", Text::tr("&Dark theme"), {QKeySequence(Qt::CTRL | Qt::Key_T)},
                 Text::tr("Switch between light and dark"));
    theme->setCheckable(true);
    resetLayout = make("", Text::tr("&Reset the layout"), {}, Text::tr("Put every panel back in its place"));
    about = make("", Text::tr("&About Residua"), {}, Text::tr("Version and licence"));
    run.run = make("run", Text::tr("Run"), {QKeySequence(Qt::CTRL | Qt::Key_R)}, Text::tr("Train, or go on"));
    run.pause =
        make("pause", Text::tr("Pause"), {QKeySequence(Qt::CTRL | Qt::Key_P)}, Text::tr("Pause after this step"));
    run.step = make("step", Text::tr("Step"), {QKeySequence(Qt::Key_F10)}, Text::tr("Train one step"));
    run.stop = make("stop", Text::tr("Stop"), {QKeySequence(Qt::CTRL | Qt::Key_Period)},
                    Text::tr("Write a checkpoint and end the run"));
    for (QAction* action : ofCanvas()) {
        action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    }
}

QList<QAction*> WindowActions::ofProject() const
{
    return QList<QAction*>{save, saveAs, resetLayout} + ofCanvas();
}

WindowMenus fillMenus(QMenuBar& bar, const WindowActions& actions)
{
    WindowMenus menus{};
    QMenu* file = bar.addMenu(Text::tr("&File"));
    file->addAction(actions.create);
    menus.examples = file->addMenu(Text::tr("New from &example"));
    file->addAction(actions.open);
    menus.recent = file->addMenu(Text::tr("Open &recent"));
    file->addSeparator();
    file->addActions({actions.save, actions.saveAs, actions.revert});
    file->addSeparator();
    file->addActions({actions.startPage, actions.quit});

    QMenu* edit = bar.addMenu(Text::tr("&Edit"));
    edit->addActions({actions.undo, actions.redo});
    edit->addSeparator();
    edit->addActions({actions.prune, actions.freeze});
    edit->addSeparator();
    edit->addActions({actions.selectAll, actions.deselect});

    QMenu* view = bar.addMenu(Text::tr("&View"));
    view->addActions({actions.fit, actions.zoomToSelection});
    view->addSeparator();
    menus.panels = view->addMenu(Text::tr("&Panels"));
    view->addAction(actions.resetLayout);
    view->addSeparator();
    view->addAction(actions.theme);

    QMenu* run = bar.addMenu(Text::tr("&Run"));
    run->addActions({actions.run.run, actions.run.pause, actions.run.step, actions.run.stop});

    bar.addMenu(Text::tr("&Help"))->addAction(actions.about);
    return menus;
}

} // namespace residua::app
