// SPDX-License-Identifier: GPL-3.0-or-later
// Files of earlier schemas.
#include "projects/file/json.h"

#include "projects/base/whole_file.h"
#include "projects/file/store.h"
#include "projects/library/presets.h"
#include "projects/schedule/kept_parts.h"
#include "projects/shipped/examples.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

using namespace residua;
using namespace residua::projects;

namespace {

QString shown(const std::string& text)
{
    return QString::fromStdString(text);
}

} // namespace

class TestMigrations : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void schemaZeroIsMigrated()
    {
        const char* old = R"({"schema": 0, "name": "early", "topology": "ancre-ingoing",
            "network": {"width": 64, "depth": 6, "block": "mlp", "blocks": [{"name": "mlp"}]}})";
        const auto read = projectFromJson(old);
        QVERIFY2(read.ok(), read ? "" : read.error().text().c_str());
        QCOMPARE(shown(read->name), shown("early"));
        QVERIFY((read->network.stack().segments == std::vector<StackSegment>{{"mlp", 6}}));
        const auto presets = topologyPresets(6);
        const auto ancre = std::ranges::find(presets, "ancre-ingoing", &TopologyPreset::name);
        QVERIFY(ancre != presets.end());
        QVERIFY((read->stack().topology == Topology{"ancre-ingoing", ancre->wiring}));
        QVERIFY(toJson(*read).starts_with("{\n  \"schema\": 6,"));
    }

    /// Documents of schema 1 that had one reading only keep it.
    void schemaOneKeepsItsReadings()
    {
        const auto wiringOf = [](const char* wiring) {
            const auto read = projectFromJson(std::string(R"({"schema": 1, "topology": {"wiring": )") + wiring + "}}");
            return read ? read->stack().topology.wiring : Wiring(Concatenation{});
        };
        const Wiring dense =
            wiringOf(R"({"kind": "depth_mix", "sources": {"kind": "dilated", "dilation": 4, "period": 5}})");
        QVERIFY(std::get<DepthMix>(dense).sources == SourceSet(Dilated{4, 5, DilatedReaders::All}));
        const Wiring mudd = wiringOf(R"({"kind": "depth_mix", "weight": "per_token"})");
        QCOMPARE(std::get<DepthMix>(mudd).hiddenMultiple, std::int64_t{1});
        QCOMPARE(std::get<DepthMix>(mudd).finalHidden, 1.0);
        const Wiring both = wiringOf(R"({"kind": "depth_mix", "feeds": "residual_beside_branch", "sites": "both"})");
        QVERIFY(std::get<DepthMix>(both).sitePairs == SitePairs::Any);
        QVERIFY(std::get<DepthMix>(both).lastMix);
        const Wiring laurel = wiringOf(R"({"kind": "branch_gate", "gate": "laurel_rw"})");
        QVERIFY(std::get<BranchGate>(laurel).bound == LaurelBound::None);
    }

    /// Stochastic depth was a wiring up to schema 3; what it said is a schedule now, whichever schema said it.
    void stochasticDepthBecomesASchedule_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<double>("keepLast");
        const char* const gate = R"({"schema": %1, "network": {"stack": [{"block": "mlp", "repeat": 8}, {"block": "mlp",
            "repeat": 4}]}, "topology": {"preset": "stochastic-depth", "wiring": {"kind": "branch_gate",
            "gate": "stochastic_depth"%2}}})";
        QTest::newRow("schema 0") << QString(R"({"schema": 0, "topology": "stochastic-depth", "network": {"depth": 12,
            "block": "mlp", "blocks": [{"name": "mlp"}]}})")
                                  << 0.8;
        QTest::newRow("schema 1") << QString(gate).arg("1", "") << 0.8;
        QTest::newRow("schema 1, said") << QString(gate).arg("1", R"(, "keep_probability": 0.25)") << 0.25;
        QTest::newRow("schema 2") << QString(gate).arg("2", "") << 0.5;
        QTest::newRow("schema 2, said") << QString(gate).arg("2", R"(, "keep_probability": 1)") << 1.0;
    }
    void stochasticDepthBecomesASchedule()
    {
        QFETCH(QString, file);
        QFETCH(double, keepLast);
        const auto read = projectFromJson(file.toStdString());
        QVERIFY2(read.ok(), read ? "" : read.error().text().c_str());
        QCOMPARE(read->stack().topology == Topology(), true);
        QCOMPARE(read->stack().schedule.stages.size(), std::size_t{1});
        QCOMPARE(read->stack().schedule.scaling, DropScaling::Evaluation);
        const auto spans = spansOf(read->stack().schedule, 12, read->training.steps);
        const KeepShares kept = keepShares(read->stack().schedule, spans.front(), 12, read->training.steps, 1);
        for (std::size_t l = 0; l < 12; ++l) {
            const double expected = 1 - static_cast<double>(l + 1) / 12 * (1 - keepLast);
            QVERIFY2(std::abs(kept.layers[l] - expected) < 1e-12, qPrintable(QString::number(kept.layers[l])));
        }
    }

    void stochasticDepthMovesWithItsSweeps()
    {
        const auto read = projectFromJson(R"({"schema": 2, "network": {"stack": [{"block": "mlp", "repeat": 3}]},
            "topology": {"wiring": {"kind": "branch_gate", "gate": "stochastic_depth"}},
            "sweeps": [{"name": "p", "axes": [{"field": "/topology/wiring/keep_probability",
            "values": [{"value": 0.5}, {"label": "all", "value": 1}]}]}]})");
        QVERIFY2(read.ok(), read ? "" : read.error().text().c_str());
        const SweepAxis& axis = read->sweeps.front().axes.front();
        QCOMPARE(axis.field, std::string("/schedule/stages/0/average_length"));
        QCOMPARE(labelOf(axis), std::string("keep_probability"));
        QCOMPARE(labelOf(axis.values[0]), std::string("0.5"));
        QCOMPARE(axis.values[0].value.json, std::string("2.0"));
        QCOMPARE(labelOf(axis.values[1]), std::string("all"));
        QCOMPARE(axis.values[1].value.json, std::string("3.0"));
    }

    /// Other gates lose a number that meant nothing to them; a schedule that was there stays.
    void schemaTwoKeepsWhatElseItSays()
    {
        const auto rezero = projectFromJson(R"({"schema": 2, "topology": {"preset": "rezero", "wiring": {"kind":
            "branch_gate", "gate": "rezero", "keep_probability": 0.5, "sites": "mhsa"}}})");
        QVERIFY2(rezero.ok(), rezero ? "" : rezero.error().text().c_str());
        QVERIFY((rezero->stack().topology == Topology{"rezero", BranchGate{.sites = MixSites::Mhsa}}));
        QVERIFY(rezero->stack().schedule == StageSchedule());
        const auto both = projectFromJson(R"({"schema": 2, "network": {"stack": [{"block": "mlp", "repeat": 4}]},
            "topology": {"wiring": {"kind": "branch_gate", "gate": "stochastic_depth"}},
            "schedule": {"stages": [{"start": 0, "average_length": 2, "always": [1]}]}})");
        QVERIFY2(both.ok(), both ? "" : both.error().text().c_str());
        QVERIFY((both->stack().schedule.stages == std::vector<Stage>{{0, 2, {1}}}));
        QVERIFY(both->stack().topology == Topology());
        const auto wrong = projectFromJson(R"({"schema": 2, "topology": {"wiring": {"kind": "branch_gate",
            "gate": "stochastic_depth", "keep_probability": "most"}}})");
        QCOMPARE(shown(wrong.error().place), shown("/topology/wiring/keep_probability"));
    }

    /// Until schema 3 a weight below full rank was a kind of node.
    void schemaTwoHadAKindForLowRank()
    {
        const std::string graph = R"({"nodes": [
            {"id": 1, "kind": "low_rank_linear", "name": "a", "params": {"rank": 3, "out": "2*d"}},
            {"id": 2, "kind": "low_rank_linear", "name": "b"},
            {"id": 3, "kind": "low_rank_linear", "name": "c", "params": {"rank": 0, "rank_scale": 1, "bias": true}},
            {"id": 4, "kind": "low_rank_linear", "name": "d", "params": {"rank": "d/4", "rank_scale": 0.5}},
            {"id": 5, "kind": "linear", "name": "e", "params": {"start": 0.5}}], "wires": ["1.out > 2.in"]})";
        Graph expected;
        expected.nodes = {{NodeId{1}, "linear", "a", {{"rank", std::int64_t{3}}, {"out", std::string("2*d")}}},
                          {NodeId{2}, "linear", "b", {{"rank", 0.25}}},
                          {NodeId{3}, "linear", "c", {{"rank", 1.0}, {"bias", true}}},
                          {NodeId{4}, "linear", "d", {{"rank", std::string("d/4")}}},
                          {NodeId{5}, "linear", "e", {{"start", 0.5}}}};
        expected.wires = {{{NodeId{1}, "out"}, {NodeId{2}, "in"}}};
        const auto read = projectFromJson(R"({"schema": 2, "initialisation": {"low_rank": "nlra_exact"}, "network": {)"
                                          R"("stem": )" +
                                          graph + R"(, "head": )" + graph + R"(, "blocks": [{"name": "x", "graph": )" +
                                          graph + "}]}}");
        QVERIFY2(read.ok(), read ? "" : read.error().text().c_str());
        QCOMPARE(read->network.stem, expected);
        QCOMPARE(read->network.head, expected);
        QCOMPARE(read->network.blocks.front().graph, expected);
        QCOMPARE(read->initialisation.lowRank, LowRankMethod::Exact);
        QVERIFY(read->network.rank == WeightRank(FullRank{}));
        QCOMPARE(*projectFromJson(toJson(*read)), *read); // a share of 1 stays a share
        const auto file = blockFromJson(R"({"schema": 1, "block": {"name": "x", "graph": )" + graph + "}}");
        QVERIFY2(file.ok(), file ? "" : file.error().text().c_str());
        QCOMPARE(file->block.graph, expected);
        const auto odd = projectFromJson(R"({"schema": 2, "network": {"stem": {"nodes": [{"id": 1, "name": "a",
            "kind": "low_rank_linear", "params": [1]}]}}})");
        QVERIFY(!odd.ok());
        QCOMPARE(shown(odd.error().place), shown("/network/stem/nodes/0/params"));
    }

    void schemaTwoSweptRanks()
    {
        const std::string nodes = "/network/blocks/0/graph/nodes/";
        const auto read = projectFromJson(R"({"schema": 2, "network": {"blocks": [{"name": "x", "graph": {"nodes": [
            {"id": 1, "kind": "low_rank_linear", "name": "a"},
            {"id": 2, "kind": "low_rank_linear", "name": "b", "params": {"rank": 3}},
            {"id": 3, "kind": "linear", "name": "c"}], "wires": []}}]}, "sweeps": [{"name": "s", "axes": [
            {"field": ")" + nodes + R"(0/params/rank_scale", "values": [{"value": 0.5}, {"value": 1},
                {"label": "all", "value": 1}]},
            {"field": "/initialisation/low_rank", "values": [{"value": "nlra_exact"}, {"value": "svd"},
                {"label": "best", "value": "nlra_exact"}]},
            {"field": "/", "values": [{"value": {")" +
                                          nodes + R"(0/params/rank_scale": 1, "/seeds/init": 2}}]}]},
            {"name": "t", "axes": [
            {"field": ")" + nodes + R"(1/params/rank_scale", "values": [{"value": 1}]},
            {"field": ")" + nodes + R"(2/params/rank_scale", "values": [{"value": 1}]}]}]})");
        QVERIFY2(read.ok(), read ? "" : read.error().text().c_str());
        const auto shownAxis = [&](std::size_t sweep, std::size_t index) {
            const SweepAxis& axis = read->sweeps[sweep].axes[index];
            QStringList words{shown(axis.field), shown(labelOf(axis))};
            for (const SweepValue& value : axis.values) {
                words << shown(labelOf(value) + "=" + value.value.json).remove(' ');
            }
            return words.join(' ');
        };
        const QString first = shown(nodes + "0/params/rank");
        QCOMPARE(shownAxis(0, 0), first + " rank_scale 0.5=0.5 1=1.0 all=1.0");
        QCOMPARE(shownAxis(0, 1), R"(/initialisation/low_rank low_rank nlra_exact="exact" svd="svd" best="exact")");
        QCOMPARE(shownAxis(0, 2),
                 "/  {\"" + first + "_scale\":1,\"/seeds/init\":2}={\"" + first + "\":1.0,\"/seeds/init\":2}");
        // An axis that varied nothing, beside a rank of the node's own or in another kind, is left to fail.
        QCOMPARE(shownAxis(1, 0), shown(nodes + "1/params/rank_scale rank_scale 1=1"));
        QCOMPARE(shownAxis(1, 1), shown(nodes + "2/params/rank_scale rank_scale 1=1"));
    }

    /// Until schema 4 an attention had all biases or none, and norms of each head or none.
    void schemaFourHadFlagsOfAttention()
    {
        const std::string graph = R"({"nodes": [
            {"id": 1, "kind": "attention", "name": "a", "params": {"bias": true, "qk_norm": true, "heads": 2}},
            {"id": 2, "kind": "attention", "name": "b", "params": {"bias": false, "qk_norm": false}},
            {"id": 3, "kind": "attention", "name": "c"},
            {"id": 4, "kind": "linear", "name": "d", "params": {"bias": true}}], "wires": ["1.out > 4.in"]})";
        using Params = std::map<std::string, ParamValue>;
        Graph expected;
        expected.nodes = {
            {NodeId{1}, "attention", "a",
             Params{{"bias", std::string("all")}, {"qk_norm", std::string("head")}, {"heads", std::int64_t{2}}}},
            {NodeId{2}, "attention", "b", Params{{"bias", std::string("none")}, {"qk_norm", std::string("none")}}},
            {NodeId{3}, "attention", "c", {}},
            {NodeId{4}, "linear", "d", Params{{"bias", true}}}};
        expected.wires = {{{NodeId{1}, "out"}, {NodeId{4}, "in"}}};
        const std::string block = R"({"name": "x", "graph": )" + graph + "}";
        const std::string nodes = "/network/blocks/0/graph/nodes/";
        const auto read = projectFromJson(R"({"schema": 4, "network": {"stem": )" + graph + R"(, "head": )" + graph +
                                          R"(, "blocks": [)" + block + R"(]}, "sweeps": [{"name": "s", "axes": [
            {"field": ")" + nodes + R"(0/params/bias", "values": [{"value": true}, {"label": "off", "value": false}]},
            {"field": ")" + nodes + R"(3/params/bias", "values": [{"value": true}]},
            {"field": "/network/blocks/0", "values": [{"value": )" +
                                          block + "}]}]}]}");
        QVERIFY2(read.ok(), read ? "" : read.error().text().c_str());
        QCOMPARE(read->network.stem, expected);
        QCOMPARE(read->network.head, expected);
        QCOMPARE(read->network.blocks.front().graph, expected);
        const std::vector<SweepAxis>& axes = read->sweeps.front().axes;
        QCOMPARE(axes[0].values[0].value.json, std::string(R"("all")"));
        QCOMPARE(labelOf(axes[0].values[0]), std::string("true"));
        QCOMPARE(axes[0].values[1].value.json, std::string(R"("none")"));
        QCOMPARE(labelOf(axes[0].values[1]), std::string("off"));
        QCOMPARE(axes[1].values[0].value.json, std::string("true"));
        QVERIFY(axes[2].values[0].value.json.find(R"("qk_norm": "head")") != std::string::npos);
        const auto file = blockFromJson(R"({"schema": 4, "block": )" + block + "}");
        QVERIFY2(file.ok(), file ? "" : file.error().text().c_str());
        QCOMPARE(file->block.graph, expected);
        const auto now = projectFromJson(R"({"schema": 5, "network": {"stem": )" + graph + "}}");
        QVERIFY2(now.ok(), now ? "" : now.error().text().c_str());
        QVERIFY(now->network.stem.nodes[0].params.at("bias") == ParamValue(true)); // for the node's own check
    }

    /// A sweep may set several fields at once, or a part of a node.
    void schemaFourSweptFlagsAmongOthers()
    {
        const std::string node = "/network/stem/nodes/0";
        const auto read =
            projectFromJson(R"({"schema": 4, "network": {"stem": {"nodes": [
            {"id": 1, "kind": "attention", "name": "a"}, {"id": 2, "kind": "linear", "name": "b"}], "wires": []}},
            "sweeps": [{"name": "s", "axes": [{"field": "/", "values": [
                {"value": {")" +
                            node + R"(/params/bias": true, "/network/stem/nodes/1/params/bias": true}},
                {"label": "whole", "value": {")" +
                            node + R"(": {"params": {"qk_norm": false}}}},
                {"value": {"/network/stem/nodes/1/params": {"bias": true}}}]},
            {"field": ")" + node +
                            R"(/params", "values": [{"value": {"bias": false, "qk_norm": true, "heads": 2}}]}]}]})");
        QVERIFY2(read.ok(), read ? "" : read.error().text().c_str());
        const auto value = [&](std::size_t axis, std::size_t index) {
            return QString::fromStdString(read->sweeps.front().axes[axis].values[index].value.json).remove(' ');
        };
        const QString first = QString::fromStdString(node);
        QCOMPARE(value(0, 0), "{\"" + first + "/params/bias\":\"all\",\"/network/stem/nodes/1/params/bias\":true}");
        QCOMPARE(value(0, 1), "{\"" + first + "\":{\"params\":{\"qk_norm\":\"none\"}}}");
        QCOMPARE(value(0, 2), QString("{\"/network/stem/nodes/1/params\":{\"bias\":true}}"));
        QCOMPARE(value(1, 0), QString("{\"bias\":\"none\",\"qk_norm\":\"head\",\"heads\":2}"));
        QCOMPARE(labelOf(read->sweeps.front().axes[0].values[1]), std::string("whole"));
        QVERIFY(labelOf(read->sweeps.front().axes[1].values[0]).find("true") != std::string::npos);
        QVERIFY(read->sweeps.front().axes[0].values[2].label.empty());
    }

    /// Files that programs of earlier schemas, or of the first one with loops, wrote of examples are those examples.
    void keptFilesAreTheExamples_data()
    {
        QTest::addColumn<QString>("example");
        for (const auto& [file, example] : {std::pair{"small-bert-schema-4", "small-bert"},
                                            {"small-bert-schema-5", "small-bert"},
                                            {"staged-language-schema-5", "staged-language"},
                                            {"looped-schema-6", "looped"}}) {
            QTest::newRow(file) << QString(example);
        }
    }
    void keptFilesAreTheExamples()
    {
        QFETCH(QString, example);
        const auto text =
            readFile(std::filesystem::path(RESIDUA_KEPT_PROJECTS) / (std::string(QTest::currentDataTag()) + ".json"));
        QVERIFY(text.ok());
        auto read = projectFromJson(*text);
        QVERIFY2(read.ok(), read ? "" : read.error().text().c_str());
        Project now = findExample(example.toStdString())->project;
        read->sweeps.clear(); // those of examples have changed
        now.sweeps.clear();
        QCOMPARE(*read, now);
        QCOMPARE(shown(toJson(*read)), shown(toJson(now)));
    }

    void schemaZeroErrorsNameThePlace()
    {
        const auto error = [](const char* body) {
            const auto read = projectFromJson(std::string(R"({"schema": 0, )") + body + "}");
            return read ? QString() : shown(read.error().text());
        };
        QCOMPARE(error(R"("topology": "ancre-ingong")"), shown("[/topology] is the text \"ancre-ingong\"; expected the "
                                                               "name of a preset; did you mean \"ancre-ingoing\"?"));
        QCOMPARE(error(R"("topology": 3)"), shown("[/topology] is 3; expected the name of a preset"));
        QCOMPARE(error(R"("network": {"depth": "6", "block": "mlp"})"),
                 shown("[/network/depth] is the text \"6\"; expected a whole number of layers"));
        QCOMPARE(error(R"("network": {"depth": 6})"), shown("[/network/block] is null; expected the name of a block"));
    }
};

RESIDUA_TEST(TestMigrations)
#include "tst_migrations.moc"
