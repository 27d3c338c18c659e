// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/properties/place.h"
#include "editor/canvas/canvas.h"
#include "projects/commands/commands.h"
#include "projects/graphs/node_places.h"

#include <QObject>
#include <QPoint>

#include <optional>
#include <string>

namespace residua::app {

class CanvasWidget;
class DocumentViews;
class DocumentSession;
class Workspace;
struct WindowActions;

/// Runs the commands of projects/commands on what is selected. Menus, keys, the outline and the canvases call the same
/// ones. The selection says what they are done to; the canvas in front, which need not be able to draw, decides only
/// where things of the stack and of a graph are selected together, or nothing is. With the keys in the outline its
/// current row is what they are done to. GUI thread.
class EditCommands : public QObject {
    Q_OBJECT
public:
    EditCommands(const WindowActions& actions, DocumentSession& session, Workspace& workspace, DocumentViews& documents,
                 QObject* parent);

    /// Whether there is something to select in: a canvas is in front, or the outline has the keys.
    [[nodiscard]] bool available() const;

    void deleteSelection();
    void toggleFrozen();
    void selectAll();
    /// Ends a gesture; else selects nothing; with nothing selected leaves a block.
    void giveUp();

    void copy();
    void cut();
    void paste();
    void duplicate();

    /// Draws runs of identical layers as one box, the selected ones or all, or each layer by itself.
    void toggleFold();
    /// Asks for a name for the selected layers.
    void group();
    void ungroup();
    /// Asks for what to add.
    void typeToAdd();

    void align(projects::Alignment alignment);
    void tidy();
    /// Adds a node at a place on the block canvas, or near the middle of what is in sight.
    void addNode(const std::string& kind, std::optional<QPoint> at);

signals:
    void refused(const QString& reason);
    /// available() may have changed.
    void availabilityChanged();

private:
    /// The canvas in front, after it has emitted its requests: until then its selection may be newer than the
    /// document's. Null where the schedule is in front.
    CanvasWidget* front();
    void followFocus(const QWidget* now);
    /// What a command is done to; the error says why that is nothing.
    Result<projects::Selection> meant();
    [[nodiscard]] bool isBlock(const CanvasWidget* canvas) const;
    /// The part of the selection that the canvas shows.
    [[nodiscard]] projects::Selection selectionIn(const CanvasWidget* canvas) const;
    /// How the graph of `selection` is seen; empty where the block canvas shows another.
    [[nodiscard]] projects::GraphView viewFor(const projects::Selection& selection) const;
    /// Does what `command` gives for what is meant.
    template <class Command>
    void run(Command command);
    void ask(CanvasWidget& canvas, const editor::AskTyping& asked);

    DocumentSession& m_session;
    Workspace& m_workspace;
    DocumentViews& m_documents;
    bool m_keysInOutline = false; ///< a menu that has them for a while changes nothing
};

} // namespace residua::app
