// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of the gap's table and bars.
#include "engine/base/api/gap.h"
#include "visualizers/gap/gap_model.h"

#include "tests/support/test_program.h"

#include <QtTest>

using namespace residua;
using namespace residua::visualizers;
using engine::Gap;
using engine::GapFit;
using projects::LowRankMethod;

namespace {

GapFit fitted(double error, double full, std::optional<double> bound = std::nullopt)
{
    GapFit fit;
    fit.state = GapFit::State::Fitted;
    fit.functionError = error;
    fit.fullFunction = full;
    fit.seconds = 0.5;
    fit.spectralGapBound = bound;
    return fit;
}

/// Two weights by two methods; the last fit is under way.
Gap someGap()
{
    Gap gap;
    gap.weights = {{"layers.1.up.weight", engine::GapFactors{8, 4, 2, "relu"}},
                   {"layers.2.attention.q.weight", engine::GapFactors{4, 16, 1}}};
    gap.methods = {LowRankMethod::Spectral, LowRankMethod::LfaiWs};
    gap.fits = {fitted(2, 4, 0.4), fitted(1, 4, 0.4), fitted(3, 4), GapFit{}};
    gap.outputs.resize(2);
    return gap;
}

} // namespace

class TestGapRows : public QObject {
    Q_OBJECT

private slots:
    void weightsHavePlaces()
    {
        QCOMPARE(placeOfWeight("layers.12.attention.q.weight"), (WeightPlace{12, "attention"}));
        QCOMPARE(placeOfWeight("layers.3.up.weight"), (WeightPlace{3, "up"}));
        QCOMPARE(placeOfWeight("stem.embed.weight"), (WeightPlace{0, "embed"}));
        QCOMPARE(placeOfWeight("encoder.layers.3.up.weight"), (WeightPlace{3, "up", "encoder"}));
        QCOMPARE(placeOfWeight("layers.x.up.weight"), WeightPlace{});
        QCOMPARE(placeOfWeight("layers.3"), WeightPlace{});
        QCOMPARE(placeOfWeight("weight"), WeightPlace{});
        QCOMPARE(shortNameOf("layers.12.attention.q.weight"), std::string("12 attention.q"));
        QCOMPARE(shortNameOf("stem.embed.weight"), std::string("stem.embed"));
        QCOMPARE(shortNameOf("encoder.layers.3.up.weight"), std::string("encoder 3 up"));
    }

    void theWholeComesFirst()
    {
        GapModel model;
        QCOMPARE(model.rowCount(), 0);
        model.setGap(someGap(), {1, 0});
        QCOMPARE(model.rowCount(), 6);
        QVERIFY(!model.row(0).weight && !model.row(1).weight && model.row(1).method == 1);
        QVERIFY(model.row(2).weight == 1 && model.row(2).method == 0);
        QVERIFY(model.row(5).weight == 0 && model.row(5).method == 1);
        QCOMPARE(model.firstRowOf(0), 4);
        QCOMPARE(model.firstRowOf(2), -1);
    }

    /// Theorem 3.5: the best is at least the bound below the spectral start.
    void theBoundIsBelowTheSpectralStart()
    {
        Gap gap = someGap();
        QVERIFY(std::abs(bestAtMost(gap, 0).value() - (0.5 - 0.1)) < 1e-15);
        QVERIFY(!bestAtMost(gap, 1)); // of an identity
        gap.methods.front() = LowRankMethod::Exact;
        QVERIFY(!bestAtMost(gap, 0));
    }

    void totalsAreOfWhatIsThere()
    {
        const Gap gap = someGap();
        QCOMPARE(gap.done(), std::size_t{3});
        QCOMPARE(totalOf(gap, 0).relativeError, 5.0 / 8);
        QCOMPARE(totalOf(gap, 0).seconds, 1.0);
        QCOMPARE(totalOf(gap, 1).relativeError, 0.25);
        QCOMPARE(totalOf(gap, 1).weights, std::size_t{1});
        QVERIFY(ordered(gap, engine::GapOrder::Size) == (std::vector<std::size_t>{1, 0}));
        QVERIFY(ordered(gap, engine::GapOrder::Error) == (std::vector<std::size_t>{1, 0}));
        QVERIFY(ordered(gap, engine::GapOrder::Layer) == (std::vector<std::size_t>{0, 1}));
        const QString csv = QString::fromStdString(csvOf(gap, {1, 0}));
        QCOMPARE(csv.count('\n'), 1 + 3);
        QVERIFY2(csv.contains("\nlayers.1.up.weight,8,4,2,relu,lfai-ws,0.25,1,0,0,0.4,0.5,1\n"), qPrintable(csv));
        QVERIFY2(csv.contains("\nlayers.2.attention.q.weight,4,16,1,identity,spectral,0.75,3,0,0,,0.5,1\n"),
                 qPrintable(csv));
        QVERIFY(!valueOf(gap.fits[3], GapMeasure::Seconds));
        QCOMPARE(valueOf(gap.fits[1], GapMeasure::FunctionError).value(), 0.25);
    }
};

RESIDUA_TEST_IN(QCoreApplication, TestGapRows)
#include "tst_gap_rows.moc"
