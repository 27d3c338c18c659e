// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/canvas_actions.h"

#include "app/actions/edit_commands.h"
#include "app/canvas/canvas_widget.h"
#include "app/outline/outline_view.h"
#include "app/workspace/workspace.h"

#include <QAction>
#include <QMenu>

#include <utility>

namespace residua::app {

struct CanvasActions::Words {
    const char* name; ///< stored in the user's settings, so it must not change
    QString text;
    QKeySequence key;
    QString toolTip;
};

CanvasActions::CanvasActions(QWidget& window, QMenu& edit, EditCommands& commands, Workspace& workspace)
    : QObject(&window), m_commands(commands)
{
    const auto addCommand = [&](const Words& words, void (EditCommands::*command)()) {
        QAction* const action = add(edit, words);
        connect(action, &QAction::triggered, &commands, command);
        return action;
    };
    edit.addSeparator();
    cut = addCommand({"cut", tr("Cu&t"), QKeySequence::Cut, tr("Copy what is selected, and delete it")},
                     &EditCommands::cut);
    copy = addCommand({"copy", tr("&Copy"), QKeySequence::Copy, tr("Copy what is selected")}, &EditCommands::copy);
    paste = addCommand({"paste", tr("&Paste"), QKeySequence::Paste, tr("Add what was copied, here or elsewhere")},
                       &EditCommands::paste);
    duplicate = addCommand({"duplicate", tr("D&uplicate"), QKeySequence(Qt::CTRL | Qt::Key_D),
                            tr("Add what is selected once more, beside itself")},
                           &EditCommands::duplicate);
    edit.addSeparator();
    openBlock = add(edit, {"openBlock", tr("&Open block"), QKeySequence(Qt::Key_Return),
                           tr("Look inside the selected layer, the stem or the head")});
    connect(openBlock, &QAction::triggered, this, [&workspace] { workspace.showCanvas(WorkspaceView::Block); });
    typeToAdd = addCommand({"typeToAdd", tr("&Add by typing…"), QKeySequence(Qt::Key_Tab),
                            tr("Type what to add: a node, a formula, a shortcut such as 3:7")},
                           &EditCommands::typeToAdd);
    edit.addSeparator();
    fold = addCommand({"fold", tr("&Fold or unfold layers"), QKeySequence(Qt::Key_X),
                       tr("Draw runs of identical layers as one box, the selected ones or all; or each by itself")},
                      &EditCommands::toggleFold);
    group = addCommand({"group", tr("&Group layers…"), QKeySequence(Qt::CTRL | Qt::Key_G),
                        tr("Give the selected run of layers a name")},
                       &EditCommands::group);
    ungroup = addCommand({"ungroup", tr("U&ngroup layers"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_G),
                          tr("Take the names of the selected layers' groups away")},
                         &EditCommands::ungroup);
    edit.addSeparator();
    tidy = addCommand({"tidy", tr("T&idy up"), QKeySequence(Qt::Key_L), tr("Lay every node of the block out anew")},
                      &EditCommands::tidy);
    alignments = edit.addMenu(tr("A&lign nodes"));
    addAlignments(*alignments);
    for (CanvasWidget* canvas : workspace.canvases()) {
        canvas->addActions(m_all);
    }
    workspace.block().removeAction(openBlock); // there Enter moves to a node's values
    workspace.view<OutlineView>().addActions(ofSelection());
}

QAction* CanvasActions::add(QMenu& menu, const Words& words)
{
    QAction* action = menu.addAction(words.text);
    action->setObjectName(QString::fromLatin1(words.name));
    action->setShortcut(words.key);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut); // in a text field these keys have another meaning
    action->setStatusTip(words.toolTip);
    m_all << action;
    return action;
}

void CanvasActions::addAlignments(QMenu& menu)
{
    using projects::Alignment;
    const std::pair<Alignment, Words> kinds[] = {
        {Alignment::Left, {"alignLeft", tr("&Left edges"), {}, tr("Bring the selected nodes to one left edge")}},
        {Alignment::Centre, {"alignCentre", tr("&Centres"), {}, tr("Bring the selected nodes above each other")}},
        {Alignment::Right, {"alignRight", tr("&Right edges"), {}, tr("Bring the selected nodes to one right edge")}},
        {Alignment::Top, {"alignTop", tr("&Top edges"), {}, tr("Bring the selected nodes to one top edge")}},
        {Alignment::Middle, {"alignMiddle", tr("&Middles"), {}, tr("Bring the selected nodes beside each other")}},
        {Alignment::Bottom,
         {"alignBottom", tr("&Bottom edges"), {}, tr("Bring the selected nodes to one bottom edge")}},
    };
    for (const auto& [alignment, words] : kinds) {
        connect(add(menu, words), &QAction::triggered, this, [this, kind = alignment] { m_commands.align(kind); });
    }
}

QList<QAction*> CanvasActions::ofCanvas() const
{
    return QList<QAction*>{typeToAdd, fold, tidy} + alignments->actions();
}

} // namespace residua::app
