// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/scenes/block_layout.h"
#include "editor/scenes/block_scene.h"
#include "projects/library/convolution_graph.h"
#include "projects/library/presets.h"
#include "tests/support/random_seed.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <random>
#include <set>

using namespace residua::editor;
using residua::projects::AddNode;
using residua::projects::AddWire;
using residua::projects::applyEdit;
using residua::projects::Block;
using residua::projects::blockPresets;
using residua::projects::Document;
using residua::projects::Edit;
using residua::projects::EditGroup;
using residua::projects::findGraph;
using residua::projects::GraphRef;
using residua::projects::MoveNode;
using residua::projects::Node;
using residua::projects::NodeId;
using residua::projects::PortSide;
using residua::projects::Position;
using residua::projects::RemoveNode;
using residua::projects::RemoveWire;
using residua::projects::SetParam;
using residua::projects::Wire;

namespace {

const GraphRef kShownBlock = GraphRef::block("b");

Document documentWith(const std::string& preset)
{
    Document document;
    document.project.stack().width = 64;
    const auto& presets = blockPresets();
    const auto found = std::ranges::find(presets, preset, &residua::projects::BlockPreset::name);
    document.project.network.blocks.push_back(Block{"b", preset, found->graph});
    if (found->readsImages) {
        document.project.data.source = residua::projects::DrawnPictures{.size = 8};
        document.project.network.stem =
            residua::projects::ConvolutionGraph().picture(8).convolution("", std::string("d"), 1).end();
    }
    document.project.stack().segments = {{"b", 4}};
    return document;
}

BlockScene sceneOf(const Document& document)
{
    BlockScene scene;
    scene.rebuild(document, kShownBlock);
    return scene;
}

NodeId idOf(const Document& document, const std::string& name)
{
    const auto& nodes = findGraph(document.project, kShownBlock)->nodes;
    return std::ranges::find(nodes, name, &Node::name)->id;
}

const BlockNode& nodeOf(const BlockScene& scene, const std::string& name)
{
    return *std::ranges::find(scene.nodes(), name, &BlockNode::name);
}

std::size_t faultsOf(const BlockScene& scene)
{
    return static_cast<std::size_t>(
        std::ranges::count_if(scene.nodes(), [](const BlockNode& node) { return !node.error.empty(); }));
}

std::map<NodeId, Rect> placesOf(const BlockScene& scene)
{
    std::map<NodeId, Rect> places;
    for (const BlockNode& node : scene.nodes()) {
        places.emplace(node.id, node.rect);
    }
    return places;
}

// Nodes that both know, and that stand elsewhere.
int movedBetween(const std::map<NodeId, Rect>& before, const std::map<NodeId, Rect>& after)
{
    int moved = 0;
    for (const auto& [id, rect] : before) {
        const auto now = after.find(id);
        moved += now != after.end() && (now->second.left != rect.left || now->second.top != rect.top) ? 1 : 0;
    }
    return moved;
}

void apply(Document& document, const Edit& edit)
{
    QVERIFY(applyEdit(document, edit).ok());
}

// Whether a level or upright piece passes through the inside of a box.
bool enters(const Rect& box, Point a, Point b)
{
    constexpr float kEdge = 0.25F;
    const Rect piece{std::min(a.x, b.x), std::min(a.y, b.y), std::max(a.x, b.x), std::max(a.y, b.y)};
    return piece.left < box.right - kEdge && piece.right > box.left + kEdge && piece.top < box.bottom - kEdge &&
           piece.bottom > box.top + kEdge;
}

int crossings(const BlockScene& scene)
{
    int count = 0;
    for (const BlockWire& wire : scene.wires()) {
        for (std::size_t i = 1; i < wire.path.size(); ++i) {
            for (const BlockNode& node : scene.nodes()) {
                count += enters(node.rect, wire.path[i - 1], wire.path[i]) ? 1 : 0;
            }
        }
    }
    return count;
}

int overlaps(const BlockScene& scene)
{
    int count = 0;
    for (const BlockNode& a : scene.nodes()) {
        for (const BlockNode& b : scene.nodes()) {
            count += a.id < b.id && a.rect.overlaps(b.rect) ? 1 : 0;
        }
    }
    return count;
}

} // namespace

