// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/depth/depth_program.h"

#include "projects/depth/depth_parameters.h"
#include "projects/depth/depth_plan.h"
#include "tests/support/test_program.h"
#include "tests/support/topology_cost.h"

#include <QTest>

#include <algorithm>
#include <functional>

using namespace residua;
using namespace residua::projects;

Q_DECLARE_METATYPE(residua::projects::Wiring)

namespace {

/// Returns the sum over the steps of a kind.
std::int64_t sumOver(const DepthProgram& program, DepthStepKind kind,
                     const std::function<std::size_t(const DepthStep&)>& count)
{
    std::size_t sum = 0;
    for (const DepthStep& step : program.steps) {
        sum += step.kind == kind ? count(step) : 0;
    }
    return static_cast<std::int64_t>(sum);
}

/// Returns the kinds of the steps as letters, with the numbers of the values that each reads: "E S0 R1 A1,2".
QString textOf(const DepthProgram& program)
{
    QStringList words;
    for (const DepthStep& step : program.steps) {
        QStringList inputs;
        for (const std::size_t input : step.inputs) {
            inputs << QString::number(input);
        }
        const QString base = step.base ? QString("+%1").arg(*step.base) : QString();
        words << QString("ESANPGRMJ"[static_cast<int>(step.kind)]) + inputs.join(',') + base + (step.skips ? "?" : "");
    }
    return words.join(' ') + QString(" = %1").arg(program.result);
}

} // namespace

