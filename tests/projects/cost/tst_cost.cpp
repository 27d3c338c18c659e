// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/cost/cost.h"
#include "projects/nodes/ffn_site.h"
#include "projects/nodes/node_kinds.h"
#include "tests/support/graph_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

using namespace residua;
using namespace residua::projects;
using residua::tests::graphFrom;
using residua::tests::languageProject;
using residua::tests::underTopology;
using residua::tests::vectorProject;

namespace {

constexpr double kWidth = 128;
constexpr double kTokens = 32;

} // namespace

class TestCost : public QObject {
    Q_OBJECT

private slots:
    void node_data();
    void node();
    void networkRank();
    void convolutionRank();
    void performer();
    void attentionOptions();
    void sequencesOfOtherSources();
    void meanPoolCountsItsInput();
    void inputsOfASumAreNotKept();
    void inputOfAViewIsKeptForItsReaders();
    void topology_data();
    void topology();
    void transformerMatchesItsFormula();
    void tiedHeadCountsOnce();
    void sharedNormsCountOnce();
    void blocksRunWholeOrInHalves();
    void partsAddUp();
    void shortcutAddsWhatTheTotalGains();
    void shortcutsCostWhatTheTotalLosesWithoutThem();
    void shortcutErrors();
    void invalidDocumentsGiveErrors();
};

/// The block has one node between input and output, 128 features and 32 tokens. The expected values are worked by hand.
void TestCost::node_data()
{
    QTest::addColumn<QString>("node");
    QTest::addColumn<qint64>("parameters");
    QTest::addColumn<double>("flops");
    QTest::addColumn<double>("elements");
    const auto row = [](const char* node, qint64 parameters, double flops, double elements) {
        QTest::newRow(node) << node << parameters << flops << elements;
    };
    row("a linear out=64", 128 * 64, 2.0 * 128 * 64, 64);
    row("a linear out=64 bias=true", 128 * 64 + 64, 2.0 * 128 * 64 + 64, 64);
    row("a linear rank=3 out=64", 3 * (128 + 64), 2.0 * 3 * (128 + 64), 64 + 3);
    row("a linear rank=0.25 out=64 bias=true", 16 * 192 + 64, 2.0 * 16 * 192 + 64, 64 + 16);
    row("a linear rank=d/32 out=64", 4 * (128 + 64), 2.0 * 4 * (128 + 64), 64 + 4);
    row("a linear rank=full out=64", 128 * 64, 2.0 * 128 * 64, 64);
    row("a conv1d kernel=5", 128 * 128 * 5 + 128, 128 * (2.0 * 128 * 5 + 1), 128);
    row("a conv1d kernel=4 groups=d bias=false", 128 * 4, 128 * 2.0 * 4, 128);
    row("a rms_norm", 128, 4 * 128, 128);
    row("a layer_norm", 2 * 128, 7 * 128, 128);
    row("a layer_norm bias=false", 128, 6 * 128, 128);
    row("a activation function=relu", 0, 128, 128);
    row("a activation function=identity", 0, 0, 0);
    row("a dropout", 0, 128, 2 * 128); // which it keeps, and what it makes
    row("a scale", 0, 128, 128);
    row("a scale learned=scalar", 1, 128, 128);
    row("a scale learned=per_feature", 128, 128, 128);
    row("a position_embedding", 32 * 128, 128, 128);
    row("a sinusoidal_positions", 0, 128, 128);
}