class TestBlockScene : public QObject {
    Q_OBJECT
private slots:
    void everyPresetIsLaidOutUpwards_data()
    {
        QTest::addColumn<QString>("preset");
        for (const auto& preset : blockPresets()) {
            QTest::newRow(preset.name.c_str()) << QString::fromStdString(preset.name);
        }
    }
    void everyPresetIsLaidOutUpwards()
    {
        QFETCH(QString, preset);
        const BlockScene scene = sceneOf(documentWith(preset.toStdString()));
        QCOMPARE(faultsOf(scene), std::size_t(0));
        QCOMPARE(overlaps(scene), 0);
        QCOMPARE(crossings(scene), 0);
        for (const BlockWire& wire : scene.wires()) {
            QVERIFY(scene.node(wire.wire.from.node)->rect.top > scene.node(wire.wire.to.node)->rect.bottom);
            QVERIFY(!wire.shape.empty());
            QCOMPARE(wire.error, std::string());
            for (std::size_t i = 1; i < wire.path.size(); ++i) { // level or upright
                QVERIFY(wire.path[i].x == wire.path[i - 1].x || wire.path[i].y == wire.path[i - 1].y);
            }
        }
    }

    void theMainPathOfATransformerIsStraight()
    {
        const BlockScene scene = sceneOf(documentWith("transformer"));
        const float x = nodeOf(scene, "input").rect.centre().x;
        for (const char* name : {"norm_attention", "attention", "add_attention", "norm_ffn", "down", "branch"}) {
            QCOMPARE(nodeOf(scene, name).rect.centre().x, x);
        }
    }

    /// In a window of 1280 by 720 the graph has ten rows. Each node has room for letters of ten pixels.
    void aTransformerIsLegibleInASmallWindow()
    {
        constexpr float kHeight = 358 - 2 * 12; // what the docks and the fit leave
        const BlockScene scene = sceneOf(documentWith("transformer"));
        const float zoom = kHeight / scene.bounds().height();
        for (const BlockNode& node : scene.nodes()) {
            QVERIFY2(node.rect.height() * zoom >= 12, node.name.c_str());
        }
    }

    void aNodeSaysWhatItIs()
    {
        Document document = documentWith("transformer");
        const BlockScene scene = sceneOf(document);
        const BlockNode& up = nodeOf(scene, "up");
        QCOMPARE(up.kind, std::string("Linear"));
        QCOMPARE(up.detail, std::string("out 176")); // 16·⌈64/6⌉
        QCOMPARE(up.weights, std::string("11.3k"));  // 64 · 176
        const BlockNode& attention = nodeOf(scene, "attention");
        QCOMPARE(attention.detail, std::string("heads 4"));
        QVERIFY(attention.namedPorts);
        QCOMPARE(attention.inputs.size(), std::size_t(3));
        const BlockNode& add = nodeOf(scene, "add_attention"); // one more input than are wired
        QCOMPARE(add.inputs.size(), std::size_t(3));
        QCOMPARE(add.inputs.back().name, std::string("in3"));
        QVERIFY(add.inputs.back().state == BlockPort::State::Spare);
        QCOMPARE(scene.wires().front().shape, std::string("[B, T, 64]"));
    }

    /// The order of the wires in the document makes no difference.
    void aNodeWithoutAPlaceStandsAboveWhatFeedsIt()
    {
        Document document = documentWith("mlp");
        *findGraph(document.project, kShownBlock) = {
            .nodes = {{NodeId{1}, "add", "late", {}}, {NodeId{2}, "add", "fed", {}}, {NodeId{3}, "add", "feeds", {}}},
            .wires = {{{NodeId{1}, "out"}, {NodeId{2}, "in1"}}, {{NodeId{3}, "out"}, {NodeId{1}, "in1"}}}};
        document.layout.positions[kShownBlock] = {{NodeId{2}, {0, -1000}}, {NodeId{3}, {0, 0}}};
        const BlockScene scene = sceneOf(document);
        QCOMPARE(scene.wires().size(), std::size_t{2});
        const float apart = nodeOf(scene, "feeds").rect.top - nodeOf(scene, "late").rect.bottom;
        QVERIFY(apart > 0 && apart < 2 * kBlockRowGap);
    }

    void choicesSayOfWhat()
    {
        Document document = documentWith("transformer-norms-after");
        apply(document, SetParam{kShownBlock, idOf(document, "attention"), "bias", std::string("qkv")});
        QCOMPARE(nodeOf(sceneOf(document), "attention").detail, std::string("heads 4 · qk_norm all · bias qkv"));
    }

    void theFaultyWireIsNamed()
    {
        Document document = documentWith("transformer");
        apply(document, SetParam{kShownBlock, idOf(document, "gate"), "out", std::int64_t{128}});
        const BlockScene scene = sceneOf(document);
        QCOMPARE(faultsOf(scene), std::size_t(1));
        int red = 0;
        for (const BlockWire& wire : scene.wires()) {
            if (!wire.error.empty()) {
                ++red;
                QCOMPARE(wire.wire.to, (residua::projects::PortRef{idOf(document, "swiglu"), "up"}));
                QVERIFY(wire.error.find("does not match") != std::string::npos);
            }
        }
        QCOMPARE(red, 1);
        QVERIFY(!nodeOf(scene, "swiglu").error.empty());
        QVERIFY(nodeOf(scene, "down").error.empty()); // what comes after it is no fault of its own
    }

