// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/diff/diff.h"

#include "projects/shipped/examples.h"
#include "tests/projects/mix_of.h"
#include "tests/support/random_document.h"
#include "tests/support/random_seed.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <functional>
#include <optional>

using namespace residua;
using namespace residua::projects;
using residua::tests::mixOf;

namespace {

Project sampleProject()
{
    Project project;
    Network& network = project.network;
    Graph graph;
    graph.nodes = {{NodeId{1}, "input", "in", {}},
                   {NodeId{2}, "linear", "up", {{"out", std::string("4*d")}}},
                   {NodeId{3}, "linear", "down", {}},
                   {NodeId{4}, "output", "out", {}}};
    graph.wires = {{{NodeId{1}, "out"}, {NodeId{2}, "in"}},
                   {{NodeId{2}, "out"}, {NodeId{3}, "in"}},
                   {{NodeId{3}, "out"}, {NodeId{4}, "in"}}};
    network.blocks = {{"mlp", "", graph}, {"gpt", "gpt", {}}};
    network.stem = graph;
    network.stack().segments = {{"mlp", 12}};
    std::get<DepthMix>(project.stack().topology.wiring).sources = ExplicitSources{{{0, 1}, {0, 2}}};
    project.stack().schedule.stages = {{0, 6, {1, 12}}, {500, 9, {1}}};
    return project;
}

bool setsStack(const Edit& edit)
{
    const auto* const group = std::get_if<EditGroup>(&edit);
    return std::holds_alternative<SetStack>(edit) || (group && std::ranges::any_of(group->edits, setsStack));
}

Graph& mlpOf(Project& project)
{
    return project.network.blocks[0].graph;
}

QString textOf(const std::vector<Change>& changes)
{
    QStringList lines;
    for (const Change& change : changes) {
        lines << QString::fromStdString(change.text());
    }
    return lines.join('\n');
}

} // namespace

class TestDiff : public QObject {
    Q_OBJECT

private slots:
    void partsOfAMixture()
    {
        Project before;
        before.data.source = MixtureData{{{"a", "text", 9}, {"b", "text", 57}, {"a", "text", 17}}, {}};
        const auto said = [&](const std::function<void(std::vector<MixturePart>&)>& change) {
            Project after = before;
            change(std::get<MixtureData>(after.data.source).parts);
            return textOf(diff(before, after));
        };
        QCOMPARE(said([](auto& parts) { parts[1].weight = 60; }), QString("~ data · part 2 · weight: 57 → 60"));
        QCOMPARE(said([](auto& parts) { parts[2].path = "c"; }), QString("~ data · part 3 · file or folder: a → c"));
        QCOMPARE(said([](auto& parts) { parts.erase(parts.begin() + 1); }), QString("- data · part 2: b 57"));
        QCOMPARE(said([](auto& parts) {
                     parts.insert(parts.begin(), {"c", "code", 1});
                     parts[3].weight = 18; // the second "a" is still compared with the second
                 }),
                 QString("~ data · part 4 · weight: 17 → 18\n+ data · part 1: c 1"));
        QCOMPARE(said([](auto& parts) { parts.clear(); }),
                 QString("- data · part 1: a 9\n- data · part 2: b 57\n- data · part 3: a 17"));
    }

    void differencesInTrainingAreSummarised()
    {
        const Project plain = findExample("plain-language")->project;
        const Topology grn = findExample("grn-language")->project.stack().topology;
        const auto said = [&](const std::function<void(Project&)>& change) {
            Project other = plain;
            change(other);
            return QString::fromStdString(joinedText(differingWords(plain, other)));
        };
        QCOMPARE(said([](Project&) {}), QString());
        QCOMPARE(said([](Project& p) {
                     p.name = "another";
                     p.description = "of it";
                     p.sweeps.push_back({"depths", {}});
                 }),
                 QString());
        QCOMPARE(said([&](Project& p) {
                     p.stack().width = 64;
                     p.stack().topology = grn;
                 }),
                 QString("GRN-v1, width 64 features"));
        QCOMPARE(said([](Project& p) {
                     p.stack().width = 64;
                     p.training.learningRate.peak = 0.02;
                     p.seeds.init = 9;
                 }),
                 QString("width 64 features, peak 0.02, initial weights 9"));
        QCOMPARE(said([](Project& p) { p.training.steps = 3000; }), QString("3000 steps")); // told once
        QCOMPARE(said([](Project& p) {
                     std::get<DepthMix>(p.stack().topology.wiring).states = {{{2, 7}, ShortcutState::Learned}};
                 }),
                 QString("Plain residual + 2:7"));
    }

