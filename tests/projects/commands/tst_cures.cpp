// SPDX-License-Identifier: GPL-3.0-or-later
// Cures of problems, and choices of a topology that cause none.
#include "projects/commands/commands.h"
#include "projects/library/presets.h"
#include "projects/library/schedule_presets.h"
#include "projects/nodes/graph_builder.h"
#include "projects/nodes/resolved_graph.h"
#include "projects/shipped/examples.h"
#include "projects/transfer/retrofit.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <ranges>

using namespace residua;
using namespace residua::projects;

namespace {

Project language()
{
    return findExample("plain-language")->project;
}

TopologyPreset presetNamed(const Project& project, const std::string& name)
{
    const auto presets = topologyChoices(project.network.depth());
    return *std::ranges::find(presets, name, &TopologyPreset::name);
}

Project after(const Project& project, const Edit& edit)
{
    Document document{project, {}};
    const auto done = applyEdit(document, edit);
    return done ? document.project : Project{};
}

/// The cure of the first problem that says so.
std::optional<Cure> cureFor(const Project& project, const std::string& words)
{
    for (const Problem& problem : validate(project)) {
        if (problem.text().find(words) != std::string::npos) {
            return cureOf(project, problem);
        }
    }
    return std::nullopt;
}

Node& attentionOf(Project& project)
{
    auto& nodes = project.network.blocks.front().graph.nodes;
    return *std::ranges::find(nodes, "attention", &Node::kind);
}

} // namespace

class TestCures : public QObject {
    Q_OBJECT

private slots:
    /// One click adds what next-sentence prediction needs to the head and the stem. Another removes it.
    void nextSentenceFitsStemAndHead()
    {
        const Project bare = findExample("small-bert")->project;
        Project project = bare;
        project.data.masking.nextSentence = true;
        const auto added = cureFor(project, "expected output nodes with the ports next_sentence, output");
        QVERIFY(added.has_value());
        QCOMPARE(added->title, std::string("Add the output next_sentence"));
        const Project paired = after(project, added->edit);
        QVERIFY(!hasErrors(validate(paired)));
        Project off = paired;
        off.data.masking.nextSentence = false;
        const auto removed = cureFor(off, "expected one output node");
        QVERIFY(removed.has_value());
        QCOMPARE(after(off, removed->edit).network.head, bare.network.head);
        QVERIFY(!hasErrors(validate(after(off, removed->edit))));
        Project tied = paired;
        tied.network.tieHead = true;
        QCOMPARE(tied.network.head.find(tiedNodes(tied.network)->linear)->name, std::string("logits"));
        Project other = paired;
        other.network.objective = Objective::NextToken;
        QVERIFY(!hasErrors(validate(after(other, cureFor(other, "is of hidden tokens")->edit))));
    }

    /// A segment embedding that reads no segments gives both texts of a pair the same row.
    void pairsReachTheSegmentEmbedding()
    {
        constexpr const char* kSaid = "reads no segments";
        Project project = findExample("small-bert")->project;
        LabelledTextData texts;
        texts.path = "pairs.csv";
        texts.tokeniser = Tokeniser{.kind = TokeniserKind::Bytes, .model = {}};
        project.data.source = texts;
        project.network.objective = Objective::Classification;
        project.network.tieHead = false;
        project.network.stem = withSegments(project.network.stem);
        const Graph paired = project.network.stem;
        project.network = withNextSentence(project.network, false);
        QVERIFY(!cureFor(project, kSaid).has_value()); // no pairs
        std::get<LabelledTextData>(project.data.source).second = "second";
        const auto cure = cureFor(project, kSaid);
        QVERIFY(cure.has_value());
        QCOMPARE(cure->title, std::string("Read the segments of pairs"));
        const Project cured = after(project, cure->edit);
        QCOMPARE(cured.network.stem.nodes.size(), paired.nodes.size());
        QVERIFY(!cureFor(cured, kSaid).has_value());
        for (Node& node : project.network.stem.nodes) {
            if (node.kind == "segment_embedding") {
                node.params["segments"] = std::int64_t{1}; // which has no other row
            }
        }
        QVERIFY(!cureFor(project, kSaid).has_value());
    }

    void everyTopologyFitsTheBlocksOfATransformer_data()
    {
        QTest::addColumn<QString>("name");
        for (const TopologyPreset& preset : topologyChoices(8)) {
            QTest::newRow(preset.name.c_str()) << QString::fromStdString(preset.name);
        }
    }
    /// The way back restores the original project.
    void everyTopologyFitsTheBlocksOfATransformer()
    {
        QFETCH(QString, name);
        const Project plain = language();
        const Rewiring there = wireAs(plain, presetNamed(plain, name.toStdString()));
        const Project wired = after(plain, there.edit);
        const auto presets = topologyChoices(wired.network);
        const auto index = presetIndexOf(wired, presets);
        QVERIFY(index.has_value());
        QCOMPARE(presets[*index].name, name.toStdString());
        QVERIFY(!hasErrors(validate(wired)));
        const bool changes = wired.network.blocks != plain.network.blocks;
        std::string said;
        for (const std::string& note : there.notes) {
            said += "; " + note;
        }
        QVERIFY(there.edit.title.ends_with(said));
        QCOMPARE(said.find(" read") != std::string::npos, changes);
        const bool leavesOut = wired.stack().schedule != plain.stack().schedule;
        QCOMPARE(leavesOut, name == "stochastic-depth");
        QCOMPARE(said.find("a schedule leaves out layers") != std::string::npos, leavesOut);
        const Project back = after(wired, wireAs(wired, presetNamed(wired, plain.stack().topology.preset)).edit);
        QCOMPARE(back == plain, true);
    }

