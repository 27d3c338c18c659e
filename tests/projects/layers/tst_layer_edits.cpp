// SPDX-License-Identifier: GPL-3.0-or-later
// Layers and shortcuts copied, pasted, removed, named and typed: what the edits leave of the document.
#include "projects/check/validate.h"
#include "projects/commands/commands.h"
#include "projects/commands/typing.h"
#include "projects/depth/depth_names.h"
#include "projects/layers/layer_edits.h"
#include "projects/shipped/examples.h"
#include "tests/projects/mix_of.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <limits>

using namespace residua;
using namespace residua::projects;
using residua::tests::mixOf;

namespace {

Document stackOf(std::vector<StackSegment> stack, std::vector<Shortcut> shortcuts)
{
    Document document{findExample("linear-ancre")->project, {}};
    auto& network = document.project.network;
    network.blocks.resize(1);
    network.blocks.front().name = "a";
    network.blocks.push_back({"b", "", network.blocks.front().graph});
    network.stack().segments = std::move(stack);
    DepthMix mix;
    mix.weight = WeightKind::Scalar;
    std::sort(shortcuts.begin(), shortcuts.end());
    mix.sources = ExplicitSources{std::move(shortcuts)};
    document.project.stack().topology.wiring = std::move(mix);
    return document;
}

const std::vector<Shortcut>& sourcesOf(const Document& document)
{
    return std::get<ExplicitSources>(mixOf(document.project).sources).shortcuts;
}

void perform(Document& document, const Edit& edit)
{
    const Status applied = applyEdit(document, edit);
    QVERIFY2(applied.ok(), applied ? "" : applied.error().text().c_str());
}

} // namespace

class TestLayerEdits : public QObject {
    Q_OBJECT

private slots:
    /// Layers 1, 2@1, 3@1, 2@2, 3@2, 4, with shortcuts into the second visit and the last layer.
    void editsOfLoops()
    {
        Document document =
            stackOf({{"a", 4}}, {{0, 1}, {1, 2}, {2, 3}, {1, 4}, {3, 4}, {4, 5}, {2, 6}, {5, 6}, {6, 7}});
        document.project.stack().loops = {{.first = 2, .last = 3, .visits = 2}};
        document.layout.groups = {{"second", 4, 5}};
        QCOMPARE(document.project.network.depth(), std::int64_t{6});
        QCOMPARE(moduleName(document.project, 5), std::string("3@2"));

        Document more = document;
        std::vector<Loop> loops = document.project.stack().loops;
        loops.front().visits = 3;
        perform(more, loopsEdit(more, loops, "Visits"));
        // 1, 2@1, 3@1, 2@2, 3@2, 2@3, 3@3, 4: 1:2, 2:3, 3:2 and 3:4 were at every visit, 2@1:4 was not.
        QCOMPARE(sourcesOf(more),
                 (std::vector<Shortcut>{
                     {0, 1}, {1, 2}, {2, 3}, {1, 4}, {3, 4}, {4, 5}, {1, 6}, {5, 6}, {6, 7}, {2, 8}, {7, 8}, {8, 9}}));
        loops.front().visits = 2;
        perform(more, loopsEdit(more, loops, "Visits"));
        QCOMPARE(more.project, document.project);
        QCOMPARE(more.layout.groups, document.layout.groups);

        // The second visit of layer 3 is removed with the first.
        Document fewer = document;
        perform(fewer, *removeLayersEdit(fewer, {5}));
        QCOMPARE(fewer.project.network.depth(), std::int64_t{4}); // 1, 2@1, 2@2, 4
        QCOMPARE(fewer.project.stack().loops.front(), (Loop{.first = 2, .last = 2, .visits = 2}));
        QCOMPARE(sourcesOf(fewer), (std::vector<Shortcut>{{0, 1}, {1, 2}, {1, 3}, {2, 4}, {4, 5}}));
        QCOMPARE(fewer.layout.groups, (std::vector<LayerGroup>{{"second", 3, 3}}));

        // After the last visit, a layer is outside the loop; within, it belongs to it.
        const StackFragment one{{document.project.network.blocks[1]}, {{"b", 1}}, {}, {}};
        Document behind = document;
        perform(behind, insertLayersEdit(behind, 5, one));
        QCOMPARE(behind.project.stack().loops.front().last, std::int64_t{3});
        QCOMPARE(behind.project.network.depth(), std::int64_t{7});
        Document inside = document;
        perform(inside, insertLayersEdit(inside, 3, one));
        QCOMPARE(inside.project.stack().loops.front().last, std::int64_t{4});
        QCOMPARE(inside.project.network.depth(), std::int64_t{8});
        QCOMPARE(inside.project.network.blockOfLayer(7)->name, std::string("b"));
        QVERIFY(validate(inside.project).empty());

        // A copy of the whole loop is a loop.
        Document copied = document;
        perform(copied, insertLayersEdit(copied, 6, fragmentOf(copied.project, {2, 3, 4, 5}, {})));
        QCOMPARE(copied.project.stack().loops.size(), std::size_t{2});
        QCOMPARE(copied.project.network.depth(), std::int64_t{10});
        QCOMPARE(copied.project.stack().loops.back(), (Loop{.first = 5, .last = 6, .visits = 2}));
        QVERIFY(std::ranges::count(sourcesOf(copied), Shortcut{8, 9}) == 1);
    }