    void unchangedNodesStayUnderRandomEdits()
    {
        std::mt19937 random(residua::tests::randomSeed());
        Document document = documentWith("transformer");
        BlockScene scene = sceneOf(document);
        int edits = 0;
        for (int round = 0; round < 120; ++round) {
            const auto before = placesOf(scene);
            const auto& graph = *findGraph(document.project, kShownBlock);
            const auto anyNode = [&] { return graph.nodes[random() % graph.nodes.size()].id; };
            Edit edit =
                RemoveWire{kShownBlock, graph.wires.empty() ? Wire{} : graph.wires[random() % graph.wires.size()]};
            if (random() % 3 == 0 || graph.wires.empty()) {
                edit = AddNode{kShownBlock, {graph.nextId(), "linear", "n" + std::to_string(round), {}}, {}};
            } else if (random() % 3 == 0 && graph.nodes.size() > 2) {
                edit = RemoveNode{kShownBlock, anyNode()};
            } else if (random() % 2 == 0) {
                edit = AddWire{kShownBlock, {{anyNode(), "out"}, {anyNode(), "in1"}}};
            }
            const bool pinned = random() % 2 == 0; // as the canvas does it, or as another view
            EditGroup group{"", pinned ? keepPlaces(document, viewOf(scene)) : std::vector<Edit>{}};
            group.edits.push_back(std::move(edit));
            if (!applyEdit(document, group).ok()) {
                continue; // refused: there already
            }
            ++edits;
            scene.rebuild(document, kShownBlock);
            QCOMPARE(movedBetween(before, placesOf(scene)), 0);
            QCOMPARE(overlaps(scene), 0);
        }
        QVERIFY2(edits > 60, "more than half of what was tried");
    }

    void pinnedNodesKeepTheirPlaceWhenReopened()
    {
        Document document = documentWith("transformer");
        BlockScene scene = sceneOf(document);
        EditGroup group{"", keepPlaces(document, viewOf(scene))};
        group.edits.emplace_back(RemoveNode{kShownBlock, idOf(document, "norm_attention")});
        apply(document, group);
        scene.rebuild(document, kShownBlock);
        const BlockScene again = sceneOf(document);
        QCOMPARE(movedBetween(placesOf(scene), placesOf(again)), 0);
    }

    void takingAMoveBackPutsTheNodeBack()
    {
        Document document = documentWith("mlp");
        BlockScene scene = sceneOf(document);
        const auto before = placesOf(scene);
        const Document unmoved = document;
        apply(document, EditGroup{"", keepPlaces(document, viewOf(scene), {{idOf(document, "up"), {400, -96}}})});
        scene.rebuild(document, kShownBlock);
        QCOMPARE(nodeOf(scene, "up").rect.left, 400.0F);
        QCOMPARE(movedBetween(before, placesOf(scene)), 1);
        document = unmoved;
        scene.rebuild(document, kShownBlock);
        QCOMPARE(movedBetween(before, placesOf(scene)), 0);
    }

    void wiresGoAroundNodesWhereverTheyArePut()
    {
        std::mt19937 random(residua::tests::randomSeed());
        for (int round = 0; round < 20; ++round) {
            Document document = documentWith(round % 2 == 0 ? "transformer" : "transformer-qkv");
            std::vector<residua::projects::Box> taken;
            const BlockScene before = sceneOf(document);
            for (const BlockNode& node : before.nodes()) {
                const Point wanted{static_cast<float>(random() % 900), static_cast<float>(random() % 700)};
                const auto box = movedTo(boxOf(node.rect), positionOf(wanted));
                const Position at = freePlace(box, taken);
                taken.push_back(movedTo(box, at));
                apply(document, MoveNode{kShownBlock, node.id, at});
            }
            const BlockScene scene = sceneOf(document);
            QCOMPARE(overlaps(scene), 0);
            QCOMPARE(crossings(scene), 0);
        }
    }