    void aBlockOfAFileIsFedApart()
    {
        Project project = language();
        project.stack().topology.wiring = presetNamed(project, "mudd").wiring;
        const auto cure = cureFor(project, "has one input port, expected q, k and v");
        QVERIFY(cure.has_value());
        QCOMPARE(cure->title, std::string("Use the q, k, v, residual block"));
        QVERIFY(!hasErrors(validate(after(project, cure->edit))));
    }

    /// An MLP has no attention with separate inputs, so its layers change to the preset that has one.
    void aBlockThatCannotBeFedApartGivesWay()
    {
        Project project = language();
        const auto mlp = std::ranges::find(blockPresets(), "mlp", &BlockPreset::name);
        project.network.blocks = {Block{"mlp", "mlp", mlp->graph}};
        project.stack().segments = {{"mlp", 4}};
        project.stack().topology = {"dca", presetNamed(project, "dca").wiring};
        const auto cure = cureFor(project, "has one input port");
        QVERIFY(cure.has_value());
        QCOMPARE(cure->title, std::string("Use the q, k, v block"));
        QVERIFY(!hasErrors(validate(after(project, cure->edit))));
    }

    void headsThatDoNotDivideTheWidth()
    {
        Project project = language();
        const std::int64_t width = project.stack().width;
        attentionOf(project).params["heads"] = std::int64_t{5};
        QVERIFY(width % 5 != 0 && width % 4 == 0);
        const auto cure = cureFor(project, "is not a multiple of 5 heads");
        QVERIFY(cure.has_value());
        QCOMPARE(cure->title, std::string("Set 4 heads"));
        QVERIFY(!hasErrors(validate(after(project, cure->edit))));
    }

    /// A branch of another width gets a linear map to the width that it is added to.
    void widthsThatDoNotMatchGetALinear()
    {
        Project project = language();
        const auto mlp = std::ranges::find(blockPresets(), "mlp", &BlockPreset::name);
        project.network.blocks = {Block{"mlp", "mlp", mlp->graph}};
        project.stack().segments = {{"mlp", 4}};
        Graph& graph = project.network.blocks.front().graph;
        const auto last = std::ranges::find_if(graph.nodes | std::views::reverse,
                                               [](const Node& node) { return node.kind == "linear"; });
        last->params["out"] = std::int64_t{352};
        const std::string words = std::to_string(project.stack().width);
        const auto cure = cureFor(project, "352");
        QVERIFY(cure.has_value());
        QCOMPARE(cure->title, "Insert a linear 352 → " + words);
        const Project cured = after(project, cure->edit);
        QVERIFY(!hasErrors(validate(cured)));
        QCOMPARE(cured.network.blocks.front().graph.nodes.size(), graph.nodes.size() + 1);
    }

    void aSkipKeepsItsWidth_data()
    {
        QTest::addColumn<bool>("skipIsFirst");
        QTest::addColumn<bool>("skipHasNorm");
        QTest::newRow("the skip is the first input of the sum") << true << false;
        QTest::newRow("the skip is the second input of the sum") << false << false;
        QTest::newRow("a skip through a norm") << true << true;
    }
    /// The branch gets the linear map, not the skip connection around it.
    void aSkipKeepsItsWidth()
    {
        QFETCH(bool, skipIsFirst);
        QFETCH(bool, skipHasNorm);
        Project project = language();
        const std::int64_t width = project.stack().width;
        GraphBuilder graph;
        graph.node("input", "input");
        if (skipHasNorm) {
            graph.then("norm", "rms_norm");
        }
        graph.node("up", "linear", {{"out", std::int64_t{96}}}).wire("input", "up");
        graph.then("relu", "activation").then("down", "linear", {{"out", std::int64_t{40}}}).node("sum", "add");
        graph.wire(skipHasNorm ? "norm" : "input", skipIsFirst ? "sum.in1" : "sum.in2");
        graph.wire("down", skipIsFirst ? "sum.in2" : "sum.in1");
        graph.node("output", "output").wire("sum", "output");
        project.network.blocks = {Block{"mlp", "mlp", graph.build()}};
        project.stack().segments = {{"mlp", 4}};
        const auto cure = cureFor(project, "40");
        QVERIFY(cure.has_value());
        QCOMPARE(cure->title, "Insert a linear 40 → " + std::to_string(width));
        QVERIFY(!hasErrors(validate(after(project, cure->edit))));
    }

