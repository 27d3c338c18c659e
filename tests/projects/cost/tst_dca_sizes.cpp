// SPDX-License-Identifier: GPL-3.0-or-later
// The sizes that DeepCrossAttention prints, counted.
#include "projects/cost/cost.h"
#include "projects/library/presets.h"
#include "projects/nodes/graph_builder.h"
#include "tests/support/graph_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <string>

using namespace residua::projects;
using residua::tests::underTopology;

namespace {

/// The transformer of DeepCrossAttention's tables 5 and 7: 6 layers of width 512, 30,000 tokens, a head of its own.
/// Layer norms, also after the embedding, and biases but in the attention give the 49.65M printed.
Project deepCrossAttentionProject(const TopologyPreset& preset)
{
    Project project = underTopology("plain", "gpt");
    std::get<SyntheticLanguage>(project.data.source).vocabulary = 30'000;
    project.stack().width = 512;
    project.network.tieHead = false;
    project.network.stem = GraphBuilder()
                               .node("input", "input")
                               .node("embedding", "token_embedding")
                               .node("positions", "sinusoidal_positions")
                               .node("norm", "layer_norm")
                               .node("output", "output")
                               .wire("input", "embedding")
                               .wire("embedding", "positions")
                               .wire("positions", "norm")
                               .wire("norm", "output")
                               .build();
    project.network.head = GraphBuilder()
                               .node("input", "input")
                               .node("norm", "layer_norm")
                               .node("logits", "linear", {{"out", std::string("vocab")}, {"bias", true}})
                               .node("output", "output")
                               .wire("input", "norm")
                               .wire("norm", "logits")
                               .wire("logits", "output")
                               .build();
    project.stack().segments = {{"transformer", 6}};
    project.stack().topology = {preset.name, preset.wiring};
    const auto* const mix = std::get_if<DepthMix>(&preset.wiring);
    GraphBuilder block;
    for (const std::string port : {"q", "k", "v"}) {
        const bool apart = mix && mix->ports != MixPorts::Input;
        if (apart || port == "q") {
            block.node(port, "input", {{"port", apart ? port : std::string("input")}});
        }
        block.node("norm_" + port, "layer_norm", port == "q" ? ParamMap{} : ParamMap{{"share", std::string("norm_q")}})
            .wire(apart ? port : "q", "norm_" + port);
    }
    block.node("attention", "attention")
        .node("sum", "add")
        .node("norm_ffn", "layer_norm")
        .node("up", "linear", {{"out", std::string("4*d")}, {"bias", true}})
        .node("gelu", "activation", {{"function", std::string("gelu")}})
        .node("down", "linear", {{"bias", true}})
        .node("branch", "add")
        .node("output", "output")
        .wire("norm_q", "attention.q")
        .wire("norm_k", "attention.k")
        .wire("norm_v", "attention.v")
        .wire("q", "sum.in1")
        .wire("attention", "sum.in2")
        .wire("sum", "norm_ffn")
        .wire("norm_ffn", "up")
        .wire("up", "gelu")
        .wire("gelu", "down")
        .wire("attention", "branch.in1")
        .wire("down", "branch.in2")
        .wire("branch", "output");
    project.network.blocks = {{"transformer", "", block.build()}};
    return project;
}

} // namespace

class TestDcaSizes : public QObject {
    Q_OBJECT

private slots:
    void deepCrossAttentionTables_data();
    void deepCrossAttentionTables();
    void deepCrossAttentionSizes_data();
    void deepCrossAttentionSizes();
};

void TestDcaSizes::deepCrossAttentionTables_data()
{
    QTest::addColumn<QString>("preset");
    QTest::addColumn<double>("millions");
    const auto row = [](const char* preset, double millions) { QTest::newRow(preset) << preset << millions; };
    row("plain", 49.65);
    row("grn-v1", 49.65);
    row("grn-v2-table", 49.66);
    row("grn-v3-table", 49.68);
    row("dca-table", 49.73);
    row("denseformer", 49.65);
    row("laurel-pa", 49.75);
    row("hyper-dynamic", 49.68);
    // By the equations.
    row("grn-v2", 49.67);
    row("grn-v3", 49.67);
    row("dca", 49.70);
}

/// To the digit printed. The paper counts Hyper-Connections once a layer; LAuReL's presets act so.
void TestDcaSizes::deepCrossAttentionTables()
{
    QFETCH(QString, preset);
    QFETCH(double, millions);
    const auto presets = topologyPresets(6);
    TopologyPreset found = *std::ranges::find(presets, preset.toStdString(), &TopologyPreset::name);
    if (auto* const streams = std::get_if<MultiStream>(&found.wiring)) {
        streams->sites = MixSites::Mhsa;
    }
    const auto report = costOf(deepCrossAttentionProject(found));
    QVERIFY2(report.ok(), report ? "" : report.error().text().c_str());
    QCOMPARE(std::round(static_cast<double>(report->total.parameters) / 1e4), millions * 100);
}

void TestDcaSizes::deepCrossAttentionSizes_data()
{
    QTest::addColumn<qint64>("layers");
    QTest::addColumn<qint64>("width");
    QTest::addColumn<double>("millions");
    QTest::newRow("9, 771") << qint64{9} << qint64{771} << 75.0;
    QTest::newRow("18, 771") << qint64{18} << qint64{771} << 124.0;
    QTest::newRow("13, 1111") << qint64{13} << qint64{1111} << 179.0;
    QTest::newRow("18, 1111") << qint64{18} << qint64{1111} << 234.0;
    QTest::newRow("18, 1600") << qint64{18} << qint64{1600} << 449.0;
}

/// Tables 3 and 6: the inner width of attention is always 256, and 32,000 tokens are tied. The tables count the
/// matrices alone.
void TestDcaSizes::deepCrossAttentionSizes()
{
    QFETCH(qint64, layers);
    QFETCH(qint64, width);
    QFETCH(double, millions);
    Project project = underTopology("plain", "gpt");
    std::get<SyntheticLanguage>(project.data.source).vocabulary = 32'000;
    project.stack().width = width;
    project.stack().segments = {{"transformer", layers}};
    for (Node& node : project.network.blocks[0].graph.nodes) {
        if (node.kind == "attention") {
            node.params["heads"] = std::int64_t{8};
            node.params["head_dim"] = std::int64_t{32};
            node.params["bias"] = std::string("none");
        }
        if (node.kind == "linear" || node.kind == "layer_norm") {
            node.params["bias"] = false;
        }
    }
    const auto report = costOf(project);
    QVERIFY2(report.ok(), report ? "" : report.error().text().c_str());
    const double d = static_cast<double>(width);
    const double l = static_cast<double>(layers);
    const double matrices = static_cast<double>(report->total.parameters) - (2 * l + 1) * d; // and the norms' gains
    QCOMPARE(matrices, l * (4 * d * 256 + 8 * d * d) + 32'000 * d);
    QCOMPARE(std::round(matrices / 1e6), millions);
}

RESIDUA_TEST(TestDcaSizes)
#include "tst_dca_sizes.moc"