    void thePointerFindsPortsNodesAndWires()
    {
        const Document document = documentWith("mlp");
        const BlockScene scene = sceneOf(document);
        const BlockNode& up = nodeOf(scene, "up");
        const BlockHit onNode = scene.hitTest(up.rect.centre(), 6);
        QVERIFY(onNode.kind == BlockHit::Kind::Node && onNode.node == up.id);
        const BlockHit onPort = scene.hitTest({up.inputs[0].at.x + 3, up.inputs[0].at.y + 3}, 6);
        QVERIFY(onPort.kind == BlockHit::Kind::Port && onPort.side == PortSide::Input && onPort.port == "in");
        const BlockWire& wire = scene.wires().front();
        const Point middle{(wire.path[0].x + wire.path[1].x) / 2, (wire.path[0].y + wire.path[1].y) / 2};
        const BlockHit onWire = scene.hitTest({middle.x + 4, middle.y}, 6);
        QVERIFY(onWire.kind == BlockHit::Kind::Wire && onWire.wire == wire.wire);
        QVERIFY(scene.hitTest({middle.x + 40, middle.y}, 6).kind == BlockHit::Kind::Nothing);
        QCOMPARE(scene.nodesIn(up.rect), std::vector<NodeId>{up.id});
        QCOMPARE(scene.nodesIn(scene.bounds()).size(), scene.nodes().size());
        QCOMPARE(scene.wiresIn(scene.bounds()).size(), scene.wires().size());
    }

    void theArrowsFollowTheWires()
    {
        const Document document = documentWith("transformer");
        const BlockScene scene = sceneOf(document);
        QCOMPARE(scene.neighbour(idOf(document, "input"), Direction::Up),
                 std::optional(idOf(document, "norm_attention")));
        QCOMPARE(scene.neighbour(idOf(document, "gate"), Direction::Right), std::optional(idOf(document, "up")));
        QCOMPARE(scene.neighbour(idOf(document, "attention"), Direction::Down),
                 std::optional(idOf(document, "norm_attention")));
        QCOMPARE(scene.neighbour(idOf(document, "input"), Direction::Down), std::nullopt);
    }

    void aCycleIsShownAndNamed()
    {
        Document document = documentWith("mlp");
        apply(document, RemoveWire{kShownBlock, {{idOf(document, "input"), "out"}, {idOf(document, "up"), "in"}}});
        apply(document, AddWire{kShownBlock, {{idOf(document, "down"), "out"}, {idOf(document, "up"), "in"}}});
        const BlockScene scene = sceneOf(document);
        QCOMPARE(crossings(scene), 0);
        QVERIFY(nodeOf(scene, "up").error.find("cycle") != std::string::npos);
    }

    /// A file may have wires to missing nodes and ports and absurd positions, which the canvas never makes.
    void danglingWiresAreLeftOut()
    {
        Document document = documentWith("mlp");
        auto& graph = *residua::projects::findGraph(document.project, kShownBlock);
        const NodeId down = idOf(document, "down");
        graph.wires.push_back({{down, "out"}, {NodeId{4000}, "in"}});
        graph.wires.push_back({{NodeId{4000}, "out"}, {down, "in"}});
        graph.wires.push_back({{down, "none"}, {down, "none"}});
        document.layout.positions[kShownBlock][down] = {1e300, -1e300};
        const BlockScene scene = sceneOf(document);
        QCOMPARE(scene.wires().size(), graph.wires.size() - 3);
        QVERIFY(scene.bounds().width() < 1e6F && scene.bounds().height() < 1e6F);
        QCOMPARE(scene.tidied().size(), graph.nodes.size());
        std::erase_if(graph.nodes, [](const Node& node) { return node.kind == "input" || node.kind == "output"; });
        QVERIFY(faultsOf(sceneOf(document)) > 0);
    }

    /// The graph is as large as a file allows, with random positions.
    void largeGraphsTakeLittleMemory()
    {
        Document document = documentWith("mlp");
        auto& graph = *residua::projects::findGraph(document.project, kShownBlock);
        graph = {};
        std::mt19937 random(residua::tests::randomSeed());
        for (std::uint32_t i = 1; i <= 1024; ++i) {
            graph.nodes.push_back({NodeId{i}, "add", "n" + std::to_string(i), {}});
            document.layout.positions[kShownBlock][NodeId{i}] = {random() % 100000 / 7.0, random() % 100000 / 7.0};
            for (std::uint32_t from : {1U, i / 2, i - 1, i - 2}) {
                if (from >= 1 && from < i) {
                    graph.wires.push_back({{NodeId{from}, "out"}, {NodeId{i}, "in" + std::to_string(from % 9 + 1)}});
                }
            }
        }
        std::ranges::sort(graph.wires);
        const BlockScene scene = sceneOf(document);
        QCOMPARE(scene.nodes().size(), std::size_t{1024});
        QCOMPARE(scene.wires().front().path.size(), std::size_t{2}); // straight: ways would take too long
        QCOMPARE(scene.tidied().size(), std::size_t{1024});
    }
};

RESIDUA_TEST(TestBlockScene)
#include "tst_block_scene.moc"
