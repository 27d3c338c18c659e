// SPDX-License-Identifier: GPL-3.0-or-later
// Which graph the block canvas shows, and where its nodes are after commands and gestures.
#include "editor/block/block_canvas.h"
#include "editor/block/block_editor_state.h"
#include "projects/library/presets.h"
#include "tests/editor/canvas_driver.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>

using namespace residua::editor;
using residua::projects::Alignment;
using residua::projects::applyEdit;
using residua::projects::Block;
using residua::projects::blockPresets;
using residua::projects::Document;
using residua::projects::DocumentChange;
using residua::projects::Edit;
using residua::projects::findGraph;
using residua::projects::Graph;
using residua::projects::GraphRef;
using residua::projects::GraphView;
using residua::projects::Node;
using residua::projects::NodeId;
using residua::projects::NodeSpot;
using residua::projects::PortRef;
using residua::projects::PortSide;
using residua::projects::Position;
using residua::projects::Selection;
using residua::projects::Wire;
using residua::projects::WireEnd;

namespace {

const GraphRef kBlock = GraphRef::block("b");
constexpr Rect kSeen{-2000, -2000, 2000, 2000};

/// A document and the state of a canvas that shows it.
struct Bench {
    explicit Bench(const std::string& preset)
    {
        document.project.stack().width = 64;
        const auto& presets = blockPresets();
        const auto found = std::ranges::find(presets, preset, &residua::projects::BlockPreset::name);
        document.project.network.blocks.push_back(Block{"b", preset, found->graph});
        document.project.stack().segments = {{"b", 4}};
        show();
    }

    const Graph& graph() const { return *findGraph(document.project, kBlock); }
    NodeId id(const std::string& name) const { return std::ranges::find(graph().nodes, name, &Node::name)->id; }
    bool has(const std::string& name) const
    {
        return std::ranges::find(graph().nodes, name, &Node::name) != graph().nodes.end();
    }
    Rect rect(const std::string& name) const { return state.scene().node(id(name))->rect; }

    void show() { state.setDocument(std::make_shared<const Document>(document)); }
    GraphView view() const { return viewOf(state.scene(), kSeen); }

    /// Performs what a command gave, as the host of the canvas does.
    void perform(const residua::Result<DocumentChange>& change, const std::string& title)
    {
        QVERIFY2(change.ok(), change ? "" : change.error().text().c_str());
        QCOMPARE(titleOf(change->edit), title);
        QVERIFY(applyEdit(document, change->edit).ok());
        show();
        if (change->selection) {
            state.setSelection(*change->selection);
        }
    }
    /// The one edit that was asked for.
    Edit asked()
    {
        std::vector<Edit> edits;
        for (const Request& request : state.takeRequests()) {
            if (const auto* edit = std::get_if<RequestEdit>(&request)) {
                edits.push_back(edit->change->edit);
            }
        }
        return edits.size() == 1 ? edits.front() : Edit{residua::projects::EditGroup{"none or several", {}}};
    }

    Document document;
    BlockEditorState state;
};

} // namespace

class TestBlockEditorState : public QObject {
    Q_OBJECT
private slots:
    void itOpensWhatTheSelectionMeans()
    {
        Bench bench("mlp");
        QCOMPARE(bench.state.ref(), kBlock);
        Selection selection;
        selection.layers = {0};
        bench.state.setSelection(selection);
        QCOMPARE(bench.state.ref(), GraphRef::stem());
        selection.layers = {3};
        bench.state.setSelection(selection);
        QCOMPARE(bench.state.ref(), kBlock);
        selection.graph = GraphRef::head();
        bench.state.setSelection(selection);
        QCOMPARE(bench.state.ref(), GraphRef::head());
        selection.layers = {1, 2};
        selection.graph = {};
        bench.state.setSelection(selection); // means no one graph: stays
        QCOMPARE(bench.state.ref(), GraphRef::head());
    }