void TestCost::node()
{
    QFETCH(QString, node);
    QFETCH(qint64, parameters);
    QFETCH(double, flops);
    QFETCH(double, elements);
    Project project = languageProject("x input; " + node.toStdString() + "; b linear; y output; x > a; a > b; b > y");
    std::get<DepthMix>(project.stack().topology.wiring).weight = WeightKind::Scalar; // keeps what leaves the block
    const auto report = costOf(project);
    QVERIFY2(report.ok(), report ? "" : report.error().text().c_str());
    const Cost& cost = report->nodes.at(GraphRef::block("test")).at(NodeId{2});
    QCOMPARE(cost.parameters, parameters);
    QCOMPARE(cost.forwardFlops, flops);
    QCOMPARE(cost.trainFlops, 3 * flops);
    QCOMPARE(cost.activationBytes, elements * 16 * kTokens * 4);
    QCOMPARE(cost.weightBytes, 4.0 * static_cast<double>(parameters));
    QCOMPARE(cost.optimiserBytes, 12.0 * static_cast<double>(parameters));
}

/// The network's rank applies to the weights of blocks, except those with their own rank. Stem and head stay full.
void TestCost::networkRank()
{
    Project project = languageProject("x input; a attention heads=4 kv_heads=2 v_rank=full out_rank=0.5; b linear; "
                                      "y output; x > a.q; x > a.k; x > a.v; a > b; b > y");
    project.network.rank = FixedRank{8};
    const auto report = costOf(project);
    QVERIFY2(report.ok(), report ? "" : report.error().text().c_str());
    const auto& block = report->nodes.at(GraphRef::block("test"));
    const std::int64_t attention = 8 * (128 + 128) + 8 * (128 + 64) + 128 * 64 + 64 * (128 + 128);
    QCOMPARE(block.at(NodeId{2}).parameters, attention);
    QCOMPARE(block.at(NodeId{3}).parameters, std::int64_t{8 * 256});
    QCOMPARE(report->head.parameters, std::int64_t{128 * 64});
    const double keys = 2.0 * 2 * 128 * 16; // scores and values over half of 32 tokens
    QCOMPARE(block.at(NodeId{2}).forwardFlops, 2.0 * static_cast<double>(attention) + keys);
    project.network.rank = RankScale{0.25};
    QCOMPARE(costOf(project)->nodes.at(GraphRef::block("test")).at(NodeId{3}).parameters, std::int64_t{32 * 256});
}

/// The cost of an attention with r features per key-value head. It is linear in the length, except for the pairs in a
/// chunk of 64 tokens if causal.
void TestCost::performer()
{
    const Shape sequence{{kBatch, kTime, 32}};
    const Shape in[] = {sequence, sequence, sequence};
    const auto costWith = [&](std::int64_t context, std::map<std::string, ParamValue> given) {
        given.insert({{"heads", std::int64_t{4}}, {"kv_heads", std::int64_t{2}}});
        const auto params = evaluateParams(Node{NodeId{1}, "attention", "n", std::move(given)}, Sizes{});
        const NodeKind* const kind = findNodeKind("attention");
        return projects::costOf(*kind, *params, in, std::vector{sequence}, context);
    };
    const NodeCost softmax = costWith(256, {});
    const NodeCost causal = costWith(256, {{"weights", std::string("performer")}, {"features", std::int64_t{16}}});
    QCOMPARE(causal.parameters - softmax.parameters, std::int64_t{2 * 16 * 8});
    const double projections = softmax.flops - 4.0 * 32 * 128;
    const double features = 6 * 2.0 * 16 * 8;
    const double sums = 6 * 2.0 * 16 * 9 * 0.75; // but the first of four chunks
    const double pairs = 4 * 64 * 2.0 * (16 + 9);
    QCOMPARE(causal.flops, projections + features + sums + pairs);
    // Twice the length costs twice, but for the first chunk's sums.
    const NodeCost longer = costWith(8192, {{"weights", std::string("performer")}, {"features", std::int64_t{16}}});
    QVERIFY(longer.flops < 1.15 * causal.flops && longer.activationElements < 1.15 * causal.activationElements);
    QVERIFY(costWith(8192, {}).flops > 10 * softmax.flops);
    const NodeCost all =
        costWith(256, {{"weights", std::string("performer")}, {"features", std::int64_t{16}}, {"causal", false}});
    QCOMPARE(all.flops, projections + features + 6 * 2.0 * 16 * 9);
}