    /// A wiring that was edited by hand no longer has the name of its preset.
    void aWiringIsNamedByWhatItIs()
    {
        Project project = findExample("plain-language")->project;
        const auto named = [&](const char* preset, const std::function<void(DepthMix&)>& change) {
            const auto presets = topologyPresets(project.network);
            const auto found = std::ranges::find(presets, preset, &TopologyPreset::name);
            project.stack().topology = {preset, found->wiring};
            change(std::get<DepthMix>(project.stack().topology.wiring));
            return wiringName(project.stack().topology, project.network);
        };
        const auto nothing = [](DepthMix&) {};
        QCOMPARE(named("grn-v1", nothing), std::string("GRN-v1"));
        QCOMPARE(named("none",
                       [](DepthMix& mix) {
                           std::get<ExplicitSources>(mix.sources).shortcuts.push_back({1, 4});
                           std::ranges::sort(std::get<ExplicitSources>(mix.sources).shortcuts);
                       }),
                 std::string("No shortcuts + 1:4"));
        QCOMPARE(named("ancre-ingoing",
                       [](DepthMix& mix) {
                           for (const Shortcut& shortcut : {Shortcut{0, 2}, Shortcut{0, 3}, Shortcut{1, 3}}) {
                               mix.states[shortcut] = ShortcutState::Pruned;
                           }
                       }),
                 std::string("custom from ANCRe, ingoing, 3 pruned"));
        const std::string warm = named("ancre-ingoing", [](DepthMix& mix) { mix.temperature = 0.5; });
        QVERIFY2(warm.starts_with("custom from ANCRe, ingoing, ") && warm.ends_with("0.5"), warm.c_str());
        QVERIFY(named("ancre-ingoing", [](DepthMix& mix) {
                    mix.states[{0, 2}] = ShortcutState::Frozen;
                }) != named("ancre-ingoing", [](DepthMix& mix) {
                    mix.states[{0, 2}] = ShortcutState::Pruned;
                }));
        QCOMPARE(wiringName({"drawn", DepthMix()}, project.network), std::string("custom"));
    }

    /// A name may contain the separator of place texts.
    void placesAreWordByWord()
    {
        Project a = sampleProject();
        a.network.blocks[0].name = "mlp · wide";
        a.network.stack().segments[0].block = "mlp · wide";
        Project b = a;
        mlpOf(b).nodes[1].params["out"] = std::string("2*d");
        const std::vector<Change> changes = diff(a, b);
        QCOMPARE(changes.size(), std::size_t{1});
        QCOMPARE(changes.front().place, (std::vector<std::string>{"block mlp · wide", "node up", "out"}));
        QCOMPARE(changes.front().placeText(), std::string("block mlp · wide · node up · out"));
        QCOMPARE(differingWords(a, b), std::vector<std::string>{"block mlp · wide"});
        b = a;
        b.network.stem.nodes[1].name = "widen";
        QCOMPARE(diff(a, b).front().place, (std::vector<std::string>{"stem", "node up", "name"}));
    }

