// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/curve.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>

using residua::resources::Curve;

namespace {

constexpr std::size_t kMany = 100'000;

std::vector<double> evenEdges(double from, double to, int columns)
{
    std::vector<double> edges;
    for (int i = 0; i <= columns; ++i) {
        edges.push_back(from + (to - from) * i / columns);
    }
    return edges;
}

Curve wave(std::size_t size)
{
    Curve curve;
    for (std::size_t i = 0; i < size; ++i) {
        curve.append(static_cast<double>(i), std::sin(static_cast<double>(i)));
    }
    return curve;
}

bool shows(const Curve::Sample& sample, double y)
{
    return std::ranges::any_of(sample.line, [y](const auto& point) { return point.y == y; });
}

} // namespace

class TestCurve : public QObject {
    Q_OBJECT
private slots:
    void everySpikeSurvives()
    {
        for (const std::size_t at : {0ul, 15ul, 16ul, 4095ul, 4096ul, 65'536ul, 99'998ul}) {
            Curve curve;
            for (std::size_t i = 0; i < kMany; ++i) {
                curve.append(static_cast<double>(i), i == at ? 50 : i == at + 1 ? -50 : 1);
            }
            const auto sample = curve.sample(evenEdges(0, kMany, 300));
            QVERIFY(sample.line.size() <= 1200);
            QVERIFY(shows(sample, 50));
            QVERIFY(shows(sample, -50));
        }
    }

    void rangeIsThatOfThePoints()
    {
        const Curve curve = wave(5000);
        for (const auto& [from, to] :
             std::vector<std::pair<std::size_t, std::size_t>>{{0, 5000}, {3, 4}, {17, 300}, {255, 4097}, {16, 4096}}) {
            double low = 2;
            double high = -2;
            for (std::size_t i = from; i < to; ++i) {
                low = std::min(low, curve.at(i).y);
                high = std::max(high, curve.at(i).y);
            }
            QCOMPARE(curve.range(from, to).low, low);
            QCOMPARE(curve.range(from, to).high, high);
        }
        QVERIFY(curve.range(7, 7).empty());
    }

    void brokenPointsAreToldApart()
    {
        Curve curve;
        constexpr double infinity = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < kMany; ++i) {
            const double y = i == 500   ? std::numeric_limits<double>::quiet_NaN()
                             : i == 501 ? infinity
                             : i == 502 ? -infinity
                                        : 1;
            curve.append(static_cast<double>(i), y);
        }
        for (const auto& edges : {evenEdges(0, kMany, 100), evenEdges(490, 510, 100)}) {
            const auto broken = curve.sample(edges).broken;
            QCOMPARE(broken.size(), std::size_t{3});
            QVERIFY(std::ranges::any_of(broken, [](const auto& point) { return std::isnan(point.y); }));
            QVERIFY(std::ranges::any_of(broken, [](const auto& point) { return point.y == infinity; }));
            QVERIFY(std::ranges::any_of(broken, [](const auto& point) { return point.y == -infinity; }));
        }
        QCOMPARE(curve.range(0, kMany).high, 1.0);
    }

    /// If all points of some columns are NaN, the thinned line has a gap there.
    void nanInterruptsTheLine()
    {
        Curve curve;
        for (std::size_t i = 0; i < kMany; ++i) {
            const bool none = i >= 40'000 && i < 60'000;
            curve.append(static_cast<double>(i), none ? std::numeric_limits<double>::quiet_NaN() : 1);
        }
        const auto line = curve.sample(evenEdges(0, kMany, 100)).line;
        const auto gap = std::ranges::find_if(line, [](const auto& point) { return std::isnan(point.y); });
        QVERIFY(gap != line.end());
        QVERIFY(gap->x >= 40'000 && gap->x < 60'000);
        QCOMPARE(line.back().y, 1.0);
    }

    /// A monotonic line passes through its own points. Thinning adds no others.
    void aSlopeStaysAsItIs()
    {
        for (const double slope : {1.0, -1.0}) {
            Curve curve;
            for (std::size_t i = 0; i < kMany; ++i) {
                curve.append(static_cast<double>(i), slope * static_cast<double>(i));
            }
            const auto line = curve.sample(evenEdges(0, kMany, 100)).line;
            QCOMPARE(line.size(), std::size_t{200});
            QVERIFY(std::ranges::all_of(line, [slope](const auto& point) { return point.y == slope * point.x; }));
        }
    }

    void goingBackReplacesAndForgets()
    {
        Curve curve;
        for (int i = 0; i < 1000; ++i) {
            curve.append(i, i == 900 ? 99 : 1);
        }
        curve.append(500, 2);
        QCOMPARE(curve.size(), std::size_t{501});
        QCOMPARE(curve.range(0, curve.size()).high, 2.0);
        for (int i = 501; i < 1000; ++i) {
            curve.append(i, 3);
        }
        QCOMPARE(curve.range(0, 500).high, 1.0);
        QCOMPARE(curve.range(0, curve.size()).high, 3.0);
        curve.clear();
        curve.append(1, 7);
        QCOMPARE(curve.range(0, 1).low, 7.0);
    }

    void lineLeavesThePictureOnBothSides()
    {
        const Curve curve = wave(100);
        const auto line = curve.sample(evenEdges(40.5, 42.5, 100)).line;
        QCOMPARE(line.size(), std::size_t{4});
        QCOMPARE(line.front().x, 40.0);
        QCOMPARE(line.back().x, 43.0);
    }
};

RESIDUA_TEST(TestCurve)
#include "tst_curve.moc"