    void layersTakeAnotherBlock()
    {
        const Network network = stackOf({{"a", 3}, {"b", 1}, {"a", -2}}, {}).project.network;
        QCOMPARE(blocksOfLayers(network.stack().segments), (std::vector<std::string>{"a", "a", "a", "b"}));
        const SetStack edit = stackWith(network, {2, 3}, "b");
        QCOMPARE(edit.stack, (std::vector<StackSegment>{{"a", 1}, {"b", 3}})); // neighbours of one block are joined
        QCOMPARE(stackWith(network, {}, "b").stack, (std::vector<StackSegment>{{"a", 3}, {"b", 1}}));
    }

    /// Two layers share an entry. If an edit moves a layer to another entry, its readers follow it.
    void sharedEntriesKeepTheirLayers()
    {
        Document document = stackOf({{"a", 4}}, {{0, 1}, {1, 2}, {1, 3}, {2, 4}, {1, 5}, {2, 5}});
        std::get<DepthMix>(document.project.stack().topology.wiring).blockLayers = 2;
        const Document before = document;
        perform(document, insertLayersEdit(document, 2, fragmentOf(document.project, {2}, {})));
        // Layer 3, new, read a layer that is not copied and reads the newest entry. Layer 3 of before is layer 4 and in
        // entry 2 still, layer 4 of before, now 5, in entry 3.
        QCOMPARE(sourcesOf(document), (std::vector<Shortcut>{{0, 1}, {1, 2}, {1, 3}, {1, 4}, {2, 5}, {1, 6}, {3, 6}}));
        document = before;
        perform(document, *removeLayersEdit(document, {2, 3}));
        // Entry 1 is now layers 1 and 2 of before 1 and 4; entry 2 is gone but for that.
        QCOMPARE(sourcesOf(document), (std::vector<Shortcut>{{0, 1}, {1, 2}, {1, 3}}));
        document = before;
        perform(document, *removeLayersEdit(document, {1, 2}));
        QCOMPARE(sourcesOf(document), (std::vector<Shortcut>{{0, 1}, {1, 2}, {1, 3}}));
    }

    void shortcutsOfSharedEntriesArePastedByLayers()
    {
        Document document = stackOf({{"a", 6}}, {{0, 1}, {1, 2}, {1, 3}, {1, 4}, {1, 5}, {1, 6}});
        std::get<DepthMix>(document.project.stack().topology.wiring).blockLayers = 2;
        const StackFragment copied = fragmentOf(document.project, {}, {{1, 3}}); // from layer 2
        QCOMPARE(copied.shortcuts, (std::vector<Shortcut>{{2, 3}}));
        const auto edit = pasteEdit(document, Selection{.layers = {4}}, copied);
        QVERIFY(edit.ok());
        perform(document, *edit);
        QVERIFY(std::ranges::binary_search(sourcesOf(document), Shortcut{2, 5}));
    }

