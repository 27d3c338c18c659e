// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/block/block_editor_state.h"

#include "editor/scenes/geometry.h"
#include "projects/model/places.h"

#include <algorithm>
#include <iterator>

namespace residua::editor {

using projects::GraphRef;
using projects::NodeId;
using projects::Wire;

bool BlockEditorState::setDocument(DocumentSnapshot document)
{
    if (!ref().empty() && (document == m_document || *document == *m_document)) {
        return false;
    }
    const GraphRef known = graphAfter(project(), ref(), document->project);
    if (known == keptGraph(project(), ref(), document->project)) {
        // A renamed block is the same block.
        m_selection.graph = m_selection.graph == ref() ? known : m_selection.graph;
        m_scene.setGraphName(known);
    }
    m_document = std::move(document);
    open(known);
    std::erase_if(m_selection.nodes, [this](NodeId id) { return m_scene.node(id) == nullptr; });
    std::erase_if(m_selection.wires, [this](const Wire& wire) { return m_scene.wire(wire) == nullptr; });
    return true;
}

void BlockEditorState::open(const GraphRef& known)
{
    if (known != ref()) {
        m_opened = true;
        m_selection = {};
    }
    m_scene.rebuild(*m_document, known);
}

void BlockEditorState::setSelection(const projects::Selection& selection)
{
    const bool layer = selection.graph.empty() && selection.layers.size() == 1;
    const GraphRef meant = layer ? graphOfLayer(project().network, *selection.layers.begin()) : selection.graph;
    if (meant != ref() && findGraph(project(), meant) != nullptr) {
        open(meant);
    }
    m_selection = {};
    m_selection.graph = ref();
    if (selection.graph == ref()) {
        std::ranges::copy_if(selection.nodes, std::inserter(m_selection.nodes, m_selection.nodes.end()),
                             [this](NodeId id) { return m_scene.node(id) != nullptr; });
        std::ranges::copy_if(selection.wires, std::inserter(m_selection.wires, m_selection.wires.end()),
                             [this](const Wire& wire) { return m_scene.wire(wire) != nullptr; });
    }
}

void BlockEditorState::select(std::set<NodeId> nodes, std::set<Wire> wires)
{
    projects::Selection selection{.nodes = std::move(nodes), .wires = std::move(wires), .graph = ref()};
    if (selection != m_selection) {
        m_selection = std::move(selection);
        m_requests.emplace_back(SelectionChanged{m_selection});
    }
}

void BlockEditorState::step(Direction direction)
{
    if (m_scene.nodes().empty()) {
        return;
    }
    if (m_selection.nodes.empty()) {
        select({m_scene.nodes().front().id});
    } else if (const auto next = m_scene.neighbour(*m_selection.nodes.begin(), direction)) {
        select({*next});
    }
}

std::map<NodeId, Rect> BlockEditorState::selectedBoxes() const
{
    std::map<NodeId, Rect> rects;
    for (const NodeId id : m_selection.nodes) {
        if (const BlockNode* node = m_scene.node(id)) { // a node that was just requested is not in the scene yet
            rects.emplace(id, node->rect);
        }
    }
    return rects;
}

std::optional<Rect> BlockEditorState::selectedArea() const
{
    std::optional<Rect> area;
    for (const auto& [id, rect] : selectedBoxes()) {
        include(area, rect);
    }
    return area;
}

void BlockEditorState::moveSelected()
{
    std::map<NodeId, projects::Position> moved;
    for (const auto& [id, rect] : selectedBoxes()) {
        moved.emplace(id, positionOf({rect.left, rect.top}));
    }
    request(RequestEdit{moveNodes(*m_document, moved, viewOf(m_scene))});
}

} // namespace residua::editor