    void eachDifferenceSaysWhatItIsIn()
    {
        const Project plain = findExample("plain-language")->project;
        const auto partOf = [&](const std::function<void(Project&)>& change) {
            Project other = plain;
            change(other);
            const std::vector<Change> changes = diff(plain, other);
            return changes.size() == 1 ? std::optional(changes.front().part) : std::nullopt;
        };
        QVERIFY(partOf([](Project& p) { p.description = "of it"; }) == ChangedPart::Remark);
        QVERIFY(partOf([](Project& p) { p.sweeps.push_back({"depths", {}}); }) == ChangedPart::Remark);
        QVERIFY(partOf([](Project& p) { p.stack().topology.preset = "other"; }) == ChangedPart::Preset);
        QVERIFY(partOf([](Project& p) { p.stack().topology.wiring = Concatenation{}; }) == ChangedPart::Topology);
        QVERIFY(partOf([](Project& p) { p.network.blocks.front().graph.nodes.front().name = "other"; }) ==
                ChangedPart::Block);
        QVERIFY(partOf([](Project& p) { p.network.stem.nodes.front().name = "other"; }) == ChangedPart::Other);
        QVERIFY(partOf([](Project& p) { p.stack().width = 8; }) == ChangedPart::Other);
    }

    void texts_data()
    {
        QTest::addColumn<std::function<void(Project&)>>("change");
        QTest::addColumn<QString>("text");
        const auto row = [](const char* name, const char* text, const std::function<void(Project&)>& change) {
            QTest::newRow(name) << change << QString::fromUtf8(text);
        };
        row("nothing", "", [](Project&) {});
        row("number", "~ training · learning rate · peak: 0.001 → 0.003",
            [](Project& p) { p.training.learningRate.peak = 3e-3; });
        row("unit of examples", "~ training · batch: 16 examples → 8 examples",
            [](Project& p) { p.training.batch = 8; });
        row("family of wirings", "~ topology · wiring: depth mix → concatenation",
            [](Project& p) { p.stack().topology.wiring = Concatenation{}; });
        row("unit", "~ training · sequence length: 128 tokens → 256 tokens",
            [](Project& p) { p.training.sequenceLength = 256; });
        row("name", "~ training · precision: fp32 → bf16", [](Project& p) { p.training.precision = Precision::Bf16; });
        row("flag", "~ network · tied head: off → on", [](Project& p) { p.network.tieHead = true; });
        row("text", "~ description: none → first …", [](Project& p) { p.description = "first\nsecond"; });
        row("alternative", "~ training · optimiser: AdamW → SGD (momentum 0.9)", [](Project& p) {
            p.training.optimiser = Sgd{0.9, 0.0};
        });
        row("a group", "+ training · groups · 1: Lion, names layers.1.*",
            [](Project& p) { p.training.groups = {{.names = "layers.1.*", .optimiser = Lion{}}}; });
        row("inside an alternative", "~ training · optimiser · β₂: 0.98 → 0.95",
            [](Project& p) { p.training.optimiser = AdamW{.beta2 = 0.95}; });
        row("data", "~ data · source: synthetic language → text (file or folder corpus.txt)", [](Project& p) {
            p.data.source = TextData{"corpus.txt", {}};
        });
        row("mixture", "~ data · source: synthetic language → mixture of texts (parts a.txt 1, b 2.5)", [](Project& p) {
            p.data.source = MixtureData{{{"a.txt"}, {"b", "text", 2.5}}, {}};
        });
        row("topology", "~ topology · preset: plain → ancre\n~ topology · weight: fixed → per feature", [](Project& p) {
            p.stack().topology.preset = "ancre";
            mixOf(p).weight = WeightKind::PerFeature;
        });
        row("sources",
            "~ topology · sources: chosen i:j (shortcuts 0:1 0:2) → first and last k (last k 4 entries, earlier "
            "entries input and sum)",
            [](Project& p) { mixOf(p).sources = FirstAndLast{4}; });
        row("shortcuts", "- topology · shortcut 0:2\n+ topology · shortcut 1:3", [](Project& p) {
            mixOf(p).sources = ExplicitSources{{{0, 1}, {1, 3}}};
        });
        row("state", "+ topology · state of shortcut 2:5: frozen", [](Project& p) {
            mixOf(p).states[{2, 5}] = ShortcutState::Frozen;
        });
        row("stack", "~ network · stack: mlp × 12 → mlp × 10, gpt × 2", [](Project& p) {
            p.stack().segments = {{"mlp", 10}, {"gpt", 2}};
        });
        row("same stack otherwise written", "", [](Project& p) { p.stack().segments = {{"mlp", 5}, {"mlp", 7}}; });
        row("parameter", "~ block mlp · node up · out: 4*d → 2*d\n~ block mlp · node down · bias: default → on",
            [](Project& p) {
                mlpOf(p).nodes[1].params["out"] = std::string("2*d");
                mlpOf(p).nodes[2].params["bias"] = true;
            });
        row("stem", "~ stem · node up · kind: linear → conv1d",
            [](Project& p) { p.network.stem.nodes[1].kind = "conv1d"; });
        row("new node",
            "+ block mlp · node act: activation, fn gelu\n- block mlp · wire up.out > down.in\n"
            "+ block mlp · wire act.out > down.in\n+ block mlp · wire up.out > act.in",
            [](Project& p) {
                mlpOf(p).nodes.push_back({NodeId{9}, "activation", "act", {{"fn", std::string("gelu")}}});
                mlpOf(p).wires = {{{NodeId{1}, "out"}, {NodeId{2}, "in"}},
                                  {{NodeId{2}, "out"}, {NodeId{9}, "in"}},
                                  {{NodeId{3}, "out"}, {NodeId{4}, "in"}},
                                  {{NodeId{9}, "out"}, {NodeId{3}, "in"}}};
            });
        row("renamed node", "~ block mlp · node up · name: up → widen",
            [](Project& p) { mlpOf(p).nodes[1].name = "widen"; });
        row("node order and new ids", "", [](Project& p) {
            std::ranges::reverse(mlpOf(p).nodes);
            for (Node& node : mlpOf(p).nodes) {
                node.id = NodeId{static_cast<std::uint32_t>(node.id) + 10};
            }
            for (Wire& wire : mlpOf(p).wires) {
                wire.from.node = NodeId{static_cast<std::uint32_t>(wire.from.node) + 10};
                wire.to.node = NodeId{static_cast<std::uint32_t>(wire.to.node) + 10};
            }
        });
        row("renamed block", "~ block mlp · name: mlp → wide", [](Project& p) {
            p.network.blocks[0].name = "wide";
            p.stack().segments[0].block = "wide";
        });
        row("new block", "+ block extra: 0 nodes", [](Project& p) { p.network.blocks.push_back({"extra", "x", {}}); });
        row("lost block", "- block mlp: 4 nodes", [](Project& p) { p.network.blocks.erase(p.network.blocks.begin()); });
        row("stages",
            "- schedule · stages · from step 0: average length 6 layers, always 1 12\n"
            "~ schedule · stages · from step 500 · average length: 9 layers → 10 layers",
            [](Project& p) {
                p.stack().schedule.stages = {{500, 10, {1}}};
            });
    }

