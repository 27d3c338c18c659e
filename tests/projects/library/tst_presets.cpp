// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/check/validate.h"
#include "projects/library/convolution_graph.h"
#include "projects/library/presets.h"
#include "projects/library/schedule_presets.h"
#include "projects/nodes/resolved_graph.h"
#include "projects/nodes/shape.h"
#include "projects/schema/describe_topology.h"
#include "projects/shipped/examples.h"
#include "projects/studies/sweep_grid.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <set>
#include <string_view>
#include <variant>

using namespace residua::projects;

namespace {

QString problemsIn(const Project& project)
{
    QStringList lines;
    for (const Problem& problem : validate(project)) {
        lines << QString::fromStdString(problem.text());
    }
    return lines.join('\n');
}

} // namespace

class TestPresets : public QObject {
    Q_OBJECT

private slots:
    void namesAreUnique();
    void methodsNameTheirVariants_data();
    void methodsNameTheirVariants();
    void blocksKeepTheWidth_data();
    void blocksKeepTheWidth();
    void topologiesHoldTogether_data();
    void topologiesHoldTogether();
    void everyKindOfWeightAndGateHasAPreset();
    void examplesTrain_data();
    void examplesTrain();
    void examplesAreWiredAsTheirPresets();
    void ancreIsSharperInLanguageModels();
    void firstExampleIsTheLanguageModel();
    void papersTablesAreSweepsOverThreeSeeds();
    void theCaseStudyStartsSmallAsFigureTwoDraws();
};

void TestPresets::namesAreUnique()
{
    std::set<std::string> names;
    for (const BlockPreset& preset : blockPresets()) {
        QVERIFY2(names.insert("block " + preset.name).second, preset.name.c_str());
        QVERIFY(!preset.title.empty() && !preset.summary.empty());
    }
    for (const TopologyPreset& preset : topologyPresets(8)) {
        QVERIFY2(names.insert("topology " + preset.name).second, preset.name.c_str());
        QVERIFY(!preset.title.empty() && !preset.summary.empty() && !preset.source.empty());
    }
    for (const Example& example : examples()) {
        QVERIFY2(names.insert("example " + example.name).second, example.name.c_str());
        QVERIFY(!example.title.empty() && !example.summary.empty());
        QCOMPARE(findExample(example.name), &example);
    }
    QVERIFY(findExample("no such example") == nullptr);
}

void TestPresets::methodsNameTheirVariants_data()
{
    QTest::addColumn<QString>("word");
    QTest::addColumn<QString>("text");
    const char* const ancre = " is ancre-ingoing, ancre-outgoing, ancre-none, ancre-fixed or ancre-cascaded";
    QTest::newRow("a method of several presets") << "ancre" << QString("ancre") + ancre;
    QTest::newRow("as the paper writes it") << "ANCRe" << QString("ANCRe") + ancre;
    QTest::newRow("by the titles") << "hyper-connections"
                                   << "hyper-connections is hyper-static or hyper-dynamic";
    QTest::newRow("with an underscore") << "frac_connections"
                                        << "frac_connections is frac-static or frac-dynamic";
    QTest::newRow("a name in parts") << "deep-cross-attention"
                                     << "deep-cross-attention is dca or dca-table";
    QTest::newRow("one preset") << "Post Norm"
                                << "Post Norm is post-norm";
    QTest::newRow("by the source") << "muddformer"
                                   << "muddformer is mudd";
    QTest::newRow("the beginning of a word") << "anc"
                                             << "";
    QTest::newRow("no method") << "nonsense"
                               << "";
    QTest::newRow("no letters") << "--"
                                << "";
    QTest::newRow("nothing") << ""
                             << "";
}

void TestPresets::methodsNameTheirVariants()
{
    QFETCH(QString, word);
    QFETCH(QString, text);
    QCOMPARE(QString::fromStdString(variantsText(word.toStdString(), topologyChoices(8))), text);
    const std::string hint = presetHint(word.toStdString(), topologyChoices(8), {}, "; else");
    QVERIFY(text.isEmpty() ? !hint.empty() : hint == "; " + text.toStdString());
}

