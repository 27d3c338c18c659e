// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/canvas_actions.h"

#include "app/canvas/canvas_widget.h"
#include "app/window/workspace.h"
#include "editor/block/block_canvas.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QMenu>

#include <utility>

namespace residua::app {

struct CanvasActions::Words {
    const char* name; ///< in the user's settings: it stays
    QString text;
    QKeySequence key;
    QString toolTip;
};

CanvasActions::CanvasActions(QWidget& window, QMenu& edit, Workspace& workspace)
    : QObject(&window), m_window(window), m_workspace(workspace)
{
    const auto ask = [this](void (editor::Canvas::*command)()) {
        return [this, command] {
            CanvasWidget& front = m_workspace.currentCanvas();
            (front.canvas().*command)();
            front.refresh();
        };
    };
    edit.addSeparator();
    QAction* cut = add(edit, {"cut", tr("Cu&t"), QKeySequence::Cut, tr("Copy what is selected, and delete it")});
    connect(cut, &QAction::triggered, this, [this, remove = ask(&editor::Canvas::deleteSelection)] {
        copy();
        remove();
    });
    connect(add(edit, {"copy", tr("&Copy"), QKeySequence::Copy, tr("Copy what is selected")}), &QAction::triggered,
            this, &CanvasActions::copy);
    connect(add(edit, {"paste", tr("&Paste"), QKeySequence::Paste, tr("Add what was copied, here or elsewhere")}),
            &QAction::triggered, this, &CanvasActions::paste);
    connect(add(edit, {"duplicate", tr("D&uplicate"), QKeySequence(Qt::CTRL | Qt::Key_D),
                       tr("Add what is selected once more, beside itself")}),
            &QAction::triggered, this, ask(&editor::Canvas::duplicateSelection));
    edit.addSeparator();
    QAction* open = add(edit, {"openBlock", tr("&Open block"), QKeySequence(Qt::Key_Return),
                               tr("Look inside the selected layer, the stem or the head")});
    connect(open, &QAction::triggered, this, [this] { m_workspace.showCanvas(WorkspaceView::Block); });
    connect(add(edit, {"typeToAdd", tr("&Add by typing…"), QKeySequence(Qt::Key_Tab),
                       tr("Type what to add: a node, a formula, a shortcut such as 3:7")}),
            &QAction::triggered, this, ask(&editor::Canvas::askTyping));
    edit.addSeparator();
    connect(add(edit, {"fold", tr("&Fold or unfold layers"), QKeySequence(Qt::Key_X),
                       tr("Draw runs of identical layers as one box, the selected ones or all; or each by itself")}),
            &QAction::triggered, this, ask(&editor::Canvas::toggleFold));
    connect(add(edit, {"group", tr("&Group layers…"), QKeySequence(Qt::CTRL | Qt::Key_G),
                       tr("Give the selected run of layers a name")}),
            &QAction::triggered, this, ask(&editor::Canvas::groupSelection));
    connect(add(edit, {"ungroup", tr("U&ngroup layers"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_G),
                       tr("Take the names of the selected layers' groups away")}),
            &QAction::triggered, this, ask(&editor::Canvas::ungroupSelection));
    edit.addSeparator();
    connect(add(edit, {"tidy", tr("T&idy up"), QKeySequence(Qt::Key_L), tr("Lay every node of the block out anew")}),
            &QAction::triggered, this, ask(&editor::Canvas::tidy));
    addAlignments(*edit.addMenu(tr("A&lign nodes")));
    for (CanvasWidget* canvas : workspace.canvases()) {
        canvas->addActions(m_actions);
    }
    workspace.block().removeAction(open); // there Enter leads on to a node's values
}

QAction* CanvasActions::add(QMenu& menu, const Words& words)
{
    QAction* action = menu.addAction(words.text);
    action->setObjectName(QString::fromLatin1(words.name));
    action->setShortcut(words.key);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut); // in a text field these keys mean something else
    action->setStatusTip(words.toolTip);
    m_actions << action;
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
        connect(add(menu, words), &QAction::triggered, this, [this, kind = alignment] {
            m_workspace.blockCanvas().align(kind);
            m_workspace.block().refresh();
        });
    }
}

void CanvasActions::setEnabled(bool enabled)
{
    for (QAction* action : m_actions) {
        action->setEnabled(enabled);
    }
}

void CanvasActions::copy()
{
    const std::string text = m_workspace.currentCanvas().canvas().copied();
    if (!text.empty()) {
        QGuiApplication::clipboard()->setText(QString::fromStdString(text));
    }
}

void CanvasActions::paste()
{
    CanvasWidget& front = m_workspace.currentCanvas();
    if (const Status pasted = front.canvas().paste(QGuiApplication::clipboard()->text().toStdString()); !pasted) {
        emit refused(QString::fromStdString(pasted.error().text()));
    }
    front.refresh();
}

} // namespace residua::app
