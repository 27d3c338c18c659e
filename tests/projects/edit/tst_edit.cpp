// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/edit/edit.h"

#include "projects/check/validate.h"
#include "projects/file/json.h"
#include "projects/nodes/node_kinds.h"
#include "projects/shipped/examples.h"
#include "projects/transfer/retrofit.h"
#include "tests/projects/mix_of.h"
#include "tests/support/random_document.h"
#include "tests/support/random_seed.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <limits>

using namespace residua;
using namespace residua::projects;
using residua::tests::mixOf;

namespace {

/// Two blocks, a stack of the first, a stem whose middle node has wires on both sides and a position.
Document sampleDocument()
{
    Document document;
    Network& network = document.project.network;
    network.stem.nodes = {{NodeId{1}, "input", "in", {}},
                          {NodeId{5}, "linear", "mid", {{"out", std::string("d")}}},
                          {NodeId{2}, "output", "out", {}}};
    network.stem.wires = {{{NodeId{1}, "out"}, {NodeId{5}, "in"}}, {{NodeId{5}, "out"}, {NodeId{2}, "in"}}};
    network.blocks = {{"mlp", "", network.stem}, {"spare", "", network.stem}, {"last", "", {}}};
    network.stack().segments = {{"mlp", 3}};
    document.layout.positions = {{GraphRef::stem(), {{NodeId{5}, {1, 2}}}},
                                 {GraphRef::block("spare"), {{NodeId{1}, {3, 4}}}}};
    return document;
}

std::string refusal(const Document& document, const Edit& edit)
{
    Document copy = document;
    const auto applied = applyEdit(copy, edit);
    if (applied) {
        return "applied";
    }
    return copy == document ? applied.error().text() : "changed the document in spite of: " + applied.error().text();
}

/// Applies the edit; empty where it did something, and the file holds what it made.
std::string troubleWith(const Document& document, const Edit& edit)
{
    Document copy = document;
    if (const Status applied = applyEdit(copy, edit); !applied) {
        return applied.error().text();
    }
    if (copy == document) {
        return "did nothing";
    }
    const auto read = projectFromJson(toJson(copy.project));
    return read && *read == copy.project ? "" : "made a document that the file cannot hold";
}

} // namespace

#define COMPARE_TEXT(got, expected) QCOMPARE(QString::fromStdString(got), QString::fromStdString(expected))

class TestEdit : public QObject {
    Q_OBJECT

private slots:
    void manyEditsMakeSoundDocuments_data()
    {
        QTest::addColumn<bool>("wild");
        QTest::newRow("plausible") << false;
        QTest::newRow("any") << true;
    }

