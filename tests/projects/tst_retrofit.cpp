// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/presets.h"
#include "projects/retrofit.h"
#include "projects/topology.h"
#include "projects/validate.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <set>

using namespace residua;
using namespace residua::projects;

namespace {

Project plainLanguage()
{
    return findExample("plain-language")->project;
}

Topology presetNamed(const std::string& name, std::int64_t depth)
{
    const auto presets = topologyPresets(depth);
    return {name, std::ranges::find(presets, name, &TopologyPreset::name)->wiring};
}

const Block& blockPreset(const std::string& name, Block& storage)
{
    storage = {name, name, std::ranges::find(blockPresets(), name, &BlockPreset::name)->graph};
    return storage;
}

} // namespace

class TestRetrofit : public QObject {
    Q_OBJECT

private slots:
    void presetsThatStartAsThePlainNetwork()
    {
        const std::set<std::string> plain{"plain", "grn-v1",     "grn-v2",         "grn-v3",      "dca",
                                          "k-dca", "ancre-none", "ancre-cascaded", "denseformer", "denseformer-dilated",
                                          "mudd",  "laurel-rw",  "laurel-lr",      "laurel-pa"};
        for (const std::int64_t depth : {1, 6, 13}) {
            for (const TopologyPreset& preset : topologyPresets(depth)) {
                const auto departure = departureFromPlain(preset.wiring, depth);
                // With one layer there is nothing to choose between.
                const bool single = depth == 1 && (preset.name.starts_with("ancre"));
                if (!single) {
                    QVERIFY2(plain.contains(preset.name) == !departure, preset.name.c_str());
                }
            }
        }
    }

    void saysWhyAndWhatWould_data()
    {
        QTest::addColumn<QString>("preset");
        QTest::addColumn<QString>("said");
        QTest::newRow("none") << "none"
                              << "layer 1 does not read entry 0";
        QTest::newRow("ancre-ingoing") << "ancre-ingoing"
                                       << "layer 2 reads its 2 sources through a softmax";
        QTest::newRow("ancre-fixed") << "ancre-fixed"
                                     << "layer 2 starts with 0.5 times entry 0, not 0";
        QTest::newRow("attention") << "attention-residuals"
                                   << "starts as the mean";
        QTest::newRow("hyper") << "hyper-static"
                               << "its 4 streams are summed, so 4 times";
        QTest::newRow("rezero") << "rezero"
                                << "factor of 0";
        QTest::newRow("densenet") << "densenet"
                                  << "start at random";
    }
    void saysWhyAndWhatWould()
    {
        QFETCH(QString, preset);
        QFETCH(QString, said);
        const auto departure = departureFromPlain(presetNamed(preset.toStdString(), 4).wiring, 4);
        QVERIFY(departure.has_value());
        QVERIFY2(departure->text().find(said.toStdString()) != std::string::npos, departure->text().c_str());
        QVERIFY(departure->text().find("These do: plain, grn-v1") != std::string::npos);
        QVERIFY(departure->text().find("rezero") == std::string::npos);
    }

    void singleChoicesCount()
    {
        auto mix = std::get<DepthMix>(presetNamed("grn-v1", 3).wiring);
        mix.states[{1, 3}] = ShortcutState::Pruned;
        QVERIFY(departureFromPlain(mix, 3)->text().find("layer 3 does not read entry 1") != std::string::npos);
        mix = std::get<DepthMix>(presetNamed("ancre-cascaded", 3).wiring);
        mix.normalise = NormaliseOver::Sources; // over one source each
        QVERIFY(!departureFromPlain(mix, 3));
        mix = std::get<DepthMix>(presetNamed("ancre-none", 3).wiring);
        mix.sites = MixSites::Both;
        QVERIFY(!departureFromPlain(mix, 3));
        mix.init = MixInit::Zero;
        QVERIFY(departureFromPlain(mix, 3).has_value());
    }

    void opensTheBlocksOfATransformer_data()
    {
        QTest::addColumn<QString>("block");
        QTest::addColumn<QString>("topology");
        for (const char* const block : {"transformer", "gpt"}) {
            for (const char* const topology : {"dca", "mudd"}) {
                QTest::addRow("%s, %s", block, topology) << block << topology;
            }
        }
    }
    void opensTheBlocksOfATransformer()
    {
        QFETCH(QString, block);
        QFETCH(QString, topology);
        Project project = plainLanguage();
        Block storage;
        project.network.blocks = {blockPreset(block.toStdString(), storage)};
        project.network.stack = {{storage.name, 8}};
        const Result<Project> changed = rewired(project, presetNamed(topology.toStdString(), 8));
        QVERIFY(changed.ok());
        QVERIFY(!hasErrors(validate(*changed)));
        const Graph& graph = changed->network.blocks.front().graph;
        std::set<std::string> ports;
        for (const Node& node : graph.nodes) {
            if (node.kind == "input") {
                ports.insert(std::get<std::string>(node.params.at("port")));
            }
        }
        QCOMPARE(ports, topology == "mudd" ? (std::set<std::string>{"q", "k", "v", "residual"})
                                           : (std::set<std::string>{"q", "k", "v"}));
        // What has weights is still there under its name.
        for (const Node& node : project.network.blocks.front().graph.nodes) {
            if (node.kind != "input") {
                const auto same = std::ranges::find(graph.nodes, node.name, &Node::name);
                QVERIFY(same != graph.nodes.end() && *same == node);
            }
        }
        // Again changes nothing.
        QCOMPARE(*rewired(*changed, changed->topology) == *changed, true);
    }

    /// A file may hold wires from nodes that are not there.
    void wiresFromNowhereAreRefused()
    {
        Project project = plainLanguage();
        Graph& graph = project.network.blocks.front().graph;
        const NodeId attention = std::ranges::find(graph.nodes, "attention", &Node::kind)->id;
        for (Wire& wire : graph.wires) {
            if (wire.to.node == attention) {
                wire.from = {NodeId{4000}, "out"};
            }
        }
        const auto changed = rewired(project, presetNamed("dca", project.network.depth()));
        QVERIFY(!changed.ok());
        QVERIFY(changed.error().text().find("cannot be fed q, k and v apart") != std::string::npos);
    }

    void blocksWithoutAnAttentionAreRefused()
    {
        Project project = plainLanguage();
        Block storage;
        project.network.blocks = {blockPreset("mlp", storage)};
        project.network.stack = {{"mlp", 8}};
        const Result<Project> changed = rewired(project, presetNamed("dca", 8));
        QVERIFY(!changed.ok());
        QVERIFY(changed.error().text().starts_with("[block mlp] cannot be fed q, k and v apart"));
        QVERIFY(rewired(project, presetNamed("grn-v3", 8)).ok());
    }
};

RESIDUA_TEST_IN(QCoreApplication, TestRetrofit)
#include "tst_retrofit.moc"
