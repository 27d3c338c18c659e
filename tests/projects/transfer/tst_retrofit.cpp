// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/check/validate.h"
#include "projects/depth/depth_names.h"
#include "projects/depth/unrolled_depth.h"
#include "projects/library/presets.h"
#include "projects/model/topology.h"
#include "projects/shipped/examples.h"
#include "projects/transfer/retrofit.h"
#include "tests/support/refusal.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <map>
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

DepthMix mixNamed(const std::string& name, std::int64_t depth)
{
    return std::get<DepthMix>(presetNamed(name, depth).wiring);
}

/// Weights that no rule makes: of each term another, and of each feature.
MixNumbers unevenWeights(const DepthMix& mix, std::int64_t layers, std::int64_t features)
{
    const DepthPlan plan = planOf(mix, layers);
    MixNumbers coefficients{features, {}};
    const std::size_t count = plan.terms.size() * static_cast<std::size_t>(features);
    for (std::size_t i = 0; i < count; ++i) {
        coefficients.values.push_back(0.3 + 0.9 * std::sin(static_cast<double>(i) + 1));
    }
    return appliedWeights(mix, plan, coefficients);
}

bool alike(const BranchSum& a, const BranchSum& b)
{
    return std::ranges::equal(a, b, [](double x, double y) { return std::abs(x - y) < 1e-9 * (1 + std::abs(x)); });
}

bool alike(const UnrolledDepth& a, const UnrolledDepth& b)
{
    return alike(a.output, b.output) && std::ranges::equal(a.inputs, b.inputs, [](const auto& x, const auto& y) {
               return std::ranges::equal(x, y, [](const BranchSum& u, const BranchSum& v) { return alike(u, v); });
           });
}

