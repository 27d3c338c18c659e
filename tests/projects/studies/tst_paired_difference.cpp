// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/studies/paired_difference.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

using namespace residua::projects;

class TestPairedDifference : public QObject {
    Q_OBJECT

private slots:
    /// scipy.stats.t.ppf of SciPy 1.17.1.
    void quantilesAreStudents()
    {
        struct Row {
            double probability;
            double degrees;
            double quantile;
        };
        for (const Row& row :
             {Row{0.975, 1, 12.706204736174694}, Row{0.975, 2, 4.302652729749462}, Row{0.975, 3, 3.1824463052837078},
              Row{0.975, 4, 2.7764451051977934}, Row{0.975, 5, 2.5705818356363146}, Row{0.975, 9, 2.262157162798205},
              Row{0.975, 30, 2.0422724563012378}, Row{0.975, 100, 1.9839715185235518},
              Row{0.975, 1e6, 1.959966356814107}, Row{0.995, 4, 4.604094871349992}, Row{0.05, 7, -1.8945786050900066},
              Row{0.9, 2.5, 1.7302509288071766}}) {
            const double found = studentQuantile(row.probability, row.degrees);
            QVERIFY2(std::abs(found / row.quantile - 1) < (row.degrees > 1000 ? 1e-9 : 1e-11),
                     qPrintable(QString("%1 of %2: %3").arg(row.probability).arg(row.degrees).arg(found, 0, 'g', 17)));
        }
        QCOMPARE(studentQuantile(0.5, 3), 0.0);
    }

    /// scipy.stats.ttest_rel and its confidence_interval of SciPy 1.17.1.
    void intervalsAreThoseOfPairs()
    {
        const std::vector<double> a{2.71, 2.70, 2.73, 2.69, 2.72};
        const std::vector<double> b{2.72, 2.75, 2.74, 2.71, 2.75};
        const PairedDifference found = pairedDifference(a, b);
        QCOMPARE(found.pairs, std::size_t{5});
        QVERIFY(std::abs(found.mean + 0.024) < 1e-12);
        QVERIFY(std::abs(found.low() + 0.044777012673671145) < 1e-12);
        QVERIFY(std::abs(found.high() + 0.003222987326328898) < 1e-12);
        const PairedDifference wider = pairedDifference(a, b, 0.9);
        QVERIFY(std::abs(wider.low() + 0.03995328055105865) < 1e-12);
        QCOMPARE(verdictOf(found, Direction::Below), Verdict::Agrees);
        QCOMPARE(verdictOf(found, Direction::Above), Verdict::Differs);
        const PairedDifference turned = pairedDifference(b, a);
        QCOMPARE(turned.mean, -found.mean);
        QCOMPARE(verdictOf(turned, Direction::Above), Verdict::Agrees);
        QCOMPARE(verdictOf(turned, Direction::Below), Verdict::Differs);
    }

    /// Values are paired by seed, in any order; without a common seed the difference is that of means.
    void seedsMakePairs()
    {
        const std::vector<SeededValue> a{{"1", 2.0}, {"2", 2.2}, {"9", 7.0}, {"3", std::nan("")}};
        const std::vector<SeededValue> b{{"2", 2.3}, {"3", 1.0}, {"1", 2.1}};
        const PairedDifference found = differenceOf(a, b);
        QCOMPARE(found.pairs, std::size_t{2});
        QVERIFY(std::abs(found.mean + 0.1) < 1e-12);
        const PairedDifference apart = differenceOf(a, std::vector<SeededValue>{{"7", 1.0}, {"8", 1.2}});
        QCOMPARE(apart.pairs, std::size_t{0});
        QVERIFY(std::isfinite(apart.halfWidth));
        QVERIFY(std::isnan(differenceOf({}, b).mean));
        const PairedDifference repeated = differenceOf(std::vector<SeededValue>{{"1", 2.0}, {"1", 2.0}}, b);
        QCOMPARE(repeated.pairs, std::size_t{1}); // two equal differences would have an interval of width 0
        QVERIFY(std::isinf(repeated.halfWidth));
    }

