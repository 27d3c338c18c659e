// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/canvas.h"
#include "editor/scenes/block_scene.h"
#include "projects/commands/graph_commands.h"

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace residua::editor {

/// The state of the block canvas without its view: the open graph, the selection in it, and the requests.
class BlockEditorState {
public:
    /// Shows the same graph of the new document, or the graph of the first layer if it was deleted. Returns false if
    /// nothing has changed, so that a gesture continues.
    bool setDocument(DocumentSnapshot document);
    /// Sets the selection, and opens the graph that it names if that is another.
    void setSelection(const projects::Selection& selection);

    [[nodiscard]] const projects::Document& document() const { return *m_document; }
    [[nodiscard]] const projects::Project& project() const { return m_document->project; }
    [[nodiscard]] const projects::GraphRef& ref() const { return m_scene.graph(); }
    [[nodiscard]] BlockScene& scene() { return m_scene; }
    [[nodiscard]] const BlockScene& scene() const { return m_scene; }
    [[nodiscard]] const projects::Selection& selection() const { return m_selection; }
    /// Returns the area that the selected nodes cover.
    [[nodiscard]] std::optional<Rect> selectedArea() const;
    /// True if another graph has been opened since the last call.
    [[nodiscard]] bool takeOpened() { return std::exchange(m_opened, false); }

    [[nodiscard]] std::vector<Request> takeRequests() { return std::exchange(m_requests, {}); }
    void request(Request request) { m_requests.push_back(std::move(request)); }

    void select(std::set<projects::NodeId> nodes, std::set<projects::Wire> wires = {});
    /// Selects the next node in this direction, along the wires.
    void step(Direction direction);
    /// Requests to keep the selected nodes at the positions given by the scene's shift().
    void moveSelected();
    /// Undoes a shift() of the scene.
    void putBack() { m_scene.rebuild(*m_document, ref()); }

private:
    void open(const projects::GraphRef& ref);
    [[nodiscard]] std::map<projects::NodeId, Rect> selectedBoxes() const;

    DocumentSnapshot m_document = std::make_shared<const projects::Document>();
    BlockScene m_scene;
    projects::Selection m_selection;
    std::vector<Request> m_requests;
    bool m_opened = true;
};

} // namespace residua::editor
