// SPDX-License-Identifier: GPL-3.0-or-later
// What the commands of the block canvas ask for: each is one named edit that can be taken back.
#include "editor/block/block_desk.h"
#include "projects/library/presets.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>

using namespace residua::editor;
using residua::projects::Alignment;
using residua::projects::applyEdit;
using residua::projects::Block;
using residua::projects::blockPresets;
using residua::projects::Document;
using residua::projects::Edit;
using residua::projects::findGraph;
using residua::projects::Graph;
using residua::projects::GraphRef;
using residua::projects::Node;
using residua::projects::NodeId;
using residua::projects::PortRef;
using residua::projects::PortSide;
using residua::projects::Selection;
using residua::projects::Wire;
using residua::projects::WireEnd;

namespace {

const GraphRef kRef = "block:b";
constexpr Rect kSeen{-2000, -2000, 2000, 2000};

/// A document, a desk that shows it, and what the desk asked for last.
struct Bench {
    explicit Bench(const std::string& preset)
    {
        document.project.network.width = 64;
        const auto& presets = blockPresets();
        const auto found = std::ranges::find(presets, preset, &residua::projects::BlockPreset::name);
        document.project.network.blocks.push_back(Block{"b", preset, found->graph});
        document.project.network.stack = {{"b", 4}};
        desk.setDocument(document);
    }

    const Graph& graph() const { return *findGraph(document.project, kRef); }
    NodeId id(const std::string& name) const { return std::ranges::find(graph().nodes, name, &Node::name)->id; }
    bool has(const std::string& name) const
    {
        return std::ranges::find(graph().nodes, name, &Node::name) != graph().nodes.end();
    }
    Rect rect(const std::string& name) const { return desk.scene().node(id(name))->rect; }

    /// Performs the one edit that was asked for; checks that its inverse brings everything back.
    void perform(const std::string& title)
    {
        std::vector<Edit> edits;
        for (const Request& request : desk.takeRequests()) {
            if (const auto* edit = std::get_if<RequestEdit>(&request)) {
                edits.push_back(edit->edit);
            }
        }
        QCOMPARE(edits.size(), std::size_t(1));
        QCOMPARE(titleOf(edits.front()), title);
        const Document before = document;
        auto inverse = applyEdit(document, edits.front());
        QVERIFY2(inverse.ok(), inverse ? "" : inverse.error().text().c_str());
        const Document after = document;
        auto again = applyEdit(document, *inverse);
        QVERIFY(again.ok());
        QVERIFY(document == before);
        QVERIFY(applyEdit(document, *again).ok());
        QVERIFY(document == after);
        desk.setDocument(document);
    }

    /// The requests so far.
    void forget() { (void)desk.takeRequests(); }

    Document document;
    BlockDesk desk;
};

} // namespace

class TestBlockDesk : public QObject {
    Q_OBJECT
private slots:
    void itOpensWhatTheSelectionMeans()
    {
        Bench bench("mlp");
        QCOMPARE(bench.desk.ref(), kRef);
        Selection selection;
        selection.layers = {0};
        bench.desk.setSelection(selection);
        QCOMPARE(bench.desk.ref(), GraphRef("stem"));
        selection.layers = {3};
        bench.desk.setSelection(selection);
        QCOMPARE(bench.desk.ref(), kRef);
        selection.graph = "head";
        bench.desk.setSelection(selection);
        QCOMPARE(bench.desk.ref(), GraphRef("head"));
        selection.layers = {1, 2};
        selection.graph = "";
        bench.desk.setSelection(selection); // means no one graph: stays
        QCOMPARE(bench.desk.ref(), GraphRef("head"));
    }

    void aRenamedBlockStaysOpen()
    {
        Bench bench("mlp");
        QVERIFY(applyEdit(bench.document, residua::projects::RenameBlock{"b", "c"}).ok());
        bench.desk.setDocument(bench.document);
        QCOMPARE(bench.desk.ref(), GraphRef("block:c"));
    }

    void anUnchangedDocumentIsNoNews()
    {
        Bench bench("mlp");
        QVERIFY(!bench.desk.setDocument(bench.document));
    }

    void aNodeIsAddedAndWired()
    {
        Bench bench("mlp");
        bench.desk.add({.kind = "rms_norm", .title = {}, .summary = {}}, {0, 0},
                       WireEnd{{bench.id("input"), "out"}, PortSide::Output});
        bench.perform("Add rms_norm");
        QCOMPARE(bench.desk.selection().nodes, std::set<NodeId>{bench.id("rms_norm")});
        QVERIFY(bench.desk.scene().wire({{bench.id("input"), "out"}, {bench.id("rms_norm"), "in"}}) != nullptr);

        bench.desk.connect({{bench.id("rms_norm"), "out"}, {bench.id("up"), "in"}}, std::nullopt);
        bench.perform("Wire rms_norm to up"); // in place of the wire from the input
        QVERIFY(bench.desk.scene().wire({{bench.id("input"), "out"}, {bench.id("up"), "in"}}) == nullptr);
        QCOMPARE(bench.desk.scene().faults(), std::size_t(0));
    }