class TestDepthProgram : public QObject {
    Q_OBJECT

private slots:
    void everyPresetCompiles_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("layers");
        for (const int layers : {1, 2, 7}) {
            for (const TopologyPreset& preset : topologyPresets(layers)) {
                QTest::addRow("%s of %d layers", preset.name.c_str(), layers)
                    << QString::fromStdString(preset.name) << layers;
            }
        }
    }
    /// Each value is made by one step before the steps that read it, and each module runs once, in order.
    void everyPresetCompiles()
    {
        QFETCH(const QString, name);
        QFETCH(const int, layers);
        const std::vector<TopologyPreset> presets = topologyPresets(layers);
        const Wiring wiring = std::ranges::find(presets, name.toStdString(), &TopologyPreset::name)->wiring;
        const DepthProgram program = programOf(wiring, layers);
        std::size_t made = 0;
        std::int64_t module = 0;
        for (const DepthStep& step : program.steps) {
            std::vector<std::size_t> read = step.inputs;
            for (const std::optional<std::size_t>& other : {step.base, step.newest}) {
                read.insert(read.end(), other ? 1 : 0, other.value_or(0));
            }
            QVERIFY(std::ranges::all_of(read, [&](std::size_t value) { return value < made; }));
            QCOMPARE(step.output, made);
            made += step.outputs;
            if (step.kind == DepthStepKind::Run) {
                QCOMPARE(step.module, ++module);
                QCOMPARE(step.inputs.size(), program.ports.size());
            }
        }
        QCOMPARE(made, program.values);
        QCOMPARE(module, modulesIn(wiring, layers));
        QVERIFY(program.result < made);
    }

    /// The mixes apply one weight for each parameter that the cost counts.
    void mixesHaveTheWeightsThatTheCostCounts()
    {
        constexpr std::int64_t kLayers = 7;
        constexpr std::int64_t kWidth = 8;
        const auto weights = [](const DepthStep& step) { return step.inputs.size() * step.outputs; };
        int compared = 0;
        for (const TopologyPreset& preset : topologyPresets(kLayers)) {
            const DepthProgram program = programOf(preset.wiring, kLayers);
            const std::int64_t parameters =
                tests::topologyCost({preset.name, preset.wiring}, kLayers, kWidth).parameters;
            const std::int64_t mixed = sumOver(program, DepthStepKind::Mix, weights);
            if (const auto* const mix = std::get_if<DepthMix>(&preset.wiring)) {
                const DepthPlan plan = planOf(*mix, kLayers);
                const auto terms = static_cast<std::int64_t>(plan.terms.size());
                QCOMPARE(mixed, isRunningSum(*mix) ? 0 : terms);
                const bool perFeature = mix->weight == WeightKind::PerFeature;
                if ((mix->weight == WeightKind::Scalar || perFeature) && mix->gate.kind == GateKind::None) {
                    QCOMPARE(parameters, mixed * (perFeature ? kWidth : 1));
                    ++compared;
                }
            } else if (const auto* const streams = std::get_if<MultiStream>(&preset.wiring)) {
                const bool isFree = streams->weights == StreamWeights::Static &&
                                    streams->constraint == StreamConstraint::None &&
                                    streams->state == StreamState::Copies;
                if (isFree) { // each new stream reads the branch by a weight of its own; the exit learns none
                    QCOMPARE(parameters, mixed - streams->streams);
                    ++compared;
                }
            } else if (std::holds_alternative<Concatenation>(preset.wiring)) {
                const auto matrices = [](const DepthStep& step) { return step.inputs.size(); };
                QCOMPARE(parameters, sumOver(program, DepthStepKind::Join, matrices) * kWidth * kWidth);
                ++compared;
            }
        }
        QVERIFY2(compared >= 8, qPrintable(QString::number(compared)));
    }

    /// The cost has the additions of the program: 2 FLOP for each of 8 features and term of a mix, and 1 for a sum.
    void sumsCostWhatTheyRun()
    {
        const auto flops = [](const DepthMix& mix, std::int64_t layers) {
            return tests::topologyCost({"", mix}, layers, 8).flops;
        };
        DepthMix mix;
        mix.weight = WeightKind::Scalar;
        QCOMPARE(flops(mix, 2), 8.0 * 2 * (1 + 2 + 3));
        DepthMix blocks = mix; // both layers share entry 1, to which the second is added
        blocks.blockLayers = 2;
        QCOMPARE(flops(blocks, 2), 8.0 * (2 * (1 + 2 + 2) + 1));
        DepthMix last = mix; // the output is the last mix plus its branch
        last.finalMix = false;
        QCOMPARE(flops(last, 2), 8.0 * (2 * (1 + 2) + 1));
        QCOMPARE(tests::topologyCost({"", last}, 2, 8).activationElements, 3.0 * 8);
        DepthMix middle = mix; // of entry 1 alone when layer 3 reads it, then of entries 1 and 2
        middle.sources = FirstAndLast{1};
        QCOMPARE(flops(middle, 3), 8.0 * (2 * (1 + 2 + 3 + 3) + 1));
    }

    /// Two layers of 4 features. "*" decays, "~" is drawn.
    void parametersByHand_data()
    {
        QTest::addColumn<Wiring>("wiring");
        QTest::addColumn<QString>("expected");
        BranchGate laurel;
        laurel.gate = BranchGateKind::LaurelRwLrPa;
        laurel.sites = MixSites::Mhsa;
        laurel.bound = LaurelBound::None;
        laurel.rank = 2;
        laurel.window = 2;
        QTest::newRow("laurel") << Wiring(laurel)
                                << "factor[2,2]=1 1.down.weight[2,4]*~ 1.up.weight[4,2]*=0 2.down.weight[2,4]*~ "
                                   "2.up.weight[4,2]*=0 coefficient[3]=1,0.5,0.5";
        MultiStream streams;
        streams.streams = 2;
        streams.sites = MixSites::Mhsa;
        streams.weights = StreamWeights::Dynamic;
        QTest::newRow("streams") << Wiring(streams)
                                 << "read[2,2]=1,0,0,1 carry[2,2,2]=1,0,0,1,1,0,0,1 write[2,2]=1,1,1,1 norm[2,4]=1 "
                                    "dynamic[2,4,4]*=0 scale[2,2]=0.01";
        DepthMix mix;
        mix.weight = WeightKind::PerFeature;
        mix.init = MixInit::Reciprocal;
        mix.gate.kind = GateKind::Outside;
        QTest::newRow("gate") << Wiring(mix) << "coefficient[6,4]=1,0.5,0.5,0.333333,0.333333,0.333333 gate[3,4]=0,0,0";
        mix.weight = WeightKind::Fixed;
        mix.weightDecay = true;
        mix.states[{1, 3}] = ShortcutState::Learned;
        QTest::newRow("learned") << Wiring(mix) << "coefficient[1]*=0.333333 gate[3,4]*=0,0,0";
        mix.weight = WeightKind::DepthAttention;
        QTest::newRow("attention") << Wiring(mix) << "query[3,4]*=0,0,0 norm[3,4]*=1,1,1 gate[3,4]*=0,0,0";
        QTest::newRow("plain") << Wiring(DepthMix{}) << "";
        QTest::newRow("densenet") << Wiring(Concatenation{}) << "1.weight[4,4]*~ 2.weight[4,8]*~ 3.weight[4,12]*~";
    }
    void parametersByHand()
    {
        QFETCH(Wiring, wiring);
        QFETCH(QString, expected);
        QStringList parameters;
        for (const WiringParameter& each : parametersOf(wiring, 2, 4)) {
            QStringList shape;
            std::ranges::transform(each.shape, std::back_inserter(shape),
                                   [](auto size) { return QString::number(size); });
            QStringList start;
            std::ranges::transform(each.values, std::back_inserter(start),
                                   [](auto value) { return QString::number(value); });
            parameters << QString::fromStdString(each.name).mid(9) + "[" + shape.join(",") + "]" +
                              (each.decays ? "*" : "") + (start.isEmpty() ? "~" : "=" + start.join(","));
        }
        QCOMPARE(parameters.join(" "), expected);
    }

    void programsByHand_data()
    {
        QTest::addColumn<QString>("preset");
        QTest::addColumn<QString>("program");
        const auto row = [](const char* preset, const char* program) { QTest::newRow(preset) << preset << program; };
        row("plain", "E R0 A0,1 R2 A2,3 = 4");
        row("grn-v1", "E S0 M1? R2 S3 M1,4? R5 S6 M1,4,7 = 8");
        row("densenet", "E J0? R1? J0,2? R3? J0,2,4 = 5");
        row("post-norm", "E R0 J0,1? R2 J2,3? R4 J4,5? R6 J6,7? = 8"); // the norm of a sum after each half
        row("value-residual", "E R0 A0,1 R2 A2,3 = 4");
    }
    void programsByHand()
    {
        QFETCH(const QString, preset);
        QFETCH(const QString, program);
        const std::vector<TopologyPreset> presets = topologyPresets(2);
        const auto found = std::ranges::find(presets, preset.toStdString(), &TopologyPreset::name);
        QVERIFY(found != presets.end());
        QCOMPARE(textOf(programOf(found->wiring, 2)), program);
    }

    /// The middle entries of a reader of the last two are added up once, when they leave the last two.
    void middlesGrow()
    {
        DepthMix mix;
        mix.weight = WeightKind::Scalar;
        mix.sources = FirstAndLast{1};
        QCOMPARE(textOf(programOf(mix, 3)), QString("E S0 M1? R2 S3 M1,4? R5 S6 M1,4,7? R8 S9 A4,7 S11 M1,12,10 = 13"));
    }

    void theMixBesideABranchIsAddedToIt()
    {
        DepthMix mix;
        mix.feeds = MixFeeds::ResidualBesideBranch;
        mix.entry = StackEntry::Full;
        mix.weight = WeightKind::Scalar;
        mix.finalMix = false;
        QCOMPARE(textOf(programOf(mix, 2)), QString("E S0 R1 M1+2 S3 R4 M1,4+5 S6 = 7"));
        mix.sites = MixSites::Both; // of one layer: the FFN's site also takes the attention's branch
        QCOMPARE(textOf(programOf(mix, 1)), QString("E S0 R1 A1,2 S3 R4 A2,5 M1+6 S7 = 8"));
    }

    /// A module that is left out leaves the streams as they are.
    void streamsMix()
    {
        const MultiStream two{.streams = 2, .sites = MixSites::Mhsa};
        QCOMPARE(textOf(programOf(two, 1)), QString("E S0? S0? M1,2? R3? S4? M1,2,5? S6 S7 M8,9 = 10"));
        MultiStream fractions = two;
        fractions.state = StreamState::Fractions;
        QCOMPARE(textOf(programOf(fractions, 1)),
                 QString("E P0 S1? S2? M3,4? G5,6? R7? P8? S9? S10? M3,4,11,12? G13,14 = 15"));
    }
};

RESIDUA_TEST(TestDepthProgram)
#include "tst_depth_program.moc"
