// SPDX-License-Identifier: GPL-3.0-or-later
// The results of the commands for a document and a selection, without a view.
#include "projects/check/validate.h"
#include "projects/commands/commands.h"
#include "projects/commands/graph_commands.h"
#include "projects/commands/typing.h"
#include "projects/depth/depth_names.h"
#include "projects/graphs/node_places.h"
#include "projects/layers/shortcut_cost.h"
#include "projects/layers/shortcut_edits.h"
#include "projects/library/presets.h"
#include "projects/model/data_source.h"
#include "projects/nodes/example_schema.h"
#include "projects/shipped/examples.h"
#include "tests/projects/commands/changed_document.h"
#include "tests/projects/mix_of.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>

using namespace residua;
using namespace residua::projects;
using residua::tests::blockOf;
using residua::tests::isListed;
using residua::tests::mixOf;
using residua::tests::perform;

namespace {

const GraphRef kRef = GraphRef::block("b");

const Graph& graphOf(const Document& document)
{
    return *findGraph(document.project, kRef);
}

NodeId idOf(const Document& document, const std::string& name)
{
    return std::ranges::find(graphOf(document).nodes, name, &Node::name)->id;
}

bool has(const Document& document, const std::string& name)
{
    return std::ranges::find(graphOf(document).nodes, name, &Node::name) != graphOf(document).nodes.end();
}

/// The nodes one above the other, as a view might show them.
GraphView viewOf(const Document& document)
{
    GraphView view{kRef, {}, Box{-1000, -1000, 1000, 1000}};
    double top = 0;
    for (const Node& node : graphOf(document).nodes) {
        view.boxes.emplace(node.id, Box{0, top, kNodeWidth, top + kNodeHeight});
        top -= 2 * kNodeHeight;
    }
    return view;
}

} // namespace

class TestCommands : public QObject {
    Q_OBJECT

private slots:
    void deleteTakesNodesShortcutsOrLayers()
    {
        Document document = blockOf("transformer");
        const Wire lone{{idOf(document, "input"), "out"}, {idOf(document, "norm_attention"), "in"}};
        const Selection nodes{.nodes = {idOf(document, "gate"), idOf(document, "up")}, .wires = {lone}, .graph = kRef};
        const auto withoutNodes = deleteSelection(document, nodes);
        perform(document, withoutNodes);
        QCOMPARE(titleOf(withoutNodes->edit), std::string("Delete 2 nodes"));
        QVERIFY(!has(document, "gate") && !has(document, "up"));
        QVERIFY(std::ranges::find(graphOf(document).wires, lone) == graphOf(document).wires.end());
        QCOMPARE(withoutNodes->selection, std::optional(Selection{.graph = kRef}));

        // Shortcuts are pruned; layers that are selected with them stay.
        perform(document, deleteSelection(document, {.layers = {2}, .shortcuts = {{1, 3}}}));
        QCOMPARE(mixOf(document.project).states.at({1, 3}), ShortcutState::Pruned);
        QCOMPARE(document.project.network.depth(), std::int64_t{4});
        perform(document, deleteSelection(document, {.layers = {2}}));
        QCOMPARE(document.project.network.depth(), std::int64_t{3});
    }

    void deleteSaysWhyThereIsNothingToBeDone()
    {
        Document document = blockOf("mlp");
        QCOMPARE(deleteSelection(document, {}).error().message, std::string("nothing is selected"));
        QVERIFY(!deleteSelection(document, {.layers = {0}}).ok()); // the stem stays
        QVERIFY(!deleteSelection(document, {.shortcuts = {{3, 9}}}).ok());
        QVERIFY(!deleteSelection(document, {.graph = kRef}).ok());
        document.project.stack().topology = {};
        const Selection step{.shortcuts = {{1, 2}}};
        const auto refused = deleteSelection(document, step);
        QVERIFY(refused.error().message.find("running sum") != std::string::npos);
        QVERIFY(!toggleFrozen(document, step).ok());
        QVERIFY(pruneShortcuts(document, step).ok()); // the matrix shows the terms of the sum
    }