    void texts()
    {
        QFETCH(std::function<void(Project&)>, change);
        QFETCH(QString, text);
        const Project a = sampleProject();
        Project b = a;
        change(b);
        QCOMPARE(textOf(diff(a, b)), text);
    }

    void backwardsSwapsBeforeAndAfter()
    {
        const Project a = sampleProject();
        Project b = a;
        b.training.steps = 7;
        mixOf(b).states[{2, 5}] = ShortcutState::Pruned;
        QCOMPARE(
            textOf(diff(b, a)),
            QString::fromUtf8("- topology · state of shortcut 2:5: pruned\n~ training · steps: 7 steps → 1000 steps"));
    }

    void everyEditOfMeaningShows()
    {
        tests::RandomDocument random(tests::randomSeed());
        for (int i = 0; i < 500; ++i) {
            const Document before = random.document();
            Document after = before;
            QVERIFY(diff(before.project, after.project).empty());
            const Edit edit = random.edit(before);
            QVERIFY(applyEdit(after, edit).ok());
            const auto changes = diff(before.project, after.project);
            if (before.project == after.project) {
                QVERIFY2(changes.empty(), titleOf(edit).c_str());
            } else if (!setsStack(edit)) { // a stack may be written in other segments
                QVERIFY2(!changes.empty(), titleOf(edit).c_str());
            }
        }
    }
};

RESIDUA_TEST(TestDiff)
#include "tst_diff.moc"