    void aRenamedBlockStaysOpen()
    {
        Bench bench("mlp");
        (void)bench.state.takeOpened();
        const NodeId up = bench.id("up");
        bench.state.select({up});
        QVERIFY(applyEdit(bench.document, residua::projects::RenameBlock{"b", "c"}).ok());
        bench.show();
        QCOMPARE(bench.state.ref(), GraphRef::block("c"));
        QVERIFY(!bench.state.takeOpened()); // the view stays as it was
        QCOMPARE(bench.state.selection().nodes, std::set<NodeId>{up});
        QCOMPARE(bench.state.selection().graph, GraphRef::block("c"));
    }

    void anUnchangedDocumentIsNoNews()
    {
        Bench bench("mlp");
        QVERIFY(!bench.state.setDocument(std::make_shared<const Document>(bench.document)));
    }

    void nodesAddedByACommandAreSelectedAndWired()
    {
        Bench bench("mlp");
        const WireEnd end{{bench.id("input"), "out"}, PortSide::Output};
        bench.perform(addNode(bench.document, {.kind = "rms_norm", .title = {}, .summary = {}}, NodeSpot{{0, 0}, end},
                              bench.view()),
                      "Add rms_norm");
        QCOMPARE(bench.state.selection().nodes, std::set<NodeId>{bench.id("rms_norm")});
        QVERIFY(bench.state.scene().wire({{bench.id("input"), "out"}, {bench.id("rms_norm"), "in"}}) != nullptr);
        const Wire wire{{bench.id("rms_norm"), "out"}, {bench.id("up"), "in"}};
        bench.perform(connectWire(bench.document, wire, std::nullopt, bench.view()), "Wire rms_norm to up");
        // In place of the wire from the input.
        QVERIFY(bench.state.scene().wire({{bench.id("input"), "out"}, {bench.id("up"), "in"}}) == nullptr);
        QVERIFY(std::ranges::all_of(bench.state.scene().nodes(), &std::string::empty, &BlockNode::error));
        QCOMPARE(bench.state.selection().wires, std::set<Wire>{wire});
    }

    void theOtherWayRoundToo()
    {
        Bench bench("mlp");
        const Wire wire{{bench.id("input"), "out"}, {bench.id("up"), "in"}};
        bench.perform(removeWire(bench.document, wire, bench.view()), "Take out wire input to up");
        const WireEnd end{{bench.id("up"), "in"}, PortSide::Input};
        bench.perform(addNode(bench.document, {.kind = "layer_norm", .title = {}, .summary = {}},
                              NodeSpot{{300, 0}, end}, bench.view()),
                      "Add layer_norm");
        QVERIFY(bench.state.scene().wire({{bench.id("layer_norm"), "out"}, {bench.id("up"), "in"}}) != nullptr);
    }

    void aWireThatIsPickedUpGoesWithItsOldPlace()
    {
        Bench bench("transformer");
        const Wire old{{bench.id("norm_ffn"), "out"}, {bench.id("up"), "in"}};
        const Wire wire{{bench.id("norm_ffn"), "out"}, {bench.id("down"), "in"}};
        bench.perform(connectWire(bench.document, wire, old, bench.view()), "Wire norm_ffn to down");
        QVERIFY(bench.state.scene().wire(wire) != nullptr);
        QVERIFY(bench.state.scene().wire(old) == nullptr);
    }

    void copiesStandApart()
    {
        Bench bench("transformer-qkv");
        const Selection three{.nodes = {bench.id("norm_q"), bench.id("norm_k"), bench.id("attention")},
                              .graph = kBlock};
        bench.perform(duplicateNodes(bench.document, three, bench.view()), "Duplicate 3 nodes");
        QVERIFY(bench.state.scene().wire({{bench.id("norm_k2"), "out"}, {bench.id("attention2"), "k"}}) != nullptr);
        for (const BlockNode& a : bench.state.scene().nodes()) {
            for (const BlockNode& b : bench.state.scene().nodes()) {
                QVERIFY(a.id == b.id || !a.rect.overlaps(b.rect));
            }
        }
    }