    void shortcutsAreFrozenAndThawed()
    {
        Document document = blockOf("mlp");
        const Selection two{.shortcuts = {{0, 2}, {1, 3}}};
        perform(document, toggleFrozen(document, {.shortcuts = {{0, 2}}}));
        perform(document, toggleFrozen(document, two)); // not all are
        QCOMPARE(mixOf(document.project).states.size(), std::size_t{2});
        const auto thaw = toggleFrozen(document, two);
        perform(document, thaw);
        QVERIFY(mixOf(document.project).states.empty());
        QVERIFY(!thaw->selection); // as before
        QVERIFY(!toggleFrozen(document, {}).ok());
    }

    /// The inspector sets states in the same way as the keys.
    void aStateIsSetAsItsKeyDoesIt()
    {
        Document document = blockOf("mlp");
        DepthMix& mix = std::get<DepthMix>(document.project.stack().topology.wiring);
        const Selection shortcut{.shortcuts = {{0, 2}}};
        const auto set = [&](std::optional<ShortcutState> state) {
            return setShortcutState(document.project, shortcut, state);
        };
        perform(document, set(ShortcutState::Frozen));
        QVERIFY(!set(ShortcutState::Frozen).ok()); // is so already
        QVERIFY(mix.states.at({0, 2}) == ShortcutState::Frozen);
        perform(document, set(std::nullopt));
        QVERIFY(mix.states.empty());
        perform(document, set(ShortcutState::Pruned));
        QVERIFY(mix.states.at({0, 2}) == ShortcutState::Pruned);

        mix.states.clear();
        mix.sources = ExplicitSources{{{0, 1}, {0, 2}, {1, 2}}};
        perform(document, set(ShortcutState::Pruned)); // taken out of the list
        QVERIFY(mix.states.empty());
        QCOMPARE(std::get<ExplicitSources>(mix.sources).shortcuts.size(), std::size_t{2});

        document.project.stack().topology = {};
        const Selection step{.shortcuts = {{1, 2}}}; // of the stream
        QVERIFY(!setShortcutState(document.project, step, ShortcutState::Pruned).ok());
        QVERIFY(!setShortcutState(document.project, step, ShortcutState::Frozen).ok());
        perform(document, setShortcutState(document.project, step, ShortcutState::Learned));
        QVERIFY(isRunningSum(mixOf(document.project)));
        perform(document, setShortcutState(document.project, step, ShortcutState::Frozen)); // the fixed weight again
        QVERIFY(document.project.stack().topology == Topology{});
    }

    /// The result is the plain network with one long shortcut that has its own weight.
    void aShortcutIsDrawnIntoARunningSum()
    {
        Document document = blockOf("mlp");
        document.project.stack().topology = {};
        const Shortcut drawn{1, 3};
        const auto added = addEdit(document.project, {drawn, {2, 3}});
        QVERIFY(added.has_value());
        perform(document, DocumentChange{*added});
        QVERIFY(isRunningSum(mixOf(document.project)));
        QVERIFY(!addEdit(document.project, {drawn}).has_value()); // is there already
        std::vector<Shortcut> learned;
        for (const DrawnShortcut& each : drawnShortcuts(mixOf(document.project), 4)) {
            if (each.kind == ShortcutKind::Learned) {
                learned.push_back(each.shortcut);
            } else {
                QVERIFY(each.kind == ShortcutKind::Stream);
            }
        }
        QCOMPARE(learned, (std::vector<Shortcut>{drawn, {2, 3}}));
        QVERIFY(!deleteSelection(document, {.shortcuts = {drawn, {0, 1}}}).ok());
        perform(document, toggleFrozen(document, {.shortcuts = {{2, 3}}})); // fixed again
        perform(document, deleteSelection(document, {.shortcuts = {drawn}}));
        QVERIFY(document.project.stack().topology == Topology{});
    }