/// True if every weight is 1, which is the plain residual network.
bool isPlain(const UnrolledDepth& sums)
{
    const auto adds = [&](const BranchSum& sum, std::size_t branches) {
        BranchSum plain(sum.size(), 0.0);
        std::fill_n(plain.begin(), branches * static_cast<std::size_t>(sums.features), 1.0);
        return alike(plain, sum);
    };
    bool plain = adds(sums.output, sums.inputs.size() + 1);
    for (std::size_t b = 0; b < sums.inputs.size(); ++b) {
        plain = plain && std::ranges::all_of(sums.inputs[b], [&](const BranchSum& sum) { return adds(sum, b + 1); });
    }
    return plain;
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
        const std::set<std::string> plain{"plain",        "grn-v1",
                                          "grn-v2",       "grn-v3",
                                          "dca",          "grn-v2-table",
                                          "grn-v3-table", "grn-v3-literal",
                                          "dca-table",    "k-dca",
                                          "ancre-none",   "ancre-cascaded",
                                          "denseformer",  "denseformer-dilated",
                                          "mudd",         "laurel-lr",
                                          "laurel-pa",    "frac-static",
                                          "frac-dynamic"};
        for (const std::int64_t depth : {1, 6, 13}) {
            for (const TopologyPreset& preset : topologyPresets(depth)) {
                const auto departure = departureFromPlain(preset.wiring, depth);
                // With one layer there is nothing to choose between.
                const bool single =
                    depth == 1 && (preset.name.starts_with("ancre") || preset.name.ends_with("-last-4") ||
                                   preset.name.ends_with("-last-3"));
                if (!single) {
                    QVERIFY2(plain.contains(preset.name) == !departure, preset.name.c_str());
                }
            }
        }
    }

    /// The document alone shows whether the function that a run has learned consists of sums.
    void wiringsThatAreSums()
    {
        const std::map<std::string, std::string> others{
            {"highway", "its gates depend on the input"},
            {"hyper-dynamic", "made from the input, for each token"},
            {"mhc", "made from the input, for each token"},
            {"ihc", "made from the input, for each token"},
            {"mhc-lite", "made from the input, for each token"},
            {"frac-dynamic", "made from the input, for each token"},
            {"frac-static", "its fractions mix the features"},
            {"mudd", "made from the input, for each token"},
            {"attention-residuals", "made from the input, for each token"},
            {"attention-residuals-block", "made from the input, for each token"},
            {"post-norm", "it normalises each sum"},
            {"deep-norm", "it normalises each sum"},
            {"deep-loop", "it normalises each sum"},
            {"value-residual", "mixes values inside the attentions"},
            {"densenet", "its projections mix the features"},
            {"laurel-lr", "mix the features"},
            {"laurel-pa", "mix the features"},
            {"laurel-rw-lr", "mix the features"},
            {"laurel-rw-lr-pa", "mix the features"}};
        for (const TopologyPreset& preset : topologyPresets(6)) {
            const auto departure = departureFromSums({preset.name, preset.wiring});
            const auto other = others.find(preset.name);
            QVERIFY2((other != others.end()) == departure.has_value(), preset.name.c_str());
            if (departure) {
                QVERIFY2(departure->message.find(other->second) != std::string::npos, departure->message.c_str());
                QVERIFY(departure->message.starts_with("the run's own, " + preset.name + ", computes what no weights"));
            }
        }
        Topology shifted = presetNamed("rezero", 6);
        std::get<BranchGate>(shifted.wiring).sites = MixSites::Ffn;
        QVERIFY(departureFromSums(shifted)->message.ends_with("inputs of the FFNs"));
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
        QTest::newRow("post-norm") << "post-norm"
                                   << "it normalises each sum";
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
        QVERIFY(tests::isRefusedAt(*departureFromPlain(mix, 3), "", "3 does not read entry 1"));
        Stack looped; // its third layer is the second visit to layer 2
        looped.segments = {{"b", 2}};
        looped.loops = {{.first = 2, .last = 2, .visits = 2}};
        QVERIFY(tests::isRefusedAt(*departureFromPlain(mix, looped), "", "layer 2@2 does not read entry 1"));
        mix = std::get<DepthMix>(presetNamed("ancre-cascaded", 3).wiring);
        mix.normalise = NormaliseOver::Sources; // over one source each
        QVERIFY(!departureFromPlain(mix, 3));
        mix = std::get<DepthMix>(presetNamed("ancre-none", 3).wiring);
        mix.sites = MixSites::Both;
        QVERIFY(!departureFromPlain(mix, 3));
        mix.init = MixInit::Zero;
        QVERIFY(departureFromPlain(mix, 3).has_value());
    }

    /// The answer from a wiring's readers agrees with the sums of all its layers, whatever is pruned.
    void departureIsOfTheSums()
    {
        const auto agrees = [](const DepthMix& mix, std::int64_t layers) {
            const UnrolledDepth sums = unrolled(mix, layers, startingWeights(mix, layers), granularityFor(mix, mix));
            return departureFromPlain(mix, layers).has_value() != isPlain(sums);
        };
        for (const std::int64_t layers : {1, 2, 5}) {
            for (const TopologyPreset& preset : topologyPresets(layers)) {
                const auto* const found = std::get_if<DepthMix>(&preset.wiring);
                if (found == nullptr || found->weight == WeightKind::DepthAttention) {
                    continue; // which is always said to depart
                }
                QVERIFY2(agrees(*found, layers), preset.name.c_str());
                for (const DepthReader& reader : planOf(*found, layers).readers) {
                    for (const std::int64_t source : reader.sources) {
                        DepthMix pruned = *found;
                        pruned.states[{source, reader.target}] = ShortcutState::Pruned;
                        const std::string name = preset.name + " without " + nameOf(Shortcut{source, reader.target});
                        QVERIFY2(agrees(pruned, layers), name.c_str());
                    }
                }
            }
        }
    }

    void departureOfRareWirings()
    {
        DepthMix middle = mixNamed("k-dca", 6); // the first two, of which one is the sum of 1 to 3, and 4 and 5
        QVERIFY(!departureFromPlain(middle, 6));
        middle.states[{1, 6}] = ShortcutState::Pruned;
        QVERIFY(tests::isRefusedAt(*departureFromPlain(middle, 6), "", "6 does not read entry 1"));

        DepthMix ending = mixNamed("ancre-none", 4); // the last layer takes the entry before it and no sum
        ending.entry = StackEntry::Branch;
        ending.init = MixInit::Ones;
        ending.sources = AllSources{};
        QVERIFY(!departureFromPlain(ending, 4));
        ending.lastMix = false;
        QVERIFY(tests::isRefusedAt(*departureFromPlain(ending, 4), "", "4 does not read entry 0"));

        DepthMix families = mixNamed("ancre-none", 4);
        families.sites = MixSites::Both;
        families.sitePairs = SitePairs::Alike;
        families.finalMix = true;
        QVERIFY(
            tests::isRefusedAt(*departureFromPlain(families, 4), "", "1 times entry 7")); // it reads like sites alone

        DepthMix outgoing = mixNamed("ancre-cascaded", 4); // each entry has one reader
        outgoing.normalise = NormaliseOver::Targets;
        QVERIFY(!departureFromPlain(outgoing, 4));
    }

    /// x_1 = f_1(x_0) + p01·x_0, x_2 = f_2(x_1) + p02·x_0 + p12·x_1, x_3 likewise, by hand.
    void unrollsAncre()
    {
        const DepthMix mix = mixNamed("ancre-none", 3);
        const double p01 = 0.5, p02 = 0.25, p12 = 2, p03 = -1, p13 = 3, p23 = 0.125;
        const UnrolledDepth sums = unrolled(mix, 3, {1, {p01, p02, p12, p03, p13, p23}}, Granularity::Layer);
        const double c20 = p02 + p12 * p01;
        QCOMPARE(sums.inputs.size(), std::size_t{3});
        for (std::size_t port = 0; port < 4; ++port) {
            QCOMPARE(sums.inputs[0][port], (BranchSum{1, 0, 0, 0}));
            QCOMPARE(sums.inputs[1][port], (BranchSum{p01, 1, 0, 0}));
            QCOMPARE(sums.inputs[2][port], (BranchSum{c20, p12, 1, 0}));
        }
        QCOMPARE(sums.output, (BranchSum{p03 + p13 * p01 + p23 * c20, p13 + p23 * p12, p23, 1}));
        // DCA's weights are those sums, for each of its ports; the last of each are a layer's own branch.
        const auto weights = weightsFor(mixNamed("dca", 3), 3, sums);
        QVERIFY(weights.ok());
        std::vector<double> expected;
        for (std::size_t layer = 0; layer < 3; ++layer) {
            for (int port = 0; port < 3; ++port) {
                const BranchSum& sum = sums.inputs[layer][0];
                expected.insert(expected.end(), sum.begin(), sum.begin() + static_cast<std::ptrdiff_t>(layer) + 1);
            }
        }
        expected.insert(expected.end(), sums.output.begin(), sums.output.end());
        QVERIFY(alike(weights->values, expected));
    }

    void plainIsPlainInEveryNotation()
    {
        for (const char* const name : {"plain", "grn-v2", "dca", "k-dca", "ancre-none", "denseformer", "mudd"}) {
            const DepthMix mix = mixNamed(name, 5);
            QVERIFY2(isPlain(unrolled(mix, 5, startingWeights(mix, 5), Granularity::Layer)), name);
        }
        DepthMix both = mixNamed("ancre-none", 5);
        for (const MixSites sites : {MixSites::Both, MixSites::Ffn}) {
            both.sites = sites;
            QVERIFY(isPlain(unrolled(both, 5, startingWeights(both, 5), Granularity::Half)));
        }
        for (const char* const name : {"none", "ancre-ingoing", "attention-residuals"}) {
            const DepthMix mix = mixNamed(name, 5);
            QVERIFY2(!isPlain(unrolled(mix, 5, startingWeights(mix, 5), granularityFor(mix, mix))), name);
        }
        const DepthProgram factors = factorProgram(3, Granularity::Layer);
        QVERIFY(isPlain(unrolled(factors, {1, {1, 1, 1, 1, 1, 1}}, Granularity::Layer)));
        QVERIFY(!isPlain(unrolled(factors, {1, {1, 1, 0.5, 1, 1, 1}}, Granularity::Half)));
        const MultiStream one{.streams = 1, .sites = MixSites::Mhsa};
        QVERIFY(isPlain(unrolled(programOf(one, 2), {1, {1, 1, 1, 1, 1, 1, 1}}, Granularity::Layer)));
    }

    /// Whatever weights one wiring has: where another says that it can have them, it gives the very same sums.
    void weightsForGivesTheSameSumsOrSaysWhyNot()
    {
        constexpr std::int64_t kLayers = 6;
        int kept = 0;
        int refused = 0;
        std::vector<DepthMix> mixes;
        for (const TopologyPreset& preset : topologyPresets(kLayers)) {
            if (const auto* const mix = std::get_if<DepthMix>(&preset.wiring)) {
                mixes.push_back(*mix);
            }
        }
        for (const MixSites sites : {MixSites::Both, MixSites::Ffn}) {
            mixes.push_back(mixNamed("ancre-none", kLayers));
            mixes.back().sites = sites;
        }
        for (const DepthMix& from : mixes) {
            for (const DepthMix& to : mixes) {
                const Granularity granularity = granularityFor(from, to);
                const std::int64_t features = from.weight == WeightKind::PerFeature ? 3 : 1;
                const UnrolledDepth wanted =
                    unrolled(from, kLayers, unevenWeights(from, kLayers, features), granularity);
                const auto weights = weightsFor(to, kLayers, wanted);
                const auto coefficients = weights ? coefficientsFor(to, kLayers, *weights) : weights;
                if (!coefficients) {
                    ++refused;
                    QVERIFY(coefficients.error().message.size() > 20);
                    continue;
                }
                ++kept;
                MixNumbers all = appliedWeights(to, planOf(to, kLayers), *coefficients);
                if (all.features < features) {
                    MixNumbers wide{features, {}};
                    for (const double value : all.values) {
                        wide.values.insert(wide.values.end(), static_cast<std::size_t>(features), value);
                    }
                    all = wide;
                }
                QVERIFY(alike(unrolled(to, kLayers, all, granularity), wanted));
            }
        }
        QVERIFY2(kept > 60 && refused > 60, qPrintable(QString("%1 kept, %2 refused").arg(kept).arg(refused)));
    }

    void saysWhyNoWeightsDo_data()
    {
        QTest::addColumn<QString>("from");
        QTest::addColumn<QString>("to");
        QTest::addColumn<QString>("said");
        QTest::newRow("a softmax") << "ancre-none"
                                   << "ancre-ingoing"
                                   << "layer 1 reads its one source through a softmax, whose weights are positive";
        QTest::newRow("targets") << "grn-v1"
                                 << "ancre-outgoing"
                                 << "what layer 1 reads the run's own puts";
        QTest::newRow("fixed") << "ancre-none"
                               << "plain"
                               << "times the input, this one 1 times, whatever it learns";
        QTest::newRow("ports") << "dca"
                               << "denseformer"
                               << "weighs all features alike";
        QTest::newRow("a middle that is summed") << "ancre-none"
                                                 << "k-dca"
                                                 << "the run's own puts";
    }
    void saysWhyNoWeightsDo()
    {
        QFETCH(QString, from);
        QFETCH(QString, to);
        QFETCH(QString, said);
        const DepthMix before = mixNamed(from.toStdString(), 6);
        const DepthMix after = mixNamed(to.toStdString(), 6);
        const std::int64_t features = before.weight == WeightKind::PerFeature ? 2 : 1;
        const auto weights =
            weightsFor(after, 6, unrolled(before, 6, unevenWeights(before, 6, features), Granularity::Layer));
        const auto coefficients = weights ? coefficientsFor(after, 6, *weights) : weights;
        QVERIFY(!coefficients.ok());
        QVERIFY2(QString::fromStdString(coefficients.error().text()).contains(said),
                 coefficients.error().text().c_str());
    }

    void factorsOfAResidual()
    {
        const std::vector<double> weights{1, 0.5, 0.25, -1, 3, 2}; // of residual and branch
        const DepthProgram program = factorProgram(3, Granularity::Layer);
        for (const Granularity granularity : {Granularity::Layer, Granularity::Half}) {
            const auto factors = factorsFor(0, unrolled(program, {1, weights}, granularity));
            QVERIFY(factors.ok());
            QVERIFY(alike(factors->values, weights));
        }
        const DepthMix ancre = mixNamed("ancre-none", 4);
        QVERIFY(!factorsFor(4, unrolled(ancre, 4, unevenWeights(ancre, 4, 1), Granularity::Layer)).ok());
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
        project.stack().segments = {{storage.name, 8}};
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
        // Nodes with weights keep their names.
        for (const Node& node : project.network.blocks.front().graph.nodes) {
            if (node.kind != "input") {
                const auto same = std::ranges::find(graph.nodes, node.name, &Node::name);
                QVERIFY(same != graph.nodes.end() && *same == node);
            }
        }
        // Again changes nothing.
        QCOMPARE(*rewired(*changed, changed->stack().topology) == *changed, true);
        const Block& before = project.network.blocks.front();
        QCOMPARE(withPortsJoined(changed->network.blocks.front()) == before, true);
        QCOMPARE(withPortsJoined(before) == before, true);
    }

    /// The shift and scale after a norm come with each port, and go with it.
    void modulatedAttentionsAreFedApart()
    {
        const Block before{"dit", "", ditBlock(4)};
        for (const MixPorts ports : {MixPorts::Qkv, MixPorts::QkvResidual}) {
            const Result<Block> apart = withPortsApart(before, ports);
            QVERIFY2(apart.ok(), apart ? "" : apart.error().text().c_str());
            QCOMPARE(std::ranges::count(apart->graph.nodes, "expression", &Node::kind), std::ptrdiff_t{4});
            QVERIFY(hasInputPort(apart->graph, MixPort::Key) && hasInputPort(apart->graph, MixPort::Value));
            QCOMPARE(withPortsJoined(*apart) == before, true);
        }
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
        QVERIFY(tests::isRefusedAt(changed, "", "q, k and v"));
    }

    void blocksWithoutAnAttentionAreRefused()
    {
        Project project = plainLanguage();
        Block storage;
        project.network.blocks = {blockPreset("mlp", storage)};
        project.stack().segments = {{"mlp", 8}};
        const Result<Project> changed = rewired(project, presetNamed("dca", 8));
        QVERIFY(tests::isRefusedAt(changed, "block mlp", "q, k and v"));
        QVERIFY(rewired(project, presetNamed("grn-v3", 8)).ok());
    }
};

RESIDUA_TEST_IN(QCoreApplication, TestRetrofit)
#include "tst_retrofit.moc"