    void nodesAreAlignedMovedAndTidied()
    {
        Bench bench("transformer");
        bench.state.select({bench.id("gate"), bench.id("up")});
        bench.perform(alignNodes(bench.document, bench.state.selection(), Alignment::Top, bench.view()),
                      "Align 2 nodes");
        QCOMPARE(bench.rect("gate").top, bench.rect("up").top);
        bench.state.scene().shift({bench.id("gate")}, {-160, -80});
        (void)bench.state.takeRequests();
        bench.state.moveSelected();
        const Edit move = bench.asked();
        QCOMPARE(titleOf(move), std::string("Move 2 nodes"));
        QVERIFY(applyEdit(bench.document, move).ok());
        bench.show();
        const Rect moved = bench.rect("gate");
        QVERIFY(moved.top != bench.rect("up").top);
        std::map<NodeId, Position> places;
        for (const auto& [id, at] : bench.state.scene().tidied()) {
            places.emplace(id, positionOf(at));
        }
        bench.perform(tidyNodes(bench.document, places, bench.view()), "Tidy up");
        QVERIFY(bench.rect("gate").left != moved.left);
        QCOMPARE(bench.rect("gate").top, bench.rect("up").top);
    }

    void theArrowsSelectAlongTheWires()
    {
        Bench bench("mlp");
        bench.state.step(Direction::Up); // begins at the first node
        QCOMPARE(bench.state.selection().nodes, std::set<NodeId>{bench.id("input")});
        bench.state.step(Direction::Up);
        QCOMPARE(bench.state.selection().nodes, std::set<NodeId>{bench.id("up")});
        bench.state.step(Direction::Down);
        QCOMPARE(bench.state.selection().nodes, std::set<NodeId>{bench.id("input")});
    }

    /// The view moves as on the other canvases.
    void thePointerMovesTheView()
    {
        const Bench bench("transformer");
        const auto canvas = makeBlockCanvas();
        canvas->setDocument(std::make_shared<const Document>(bench.document));
        ViewState state;
        state.selection.graph = kBlock;
        canvas->setState(state);
        CanvasDriver driver(*canvas);
        const auto at = [&] { return *canvas->locate(bench.id("up")); };
        const ScreenPoint before = at();
        driver.drag({30, 30}, {70, 54}, ImGuiMouseButton_Middle);
        QCOMPARE(at().x, before.x + 40);
        QCOMPARE(at().y, before.y + 24);
        driver.moveTo(at());
        driver.wheel(20); // then not all is in sight, and the minimap has the corner
        const ScreenPoint zoomed = at();
        driver.drag({CanvasDriver::kWidth - 24, CanvasDriver::kHeight - 24}, {CanvasDriver::kWidth - 40, 640});
        QVERIFY(at().x != zoomed.x || at().y != zoomed.y);
        driver.moveTo({30, 30});
        driver.press(ImGuiMouseButton_Middle);
        QVERIFY(canvas->giveUp());
        QVERIFY(!canvas->giveUp());
        driver.release(ImGuiMouseButton_Middle);
        QVERIFY(driver.take<SelectionChanged>().empty());
        canvas->show(Extent::Everything);
        driver.frame();
        QCOMPARE(at().x, before.x);
        QCOMPARE(at().y, before.y);
    }

    void aRightClickSelectsAndAsksForTheMenu()
    {
        const Bench bench("mlp");
        const auto canvas = makeBlockCanvas();
        canvas->setDocument(std::make_shared<const Document>(bench.document));
        CanvasDriver driver(*canvas);
        driver.frame();
        driver.moveTo(*canvas->locate(bench.id("up")));
        driver.takeAll();
        driver.press(ImGuiMouseButton_Right);
        driver.release(ImGuiMouseButton_Right);
        const std::vector<Request> requests = driver.takeAll();
        QCOMPARE(requests.size(), std::size_t{2});
        const auto* selected = std::get_if<SelectionChanged>(&requests.front());
        QVERIFY(selected);
        QCOMPARE(selected->selection.nodes, std::set{bench.id("up")});
        QVERIFY(std::holds_alternative<OpenMenu>(requests.back()));
    }
};

RESIDUA_TEST(TestBlockEditorState)
#include "tst_block_editor_state.moc"
