// SPDX-License-Identifier: GPL-3.0-or-later
// The evaluation of a sweep: means over seeds, the best rate of each topology, and what each axis decides.
#include "projects/studies/sweep_results.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>

using namespace residua::projects;

namespace {

const Sweep kStudy{
    "study",
    {axisFrom("/topology=plain,dca"), axisFrom("/training/learning_rate/peak=0.1,0.2,0.4"), axisFrom("/seeds=1,2")}};

/// The whole grid of kStudy; `valueOf` has topology, rate and seed, from 0.
template <class ValueOf>
std::vector<SweepResult> gridOf(const ValueOf& valueOf)
{
    std::vector<SweepResult> results;
    for (std::size_t topology = 0; topology < 2; ++topology) {
        for (std::size_t rate = 0; rate < 3; ++rate) {
            for (std::size_t seed = 0; seed < 2; ++seed) {
                results.push_back({{labelOf(kStudy.axes[0].values[topology]), labelOf(kStudy.axes[1].values[rate]),
                                    labelOf(kStudy.axes[2].values[seed])},
                                   valueOf(topology, rate, seed)});
            }
        }
    }
    return results;
}

std::optional<double> value(std::size_t topology, std::size_t rate, std::size_t seed)
{
    constexpr double kLosses[2][3] = {{3, 2, 4}, {1.5, 1.8, 9}};
    return kLosses[topology][rate] + (seed == 0 ? -0.1 : 0.1);
}

} // namespace

class TestSweepResults : public QObject {
    Q_OBJECT

private slots:
    void anAxisHasARole_data()
    {
        QTest::addColumn<QString>("axis");
        QTest::addColumn<int>("role");
        QTest::newRow("topology") << "/topology=plain,dca" << int(AxisRole::Compared);
        QTest::newRow("depth") << "/network/stack/0/repeat=2,4" << int(AxisRole::Compared);
        QTest::newRow("rate") << "/training/learning_rate/peak=0.1,0.2" << int(AxisRole::Searched);
        QTest::newRow("optimiser") << "/training/optimiser=sgd,adamw" << int(AxisRole::Compared);
        QTest::newRow("steps cost, and are compared") << "/training/steps=10,20" << int(AxisRole::Compared);
        QTest::newRow("a seed") << "/seeds/init=1,2" << int(AxisRole::Seed);
        QTest::newRow("all seeds") << "/seeds=1,2" << int(AxisRole::Seed);
    }

    void anAxisHasARole()
    {
        QFETCH(QString, axis);
        QFETCH(int, role);
        QCOMPARE(int(roleOf(axisFrom(axis.toStdString()))), role);
    }

    void theBestRateOfEachTopologyIsThatOfTheMeanOverSeeds()
    {
        const auto best = bestOfEach(kStudy, gridOf(value), {});
        QCOMPARE(best.size(), std::size_t(2));
        QCOMPARE(best[0].compared, std::vector<std::string>{"plain"});
        QCOMPARE(best[0].best, std::vector<std::string>{"0.2"});
        QCOMPARE(best[0].mean.mean, 2.0);
        QCOMPARE(best[0].mean.count, std::size_t(2));
        QVERIFY(!best[0].isAtEnd);
        QCOMPARE(best[1].best, std::vector<std::string>{"0.1"});
        QVERIFY(best[1].isAtEnd); // a smaller one was not tried
        const auto most = bestOfEach(kStudy, gridOf(value), {"accuracy", Judge::Better::Greater});
        QCOMPARE(most[0].best, std::vector<std::string>{"0.4"});
    }

    void membersThatHaveNotFinishedAreLeftOut()
    {
        const auto results = gridOf([](std::size_t topology, std::size_t rate, std::size_t seed) {
            const bool isMissing = topology == 1 || (topology == 0 && rate == 1) || (rate == 0 && seed == 0);
            return isMissing ? std::nullopt : value(topology, rate, seed);
        });
        const auto best = bestOfEach(kStudy, results, {});
        QCOMPARE(best.size(), std::size_t(1));
        QCOMPARE(best[0].best, std::vector<std::string>{"0.1"});
        QCOMPARE(best[0].mean.count, std::size_t(1));
        QCOMPARE(best[0].missing, std::size_t(1));
        QVERIFY(bestOfEach({"s", {kStudy.axes[0], kStudy.axes[2]}}, {}, {}).empty()); // nothing is searched
    }

    void theSharesOfAGridWithoutGapsAddUp()
    {
        const auto importance = importanceOf(kStudy, gridOf(value));
        QVERIFY(importance.has_value());
        QCOMPARE(importance->count, std::size_t(12));
        double sum = importance->together;
        for (const double share : importance->shares) {
            QVERIFY(share > 0);
            sum += share;
        }
        QVERIFY(std::abs(sum - 1) < 1e-12);
        QVERIFY(importance->shares[1] > importance->shares[2]); // the rate decides more than the seed
    }

    void anAxisThatDecidesEverythingHasTheWholeShare()
    {
        const auto results =
            gridOf([](std::size_t, std::size_t rate, std::size_t) { return std::optional(double(rate)); });
        const auto importance = importanceOf(kStudy, results);
        QVERIFY(std::abs(importance->shares[1] - 1) < 1e-12);
        QVERIFY(std::abs(importance->shares[0]) < 1e-12);
        QVERIFY(importance->together < 1e-12);
    }

    /// A halving leaves results of one topology.
    void anAxisWithResultsAtOneValueAloneHasNoShare()
    {
        const auto results = gridOf([](std::size_t first, std::size_t rate, std::size_t) {
            return first == 0 ? std::optional(double(rate)) : std::nullopt;
        });
        const auto importance = importanceOf(kStudy, results);
        QCOMPARE(shareText(importance->shares[0]), std::string("unknown"));
        QVERIFY(std::abs(importance->shares[1] - 1) < 1e-12);
        QVERIFY(importance->together < 1e-12);
    }

    void valuesWithoutADifferenceHaveNoImportance()
    {
        QVERIFY(!importanceOf(kStudy, {}));
        QVERIFY(!importanceOf(kStudy, gridOf([](auto...) { return std::optional(1.0); })));
        QVERIFY(!importanceOf(kStudy, gridOf([](auto...) { return std::optional<double>(); })));
    }
};

RESIDUA_TEST(TestSweepResults)
#include "tst_sweep_results.moc"