/// Biases and norms are parameters; a window bounds what a token sees.
void TestCost::attentionOptions()
{
    const Shape sequence{{kBatch, kTime, 32}};
    const Shape in[] = {sequence, sequence, sequence};
    const auto costWith = [&](std::int64_t context, std::map<std::string, ParamValue> given) {
        given.insert({{"heads", std::int64_t{4}}, {"kv_heads", std::int64_t{2}}});
        const auto params = evaluateParams(Node{NodeId{1}, "attention", "n", std::move(given)}, Sizes{});
        return projects::costOf(*findNodeKind("attention"), *params, in, std::vector{sequence}, context);
    };
    const NodeCost plain = costWith(256, {});
    const auto more = [&](std::map<std::string, ParamValue> given) {
        return costWith(256, std::move(given)).parameters - plain.parameters;
    };
    QCOMPARE(more({{"bias", std::string("qkv")}}), std::int64_t{32 + 2 * 16});
    QCOMPARE(more({{"bias", std::string("all")}}), std::int64_t{32 + 2 * 16 + 32});
    QCOMPARE(more({{"qk_norm", std::string("head")}}), std::int64_t{2 * 8});
    QCOMPARE(more({{"qk_norm", std::string("all")}}), std::int64_t{32 + 16});
    QCOMPARE(more({{"rotary_share", 0.5}, {"rope_scaling", std::string("llama3")}}), std::int64_t{0});
    const auto keysOf = [&](std::int64_t context, std::int64_t window) {
        const double projections = 2.0 * static_cast<double>(plain.parameters);
        return (costWith(context, {{"window", window}}).flops - projections) / (4 * 32);
    };
    QCOMPARE(keysOf(256, 0), 128.0);
    QCOMPARE(keysOf(256, 256), 128.0);
    QCOMPARE(keysOf(256, 1000), 128.0);
    QCOMPARE(keysOf(256, 64), 64.0 - 64.0 * 64 / 512);
    QVERIFY(std::abs(keysOf(1 << 20, 64) - 64) < 0.01);
}

/// A sequence of 16 positions in a sample costs 16 times what a token of 16 does.
void TestCost::sequencesOfOtherSources()
{
    const auto params = evaluateParams(Node{NodeId{1}, "attention", "n", {{"causal", false}}}, Sizes{});
    const auto costIn = [&](const Shape& shape, std::int64_t context) {
        const Shape in[] = {shape, shape, shape};
        return projects::costOf(*findNodeKind("attention"), *params, in, std::vector{shape}, context);
    };
    const NodeCost token = costIn({{kBatch, kTime, 32}}, 16);
    const NodeCost sample = costIn({{kBatch, 16, 32}}, 1);
    QCOMPARE(sample.flops, 16 * token.flops);
    QCOMPARE(sample.activationElements, 16 * token.activationElements);
    QCOMPARE(sample.parameters, token.parameters);
    // The head may count less than the tokens: its input is pooled.
    const auto linear =
        evaluateParams(Node{NodeId{1}, "linear", "n", {{"out", std::int64_t{3}}}}, Sizes{{{"d", 32}}, {}});
    const Shape pooled[] = {Shape{{kBatch, 32}}};
    const Shape classes[] = {Shape{{kBatch, 3}}};
    QCOMPARE(projects::costOf(*findNodeKind("linear"), *linear, pooled, classes, 16).flops, 2.0 * 32 * 3 / 16);
}

