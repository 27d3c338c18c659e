// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/canvas_actions.h"

#include "app/actions/edit_commands.h"
#include "app/actions/window_actions.h"
#include "app/canvas/canvas_widget.h"
#include "app/outline/outline_view.h"
#include "app/views/document_views.h"
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
    visits = addCommand({"visits", tr("&Visit several times…"), QKeySequence(Qt::Key_V),
                         tr("Make a loop of the selected layers: they run several times with the same weights")},
                        &EditCommands::typeVisits);
    visitOnce = addCommand({"visitOnce", tr("Visit &once"), QKeySequence(Qt::SHIFT | Qt::Key_V),
                            tr("Remove the loop of the selected layers; the layers stay")},
                           &EditCommands::visitOnce);
    visitMore = addCommand({"visitMore", tr("One visit &more"), QKeySequence(Qt::CTRL | Qt::Key_Up),
                            tr("Visit the layers of the selected loop once more")},
                           &EditCommands::visitMore);
    visitLess = addCommand({"visitLess", tr("One visit l&ess"), QKeySequence(Qt::CTRL | Qt::Key_Down),
                            tr("Visit the layers of the selected loop once less")},
                           &EditCommands::visitLess);
    untie = addCommand({"untie", tr("Untie visits"), QKeySequence(),
                        tr("Make every visit of the selected loop a layer with weights of its own")},
                       &EditCommands::untie);
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

namespace {

/// Adds these commands and a separator.
void add(QMenu& menu, const QList<QAction*>& actions)
{
    menu.addActions(actions);
    menu.addSeparator();
}

} // namespace

CanvasMenu::CanvasMenu(const DocumentViews& documents, Workspace& workspace, const WindowActions& window,
                       const CanvasActions& canvas, QObject* parent)
    : QObject(parent), m_documents(documents), m_workspace(workspace), m_window(window), m_canvas(canvas)
{
    for (CanvasWidget* each : workspace.canvases()) {
        connect(each, &CanvasWidget::requested, this, [this, each](const editor::Request& request) {
            if (const auto* menu = std::get_if<editor::OpenMenu>(&request)) {
                open(*each, menu->at);
            }
        });
    }
}

void CanvasMenu::fill(QMenu& menu) const
{
    const projects::Selection& selection = m_documents.selection();
    if (!selection.shortcuts.empty()) {
        add(menu, {m_window.freeze, m_window.freezeAtStart, m_window.prune});
        add(menu, {m_window.whatIf, m_window.goOnWithout, m_window.goOnWired});
    }
    if (!selection.layers.empty()) {
        add(menu, {m_canvas.openBlock});
        add(menu, {m_canvas.cut, m_canvas.copy, m_canvas.paste, m_canvas.duplicate, m_window.prune});
        add(menu, {m_canvas.fold, m_canvas.group, m_canvas.ungroup});
        if (loopOfSelection(m_documents.project(), selection) != nullptr) {
            add(menu, {m_canvas.visits, m_canvas.visitMore, m_canvas.visitLess, m_canvas.visitOnce, m_canvas.untie});
        } else {
            add(menu, {m_canvas.visits});
        }
        if (selection.shortcuts.empty()) {
            add(menu, {m_window.whatIf, m_window.goOnWithout});
        }
    }
    if (selection.shortcuts.empty() && selection.layers.empty()) {
        add(menu, {m_window.goOnWired, m_window.teach, m_window.loadWeights});
        add(menu, {m_canvas.typeToAdd, m_canvas.paste});
        add(menu, {m_window.selectAll, m_canvas.fold, m_window.fit});
    } else {
        add(menu, {m_window.zoomToSelection});
    }
}

void CanvasMenu::fillForBlock(QMenu& menu) const
{
    const projects::Selection& selection = m_documents.selection();
    if (!selection.nodes.empty()) {
        add(menu, {m_canvas.cut, m_canvas.copy, m_canvas.paste, m_canvas.duplicate, m_window.prune});
        add(menu, {m_canvas.alignments->menuAction(), m_canvas.tidy, m_window.zoomToSelection});
    } else if (!selection.wires.empty()) {
        add(menu, {m_window.prune});
    } else {
        add(menu, {m_canvas.typeToAdd, m_canvas.paste});
        add(menu, {m_window.selectAll, m_canvas.tidy, m_window.fit});
    }
}

void CanvasMenu::open(CanvasWidget& canvas, editor::ScreenPoint at)
{
    auto* menu = new QMenu(&canvas);
    menu->setObjectName(QStringLiteral("canvasMenu"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    if (&canvas == &m_workspace.block()) {
        fillForBlock(*menu);
    } else {
        fill(*menu);
    }
    menu->addActions({m_window.copyChange, m_window.exportFigure, m_window.explain});
    menu->popup(canvas.surface()->mapToGlobal(QPointF(at.x, at.y).toPoint()));
}

} // namespace residua::app
