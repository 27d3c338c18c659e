// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/test_program.h"
#include "visualizers/heatmap/distance_plot.h"
#include "visualizers/runs/seed_band.h"

#include <QTest>

#include <cmath>
#include <limits>
#include <vector>

using namespace residua::visualizers;

namespace {

void put(Series& series, double step, double value)
{
    series.append({step, step * 64, step / 2}, value);
}

} // namespace

class TestSeedBand : public QObject {
    Q_OBJECT
private slots:
    void meanAndDeviationOverTheStepsThatAllHave()
    {
        Series a;
        Series b;
        Series c;
        for (const double step : {1.0, 2.0, 3.0, 4.0}) {
            put(a, step, step);
            put(b, step, step + 1);
            if (step != 2) { // it recorded more seldom
                put(c, step, step + 5);
            }
        }
        SeedBand band;
        band.follow({&a, &b, &c});
        QCOMPARE(band.runs(), std::size_t{3});
        QCOMPARE(band.mean().size(), std::size_t{3}); // 1, 3 and 4
        QCOMPARE(band.mean().at(1).x, 3.0);
        QCOMPARE(band.mean().at(1).y, 5.0);                    // of 3, 4 and 8
        const double deviation = std::sqrt((4 + 1 + 9) / 2.0); // of the sample
        QCOMPARE(band.low().at(1).y, 5 - deviation);
        QCOMPARE(band.high().at(1).y, 5 + deviation);
    }

    void itGrowsWithItsRunsAndBeginsAnewWhereOneIsResumed()
    {
        Series a;
        Series b;
        put(a, 1, 1);
        put(b, 1, 3);
        SeedBand band;
        band.setAxis(XAxis::Units, 1);
        band.follow({&a, &b});
        put(a, 2, 5);
        band.follow({&a, &b});
        QCOMPARE(band.mean().size(), std::size_t{1}); // the other has no second step yet
        put(b, 2, 7);
        band.follow({&a, &b});
        QCOMPARE(band.mean().size(), std::size_t{2});
        QCOMPARE(band.mean().at(1).y, 6.0);
        QCOMPARE(band.mean().at(1).x, 128.0); // tokens
        put(b, 1, 9);                         // gone on with from its beginning
        band.follow({&a, &b});
        QCOMPARE(band.mean().size(), std::size_t{1});
        QCOMPARE(band.mean().at(0).y, 5.0);
        Series c;
        put(c, 1, 0);
        band.follow({&a, &c});
        QCOMPARE(band.mean().at(0).y, 0.5);
    }

    void weightsAreSummedUpByDistance()
    {
        const float none = std::numeric_limits<float>::quiet_NaN();
        const residua::engine::Matrix matrix{
            .name = "mix", .step = 4, .rows = 3, .columns = 3, .values = {1, none, none, 5, 2, none, 7, none, 3}};
        const auto found = weightsByDistance(matrix);
        QCOMPARE(found.size(), std::size_t{3});
        QCOMPARE(found[0].distance, std::int64_t{1}); // 0:1, 1:2 and 2:3
        QCOMPARE(found[0].count, std::int64_t{3});
        QCOMPARE(found[0].median, 2.0);
        QCOMPARE(found[0].high, 2.8);                 // nine tenths of the way from 1 over 2 to 3
        QCOMPARE(found[1].median, 5.0);               // 0:2 alone: 1:3 is not read
        QCOMPARE(found[2].distance, std::int64_t{3}); // 0:3
        QCOMPARE(found[2].high, 7.0);
        QVERIFY(weightsByDistance({}).empty());
    }
};

RESIDUA_TEST(TestSeedBand)
#include "tst_seed_band.moc"