/// The rank applies to the matrix C_out × (C_in · kernel²). Convolutions with groups stay full.
void TestCost::convolutionRank()
{
    const Shape in[] = {Shape{{kBatch, 6, 8, 8}}};
    const auto costWith = [&](std::map<std::string, ParamValue> given) {
        given.emplace("out", std::int64_t{10});
        const Sizes sizes{{{"d", 8}}, FixedRank{4}};
        const auto params = evaluateParams(Node{NodeId{1}, "conv2d", "n", std::move(given)}, sizes);
        const auto out = findNodeKind("conv2d")->shapeRule(*params, in);
        return projects::costOf(*findNodeKind("conv2d"), *params, in, *out, 1);
    };
    const NodeCost cost = costWith({});
    QCOMPARE(cost.parameters, std::int64_t{4 * (10 + 54)});
    QCOMPARE(cost.flops, 64.0 * 2 * 4 * (10 + 54));
    QCOMPARE(cost.activationElements, 64.0 * (10 + 4));
    QCOMPARE(costWith({{"groups", std::int64_t{2}}}).parameters, std::int64_t{10 * 3 * 9});
    QCOMPARE(costWith({{"rank", std::string("full")}}).parameters, std::int64_t{10 * 54});
}

/// Checks the node alone, because no block over tokens may end with a mean pool.
void TestCost::meanPoolCountsItsInput()
{
    const Shape in[] = {Shape{{kBatch, kTime, 128}}};
    const Shape out[] = {Shape{{kBatch, 128}}};
    const NodeCost cost = projects::costOf(*findNodeKind("mean_pool"), {}, in, out, 32);
    QCOMPARE(cost.parameters, std::int64_t{0});
    QCOMPARE(cost.flops, 128.0);
    QCOMPARE(cost.activationElements, 128.0 / 32);
}

/// The backward pass of a sum or mean needs neither its inputs nor its output. They are kept only if other nodes need
/// them.
void TestCost::inputsOfASumAreNotKept()
{
    for (const char* const kind : {"position_embedding", "sinusoidal_positions"}) {
        Project project = languageProject(std::string("x input; a linear; p ") + kind +
                                          "; q add; b linear; y output; x > a; a > p; p > q.in1; x > q.in2; q > b; "
                                          "b > y");
        project.network.stem =
            graphFrom(std::string("x input; e token_embedding; p ") + kind + "; y output; x > e; e > p; p > y");
        project.network.tieHead = false;
        const auto report = costOf(project);
        QVERIFY2(report.ok(), report ? "" : report.error().text().c_str());
        const auto& block = report->nodes.at(GraphRef::block("test"));
        QCOMPARE(block.at(NodeId{2}).activationBytes, 0.0);
        QCOMPARE(block.at(NodeId{3}).activationBytes, 0.0);
        const auto& stem = report->nodes.at(GraphRef::stem());
        QCOMPARE(stem.at(NodeId{2}).activationBytes, 0.0);
        QVERIFY(stem.at(NodeId{3}).activationBytes > 0); // it enters the stack
    }
}

/// Counts all numbers of an image or patch, not those of one position.
void TestCost::inputOfAViewIsKeptForItsReaders()
{
    const auto sumOf = [](const std::string& reader) {
        Project project = vectorProject("x input; i image height=10 width=10; p patchify out=8 patch=2; q patchify "
                                        "out=8 patch=2; s add; r " +
                                        reader +
                                        "; l linear; y output; x > i; i > p; i > q; p > s.in1; q > s.in2; s > r; "
                                        "r > l; l > y");
        project.training.batch = 3;
        const auto report = costOf(project);
        return report ? report->nodes.at(GraphRef::block("test")).at(NodeId{5}).activationBytes : -1;
    };
    QCOMPARE(sumOf("mean_pool"), 0.0);
    QCOMPARE(sumOf("flatten"), 3 * 25 * 8 * 4.0);
}