    /// In DenseFormer, a layer off the period reads the newest entry without a weight.
    void unweightedPassesAreStepsOfTheStream()
    {
        DepthMix mix;
        mix.entry = StackEntry::Full;
        mix.weight = WeightKind::Scalar;
        mix.sources = Dilated{1, 2, DilatedReaders::OnPeriod};
        std::vector<Shortcut> steps;
        for (const DrawnShortcut& each : drawnShortcuts(mix, 4)) {
            if (each.kind == ShortcutKind::Stream) {
                steps.push_back(each.shortcut);
            }
        }
        QCOMPARE(steps, (std::vector<Shortcut>{{0, 1}, {1, 2}, {3, 4}}));
        Document document = blockOf("mlp");
        document.project.stack().segments = {{document.project.network.blocks.front().name, 4}};
        document.project.stack().topology = {"denseformer", mix};
        QVERIFY(!deleteSelection(document, {.shortcuts = {{1, 2}}}).ok()); // it has no weight
        perform(document, DocumentChange{*addEdit(document.project, {{1, 2}})});
        for (const DrawnShortcut& each : drawnShortcuts(mixOf(document.project), 4)) {
            QVERIFY(each.shortcut != (Shortcut{1, 2}) || each.kind == ShortcutKind::Learned);
        }
    }

    void addedShortcutsAreSelected()
    {
        Document document = blockOf("mlp");
        const std::set<Shortcut> two{{0, 2}, {1, 3}};
        perform(document, pruneShortcuts(document, {.shortcuts = two}));
        const auto added = addShortcuts(document, {{0, 2}, {0, 3}, {1, 3}});
        perform(document, added);
        QVERIFY(mixOf(document.project).states.empty());
        QCOMPARE(added->selection->shortcuts, (std::set<Shortcut>{{0, 2}, {0, 3}, {1, 3}}));
        QVERIFY(!addShortcuts(document, two).ok()); // all are there
        QVERIFY(!addShortcuts(document, {}).ok());
    }

    void aShortcutIsCheckedBeforeItIsDrawn()
    {
        Document document = blockOf("mlp");
        const auto check = [&document](const Shortcut& shortcut) {
            return checkShortcut(document.project, std::nullopt, shortcut);
        };
        QVERIFY(!check({3, 1}).possible && !check({3, 1}).adding);
        QVERIFY(!check({0, 3}).possible && check({0, 3}).adding == Adding::Nothing);
        perform(document, pruneShortcuts(document, {.shortcuts = {{0, 3}}}));
        QVERIFY(check({0, 3}).possible && check({0, 3}).adding == Adding::Back);
        QVERIFY(check({0, 3}).costs.empty());
        document.project.stack().topology = {};
        QVERIFY(check({0, 3}).possible && check({0, 3}).adding == Adding::Weight);
        std::get<DepthMix>(document.project.stack().topology.wiring).sources = ExplicitSources{{{0, 1}}};
        QVERIFY(check({0, 3}).possible && check({0, 3}).adding == Adding::New);
        QCOMPARE(check({0, 3}).costs.size(), std::size_t{1}); // not known without a sound project
        QVERIFY(!check({0, 9}).possible);
        document.project.stack().topology.wiring = Concatenation{};
        QVERIFY(!check({0, 3}).possible);
    }

    void aWireThatIsLetGoOnANodeHasAPort()
    {
        Document document = blockOf("mlp");
        Graph& graph = *findGraph(document.project, kRef);
        const Node sum = newNode(graph, "add");
        graph.nodes.push_back(sum);
        const auto port = [&](NodeId node, PortSide side) {
            const auto found = portFor(graph, node, side);
            return found ? found->port : std::string();
        };
        const PortRef from{idOf(document, "input"), "out"};
        QCOMPARE(port(sum.id, PortSide::Input), std::string("in1"));
        graph.wires.push_back({from, {sum.id, "in1"}});
        QCOMPARE(port(sum.id, PortSide::Input), std::string("in2"));
        graph.wires.push_back({from, {sum.id, "in2"}});
        QCOMPARE(port(sum.id, PortSide::Input), std::string("in3"));              // it takes any number
        QCOMPARE(port(idOf(document, "up"), PortSide::Input), std::string("in")); // though it is wired
        QCOMPARE(port(sum.id, PortSide::Output), std::string("out"));
        QCOMPARE(port(from.node, PortSide::Input), std::string());
        QCOMPARE(port(graph.nextId(), PortSide::Output), std::string());
    }