    void theOtherWayRoundToo()
    {
        Bench bench("mlp");
        bench.desk.takeOut({{bench.id("input"), "out"}, {bench.id("up"), "in"}});
        bench.perform("Take out wire input to up");
        bench.desk.add({.kind = "layer_norm", .title = {}, .summary = {}}, {300, 0},
                       WireEnd{{bench.id("up"), "in"}, PortSide::Input});
        bench.perform("Add layer_norm");
        QVERIFY(bench.desk.scene().wire({{bench.id("layer_norm"), "out"}, {bench.id("up"), "in"}}) != nullptr);
    }

    void aWireThatIsPickedUpGoesWithItsOldPlace()
    {
        Bench bench("transformer");
        const Wire old{{bench.id("norm_ffn"), "out"}, {bench.id("up"), "in"}};
        const Wire wire{{bench.id("norm_ffn"), "out"}, {bench.id("down"), "in"}};
        bench.desk.connect(wire, old);
        bench.perform("Wire norm_ffn to down");
        QVERIFY(bench.desk.scene().wire(wire) != nullptr);
        QVERIFY(bench.desk.scene().wire(old) == nullptr);
    }

    void deletingTakesNodesWithTheirWires()
    {
        Bench bench("transformer");
        const Wire lone{{bench.id("input"), "out"}, {bench.id("norm_attention"), "in"}};
        bench.desk.select({bench.id("gate"), bench.id("up")}, {lone});
        bench.forget();
        bench.desk.remove();
        bench.perform("Delete 2 nodes");
        QVERIFY(!bench.has("gate") && !bench.has("up"));
        QVERIFY(bench.desk.scene().wire(lone) == nullptr);
        bench.desk.remove(); // nothing is selected
        QVERIFY(bench.desk.takeRequests().empty());
    }

    void copiesHaveNamesWiresAndSharedWeightsOfTheirOwn()
    {
        Bench bench("transformer-qkv");
        bench.desk.select({bench.id("norm_q"), bench.id("norm_k"), bench.id("attention")});
        bench.forget();
        bench.desk.duplicate(kSeen);
        bench.perform("Duplicate 3 nodes");
        QVERIFY(bench.desk.scene().wire({{bench.id("norm_k2"), "out"}, {bench.id("attention2"), "k"}}) != nullptr);
        const auto& params = bench.graph().find(bench.id("norm_k2"))->params;
        QCOMPARE(std::get<std::string>(params.at("share")), std::string("norm_q2"));
        for (const BlockNode& a : bench.desk.scene().nodes()) {
            for (const BlockNode& b : bench.desk.scene().nodes()) {
                QVERIFY(a.id == b.id || !a.rect.overlaps(b.rect));
            }
        }
        QVERIFY(!bench.desk.paste("no nodes", kSeen).ok());
        QVERIFY(bench.desk.paste(bench.desk.copied(), kSeen).ok()); // of the copies, which are selected now
        bench.perform("Paste 3 nodes");
        QVERIFY(bench.has("norm_k3") && bench.has("attention3"));
    }

    void nodesAreAlignedAndTidied()
    {
        Bench bench("transformer");
        bench.desk.select({bench.id("gate"), bench.id("up")});
        bench.forget();
        bench.desk.align(Alignment::Top);
        bench.perform("Align 2 nodes");
        QCOMPARE(bench.rect("gate").top, bench.rect("up").top);
        bench.desk.scene().shift({bench.id("gate")}, {-160, -80});
        bench.desk.moveSelected();
        bench.perform("Move 2 nodes");
        const Rect moved = bench.rect("gate");
        bench.desk.tidy();
        bench.perform("Tidy up");
        QVERIFY(bench.rect("gate").left != moved.left);
        QCOMPARE(bench.rect("gate").top, bench.rect("up").top);
    }

    void theArrowsSelectAlongTheWires()
    {
        Bench bench("mlp");
        bench.desk.step(Direction::Up); // begins at the first node
        QCOMPARE(bench.desk.selection().nodes, std::set<NodeId>{bench.id("input")});
        bench.desk.step(Direction::Up);
        QCOMPARE(bench.desk.selection().nodes, std::set<NodeId>{bench.id("up")});
        bench.desk.step(Direction::Down);
        QCOMPARE(bench.desk.selection().nodes, std::set<NodeId>{bench.id("input")});
    }
};

RESIDUA_TEST(TestBlockDesk)
#include "tst_block_desk.moc"