    void textsHaveTheDecimalsOfTheirUncertainty()
    {
        const auto mean = [](std::vector<double> values) { return textOf(meanOf(values)); };
        QCOMPARE(mean({3.46, 3.48, 3.5}), std::string("3.480 ± 0.020 (3)"));
        QCOMPARE(mean({3.46123456}), std::string("3.4612"));
        QCOMPARE(mean({4, 4}), std::string("4 (2)"));
        QCOMPARE(mean({}), std::string("–"));
        QCOMPARE(textOf(PairedDifference{3, -0.0161, 0.0042}), std::string("-0.0161 ± 0.0042 (3 pairs)"));
        QCOMPARE(textOf(PairedDifference{1, 0.02, std::numeric_limits<double>::infinity()}),
                 std::string("+0.02 (1 pair)"));
        QCOMPARE(textOf(PairedDifference{0, 0.5, 0.25}), std::string("+0.50 ± 0.25 (means)"));
        for (const double zero : {-3e-6, 3e-6}) {
            QCOMPARE(textOf(PairedDifference{3, zero, 0.00015}), std::string("0.00000 ± 0.00015 (3 pairs)"));
        }
    }

    /// scipy.stats.ttest_ind(equal_var=False) of SciPy 1.17.1 on data with these moments.
    void intervalsOfMeansAreWelchs()
    {
        const PairedDifference found = differenceOfMeans({1, 0.1, 4}, {2, 0.3, 6});
        QCOMPARE(found.pairs, std::size_t{0});
        QVERIFY(std::abs(found.low() + 1.317707270865137) < 1e-12);
        QVERIFY(std::abs(found.high() + 0.682292729134863) < 1e-12);
        QCOMPARE(verdictOf(found, Direction::Below), Verdict::Agrees);
        // A bound of the deviations has the fewest degrees of freedom: t of 3 instead of 8.
        const PairedDifference bound = differenceOfMeans({1, 0.1, 4, MeanOfSeveral::Deviation::AtMost}, {2, 0.1, 6});
        QVERIFY(std::abs(bound.halfWidth - 0.20542602567605212) < 1e-12);
        QVERIFY(bound.halfWidth > differenceOfMeans({1, 0.1, 4}, {2, 0.1, 6}).halfWidth);
        QCOMPARE(verdictOf(differenceOfMeans({1, 0, 1}, {2, 0, 5}), Direction::Below), Verdict::CannotTell);
    }

    /// t of 0.975 over the root of the count: 2.484 of 3 pairs, 1.591 of 4 and 1.242 of 5.
    void pairsToDecideAreTheFewest()
    {
        constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
        const auto needed = [](double mean, double deviation) { return pairsToDecide({3, mean, 0, deviation}); };
        QCOMPARE(needed(1.5, 1), std::optional<std::size_t>(5));
        QCOMPARE(needed(-1.5, 1), std::optional<std::size_t>(5));
        QCOMPARE(needed(1.6, 1), std::optional<std::size_t>(4));
        QCOMPARE(needed(3, 2), std::optional<std::size_t>(5));
        QCOMPARE(needed(2.5, 1), std::optional<std::size_t>(3));
        QCOMPARE(needed(1, 0), std::optional<std::size_t>(2));
        const std::optional<std::size_t> many = needed(0.1, 1);
        QVERIFY(many && *many > 384 && *many < 392); // (1.96 · 10)², and a little for Student's t
        // 1.962 over the root of 1,000 is 0.06205.
        QVERIFY(needed(0.0621, 1) <= std::optional(kMostPairs));
        for (const double small : {0.062, 1e-6, 0.0}) {
            QCOMPARE(needed(small, 1), std::optional(kMostPairs + 1));
        }
        QVERIFY(!needed(kNone, 1));
        QVERIFY(!needed(1, kNone));
    }

