// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/block/block_scene.h"
#include "editor/canvas/canvas.h"
#include "projects/commands/graph_commands.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace residua::editor {

/// The block canvas without its view: which graph is open, what is selected in it, and what each command asks for.
/// Every edit also keeps the nodes where they are seen (BlockScene::pins), as one step with its name.
class BlockDesk {
public:
    /// Shows the same graph of the new document, or where it is gone, that of the first layer. False where nothing is
    /// new, so that a gesture goes on.
    bool setDocument(const projects::Document& document);
    /// Opens the graph that is meant, if that is another.
    void setSelection(const projects::Selection& selection);

    [[nodiscard]] const projects::Document& document() const { return m_document; }
    [[nodiscard]] const projects::Project& project() const { return m_document.project; }
    [[nodiscard]] const projects::GraphRef& ref() const { return m_scene.graph(); }
    [[nodiscard]] const projects::Graph& graph() const { return *findGraph(m_document.project, ref()); }
    [[nodiscard]] BlockScene& scene() { return m_scene; }
    [[nodiscard]] const BlockScene& scene() const { return m_scene; }
    [[nodiscard]] const projects::Selection& selection() const { return m_selection; }
    /// What the selected nodes cover.
    [[nodiscard]] std::optional<Rect> selectedArea() const;
    /// Whether another graph has been opened since the last call.
    [[nodiscard]] bool takeOpened() { return std::exchange(m_opened, false); }
    [[nodiscard]] std::vector<Request> takeRequests() { return std::exchange(m_requests, {}); }
    void request(Request request) { m_requests.push_back(std::move(request)); }
    /// Asks for what a command gave, if it gave something.
    void perform(const Result<projects::DocumentChange>& change);

    /// Where its nodes are, with what of it is in sight.
    [[nodiscard]] projects::GraphView view(const std::optional<Rect>& seen = {}) const;
    void select(std::set<projects::NodeId> nodes, std::set<projects::Wire> wires = {});
    void selectAll();
    /// To the node that lies there, along the wires.
    void step(Direction direction);
    /// Forgets a shift() of the scene.
    void putBack() { m_scene.rebuild(m_document, ref()); }

    void remove();
    [[nodiscard]] std::string copied() const;
    /// Beside where the nodes were copied, if `seen` shows that place; else in its middle.
    [[nodiscard]] Status paste(std::string_view text, const Rect& seen);
    void duplicate(const Rect& seen);
    void tidy();
    void align(projects::Alignment alignment);
    /// Keeps the selected nodes where shift() has brought them.
    void moveSelected();
    /// At the place nearest to `centre` that is free; wired to `end`.
    void add(const projects::NodeOffer& offer, Point centre, const std::optional<projects::WireEnd>& end);
    /// In place of `lifted`, if a wire was picked up.
    void connect(const projects::Wire& wire, const std::optional<projects::Wire>& lifted);
    void takeOut(const projects::Wire& wire);

private:
    void open(const projects::GraphRef& ref);
    [[nodiscard]] projects::GraphRef refIn(const projects::Project& project) const;
    void take(projects::Selection selection);
    [[nodiscard]] std::map<projects::NodeId, Rect> selectedBoxes() const;

    projects::Document m_document;
    BlockScene m_scene;
    projects::Selection m_selection;
    std::vector<Request> m_requests;
    bool m_opened = true;
};

} // namespace residua::editor