void TestPresets::blocksKeepTheWidth_data()
{
    QTest::addColumn<QString>("preset");
    QTest::addColumn<qint64>("width");
    for (const BlockPreset& preset : blockPresets()) {
        for (const qint64 width : {8, 128, 200}) {
            QTest::addRow("%s, %lld features", preset.name.c_str(), static_cast<long long>(width))
                << QString::fromStdString(preset.name) << width;
        }
    }
}

void TestPresets::blocksKeepTheWidth()
{
    QFETCH(QString, preset);
    QFETCH(qint64, width);
    Project project = findExample("ancre-language")->project;
    project.stack().width = width;
    Shape expected{{kBatch, kTime, width}};
    for (const BlockPreset& candidate : blockPresets()) {
        if (candidate.name == preset.toStdString()) {
            project.network.blocks = {{candidate.name, candidate.name, candidate.graph}};
            if (candidate.readsImages) {
                project.data.source = DrawnPictures{.size = 8};
                project.network.stem = ConvolutionGraph().picture(8).convolution("", std::string("d"), 1).end();
                expected = Shape{{kBatch, 8, 8, width}};
            }
        }
    }
    const ResolvedGraph shapes = resolveGraph(project, GraphRef::block(preset.toStdString()));
    QVERIFY2(shapes.errors.empty(), shapes.errors.empty() ? "" : shapes.errors.begin()->second.text().c_str());
    QVERIFY(shapes.outputPort("output"));
    QCOMPARE(shapes.outputPort("output")->shape, expected);
}

void TestPresets::topologiesHoldTogether_data()
{
    QTest::addColumn<QString>("preset");
    for (const TopologyPreset& preset : topologyPresets(8)) {
        QTest::newRow(preset.name.c_str()) << QString::fromStdString(preset.name);
    }
}

/// On the block that its ports need, a preset has no problems.
void TestPresets::topologiesHoldTogether()
{
    QFETCH(QString, preset);
    Project project = findExample("ancre-language")->project;
    for (const TopologyPreset& candidate : topologyPresets(8)) {
        if (candidate.name == preset.toStdString()) {
            project.stack().topology = {candidate.name, candidate.wiring};
        }
    }
    const BlockPreset& block = blockPresetFor(project.stack().topology.wiring);
    project.network.blocks = {{"transformer", block.name, block.graph}};
    for (const Problem& problem : validate(project)) {
        QFAIL(problem.text().c_str());
    }
}

/// The tests of training, cost, export and retrofits go through the presets, so they reach every kind.
void TestPresets::everyKindOfWeightAndGateHasAPreset()
{
    std::set<std::string_view> unused(kNamesOf<WeightKind>.begin(), kNamesOf<WeightKind>.end());
    unused.insert(kNamesOf<BranchGateKind>.begin(), kNamesOf<BranchGateKind>.end());
    QCOMPARE(unused.size(), kNamesOf<WeightKind>.size() + kNamesOf<BranchGateKind>.size());
    for (const TopologyPreset& preset : topologyPresets(8)) {
        if (const auto* const mix = std::get_if<DepthMix>(&preset.wiring)) {
            unused.erase(nameOf(mix->weight));
        } else if (const auto* const gate = std::get_if<BranchGate>(&preset.wiring)) {
            unused.erase(nameOf(gate->gate));
        }
    }
    QVERIFY2(unused.empty(), unused.empty() ? "" : unused.begin()->data());
}

void TestPresets::examplesTrain_data()
{
    QTest::addColumn<QString>("example");
    for (const Example& example : examples()) {
        QTest::newRow(example.name.c_str()) << QString::fromStdString(example.name);
    }
}

void TestPresets::examplesTrain()
{
    QFETCH(QString, example);
    QCOMPARE(problemsIn(findExample(example.toStdString())->project), "");
}