    void nodesThatStayKeepTheirPlaces()
    {
        Document document = blockOf("mlp");
        const GraphView seen = viewOf(document);
        const NodeId up = idOf(document, "up");
        const NodeId down = idOf(document, "down");
        perform(document, deleteSelection(document, {.nodes = {up}, .graph = kRef}, seen));
        const auto& places = document.layout.positions.at(kRef);
        QCOMPARE(places.at(down), seen.boxes.at(down).corner());
        QVERIFY(!places.contains(up));
        QVERIFY(keepPlaces(document, viewOf(document)).empty()); // all have one now
    }

    /// Inspector and palette do not know positions. Their edits are extended to keep them.
    void anyEditOfWiresCanKeepThePlaces()
    {
        Document document = blockOf("mlp");
        const GraphView seen = viewOf(document);
        const NodeId up = idOf(document, "up");
        const Edit param = SetParam{kRef, up, "bias", true};
        QVERIFY(std::holds_alternative<SetParam>(keepingPlaces(document, param, seen)));
        const Wire wire = graphOf(document).wires.front();
        const Edit wired = EditGroup{"Wire it", {RemoveWire{kRef, wire}}};
        GraphView other = seen;
        other.graph = GraphRef::head();
        QCOMPARE(std::get<EditGroup>(keepingPlaces(document, wired, other)).edits.size(), std::size_t{1});
        const Edit kept = keepingPlaces(document, wired, seen);
        QCOMPARE(titleOf(kept), std::string("Wire it"));
        perform(document, DocumentChange{kept});
        for (const auto& [id, box] : seen.boxes) {
            QCOMPARE(document.layout.positions.at(kRef).at(id), box.corner());
        }
    }

    /// If no view shows the graph, the automatic layout places the node.
    void aNodeIsAddedWithoutASpot()
    {
        Document document = blockOf("mlp");
        const auto added = addNode(document, {.kind = "up", .title = {}, .summary = {}}, std::nullopt, {kRef, {}, {}});
        QVERIFY(!added.ok());
        const auto change =
            addNode(document, {.kind = "rms_norm", .title = {}, .summary = {}}, std::nullopt, {kRef, {}, {}});
        perform(document, change);
        QCOMPARE(change->selection->nodes, std::set<NodeId>{idOf(document, "rms_norm")});
        QVERIFY(document.layout.positions.empty());
    }

    void copiesHaveNamesWiresAndSharedWeightsOfTheirOwn()
    {
        Document document = blockOf("transformer-qkv");
        const Selection three{
            .nodes = {idOf(document, "norm_q"), idOf(document, "norm_k"), idOf(document, "attention")}, .graph = kRef};
        GraphView seen = viewOf(document);
        const auto twice = duplicateSelection(document, three, seen);
        perform(document, twice);
        QCOMPARE(titleOf(twice->edit), std::string("Duplicate 3 nodes"));
        const Wire copy{{idOf(document, "norm_k2"), "out"}, {idOf(document, "attention2"), "k"}};
        QVERIFY(std::ranges::find(graphOf(document).wires, copy) != graphOf(document).wires.end());
        QCOMPARE(std::get<std::string>(graphOf(document).find(idOf(document, "norm_k2"))->params.at("share")),
                 std::string("norm_q2"));

        const std::string text = copied(document, *twice->selection, seen);
        QVERIFY(!paste(document, {.graph = kRef}, "no nodes", seen).ok());
        seen.inSight = Box{5000, 5000, 5400, 5400}; // elsewhere than where they were copied
        perform(document, paste(document, {.graph = kRef}, text, seen));
        const Position at = document.layout.positions.at(kRef).at(idOf(document, "attention3"));
        QVERIFY(at.x > 4000 && at.y > 4000);
        QVERIFY(!paste(document, {}, text).ok()); // nodes are no layers
        QVERIFY(copied(document, {}).empty());
    }