void TestCost::topology_data()
{
    QTest::addColumn<QString>("preset");
    QTest::addColumn<QString>("block");
    QTest::addColumn<qint64>("parameters");
    const auto row = [](const char* preset, const char* block, qint64 parameters) {
        QTest::newRow(preset) << preset << block << parameters;
    };
    // 8 layers: 36 shortcuts into layers 1..8 and 9 into the final output; 128 features.
    row("plain", "transformer", 0);
    row("none", "transformer", 0);
    row("grn-v1", "transformer", 45);
    row("grn-v2", "transformer", 45 * 128);
    row("grn-v3", "transformer", 45 * 128 + 9 * 128);
    row("dca", "transformer-qkv", (3 * 36 + 9) * 128 + (3 * 8 + 1) * 128);
    // k = 2: readers 1..4 read 1, 2, 3, 4 entries (from 4 on: input, sum, last two), readers 5..8 and the output 4.
    row("k-dca", "transformer-qkv", (3 * (1 + 2 + 3 + 4 * 5) + 4) * 128 + 25 * 128);
    // Readers 1..3 read 1, 2, 3 entries, the others 4.
    row("grn-v3-last-4", "transformer", (1 + 2 + 3 + 4 * 6) * 128 + 9 * 128);
    row("grn-v3-input-last-3", "transformer", (1 + 2 + 3 + 4 * 6) * 128 + 9 * 128);
    row("ancre-ingoing", "transformer", 36);
    row("ancre-outgoing", "transformer", 36);
    row("ancre-none", "transformer", 36);
    row("ancre-fixed", "transformer", 0);
    row("ancre-cascaded", "transformer", 8);
    row("denseformer", "transformer", 44);
    // These act at both halves of a layer; the halves share ReZero's factor.
    row("attention-residuals", "transformer", 17 * 2 * 128);
    row("hyper-static", "transformer", 16 * 4 * 6);
    row("hyper-dynamic", "transformer", 16 * (4 * 6 + 128 + 6 * 128 + 2));
    row("mhc", "transformer", 16 * (24 + 4 * 128 * 24 + 3));
    row("ihc", "transformer", 16 * (2 * 16 * 128 + 10) + 16 * 128 + 5);
    row("mhc-lite", "transformer", 16 * (4 * 128 * 33 + 35));
    row("frac-static", "transformer", 16 * 10);
    row("frac-dynamic", "transformer", 16 * (10 + 64 * 7 + 2));
    row("highway", "transformer", 16 * (128 * 128 + 128));
    row("rezero", "transformer", 8);
    row("post-norm", "transformer", 16 * 2 * 128);
    row("deep-loop", "transformer", 16 * 128);
    // LAuReL acts once a layer.
    row("laurel-rw", "transformer", 16);
    row("laurel-lr", "transformer", 8 * 2 * 128 * 16);
    row("laurel-pa", "transformer", 8 * 2 * 128 * 16 + (1 + 2 + 6 * 3));
    row("laurel-rw-lr", "transformer", 8 * 2 * 128 * 16 + 16);
    row("laurel-rw-lr-pa", "transformer", 8 * 2 * 128 * 16 + (1 + 2 + 6 * 3) + 16);
    row("value-residual", "transformer", 2 * 7);
    row("densenet", "transformer", 45 * 128 * 128);
    row("stochastic-depth", "transformer", 0);
}

void TestCost::topology()
{
    QFETCH(QString, preset);
    QFETCH(QString, block);
    QFETCH(qint64, parameters);
    const auto report = costOf(underTopology(preset.toStdString(), block.toStdString()));
    QVERIFY2(report.ok(), report ? "" : report.error().text().c_str());
    QCOMPARE(report->topology.parameters, parameters);
}

/// A layer holds 4·d² in its projections, 3·d·h in SwiGLU and two norms; FLOP a token are 6·N + 6·L·d·T, where N leaves
/// out the table where it is looked up, up to the elementwise work.
void TestCost::transformerMatchesItsFormula()
{
    const Project project = underTopology("plain");
    const auto report = costOf(project);
    const double hidden = 352; // 8/3 · 128 rounded up to a multiple of 16
    const double layer = 4 * kWidth * kWidth + 3 * kWidth * hidden + 2 * kWidth;
    const double all = 8 * layer + kWidth + 64 * kWidth;
    QCOMPARE(report->layers.size(), std::size_t{8});
    QCOMPARE(static_cast<double>(report->layers[3].parameters), layer);
    QCOMPARE(static_cast<double>(report->total.parameters), all);
    const double formula = 6 * all + 6 * 8 * kWidth * static_cast<double>(project.training.sequenceLength);
    QVERIFY2(std::abs(report->total.trainFlops / formula - 1) < 0.02,
             qPrintable(QString::number(report->total.trainFlops / formula)));
}

