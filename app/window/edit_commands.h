// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/properties/place.h"
#include "editor/canvas/canvas.h"
#include "projects/commands/commands.h"
#include "projects/commands/node_places.h"

#include <QObject>
#include <QPoint>

#include <optional>
#include <string>

namespace residua::app {

class CanvasWidget;
class DocumentViews;
class DocumentSession;
class Workspace;

/// Runs the commands of projects/commands on what is selected. Menus, keys, the outline and the canvases call the same
/// ones; which part of the selection is meant depends on the canvas in front, which need not be able to draw. noted()
/// says why a command does nothing. GUI thread.
class EditCommands : public QObject {
    Q_OBJECT
public:
    EditCommands(DocumentSession& session, Workspace& workspace, DocumentViews& documents, QObject* parent = nullptr);

    void deleteSelection();
    /// Deletes what is at `place`, which is selected first.
    void deletePlace(const Place& place);
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
    void noted(const QString& text);

private:
    /// The canvas in front, after it has emitted its requests: until then its selection may be newer than the
    /// document's.
    CanvasWidget& front();
    [[nodiscard]] bool isBlock(const CanvasWidget& canvas) const;
    /// The part of the selection that the canvas shows.
    [[nodiscard]] projects::Selection selectionIn(const CanvasWidget& canvas) const;
    /// How the graph of `selection` is seen; empty where the block canvas shows another.
    [[nodiscard]] projects::GraphView viewFor(const projects::Selection& selection) const;
    void perform(const Result<projects::DocumentChange>& change);
    void ask(CanvasWidget& canvas, const editor::AskTyping& asked);

    DocumentSession& m_session;
    Workspace& m_workspace;
    DocumentViews& m_documents;
};

} // namespace residua::app