    void shortcutsAreDuplicatedOneLayerOn()
    {
        Document document = blockOf("mlp");
        std::get<DepthMix>(document.project.stack().topology.wiring).sources =
            ExplicitSources{{{0, 1}, {0, 2}, {1, 2}, {2, 3}, {3, 4}}};
        perform(document, duplicateSelection(document, {.shortcuts = {{0, 2}}}));
        QVERIFY(std::ranges::count(std::get<ExplicitSources>(mixOf(document.project).sources).shortcuts,
                                   Shortcut{1, 3}) == 1);
        perform(document, duplicateSelection(document, {.layers = {1, 2}}));
        QCOMPARE(document.project.network.depth(), std::int64_t{6});
        QVERIFY(!duplicateSelection(document, {}).ok());
    }

    void aNodeThatIsTypedIsWiredToWhereItWasAsked()
    {
        Document document = blockOf("mlp");
        const NodeSpot spot{{300, -40}, WireEnd{{idOf(document, "input"), "out"}, PortSide::Output}};
        const Typed typed = typedNode(document, "rms", spot, viewOf(document));
        QVERIFY(typed.answer.valid);
        perform(document, *typed.change);
        const NodeId norm = idOf(document, "rms_norm");
        QCOMPARE(typed.change->selection->nodes, std::set<NodeId>{norm});
        const Wire wire{{idOf(document, "input"), "out"}, {norm, "in"}};
        QVERIFY(std::ranges::find(graphOf(document).wires, wire) != graphOf(document).wires.end());
        const Box box = movedTo({0, 0, kNodeWidth, kNodeHeight}, document.layout.positions.at(kRef).at(norm));
        for (const auto& [id, other] : viewOf(blockOf("mlp")).boxes) {
            QVERIFY(!box.overlaps(other));
        }
        QVERIFY(!typedNode(document, "no such thing", spot, viewOf(document)).answer.valid);
    }

    void nodesAreAligned()
    {
        Document document = blockOf("mlp");
        GraphView seen = viewOf(document);
        const Selection two{.nodes = {idOf(document, "up"), idOf(document, "down")}, .graph = kRef};
        perform(document, alignNodes(document, two, Alignment::Top, seen));
        const auto& places = document.layout.positions.at(kRef);
        QCOMPARE(places.at(idOf(document, "up")).y, places.at(idOf(document, "down")).y);
        QVERIFY(!alignNodes(document, {.nodes = {idOf(document, "up")}, .graph = kRef}, Alignment::Top, seen).ok());
    }

    void aFreePlaceIsNearAndOnTheGrid()
    {
        const Box wanted = nodeBoxAround({101, 51});
        QVERIFY(wanted.contains({101, 51}));
        const Position alone = freePlace(wanted, {});
        QVERIFY(std::abs(alone.x - wanted.left) <= kNodeGrid / 2 && std::abs(alone.y - wanted.top) <= kNodeGrid / 2);
        const Position beside = freePlace(wanted, {wanted});
        QVERIFY(!movedTo(wanted, beside).overlaps(wanted));
        QCOMPARE(beside.x - kNodeGrid * std::round(beside.x / kNodeGrid), 0.0);
    }

    void everythingIsWhatAViewShows()
    {
        Document document = blockOf("mlp");
        std::get<DepthMix>(document.project.stack().topology.wiring).states[{0, 2}] = ShortcutState::Pruned;
        const Selection all = wholeStack(document.project);
        QCOMPARE(all.layers.size(), std::size_t{6}); // with stem and head
        QCOMPARE(all.shortcuts.size(), std::size_t{15});
        QCOMPARE(everyShortcut(document.project).shortcuts.size(), std::size_t{14}); // one is not read
        QVERIFY(everyShortcut(document.project).layers.empty());
        QCOMPARE(everyNode(document.project, kRef).nodes.size(), graphOf(document).nodes.size());
        document.project.stack().topology = {};
        QCOMPARE(wholeStack(document.project).shortcuts.size(), std::size_t{5}); // the steps of the stream
    }