    /// The gate is between two nodes of a graph, at a width other than the network's.
    void aGateOfAnotherWidthGetsALinear()
    {
        Project project = language();
        Graph& graph = project.network.blocks.front().graph;
        const auto gate = std::ranges::find(graph.nodes, "swiglu", &Node::kind);
        QVERIFY(gate != graph.nodes.end());
        const auto wire = std::ranges::find(graph.wires, PortRef{gate->id, "up"}, &Wire::to);
        Node* const up = graph.find(wire->from.node);
        up->params["out"] = std::int64_t{40};
        const auto cure = cureFor(project, "width 40 does not match");
        QVERIFY(cure.has_value());
        QVERIFY2(cure->title.starts_with("Insert a linear "), cure->title.c_str());
        QVERIFY(!hasErrors(validate(after(project, cure->edit))));
    }

    void aNumberOutsideItsRangeGetsTheNearestEnd()
    {
        Project project = language();
        project.training.steps = 0;
        const auto cure = cureFor(project, "got 0, expected");
        QVERIFY(cure.has_value());
        QCOMPARE(cure->title, std::string("Set 1"));
    }

    /// A problem that names the expected value, such as one of the data, gets that value.
    void aFieldGetsTheValueThatItsProblemAsksFor()
    {
        Project project = language();
        project.data.source = LabelledTextData{.path = "a.csv", .validationPath = {}, .second = {}, .tokeniser = {}};
        const Problem problem{Severity::Error, "/data/source/classes", "data", "got 2, expected 3", 3};
        const auto cure = cureOf(project, problem);
        QVERIFY(cure.has_value());
        QCOMPARE(cure->title, std::string("Set 3 classes"));
        QCOMPARE(*classCountOf(after(project, cure->edit).data.source), 3);
        QVERIFY(!cureOf(project, {Severity::Error, "/data/source", "data", "has no rows"}));
    }

    void wholeVisitsNeedALoop()
    {
        Project project = language();
        project.stack().schedule.stages = {{0, 4, {}}};
        project.stack().schedule.unit = DropUnit::Visit;
        const auto cure = cureFor(project, "the network has no loop");
        QVERIFY(cure.has_value());
        QCOMPARE(cure->title, std::string("Leave out single layers"));
        QVERIFY(!hasErrors(validate(after(project, cure->edit))));
    }

    void aWireThatFitsNowhereGoes()
    {
        Project project = language();
        Graph& graph = project.network.blocks.front().graph;
        const Wire stray{graph.wires.front().from, {graph.wires.front().to.node, "no such port"}};
        graph.wires.push_back(stray);
        const auto cure = cureFor(project, "no such port");
        QVERIFY(cure.has_value());
        QCOMPARE(cure->title, std::string("Remove the wire"));
        QVERIFY(!hasErrors(validate(after(project, cure->edit))));
    }

    /// An unused block raises no error, and can be removed.
    void anUnusedBlockDoesNotBlockTraining()
    {
        Project project = language();
        Block spare = project.network.blocks.front();
        spare.name = "spare";
        spare.graph.wires.clear();
        project.network.blocks.push_back(spare);
        QVERIFY(!hasErrors(validate(project)));
        const auto cure = cureFor(project, "no layer uses it");
        QVERIFY(cure.has_value());
        QCOMPARE(cure->title, std::string("Remove the block"));
        QCOMPARE(after(project, cure->edit) == language(), true);
    }

    /// Problems with the same path share their trials. Each gets the cure that it would get alone.
    void curesOfManyAreThoseOfEach()
    {
        Project project = language();
        project.stack().topology.wiring = presetNamed(project, "ancre-ingoing").wiring;
        auto& mix = std::get<DepthMix>(project.stack().topology.wiring);
        for (const Shortcut shortcut :
             {Shortcut{0, 2}, Shortcut{1, 2}, Shortcut{0, 3}, Shortcut{1, 3}, Shortcut{2, 3}}) {
            mix.states[shortcut] = ShortcutState::Pruned;
        }
        attentionOf(project).params["heads"] = std::int64_t{5};
        project.training.batch = 0;
        const std::vector<Problem> problems = validate(project);
        QVERIFY(std::ranges::count(problems, "/topology/wiring/states", &Problem::path) >= 2);
        const auto cures = curesOf(project, problems, problems.size());
        QCOMPARE(cures.size(), problems.size());
        for (std::size_t i = 0; i < problems.size(); ++i) {
            const auto alone = cureOf(project, problems[i]);
            QCOMPARE(cures[i] ? cures[i]->title : std::string("none"), alone ? alone->title : std::string("none"));
        }
        QVERIFY(std::ranges::count_if(cures, [](const auto& cure) { return cure.has_value(); }) >= 3);
        QCOMPARE(curesOf(project, problems, 2).size(), std::size_t{2});
    }

    void problemsWithoutACureOfferNone()
    {
        Project project = language();
        project.stack().segments.clear();
        QVERIFY(!cureFor(project, "has no layers"));
    }
};

RESIDUA_TEST_IN(QCoreApplication, TestCures)
#include "tst_cures.moc"