void TestCost::tiedHeadCountsOnce()
{
    Project project = underTopology("plain");
    const auto tied = costOf(project);
    project.network.tieHead = false;
    const auto free = costOf(project);
    QCOMPARE(free->total.parameters - tied->total.parameters, std::int64_t{64 * 128});
    QCOMPARE(tied->total.forwardFlops, free->total.forwardFlops);
    QCOMPARE(tied->head.parameters, std::int64_t{128}); // the norm
}

void TestCost::sharedNormsCountOnce()
{
    Project project = underTopology("dca", "transformer-qkv");
    const std::int64_t shared = costOf(project)->layers[0].parameters;
    std::get<DepthMix>(project.stack().topology.wiring).separateNorms = true;
    QCOMPARE(costOf(project)->layers[0].parameters, shared + 2 * 128);
    QCOMPARE(shared, costOf(underTopology("plain"))->layers[0].parameters);
}

/// Checks the graphs of a block that cost, engine and exports use.
void TestCost::blocksRunWholeOrInHalves()
{
    const Project plain = underTopology("plain");
    const Block& block = *plain.network.blockOfLayer(1);
    QVERIFY(*graphsAsRun(plain.stack().topology.wiring, block) == std::vector{block.graph});
    const auto sharers = [](const Graph& graph) {
        return std::ranges::count_if(graph.nodes, [](const Node& node) { return node.params.contains(kShareParam); });
    };
    const Project apart = underTopology("dca", "transformer-qkv");
    auto mix = std::get<DepthMix>(apart.stack().topology.wiring);
    const Block& fed = *apart.network.blockOfLayer(1);
    QCOMPARE(sharers(graphsAsRun(mix, fed)->front()), std::ptrdiff_t{2});
    mix.separateNorms = true;
    QCOMPARE(sharers(graphsAsRun(mix, fed)->front()), std::ptrdiff_t{0});
    mix.sites = MixSites::Both;
    QVERIFY(!graphsAsRun(mix, fed).ok()); // of several inputs no half is one
    const auto halves = graphsAsRun(mix, block);
    QVERIFY(halves.ok());
    QCOMPARE(halves->size(), std::size_t{2});
}

void TestCost::partsAddUp()
{
    const auto report = costOf(underTopology("grn-v3"));
    Cost sum = report->stem;
    sum += report->head;
    sum += report->topology;
    for (const Cost& layer : report->layers) {
        sum += layer;
    }
    QCOMPARE(sum.parameters, report->total.parameters);
    QVERIFY(std::abs(sum.activationBytes / report->total.activationBytes - 1) < 1e-12);
    QVERIFY(std::abs(sum.forwardFlops / report->total.forwardFlops - 1) < 1e-12);
}

void TestCost::shortcutAddsWhatTheTotalGains()
{
    Project project = underTopology("grn-v1");
    auto& mix = std::get<DepthMix>(project.stack().topology.wiring);
    mix.states = {{{2, 5}, ShortcutState::Pruned}};
    const Cost before = costOf(project)->total;
    const auto added = costOfShortcut(*soundProject(project), {2, 5});
    QVERIFY(added.ok());
    mix.states.clear();
    const Cost after = costOf(project)->total;
    QCOMPARE(added->parameters, std::int64_t{1});
    QCOMPARE(after.parameters - before.parameters, added->parameters);
    QCOMPARE(after.forwardFlops - before.forwardFlops, added->forwardFlops);
    QCOMPARE(*costOfShortcut(*soundProject(project), {2, 5}), Cost{}); // it is there already
}