    void insertionMovesTheLayersThatFollow()
    {
        Document document = stackOf({{"a", 4}}, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {1, 4}, {0, 5}, {4, 5}});
        std::get<DepthMix>(document.project.stack().topology.wiring).states[{1, 4}] = ShortcutState::Frozen;
        document.layout.groups = {{"early", 1, 2}, {"across", 2, 3}};
        document.project.stack().schedule.stages = {{0, 2.0, {1, 4}}};
        perform(document, insertLayersEdit(document, 2, fragmentOf(document.project, {1, 2}, {})));
        QCOMPARE(document.project.network.depth(), std::int64_t{6});
        // 1:2 came along as 3:4; layer 3, new, had its only source outside and reads the one before it.
        QCOMPARE(sourcesOf(document),
                 (std::vector<Shortcut>{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {2, 5}, {1, 6}, {5, 6}, {0, 7}, {6, 7}}));
        QVERIFY(mixOf(document.project).states.contains({1, 6}));
        QCOMPARE(document.layout.groups, (std::vector<LayerGroup>{{"early", 1, 2}, {"across", 2, 5}}));
        QCOMPARE(document.project.stack().schedule.stages.front().always, (std::vector<std::int64_t>{1, 6}));
    }

    /// An overflowing sum would be reported by the sanitizers.
    void aLayerThatCannotBeStaysAsItIs()
    {
        constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
        Document document = stackOf({{"a", 5}}, {{0, 1}});
        document.project.stack().schedule.stages = {{0, 2.0, {1, 5, kLargest}}};
        perform(document, insertLayersEdit(document, 2, fragmentOf(document.project, {1, 2}, {})));
        QCOMPARE(document.project.stack().schedule.stages.front().always, (std::vector<std::int64_t>{1, 7, kLargest}));
    }

    void removedLayersTakeTheirShortcutsAlong()
    {
        Document document =
            stackOf({{"a", 2}, {"b", 1}, {"a", 2}}, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {1, 5}, {5, 6}});
        document.layout.groups = {{"gone", 3, 3}, {"late", 3, 5}};
        perform(document, *removeLayersEdit(document, {0, 3}));
        QCOMPARE(document.project.stack().segments, (std::vector<StackSegment>{{"a", 4}}));
        // Layer 4 read 3 alone: it reads the one before it now.
        QCOMPARE(sourcesOf(document), (std::vector<Shortcut>{{0, 1}, {1, 2}, {2, 3}, {1, 4}, {3, 4}, {4, 5}}));
        QCOMPARE(document.layout.groups, (std::vector<LayerGroup>{{"late", 3, 4}}));
        QVERIFY(!removeLayersEdit(document, {0, 5, 9}));
    }

    void stagesTrainNoMoreLayersThanThereAre()
    {
        Document document{findExample("staged-language")->project, {}};
        const auto lengths = [&document] {
            std::vector<double> found;
            for (const Stage& stage : document.project.stack().schedule.stages) {
                found.push_back(stage.averageLength);
            }
            return found;
        };
        QCOMPARE(lengths(), (std::vector<double>{6, 8, 10, 12}));
        perform(document, *removeLayersEdit(document, {5}));
        QCOMPARE(lengths(), (std::vector<double>{6, 8, 10, 11}));
        QCOMPARE(document.project.stack().schedule.stages.back().always, (std::vector<std::int64_t>{1, 11}));
        QVERIFY(!hasErrors(validate(document.project)));
        perform(document, *removeLayersEdit(document, {1, 2, 3, 4}));
        QCOMPARE(lengths(), (std::vector<double>{6, 7, 7, 7}));
    }

    void bothHalvesOfALayerMoveTogether()
    {
        Document document = stackOf({{"a", 3}}, {{0, 2}, {1, 4}, {3, 6}});
        auto& mix = std::get<DepthMix>(document.project.stack().topology.wiring);
        mix.feeds = MixFeeds::ResidualBesideBranch;
        mix.entry = StackEntry::Full;
        mix.sites = MixSites::Both;
        Document shorter = document;
        perform(shorter, *removeLayersEdit(shorter, {1}));
        QCOMPARE(sourcesOf(shorter), (std::vector<Shortcut>{{1, 4}})); // 3a to 3f were 2a to 2f
        perform(document, insertLayersEdit(document, 1, fragmentOf(document.project, {3}, {})));
        QCOMPARE(sourcesOf(document), (std::vector<Shortcut>{{0, 2}, {1, 6}, {5, 8}}));
    }

    void theClipboardKeepsAFragment()
    {
        Document document = stackOf({{"a", 2}, {"b", 2}}, {{0, 1}, {1, 2}, {1, 3}, {2, 4}});
        std::get<DepthMix>(document.project.stack().topology.wiring).states[{1, 3}] = ShortcutState::Frozen;
        const StackFragment fragment = fragmentOf(document.project, {1, 3}, {});
        QCOMPARE(fragment.shortcuts, (std::vector<Shortcut>{{1, 2}}));
        const auto read = fromClipboard(toClipboard(fragment));
        QVERIFY(read.ok());
        QVERIFY(read->blocks == fragment.blocks);
        QVERIFY(read->stack == fragment.stack);
        QCOMPARE(read->shortcuts, fragment.shortcuts);
        QVERIFY(read->states == fragment.states);
        QVERIFY(!fromClipboard("a text of another program").ok());
        QVERIFY(!fromClipboard("{}").ok());
        QVERIFY(toClipboard({}).empty());
    }

    void pastedShortcutsFollowTheSelectedLayer()
    {
        Document document =
            stackOf({{"a", 6}}, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}, {0, 3}, {1, 4}});
        const StackFragment fragment = fragmentOf(document.project, {}, {{0, 3}, {1, 4}});
        const auto edit = pasteEdit(document, {.layers = {3}}, fragment);
        QVERIFY(edit.ok());
        perform(document, *edit);
        const auto& sources = sourcesOf(document);
        QVERIFY(std::ranges::binary_search(sources, Shortcut{3, 6}));
        QVERIFY(std::ranges::binary_search(sources, Shortcut{4, 7}));
        const auto again = pasteEdit(document, {}, fragment); // where they were, they are
        QVERIFY(!again.ok());
    }

    void aBlockOfAnotherProjectComesAlong()
    {
        Document source = stackOf({{"a", 1}}, {});
        source.project.network.blocks.front().preset = "mine";
        Document target = stackOf({{"b", 2}}, {{0, 1}, {1, 2}, {2, 3}});
        const auto edit = pasteEdit(target, {}, fragmentOf(source.project, {1}, {}));
        QVERIFY(edit.ok());
        perform(target, *edit);
        QCOMPARE(target.project.network.blocks.back().name, std::string("a2"));
        QCOMPARE(target.project.stack().segments.back().block, std::string("a2"));
    }

    /// A file may have a segment of any length, and shortcuts to any layer.
    void runsBeyondTheStackTakeNoTime()
    {
        constexpr std::int64_t kFar = 9'223'372'036'854'775'806;
        Document document = stackOf({{"a", 4}}, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {kFar - 1, kFar}});
        document.layout.groups = {{"all", -kFar, kFar}, {"none", kFar, kFar}};
        perform(document, insertLayersEdit(document, 2, {{document.project.network.blocks[1]}, {{"b", 2}}, {}, {}}));
        QCOMPARE(document.project.network.depth(), std::int64_t{6});
        QCOMPARE(document.layout.groups, (std::vector<LayerGroup>{{"all", 1, 6}}));
        QCOMPARE(sourcesOf(document).back(), (Shortcut{kFar - 1, kFar}));
        perform(document, *removeLayersEdit(document, {2}));
        QCOMPARE(document.layout.groups, (std::vector<LayerGroup>{{"all", 1, 5}}));
        QCOMPARE(sourcesOf(document).back().target, std::int64_t{5});
    }

    void groupsAreNamedRenamedAndTakenAway()
    {
        Document document = stackOf({{"a", 6}}, {});
        perform(document, *groupEdit(document, {0, 2, 4}, "middle"));
        QCOMPARE(document.layout.groups, (std::vector<LayerGroup>{{"middle", 2, 4}}));
        perform(document, *groupEdit(document, {2, 3, 4}, "core"));
        QCOMPARE(document.layout.groups, (std::vector<LayerGroup>{{"core", 2, 4}}));
        QVERIFY(!ungroupEdit(document, {1, 5}));
        perform(document, *ungroupEdit(document, {3}));
        QVERIFY(document.layout.groups.empty());
        QVERIFY(!groupEdit(document, {0, 7}, "ends"));
    }

    void aGroupIsChangedWhereItStands()
    {
        Document document = stackOf({{"a", 6}}, {});
        document.layout.groups = {{"first", 1, 2}, {"last", 5, 6}};
        const auto changed = changeGroupEdit(document.layout.groups, 1, {"end", 4, 6});
        QVERIFY(changed.ok());
        QCOMPARE(titleOf(*changed), std::string("Change group “last”"));
        perform(document, *changed);
        QCOMPARE(document.layout.groups, (std::vector<LayerGroup>{{"first", 1, 2}, {"end", 4, 6}}));
        QVERIFY(!changeGroupEdit(document.layout.groups, 0, {"", 1, 2}).ok());
    }

    void layersAreMadeOfABlockThatComesAlong()
    {
        QVERIFY(!presetBlock("no such block"));
        Document document = stackOf({{"a", 3}}, {});
        BlockFile file{*presetBlock("mlp"), {}};
        const NodeId first = file.block.graph.nodes.front().id;
        file.positions[first] = {40, 8};
        const Edit edit = makeLayersOf(document.project.network, {2}, file, "MLP");
        QCOMPARE(titleOf(edit), std::string("Make layers of MLP"));
        perform(document, edit);
        QCOMPARE(blocksOfLayers(document.project.stack().segments), (std::vector<std::string>{"a", "mlp", "a"}));
        QCOMPARE(document.layout.positions.at(GraphRef::block("mlp")).at(first), (Position{40, 8}));
        // The project's own copy serves.
        perform(document, makeLayersOf(document.project.network, {1}, file, "MLP"));
        QCOMPARE(blocksOfLayers(document.project.stack().segments), (std::vector<std::string>{"mlp", "mlp", "a"}));
        // One that was rewired does not.
        document.project.network.blocks.back().graph.wires.pop_back();
        perform(document, makeLayersOf(document.project.network, {3}, file, "MLP"));
        QCOMPARE(blocksOfLayers(document.project.stack().segments), (std::vector<std::string>{"mlp", "mlp", "mlp2"}));
    }

    void aBlockIsSavedWithItsPlaces()
    {
        Document document = stackOf({{"a", 2}}, {});
        BlockFile file{*presetBlock("mlp"), {}};
        file.block.name = "mine";
        const NodeId first = file.block.graph.nodes.front().id;
        file.positions[first] = {16, 24};
        perform(document, saveBlockEdit(document.project.network, file, std::nullopt));
        QCOMPARE(document.layout.positions.at(GraphRef::block("mine")).at(first), (Position{16, 24}));
        QCOMPARE(blocksOfLayers(document.project.stack().segments), (std::vector<std::string>{"a", "a"}));
        perform(document, saveBlockEdit(document.project.network, file, 2));
        QCOMPARE(blocksOfLayers(document.project.stack().segments), (std::vector<std::string>{"a", "mine"}));
    }

    void typingSaysWhatItDoes_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<bool>("valid");
        QTest::addColumn<QString>("says");
        QTest::newRow("one") << "1:3" << true << "adds 1 shortcut: +1 parameter,";
        QTest::newRow("several") << "1:3, 0:4" << true << "adds 2 shortcuts";
        QTest::newRow("span") << "i:i+2" << true << "adds 3 shortcuts";
        QTest::newRow("final") << "1:5" << true << "adds 1 shortcut";
        QTest::newRow("there") << "0:1" << false << "is there already";
        QTest::newRow("backward") << "3:1" << false << "0 <= i < j";
        QTest::newRow("wiring") << "GRN-v1" << true << "wires the stack as GRN-v1";
        QTest::newRow("layers") << "3 b" << true << "inserts 3 layers of b at the end";
        QTest::newRow("no layers") << "0 b" << false << "expected 1 to";
        QTest::newRow("group") << "group early" << false << "select layers first";
        QTest::newRow("nonsense") << "hello" << false << "expected shortcuts";
        QTest::newRow("empty") << "" << false << "type shortcuts";
    }

    void typingSaysWhatItDoes()
    {
        QFETCH(QString, text);
        QFETCH(bool, valid);
        QFETCH(QString, says);
        Document document = stackOf({{"a", 4}}, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}});
        const Typed typed = residua::projects::typed(document, {}, text.toStdString());
        QCOMPARE(typed.answer.valid, valid);
        QVERIFY2(QString::fromStdString(typed.answer.message).contains(says), typed.answer.message.c_str());
        QCOMPARE(typed.change.has_value(), valid);
        if (typed.change) {
            perform(document, typed.change->edit);
        }
    }

    void typingGivesTheTermsOfASumWeightsOfTheirOwn()
    {
        Document document = stackOf({{"a", 4}}, {});
        document.project.stack().topology = {};
        const Typed one = residua::projects::typed(document, {}, "1:3");
        QVERIFY(one.answer.valid);
        QVERIFY2(one.answer.message.starts_with("gives 1 shortcut a learned"), one.answer.message.c_str());
        perform(document, one.change->edit);
        QVERIFY(!residua::projects::typed(document, {}, "1:3").answer.valid);
    }

    /// In the inspector's units: 16·128 tokens of 128 features, four bytes each.
    void memoryIsCountedAsTheInspectorCountsIt()
    {
        const Document document{findExample("plain-language")->project, {}};
        const std::string message = residua::projects::typed(document, {}, "2:7").answer.message;
        QVERIFY2(message.ends_with("+1 MiB of activations"), message.c_str());
    }

    void completionsBeginWithWhatWasTyped()
    {
        const Document document = stackOf({{"a", 4}}, {});
        const auto completions = typed(document, {}, "anc").answer.completions;
        QVERIFY(!completions.empty());
        QVERIFY(completions.front().text.starts_with("ancre"));
        QVERIFY(typed(document, {}, "zzz").answer.completions.empty());
        QVERIFY(typed(document, {.layers = {2, 3}}, "group core").answer.valid);
    }
};

RESIDUA_TEST(TestLayerEdits)
#include "tst_layer_edits.moc"
