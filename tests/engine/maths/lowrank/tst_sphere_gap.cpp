// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/maths/lowrank/sphere_gap.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <numbers>

using namespace residua::engine;

namespace {

constexpr LowRankMethod kMethods[] = {LowRankMethod::Spectral, LowRankMethod::ReluSvd, LowRankMethod::Exact};

} // namespace

class TestSphereGap : public QObject {
    Q_OBJECT

private slots:
    void figureOneHasThePapersSizes()
    {
        const SphereCase of = figureOneCase(100, 0.25, 3);
        QCOMPARE(of.inputs, 20);
        QCOMPARE(of.outputs, 1000);
        QCOMPARE(of.rank, 5);
        QCOMPARE(figureOneCase(25, 0.1, 3).rank, 1);
    }

    /// Figure 1: the bound grows with n and with a falling rank scale.
    void boundGrowsWithSizeAndFallingRank()
    {
        std::vector<SphereCase> cases;
        for (const double scale : {0.25, 0.5}) {
            for (const std::int64_t n : {100, 200}) {
                cases.push_back(figureOneCase(n, scale, 1));
            }
        }
        const auto points = sphereGap(cases, {}, 2);
        QVERIFY(points);
        const std::vector<SpherePoint>& p = *points;
        QVERIFY(p[1].bound > p[0].bound && p[3].bound > p[2].bound);
        QVERIFY(p[0].bound > p[2].bound && p[1].bound > p[3].bound);
    }

    /// Theorem 3.5 and corollary 3.7 hold of what the solvers reach.
    void solversReachBeyondTheBounds()
    {
        std::vector<SphereCase> cases;
        for (const double scale : {0.1, 0.25, 0.5}) {
            cases.push_back(figureOneCase(60, scale, 1));
        }
        const auto points = sphereGap(cases, kMethods, 2);
        QVERIFY(points);
        for (const SpherePoint& point : *points) {
            QVERIFY(point.bound > 0 && point.bound >= point.roughBound);
            QVERIFY(point.errors[0] - point.errors[1] >= point.bound - 1e-12);
            QVERIFY(point.errors[0] - point.errors[2] >= point.bound - 1e-12);
            QVERIFY(point.errors[1] >= point.errors[2] - 1e-12);
        }
    }

    /// Figure 4: with many rows the mean correlation is near √(r/d), and all of it at full rank.
    void correlationsComeToTheRootOfTheRankScale()
    {
        const std::vector<SphereCase> cases{{20, 640, 5, 2}, {20, 640, 10, 2}, {20, 640, 20, 2}};
        const auto points = sphereGap(cases, std::vector{LowRankMethod::Spectral}, 1);
        QVERIFY(points);
        for (const SpherePoint& point : *points) {
            const double root = std::sqrt(double(point.of.rank) / 20);
            QVERIFY2(std::abs(point.meanCorrelation - root) < 0.05, qPrintable(QString::number(point.meanCorrelation)));
            QVERIFY(point.correlationDeviation < 0.15);
        }
        QVERIFY(points->back().meanCorrelation > 1 - 1e-9);
        QVERIFY(points->back().bound < 1e-9);
        QCOMPARE(points->back().roughBound, 0.0);
        const double share = std::numbers::inv_pi - 0.25;
        QVERIFY(std::abs(points->front().roughBound - 16 * share * share) < 1e-12);
    }

    /// Figure 3, and theorem 3.5 as an equality for one column.
    void kernelCurveIsTheTheoremForOneColumn()
    {
        const std::vector<KernelPoint> curve = kernelCurve(10);
        QCOMPARE(curve.size(), std::size_t(11));
        for (const KernelPoint& point : curve) {
            QVERIFY(point.rootOfH >= point.rho - 1e-15);
            QVERIFY(std::abs(point.spectral - point.best - point.bound) < 1e-12);
        }
        QCOMPARE(curve.front().rootOfH, std::numbers::inv_pi);
        QCOMPARE(curve.back().rootOfH, 1.0);
    }

    void sizesAreChecked()
    {
        const std::vector<SphereCase> empty{{0, 4, 1, 0}};
        QVERIFY(!sphereGap(empty, kMethods, 1));
        const std::vector<SphereCase> high{{3, 9, 4, 0}};
        const auto refused = sphereGap(high, kMethods, 1);
        QVERIFY(!refused && refused.error().message.find("rank 4 of a weight of 9 x 3") != std::string::npos);
    }
};

RESIDUA_TEST(TestSphereGap)
#include "tst_sphere_gap.moc"