void TestCost::shortcutsCostWhatTheTotalLosesWithoutThem()
{
    for (const char* name : {"grn-v1", "grn-v2", "grn-v3", "dca", "k-dca", "ancre-ingoing", "denseformer", "mudd"}) {
        const std::string preset = name;
        const bool apart = preset == "dca" || preset == "k-dca";
        Project project = underTopology(name, apart              ? "transformer-qkv"
                                              : preset == "mudd" ? "transformer-qkvr"
                                                                 : "transformer");
        auto& mix = std::get<DepthMix>(project.stack().topology.wiring);
        const std::set<Shortcut> some{{0, 3}, {2, 3}, {1, 5}, {4, 5}};
        std::set<Shortcut> asked = some;
        asked.insert({{3, 3}, {90, 91}}); // none that is read
        mix.states = {{{1, 5}, ShortcutState::Pruned}};
        const Cost own = costOfShortcuts(*soundProject(project), asked);
        const Cost before = costOf(project)->topology;
        for (const Shortcut& shortcut : some) {
            mix.states[shortcut] = ShortcutState::Pruned;
        }
        const Cost after = costOf(project)->topology;
        QVERIFY2(own.parameters == before.parameters - after.parameters, name);
        QVERIFY2(std::abs(own.forwardFlops - (before.forwardFlops - after.forwardFlops)) < 1e-6, name);
        QVERIFY2(std::abs(own.activationBytes - (before.activationBytes - after.activationBytes)) < 1e-6, name);
    }
    QCOMPARE(costOfShortcuts(*soundProject(underTopology("plain")), {{0, 3}}), Cost{}); // the residual sum is no mix
}

void TestCost::shortcutErrors()
{
    Project project = underTopology("ancre-ingoing");
    const auto errorOf = [&](const Shortcut& shortcut) {
        return costOfShortcut(*soundProject(project), shortcut).error().place;
    };
    QCOMPARE(errorOf({5, 5}), std::string("topology · 5:5"));
    QCOMPARE(errorOf({5, 9}), std::string("topology · 5:9"));
    project.stack().topology.wiring = Concatenation{};
    QCOMPARE(errorOf({0, 5}), std::string("topology"));
}

void TestCost::invalidDocumentsGiveErrors()
{
    Project project = languageProject("x input; y output; x > y");
    project.stack().segments = {{"other", 2}};
    QCOMPARE(costOf(project).error().place, std::string("network · segment 1 · block"));
    project.stack().segments = {{"test", 5000}};
    QCOMPARE(costOf(project).error().place, std::string("network · segment 1 · layers"));
    project.stack().segments = {{"test", 1}};
    project.network.blocks[0].graph.nodes[1].id = NodeId{1};
    QVERIFY(!costOf(project).ok());
    project = languageProject("x input; a linear; y output; x > a; a > y");
    project.network.blocks[0].graph.wires.push_back({{NodeId{2}, "out"}, {NodeId{9}, "in"}});
    QCOMPARE(costOf(project).error().place, std::string("block test · wire a.out > #9.in")); // it was taken for one
    project = languageProject("x input; a linear; x > a");
    QVERIFY(costOf(project).error().text().find("expected one output node") != std::string::npos);
    project = languageProject("x input; y output; x > y");
    project.data.source = TextData{"", {}};
    project.training.learningRate.peak = 0;
    QVERIFY(costOf(project).ok()); // neither says anything of the network
    project = languageProject("x input; a linear out=100000000; b linear out=100000000; c linear; y output; "
                              "x > a; a > b; b > c; c > y");
    project.stack().segments = {{"test", 4096}};
    QCOMPARE(costOf(project)->total.parameters, std::int64_t{1} << 53); // saturates
    QVERIFY(!costOf(Project{}).ok() || costOf(Project{})->total.parameters == 0);
}

RESIDUA_TEST(TestCost)
#include "tst_cost.moc"
