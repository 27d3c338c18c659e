// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/depth_plan.h"
#include "tests/support/test_program.h"

#include <set>

using namespace residua::projects;

namespace {

const DepthMix& mixOf(const TopologyPreset& preset)
{
    return std::get<DepthMix>(preset.wiring);
}

} // namespace

class TestDepthPlan : public QObject {
    Q_OBJECT
private slots:
    /// Every preset that is a mix: readers in order, each term once and among its reader's sources.
    void termsFollowReadersOutputsAndSources()
    {
        for (const std::int64_t layers : {1, 2, 7, 12}) {
            for (const TopologyPreset& preset : topologyPresets(layers)) {
                if (!std::holds_alternative<DepthMix>(preset.wiring)) {
                    continue;
                }
                const DepthPlan plan(mixOf(preset), layers);
                QCOMPARE(plan.layers(), layers);
                QCOMPARE(plan.modules(), mixedModules(mixOf(preset), layers));
                const std::size_t last = mixOf(preset).finalMix ? 1 : 0;
                QCOMPARE(plan.readers().size(), static_cast<std::size_t>(plan.modules()) + last);
                std::size_t next = 0;
                for (std::size_t r = 0; r < plan.readers().size(); ++r) {
                    const DepthReader& reader = plan.readers()[r];
                    QCOMPARE(reader.target, static_cast<std::int64_t>(r) + 1);
                    for (std::size_t output = 0; output < reader.outputs(); ++output) {
                        for (const std::int64_t source : reader.sources) {
                            const DepthTerm& term = plan.terms()[next++];
                            QVERIFY(term.reader == r && term.output == output && term.source == source);
                        }
                    }
                }
                QCOMPARE(next, plan.terms().size());
            }
        }
    }

    void onlyTheResidualSumRuns()
    {
        DepthMix plain;
        QVERIFY(isRunningSum(plain));
        const auto changed = [&](auto change) {
            DepthMix mix = plain;
            change(mix);
            return isRunningSum(mix);
        };
        QVERIFY(!changed([](DepthMix& m) { m.weight = WeightKind::Scalar; }));
        QVERIFY(!changed([](DepthMix& m) { m.init = MixInit::Reciprocal; }));
        QVERIFY(!changed([](DepthMix& m) { m.entry = StackEntry::Full; }));
        QVERIFY(!changed([](DepthMix& m) { m.feeds = MixFeeds::ResidualBesideBranch; }));
        QVERIFY(!changed([](DepthMix& m) { m.normalise = NormaliseOver::Sources; }));
        QVERIFY(!changed([](DepthMix& m) { m.gate.kind = GateKind::Outside; }));
        QVERIFY(!changed([](DepthMix& m) { m.sources = FirstAndLast{2}; }));
        QVERIFY(!changed([](DepthMix& m) { m.states[{0, 2}] = ShortcutState::Pruned; }));
    }

    void startWeightsFollowTheLaw_data()
    {
        QTest::addColumn<int>("law");
        QTest::addColumn<QVector<double>>("third");
        QTest::newRow("ones") << static_cast<int>(MixInit::Ones) << QVector<double>{1, 1, 1};
        QTest::newRow("zero") << static_cast<int>(MixInit::Zero) << QVector<double>{0, 0, 0};
        QTest::newRow("cascaded") << static_cast<int>(MixInit::Cascaded) << QVector<double>{0, 0, 1};
        QTest::newRow("reciprocal") << static_cast<int>(MixInit::Reciprocal)
                                    << QVector<double>{1.0 / 3, 1.0 / 3, 1.0 / 3};
    }
    void startWeightsFollowTheLaw()
    {
        QFETCH(int, law);
        QFETCH(QVector<double>, third);
        DepthMix mix;
        mix.weight = WeightKind::Scalar;
        mix.init = static_cast<MixInit>(law);
        const DepthPlan plan(mix, 4);
        QVector<double> starts;
        for (const DepthTerm& term : plan.terms()) {
            if (plan.readers()[term.reader].target == 3) {
                starts.push_back(plan.startOf(term));
            }
        }
        QCOMPARE(starts, third);
    }

    void matricesAreNamedByPort()
    {
        DepthMix mix;
        QCOMPARE(DepthPlan(mix, 3).matrixName("mix", MixPort::Final), std::string("mix"));
        mix.ports = MixPorts::QkvResidual;
        const DepthPlan plan(mix, 3);
        std::set<std::string> names;
        for (const DepthReader& reader : plan.readers()) {
            for (const MixPort port : reader.ports) {
                names.insert(plan.matrixName("mix", port));
                QVERIFY(mixPortNamed(nameOf(port)) == port);
            }
        }
        QCOMPARE(names, (std::set<std::string>{"mix/final", "mix/k", "mix/q", "mix/residual", "mix/v"}));
        QVERIFY(!mixPortNamed("z"));
    }

    void aPrunedMiddleIsNotRead()
    {
        DepthMix mix;
        mix.sources = FirstAndLast{1};
        mix.states[{1, 4}] = ShortcutState::Pruned;
        const DepthPlan plan(mix, 5);
        QCOMPARE(plan.readers()[3].sources, (std::vector<std::int64_t>{0, 3}));
        QCOMPARE(plan.readers()[4].sources, (std::vector<std::int64_t>{0, 1, 4}));
        QVERIFY((plan.readers()[4].middle == EntryRange{1, 3}));
    }
};

RESIDUA_TEST(TestDepthPlan)
#include "tst_depth_plan.moc"