    void aSelectionIsCutToWhatAViewShows()
    {
        const Document document = blockOf("mlp");
        const NodeId up = idOf(document, "up");
        const Selection both{.layers = {2}, .shortcuts = {{0, 1}}, .nodes = {up}, .graph = kRef};
        QCOMPARE(partOfStack(both), (Selection{.layers = {2}, .shortcuts = {{0, 1}}}));
        QCOMPARE(partOfGraph(both, kRef), (Selection{.nodes = {up}, .graph = kRef}));
        QCOMPARE(partOfGraph(both, GraphRef::stem()), (Selection{.graph = GraphRef::stem()}));
        Selection gone = both;
        gone.layers.insert(9);
        gone.shortcuts.insert({4, 9});
        gone.nodes.insert(NodeId{999});
        QCOMPARE(existing(document.project, gone), both);
        gone.graph = GraphRef::block("gone");
        QCOMPARE(existing(document.project, gone), partOfStack(both));
    }

    void aWireIsCheckedBeforeItIsDrawn()
    {
        const Document document = blockOf("transformer");
        const auto check = [&](const char* from, const char* to, const char* port) {
            return checkWire(document.project, kRef, {{idOf(document, from), "out"}, {idOf(document, to), port}});
        };
        const WireCheck good = check("input", "norm_ffn", "in");
        QVERIFY(good.possible && good.fits);
        QCOMPARE(good.carries, std::string("[batch, time, 64]"));
        QVERIFY(good.message.find("instead of add_attention.out") != std::string::npos);
        const WireCheck wide = check("up", "branch", "in3");
        QVERIFY(wide.possible && !wide.fits);
        QVERIFY(wide.message.find("176") != std::string::npos);
        const WireCheck round = check("down", "norm_ffn", "in");
        QVERIFY(!round.possible);
        QVERIFY(round.message.find("cycle") != std::string::npos);
        QVERIFY(!check("up", "up", "in").possible);
        QVERIFY(!check("input", "norm_attention", "in").possible); // is there
    }

    void nodesAreFoundByWhatIsTyped()
    {
        QVERIFY(offersFor("").size() > 10);
        QCOMPARE(offersFor("  GELU ").front().kind, std::string("activation"));
        QCOMPARE(std::get<std::string>(offersFor("tanh").front().params.at("function")), std::string("tanh"));
        QCOMPARE(offersFor("rms").front().kind, std::string("rms_norm"));
        QCOMPARE(offersFor("linear").front().kind, std::string("linear"));
        QVERIFY(offersFor("no such thing").empty());
        const auto offers = offersFor("x * sigmoid(y)");
        QCOMPARE(offers.size(), std::size_t(1));
        QCOMPARE(std::get<std::string>(offers.front().params.at("formula")), std::string("x * sigmoid(y)"));
        QVERIFY(offersFor("x * (").empty());
    }

    /// One edit gives the document of a single source another tokeniser.
    void aTextIsCutByAnotherTokeniser()
    {
        const Tokeniser learned{TokeniserKind::SentencePiece, "text.model", 300};
        const Source sources[] = {TextData{.path = "t.txt", .tokeniser = {}},
                                  JsonLinesData{.path = "d.jsonl", .field = "body", .tokeniser = {}}};
        for (const Source& source : sources) {
            Document document{findExample("plain-language")->project, {}};
            document.project.data.source = source;
            const auto edit = useTokeniser(document.project, learned);
            QVERIFY(edit);
            QVERIFY(applyEdit(document, *edit));
            QCOMPARE(*tokeniserOf(document.project.data.source), learned);
            QCOMPARE(examplesOf(document.project.data).input().vocabulary, std::int64_t{300});
            QVERIFY(!hasErrors(validate(document.project)));
        }
        const auto generated = useTokeniser(findExample("plain-language")->project, learned);
        QVERIFY(generated.error().text().find("neither a text nor JSON Lines") != std::string::npos);
    }
};

RESIDUA_TEST(TestCommands)
#include "tst_commands.moc"