    /// As many pairs as are needed decide, and one fewer does not.
    void neededPairsDecide()
    {
        const std::vector<double> a{2.91, 2.9, 2.95, 2.89};
        const std::vector<double> b{2.92, 2.93, 2.94, 2.9};
        const PairedDifference measured = pairedDifference(a, b);
        QVERIFY(std::abs(measured.mean + 0.01) < 1e-12);
        QVERIFY(std::abs(measured.deviation - std::sqrt(0.0008 / 3)) < 1e-12);
        QCOMPARE(verdictOf(measured, Direction::Below), Verdict::CannotTell);
        const auto verdictOn = [&](std::size_t pairs) {
            const auto count = static_cast<double>(pairs);
            const double half = studentQuantile(0.975, count - 1) * measured.deviation / std::sqrt(count);
            return verdictOf({pairs, measured.mean, half}, Direction::Below);
        };
        const std::optional<std::size_t> needed = pairsToDecide(measured);
        QVERIFY(needed && *needed > a.size());
        QCOMPARE(verdictOn(*needed), Verdict::Agrees);
        QCOMPARE(verdictOn(*needed - 1), Verdict::CannotTell);
        // Means without values: the deviation of a pair is that of independent sides.
        QCOMPARE(differenceOfMeans({1, 3, 5}, {2, 4, 5}).deviation, 5.0);
        QVERIFY(!pairsToDecide(differenceOfMeans({1, 0, 1}, {2, 0, 5})));
        QVERIFY(!pairsToDecide(pairedDifference(std::vector<double>{1.0}, std::vector<double>{2.0})));
    }

    /// scipy.stats.spearmanr of SciPy 1.17.1, which gives equal values their mean rank.
    void rankCorrelationsAreSpearmans()
    {
        const std::vector<double> a{1, 2, 3, 4, 5, 5, 7};
        const std::vector<double> b{2, 1, 4, 3, 6, 8, 5};
        QVERIFY(std::abs(rankCorrelation(a, b) - 0.8108437164260032) < 1e-12);
        const std::vector<double> equal{2, 2, 2, 2, 2, 2, 2};
        QVERIFY(std::isnan(rankCorrelation(a, equal)));
        QVERIFY(std::isnan(rankCorrelation(std::vector<double>{1.0, 2.0}, std::vector<double>{1.0, 2.0})));
        QVERIFY(std::isnan(rankCorrelation(a, std::vector<double>{1.0, 2.0, 3.0})));
    }

    void fewOrEqualPairsTellNothing()
    {
        const double none = std::numeric_limits<double>::quiet_NaN();
        const std::vector<double> one{1.0};
        const std::vector<double> two{2.0};
        const PairedDifference single = pairedDifference(one, two);
        QCOMPARE(single.mean, -1.0);
        QVERIFY(std::isinf(single.halfWidth));
        QCOMPARE(verdictOf(single, Direction::Below), Verdict::CannotTell);
        QCOMPARE(verdictOf(pairedDifference({}, {}), Direction::Above), Verdict::CannotTell);
        const std::vector<double> same{1, 2, 3};
        QCOMPARE(verdictOf(pairedDifference(same, same), Direction::Below), Verdict::CannotTell);
        // A pair with a diverged run is left out.
        const std::vector<double> diverged{1.5, none, 3.5};
        QCOMPARE(pairedDifference(diverged, same).pairs, std::size_t{2});
        QCOMPARE(verdictOf(pairedDifference(diverged, same), Direction::Above), Verdict::Agrees);
        // A small mean beside a large spread.
        const std::vector<double> spread{1.2, 1.7, 3.4};
        QCOMPARE(verdictOf(pairedDifference(spread, same), Direction::Above), Verdict::CannotTell);
        for (const Verdict verdict : {Verdict::Agrees, Verdict::Differs, Verdict::CannotTell}) {
            QVERIFY(textOf(verdict) != nullptr);
        }
    }
};

RESIDUA_TEST(TestPairedDifference)
#include "tst_paired_difference.moc"