/// An example is called by its topology's name, not "custom".
void TestPresets::examplesAreWiredAsTheirPresets()
{
    for (const Example& example : examples()) {
        const auto presets = topologyPresets(example.project.network);
        const auto preset = std::ranges::find(presets, example.project.stack().topology.preset, &TopologyPreset::name);
        QVERIFY2(preset != presets.end(), example.name.c_str());
        QVERIFY2(preset->wiring == example.project.stack().topology.wiring, example.name.c_str());
    }
}

void TestPresets::ancreIsSharperInLanguageModels()
{
    const auto temperatureIn = [](const char* example, const char* name) {
        const auto presets = topologyPresets(findExample(example)->project.network);
        return std::get<DepthMix>(std::ranges::find(presets, name, &TopologyPreset::name)->wiring).temperature;
    };
    QCOMPARE(temperatureIn("plain-language", "ancre-outgoing"), 0.01);
    QCOMPARE(temperatureIn("linear-ancre", "ancre-outgoing"), 0.1);
    QCOMPARE(temperatureIn("plain-language", "ancre-none"), 1.0);
    QCOMPARE(temperatureIn("plain-language", "attention-residuals"), 1.0);
}

void TestPresets::firstExampleIsTheLanguageModel()
{
    QVERIFY(examples().size() >= 6);
    QCOMPARE(examples()[0].name, std::string("plain-language"));
    const Project& project = findExample("ancre-language")->project;
    const auto& mix = std::get<DepthMix>(project.stack().topology.wiring);
    QVERIFY(mix.normalise == NormaliseOver::Sources && mix.temperature == 0.01);
    QCOMPARE(project.network.depth(), std::int64_t{8});
}

/// DCA's table 7, ANCRe's tables 1, 4 and 5: every member is sound, and each row has three seeds.
void TestPresets::papersTablesAreSweepsOverThreeSeeds()
{
    const auto rowsOf = [](const char* example, const char* name) {
        const Project& project = findExample(example)->project;
        const Sweep* const sweep = findSweep(project.sweeps, name);
        std::vector<std::string> rows;
        if (sweep == nullptr || sweep->axes.size() != 2 || sweep->axes[1].field != "/seeds/init" ||
            sweep->axes[1].values.size() != 3) {
            return rows;
        }
        const auto members = expand(project, *sweep);
        const bool sound = members && std::ranges::all_of(*members, [](const SweepMember& m) {
                               return !m.error && !hasErrors(validate(m.project));
                           });
        for (const SweepValue& value : sweep->axes[0].values) {
            rows.push_back(sound ? labelOf(value) : "unsound");
        }
        return rows;
    };
    using Rows = std::vector<std::string>;
    QCOMPARE(rowsOf("grn-language", "DCA, table 7"), (Rows{"plain", "grn-v1", "grn-v2", "grn-v3", "dca"}));
    QCOMPARE(rowsOf("ancre-language", "ANCRe, table 1"), (Rows{"MHSA", "FFN", "both"}));
    QCOMPARE(rowsOf("ancre-language", "ANCRe, table 4"), (Rows{"ancre-ingoing", "ancre-outgoing", "ancre-none"}));
    QCOMPARE(rowsOf("ancre-language", "ANCRe, table 5"),
             (Rows{"plain", "ancre-fixed", "ancre-cascaded", "ancre-ingoing"}));
    QCOMPARE(findExample("dca-language")->project.stack().topology.preset, std::string("dca"));
}

void TestPresets::theCaseStudyStartsSmallAsFigureTwoDraws()
{
    const Project& project = findExample("linear-ancre")->project;
    QVERIFY(project.initialisation.law == InitLaw::Normal);
    QCOMPARE(project.initialisation.scale, 0.01);
    QVERIFY(project.training.optimiser == Optimiser(Sgd{}) && project.training.batching == BatchKind::Full);
}

RESIDUA_TEST(TestPresets)
#include "tst_presets.moc"