    void manyEditsMakeSoundDocuments()
    {
        QFETCH(bool, wild);
        tests::RandomDocument random(tests::randomSeed(), wild ? tests::Values::Any : tests::Values::Plausible);
        Document document{findExample("ancre-language")->project, {}};
        std::array<int, std::variant_size_v<Edit>> kinds{};
        for (int i = 0; i < 12'000; ++i) {
            const Edit edit = random.edit(document);
            const Status applied = applyEdit(document, edit);
            QVERIFY2(applied.ok(), applied ? "" : applied.error().text().c_str());
            ++kinds[edit.index()];
        }
        for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
            QVERIFY2(kinds[kind] >= 5, qPrintable(QString("edit %1 applied %2 times").arg(kind).arg(kinds[kind])));
        }
        const auto read = projectFromJson(toJson(document.project));
        QVERIFY2(read.ok() && *read == document.project, "edits made a document that the file cannot hold");
    }

    /// If the newest entry is listed but pruned, it is restored and not listed twice.
    void thePrunedNewestIsReadAgain()
    {
        const std::vector<Shortcut> listed{{0, 1}, {0, 3}, {2, 3}};
        for (const std::vector<Shortcut>& before : {std::vector<Shortcut>{{0, 1}, {2, 3}}, {{0, 1}}}) {
            Document document{findExample("ancre-language")->project, {}};
            auto& mix = std::get<DepthMix>(document.project.stack().topology.wiring);
            mix.sources = ExplicitSources{before};
            mix.feeds = MixFeeds::LayerInput;
            mix.states = {{{0, 3}, ShortcutState::Frozen}, {{2, 3}, ShortcutState::Pruned}};
            QVERIFY(applyEdit(document, AddShortcut{{0, 3}}).ok());
            QVERIFY(std::get<ExplicitSources>(mix.sources).shortcuts == listed);
            QVERIFY(mix.states == (std::map<Shortcut, ShortcutState>{{{0, 3}, ShortcutState::Frozen}}));
        }
    }

    void aRemovedNodeTakesItsWiresAndItsPlace()
    {
        Document document = sampleDocument();
        COMPARE_TEXT(troubleWith(document, RemoveNode{GraphRef::stem(), NodeId{5}}), "");
        QVERIFY(applyEdit(document, RemoveNode{GraphRef::stem(), NodeId{5}}).ok());
        QVERIFY(document.project.network.stem.wires.empty());
        QVERIFY(!document.layout.positions.contains(GraphRef::stem()));
    }

    void blocksArePutRemovedAndRenamed()
    {
        const Document document = sampleDocument();
        COMPARE_TEXT(troubleWith(document, RemoveBlock{"spare"}), "");
        COMPARE_TEXT(troubleWith(document, RenameBlock{"mlp", "wide"}), "");
        COMPARE_TEXT(troubleWith(document, RenameBlock{"spare", "other"}), "");
        COMPARE_TEXT(troubleWith(document, PutBlock{{"spare", "", {}}}), "");
        COMPARE_TEXT(troubleWith(document, PutBlock{{"new", "", {}}, 1}), "");
        COMPARE_TEXT(refusal(document, RemoveBlock{"mlp"}),
                     "[block mlp] is what layers of the stack are made of; take them out first");
        COMPARE_TEXT(refusal(document, RenameBlock{"mlp", "last"}),
                     "[block last] exists already; expected a name of its own");
        Document renamed = document;
        QVERIFY(applyEdit(renamed, RenameBlock{"mlp", "wide"}).ok());
        QVERIFY((renamed.project.stack().segments == std::vector<StackSegment>{{"wide", 3}}));
    }

    /// Norms that share another norm's weights name it. They follow a renaming.
    void sharersFollowTheirOwner()
    {
        Document document{findExample("plain-language")->project, {}};
        Block& block = document.project.network.blocks.front();
        block = *withPortsApart(block, MixPorts::Qkv);
        const GraphRef ref = GraphRef::block(block.name);
        Graph& graph = block.graph;
        const auto named = [&graph](const std::string& name) {
            return std::ranges::find(graph.nodes, name, &Node::name);
        };
        const NodeId owner = named("norm_attention")->id;
        QCOMPARE(weightOwnerOf(*named("norm_attention_k")), std::string("norm_attention"));
        COMPARE_TEXT(troubleWith(document, RenameNode{ref, owner, "before"}), "");
        COMPARE_TEXT(troubleWith(document, RenameNode{ref, owner, ""}), "");
        Document renamed = document;
        QVERIFY(applyEdit(renamed, RenameNode{ref, owner, "before"}).ok());
        QVERIFY(!hasErrors(validate(renamed.project)));
        // One that named what was not there is taken for a sharer until the name goes back.
        named("norm_ffn")->params[kShareParam] = std::string("before");
        COMPARE_TEXT(troubleWith(document, RenameNode{ref, owner, "before"}), "");
    }

    /// Sweeps refer to nodes and blocks by index. An inserted node or block shifts the index.
    void sweepsKeepTheirFields()
    {
        Document document = sampleDocument();
        const auto field = [](int block, const std::string& node) {
            return "/network/blocks/" + std::to_string(block) + "/graph/nodes/" + node + "/params/out";
        };
        const auto several = [](const std::string& one, const std::string& other) {
            return FieldValue{"{\"/seeds/init\": 1, \"" + one + "\": 8, \"" + other + "\": 9}"};
        };
        document.project.sweeps = {{"s", {{field(1, "2"), "", {}}, {field(1, "9"), "", {}}, {kSeveralFields, "", {}}}}};
        document.project.sweeps[0].axes[2].values = {{"", several(field(1, "1"), field(2, "0"))}};
        const auto after = [&document](const Edit& edit) {
            const std::string trouble = troubleWith(document, edit);
            Document changed = document;
            if (!trouble.empty() || !applyEdit(changed, edit)) {
                return "trouble: " + trouble;
            }
            const std::vector<SweepAxis>& axes = changed.project.sweeps[0].axes;
            return axes[0].field + " " + axes[1].field + " " + axes[2].values[0].value.json;
        };
        const GraphRef spare = GraphRef::block("spare");
        COMPARE_TEXT(after(RemoveNode{spare, NodeId{1}}),
                     field(1, "1") + " " + field(1, "8") + " " + several(field(1, "0"), field(2, "0")).json);
        COMPARE_TEXT(after(RemoveNode{spare, NodeId{5}}), // which is swept: that fails
                     field(1, "1") + " " + field(1, "8") + " " + several(field(1, "-"), field(2, "0")).json);
        COMPARE_TEXT(after(AddNode{spare, {NodeId{9}, "linear", "new", {}}, {}, 2}),
                     field(1, "3") + " " + field(1, "10") + " " + several(field(1, "1"), field(2, "0")).json);
        COMPARE_TEXT(after(PutBlock{{"new", "", {}}, 2}),
                     field(1, "2") + " " + field(1, "9") + " " + several(field(1, "1"), field(3, "0")).json);
        const std::string gone = after(RemoveBlock{"spare"});
        QVERIFY2(gone.starts_with("/network/blocks/-/graph/nodes/2/") && gone.ends_with(field(1, "0") + "\": 9}"),
                 gone.c_str());
    }

    void invalidStacksAreEditedToo()
    {
        Document document = sampleDocument();
        document.project.stack().segments = {{"mlp", 1}, {"ghost", 2}};
        COMPARE_TEXT(troubleWith(document, PutBlock{{"ghost", "", {}}}), "");
        COMPARE_TEXT(troubleWith(document, RenameBlock{"mlp", "ghost"}), "");
        document.project.network.stem.wires.push_back({{NodeId{9}, "out"}, {NodeId{9}, "in"}});
        COMPARE_TEXT(
            troubleWith(document, AddNode{GraphRef::stem(), {NodeId{9}, "linear", "late", {}}, Position{1, 1}, 0}), "");
    }

    void addedShortcutMakesTheSetExplicit()
    {
        Document document = sampleDocument();
        mixOf(document.project).sources = FirstAndLast{1};
        const std::vector<Shortcut> expected{{0, 1}, {0, 2}, {1, 2}, {0, 3}, {1, 3}, {2, 3}, {0, 4}, {3, 4}};
        COMPARE_TEXT(troubleWith(document, AddShortcut{{1, 3}}), "");
        QVERIFY(applyEdit(document, AddShortcut{{1, 3}}).ok());
        QVERIFY(std::get<ExplicitSources>(mixOf(document.project).sources).shortcuts == expected);
        QCOMPARE(document.project.stack().topology.preset, std::string("plain"));
    }

    void shortcutsAreAddedAndRemoved()
    {
        Document document = sampleDocument();
        mixOf(document.project).sources = ExplicitSources{{{0, 1}, {0, 3}}};
        mixOf(document.project).states = {{{0, 3}, ShortcutState::Pruned}};
        COMPARE_TEXT(troubleWith(document, AddShortcut{{1, 3}}), "");
        COMPARE_TEXT(troubleWith(document, AddShortcut{{0, 3}}), ""); // brings the pruned one back
        COMPARE_TEXT(troubleWith(document, RemoveShortcut{{0, 1}}), "");
        COMPARE_TEXT(troubleWith(document, RemoveShortcut{{0, 3}}), ""); // with its state
        COMPARE_TEXT(troubleWith(document, SetShortcutState{{0, 1}, ShortcutState::Frozen}), "");
        COMPARE_TEXT(troubleWith(document, SetShortcutState{{0, 3}, std::nullopt}), "");
        COMPARE_TEXT(refusal(document, AddShortcut{{0, 1}}), "[topology] shortcut 0:1 is there already");
        COMPARE_TEXT(refusal(document, RemoveShortcut{{1, 2}}), "[topology] shortcut 1:2 is not there to be removed");
        COMPARE_TEXT(
            refusal(document, AddShortcut{{2, 5}}),
            "[topology] shortcut 2:5 is out of range; expected source < target, from 0 to 4 (the final output)");
        mixOf(document.project).blockLayers = 2; // layers 1 and 2 make entry 1
        COMPARE_TEXT(troubleWith(document, AddShortcut{{1, 3}}), "");
        COMPARE_TEXT(refusal(document, AddShortcut{{2, 3}}),
                     "[topology] shortcut 2:3 starts from an entry that is not there yet: layers share entries; "
                     "expected source ≤ 1");
        mixOf(document.project).blockLayers = 1;
        mixOf(document.project).finalMix = false;
        QVERIFY(refusal(document, AddShortcut{{2, 4}}).find("switch the final mix on first") != std::string::npos);
        document.project.stack().topology.wiring = Concatenation{};
        COMPARE_TEXT(refusal(document, AddShortcut{{0, 2}}),
                     "[topology] has no shortcuts to edit: it is a concatenation; expected a depth_mix");
    }

    void refusesValuesThatAFileCannotHold()
    {
        const Document document = sampleDocument();
        COMPARE_TEXT(refusal(document, SetField{"/training/learning_rate/peak", {"null"}}),
                     "[/training/learning_rate/peak] is null; expected a number");
        COMPARE_TEXT(refusal(document, SetField{"/name", {"\xFF"}}), "[/name] is not valid UTF-8");
        COMPARE_TEXT(refusal(document, SetField{"/network/stack/0/repeat", {"5000"}}),
                     "[/network/stack] has 5000 layers; expected at most 4096");
        const Node twin{NodeId{9}, "linear", "mid", {}};
        COMPARE_TEXT(refusal(document, AddNode{GraphRef::stem(), twin, {}}),
                     "[stem · node mid] has the name \"mid\" already; expected a name of its own");
        COMPARE_TEXT(refusal(document, AddNode{GraphRef::stem(), {NodeId{5}, "linear", "x", {}}, {}}),
                     "[stem · node mid] has the id 5 already; expected an id of its own");
        COMPARE_TEXT(refusal(document, RenameNode{GraphRef::stem(), NodeId{1}, "mid"}),
                     "[stem · node mid] has the name \"mid\" already; expected a name of its own");
        Graph graph;
        graph.nodes = {twin, twin};
        QVERIFY(refusal(document, SetGraph{GraphRef::stem(), graph}).find("nodes/1/id] is 9") != std::string::npos);
        QVERIFY(refusal(document, AddWire{GraphRef::stem(), {{NodeId{1}, "a > b"}, {NodeId{2}, "in"}}})
                    .find("expected a wire") != std::string::npos);
        QVERIFY(refusal(document, MoveNode{GraphRef::stem(), NodeId{1}, Position{std::nan(""), 0}}).find("finite") !=
                std::string::npos);
    }

    /// A file lacks the rows of documents as long as all of their fields have their defaults.
    void aFieldOfAnAbsentObjectIsSet()
    {
        Document document = sampleDocument();
        QVERIFY(toJson(document.project).find("documents") == std::string::npos);
        COMPARE_TEXT(troubleWith(document, SetField{"/data/documents/rows", {"\"packed\""}}), "");
        QVERIFY(applyEdit(document, SetField{"/data/documents/rows", {"\"packed\""}}).ok());
        QCOMPARE(document.project.data.documents, (Documents{.rows = DocumentRows::Packed}));
        const std::string misspelt = refusal(document, SetField{"/data/documens/end", {"1"}});
        QVERIFY2(misspelt.starts_with("[/data/documens] is no key") &&
                     misspelt.ends_with("did you mean \"documents\"?"),
                 misspelt.c_str());
    }

    void refusesEditsOfMissingParts()
    {
        const Document document = sampleDocument();
        COMPARE_TEXT(refusal(document, SetField{"/network/widht", {"8"}}), "[/network/widht] there is no such field");
        QVERIFY(refusal(document, SetField{"/training/stepz", {"8"}}).starts_with("[/training/stepz] is no key"));
        COMPARE_TEXT(refusal(document, SetField{"/network/blocks/0/name", {"x"}}),
                     "[/network/blocks/0/name] is of a graph, which has edits of its own");
        COMPARE_TEXT(refusal(document, RemoveNode{GraphRef::stem(), NodeId{77}}), "[stem] has no node 77");
        COMPARE_TEXT(refusal(document, SetParam{GraphRef::block("nope"), NodeId{1}, "x", true}),
                     "[block nope] does not exist");
        COMPARE_TEXT(refusal(document, RemoveWire{GraphRef::stem(), {{NodeId{1}, "out"}, {NodeId{2}, "in"}}}),
                     "[stem · wire in.out > out.in] is not there to be removed");
        COMPARE_TEXT(refusal(document, AddWire{GraphRef::stem(), document.project.network.stem.wires[0]}),
                     "[stem · wire in.out > mid.in] is there already");
    }

    void groupsAreAllOrNothing()
    {
        const Document document = sampleDocument();
        COMPARE_TEXT(refusal(document, EditGroup{"g",
                                                 {SetField{"/network/width", {"8"}},
                                                  RemoveNode{GraphRef::stem(), NodeId{5}}, RemoveBlock{"nope"}}}),
                     "[block nope] does not exist");
        COMPARE_TEXT(troubleWith(document, EditGroup{"g",
                                                     {SetField{"/network/width", {"8"}},
                                                      RemoveNode{GraphRef::stem(), NodeId{5}}, RemoveBlock{"spare"}}}),
                     "");
    }

    void titles()
    {
        COMPARE_TEXT(titleOf(AddShortcut{{3, 7}}), "Add shortcut 3:7");
        COMPARE_TEXT(titleOf(SetShortcutState{{3, 7}, ShortcutState::Frozen}), "Freeze shortcut 3:7");
        COMPARE_TEXT(titleOf(EditGroup{"", {SetField{"/network/width", {"8"}}, SetField{"/name", {"x"}}}}),
                     "Set width to 8");
        COMPARE_TEXT(titleOf(EditGroup{"Prune 4 shortcuts", {}}), "Prune 4 shortcuts");
        COMPARE_TEXT(titleOf(RemoveNode{GraphRef::block("mlp"), NodeId{1}}), "Remove node from block mlp");
    }
};

RESIDUA_TEST(TestEdit)
#include "tst_edit.moc"
