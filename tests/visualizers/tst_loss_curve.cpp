// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/loss_curve.h"

#include <QTest>

#include <cmath>
#include <limits>

using residua::engine::StepRecord;
using residua::engine::ValidationRecord;
using residua::visualizers::LossCurve;
using residua::visualizers::XAxis;

namespace {

StepRecord at(std::int64_t step, double loss)
{
    return {.step = step,
            .loss = loss,
            .learningRate = 0,
            .gradientNorm = 0,
            .tokens = step * 64,
            .seconds = static_cast<double>(step) / 2};
}

std::vector<double> ys(const std::vector<LossCurve::Point>& points)
{
    std::vector<double> values;
    for (const auto& point : points) {
        values.push_back(point.y);
    }
    return values;
}

} // namespace

class TestLossCurve : public QObject {
    Q_OBJECT
private slots:
    void axesReadTheirField()
    {
        LossCurve curve;
        curve.append({at(1, 3), at(2, 2)}, {{2, 2.5}});
        QCOMPARE(curve.raw(XAxis::Step).back().x, 2.0);
        QCOMPARE(curve.raw(XAxis::Units).back().x, 128.0);
        QCOMPARE(curve.raw(XAxis::Seconds).back().x, 1.0);
        QCOMPARE(curve.validation(XAxis::Units).front().x, 128.0);
        curve.setFlopPerUnit(1000);
        QCOMPARE(curve.raw(XAxis::Flop).back().x, 128'000.0);
    }

    void resumedRunTakesThePlaceOfWhatItRepeats()
    {
        LossCurve curve;
        curve.append({at(1, 5), at(2, 4), at(3, 3), at(4, 2)}, {{2, 9}, {4, 8}});
        const std::size_t first = curve.append({at(3, 30), at(4, 20)}, {{4, 7}});
        QCOMPARE(first, std::size_t{2});
        QCOMPARE(ys(curve.raw(XAxis::Step)), (std::vector<double>{5, 4, 30, 20}));
        QCOMPARE(ys(curve.validation(XAxis::Step)), (std::vector<double>{9, 7}));
    }

    void smoothingIsTheBiasCorrectedMean()
    {
        LossCurve curve;
        curve.setWindow(2);
        curve.append({at(1, 4), at(2, 8)}, {});
        curve.append({at(3, 2)}, {});
        // Weights 1/2 each, then divided by their sum: 4; (4/4 + 8/2)/(3/4); (4/8 + 8/4 + 2/2)/(7/8).
        const auto smooth = ys(curve.smoothed(XAxis::Step));
        QCOMPARE(smooth.size(), std::size_t{3});
        QCOMPARE(smooth[0], 4.0);
        QCOMPARE(smooth[1], 20.0 / 3);
        QCOMPARE(smooth[2], 4.0);
        curve.setWindow(1);
        QCOMPARE(ys(curve.smoothed(XAxis::Step)), (std::vector<double>{4, 8, 2}));
    }

    void brokenLossesArePassedOver()
    {
        const double nan = std::numeric_limits<double>::quiet_NaN();
        LossCurve curve;
        curve.setWindow(1);
        curve.append({at(1, nan), at(2, 4), at(3, std::numeric_limits<double>::infinity()), at(4, 2)}, {});
        QCOMPARE(ys(curve.smoothed(XAxis::Step)), (std::vector<double>{4, 4, 2}));
    }
};

QTEST_APPLESS_MAIN(TestLossCurve)
#include "tst_loss_curve.moc"
