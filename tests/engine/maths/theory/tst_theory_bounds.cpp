// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/maths/theory/case_bounds.h"
#include "engine/maths/theory/shortcut_bounds.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <numbers>

using namespace residua::engine::theory;
using residua::engine::DenseMatrix;

namespace {

bool near(double a, double b, double tolerance = 1e-12)
{
    return std::abs(a - b) <= tolerance * (std::abs(a) + std::abs(b));
}

DenseMatrix diagonal(const std::vector<double>& values)
{
    return Eigen::Map<const Eigen::VectorXd>(values.data(), std::int64_t(values.size())).asDiagonal();
}

/// Three layers, X = I, target diag(1, 0); coordinate 1 starts at 0.8·0.5·0.5.
LinearCase slowExample()
{
    return {DenseMatrix::Identity(2, 2),
            diagonal({1, 0}),
            {diagonal({0.1, -0.2}), diagonal({0.3, 0.5}), diagonal({0.4, 0.5})}};
}

} // namespace

class TestTheoryBounds : public QObject {
    Q_OBJECT

private slots:
    void slowByHand()
    {
        // K = 3: a = ½/(1 + 3·½·2) = 1/8, ½a² = 1/128.
        QVERIFY(near(*slowLossBound(3, 0.5, 2), 1.0 / 128));
        QVERIFY(near(*slowLossBound(3, 0.5, 0), 1.0 / 8));
        // K = 4: m = 4/3; a = (1 + 4·(4/3)·t)^(−3/4) with 16/3·t = 15: 16^(−3/4) = 1/8.
        QVERIFY(near(*slowLossBound(4, 1, 45.0 / 16), 1.0 / 128));
        // K = 3, η = 1/6, a(0) = 1: q = ½, c = (2 − 1)/½ = 2: step 7 stands at t = 7/3: a = 1/8.
        QVERIFY(near(*slowLossBoundAtStep(3, 1, 7, 1.0 / 6), 1.0 / 128));
    }

    void slowInItsLimits()
    {
        // t^−(K−1)/(K−2): twice the time far out.
        for (const std::int64_t layers : {3, 4, 8, 100}) {
            const double ratio = *slowLossBound(layers, 0.3, 1e12) / *slowLossBound(layers, 0.3, 2e12);
            QVERIFY(near(ratio, std::pow(2.0, double(layers - 1) / double(layers - 2)), 1e-6));
        }
        // Small steps are the flow; steps of any size promise less.
        QVERIFY(near(*slowLossBoundAtStep(5, 0.3, 1'000'000, 1e-6), *slowLossBound(5, 0.3, 1), 1e-5));
        QVERIFY(*slowLossBoundAtStep(5, 0.3, 10, 0.1) < *slowLossBound(5, 0.3, 1));
        QCOMPARE(*slowLossBoundAtStep(5, 0.3, 0, 0.1), *slowLossBound(5, 0.3, 0));
    }

    void slowRefuses()
    {
        QCOMPARE(slowLossBound(2, 0.5, 1).error().text(), "[layers K] got 2, expected 3 or more");
        QVERIFY(!slowLossBound(3, 0, 1).ok());
        QVERIFY(!slowLossBound(3, 1.1, 1).ok());
        QVERIFY(!slowLossBound(3, NAN, 1).ok());
        QVERIFY(!slowLossBound(3, 0.5, -1).ok());
        QVERIFY(!slowLossBoundAtStep(3, 0.5, -1, 0.1).ok());
        QVERIFY(!slowLossBoundAtStep(3, 0.5, 1, 0).ok());
        QCOMPARE(slowLossBoundAtStep(3, 0.5, 1, 0.7).error().place, "learning rate η");
    }

    void fastByHand()
    {
        QVERIFY(near(*fastLossBound(3, 0.5, 2), 3 * std::exp(-1.0)));
        QVERIFY(near(*fastLossBound(3, 0, 2), 3 * std::exp(-4.0)));
        QCOMPARE(*fastLossBound(3, 0.5, 0), 3.0);
        QVERIFY(!fastLossBound(3, 1, 2).ok());
        QVERIFY(!fastLossBound(3, -0.1, 2).ok());
        QVERIFY(!fastLossBound(-1, 0.5, 2).ok());
        QVERIFY(!fastLossBound(3, 0.5, NAN).ok());
    }

    void largestStartByHand()
    {
        // K = 3, λ = ½: √(λ/2) = ½. L(0) = 2: √(λL) = 1 over ¼, √(2π)·2 over 2/8.
        QVERIFY(near(*largestStart(3, 0, 0.5), 0.5));
        QVERIFY(near(*largestStart(3, 2, 0.5), 0.5 * std::exp(-4 - 8 * std::sqrt(2 * std::numbers::pi))));
        // K = 4, λ = ½: β = (¼)^(2/3), √β = (¼)^(1/3); L(0) = ½: √(2βL) = √β over ¼, √(2π)/2 over ¼.
        const double rootBeta = std::cbrt(0.25);
        QVERIFY(
            near(*largestStart(4, 0.5, 0.5), rootBeta * std::exp(-4 * rootBeta - 2 * std::sqrt(2 * std::numbers::pi))));
        QVERIFY(!largestStart(2, 1, 0.5).ok());
        QVERIFY(!largestStart(3, 1, 0).ok());
        QVERIFY(!largestStart(3, 1, 1).ok());
        QVERIFY(!largestStart(3, -1, 0.5).ok());
    }

    void smallestLambdaInvertsLargestStart()
    {
        for (const std::int64_t layers : {3, 4, 10}) {
            for (const double loss : {0.0, 0.1, 1.0}) {
                // Below the peak δ grows with λ, so 0.001 there is its own smallest λ.
                const double norm = *largestStart(layers, loss, 1e-3);
                QVERIFY(near(*smallestLambda(layers, loss, norm), 1e-3, 1e-9));
                QVERIFY(*smallestLambda(layers, loss, norm / 2) < 1e-3);
            }
        }
        // K = 10, L(0) = 20: the peak lies below 0.001 already, and what 0.001 admits a smaller λ does.
        QVERIFY(*smallestLambda(10, 20, *largestStart(10, 20, 1e-3)) < 1e-3);
        QVERIFY(*smallestLambda(3, 1, 0) < 1e-50);
        // L(0) = 0, K = 3: λ = 2·norm².
        QVERIFY(near(*smallestLambda(3, 0, 0.5), 0.5));
        QVERIFY(!smallestLambda(3, 0, 0.8).ok());
        // No λ at all: the message names what would be admitted, and that is admitted.
        const auto none = smallestLambda(3, 1000, 0.1);
        QVERIFY(!none.ok());
        QVERIFY(none.error().message.find("no λ admits more than") != std::string::npos);
        QVERIFY(!smallestLambda(2, 1, 0.1).ok());
        QVERIFY(!smallestLambda(3, 1, -0.1).ok());
    }

    /// No λ of a grid admits more than what smallestLambda calls too large.
    void noLambdaAdmitsMoreThanThePeak()
    {
        for (const double loss : {0.2, 1.0, 5.0}) {
            double largest = 0;
            for (double lambda = 0.0005; lambda < 1; lambda += 0.0005) {
                largest = std::max(largest, *largestStart(3, loss, lambda));
            }
            QVERIFY(smallestLambda(3, loss, largest).ok());
            QVERIFY(!smallestLambda(3, loss, largest * 1.001).ok());
        }
    }

    void slowPremises()
    {
        const auto bound = slowBound(slowExample());
        QVERIFY(bound->holds());
        QCOMPARE(bound->starts.size(), std::size_t(1));
        QVERIFY(near(bound->starts.front(), 0.2));
        QCOMPARE(bound->residual, 0.0);
        QVERIFY(near(bound->atTime(5), *slowLossBound(3, bound->starts.front(), 5)));
        QVERIFY(near(bound->atStep(50, 0.1), *slowLossBoundAtStep(3, bound->starts.front(), 50, 0.1)));
        QCOMPARE(bound->atStep(50, 100), 0.0);
    }

    void slowPremisesFail_data()
    {
        QTest::addColumn<int>("change");
        QTest::addColumn<int>("premise");
        QTest::newRow("two layers") << 0 << 0;
        QTest::newRow("X not whitened") << 1 << 1;
        QTest::newRow("target of full rank") << 2 << 2;
        QTest::newRow("coordinate not alone in W_2") << 3 << 2;
        QTest::newRow("coordinate not alone in Y X^T") << 4 << 2;
        QTest::newRow("W_2 differs from W_3") << 5 << 2;
        QTest::newRow("W_1 above 0") << 6 << 2;
        QTest::newRow("W_2 above 1 + W_1") << 7 << 2;
        QTest::newRow("W_2 = 0") << 8 << 2;
    }

    void slowPremisesFail()
    {
        QFETCH(int, change);
        QFETCH(int, premise);
        LinearCase start = slowExample();
        switch (change) {
        case 0:
            start.weights.pop_back();
            break;
        case 1:
            start.x(0, 1) = 0.5;
            break;
        case 2:
            start.y(1, 1) = 0.1;
            break;
        case 3:
            start.weights[1](0, 1) = 1e-3;
            break;
        case 4:
            start.y(1, 0) = 0.1;
            break;
        case 5:
            start.weights[1](1, 1) = 0.4;
            break;
        case 6:
            start.weights[0](1, 1) = 0.1;
            break;
        case 7:
            start.weights[0](1, 1) = -0.6;
            break;
        case 8:
            start.weights[1](1, 1) = start.weights[2](1, 1) = 0;
            break;
        }
        const auto bound = slowBound(start);
        QVERIFY(bound.ok());
        QVERIFY(!bound->holds());
        QVERIFY(!bound->premises[std::size_t(premise)].met);
        QVERIFY(!bound->premises[std::size_t(premise)].got.empty());
        QCOMPARE(bound->atTime(1), 0.0);
    }

    void slowBoundsOfSeveralCoordinatesAddUp()
    {
        const LinearCase start{DenseMatrix::Identity(3, 3),
                               diagonal({0, 1, 0}),
                               {diagonal({0, 0, -0.5}), diagonal({0.5, 0.1, 0.25}), diagonal({0.5, 0.2, 0.25})}};
        const auto bound = slowBound(start);
        QCOMPARE(bound->starts, (std::vector<double>{0.25, 0.03125}));
        QVERIFY(near(bound->atTime(7), *slowLossBound(3, 0.25, 7) + *slowLossBound(3, 0.03125, 7)));
    }

    void fastPremises()
    {
        // f(0) = W_3·(W_2·W_1 + I) with W = εI: ε(1 + ε²)I; Y = ½I.
        const double e = 1e-3;
        const DenseMatrix small = diagonal({e, e});
        LinearCase start{DenseMatrix::Identity(2, 2), diagonal({0.5, 0.5}), {small, small, small}};
        const auto bound = fastBound(start);
        QVERIFY(bound->holds());
        const double loss = std::pow(e * (1 + e * e) - 0.5, 2);
        QVERIFY(near(bound->removableLoss, loss));
        QVERIFY(near(bound->lambda, *smallestLambda(3, loss, e * std::sqrt(2.0))));
        QVERIFY(near(bound->atStep(30, 0.1), *fastLossBound(loss, bound->lambda, 3)));

        start.weights[1] = diagonal({0.9, 0.9});
        const auto large = fastBound(start);
        QVERIFY(!large->holds());
        QVERIFY(!large->premises.back().met);
        QVERIFY(std::isinf(large->atTime(3)));

        start.weights.pop_back();
        QVERIFY(!fastBound(start)->premises.front().met);
        start.weights.assign(3, small);
        start.x(0, 0) = 2;
        QVERIFY(!fastBound(start)->premises[1].met);
        QVERIFY(!fastBound(start)->holds());
    }

    /// With more samples than dimensions, Y outside X's rows stays for ever: X = [1 0], Y = [½ 3] leaves ½·9.
    void residualIsAddedToBoth()
    {
        const DenseMatrix small = DenseMatrix::Constant(1, 1, 1e-3);
        LinearCase fast;
        fast.x = DenseMatrix{{1, 0}};
        fast.y = DenseMatrix{{0.5, 3}};
        fast.weights.assign(3, small);
        const auto upper = fastBound(fast);
        QVERIFY(near(upper->residual, 4.5));
        QVERIFY(near(upper->atTime(1), 4.5 + *fastLossBound(upper->removableLoss, upper->lambda, 1)));
        LinearCase slow;
        slow.x = fast.x;
        slow.y = DenseMatrix{{0, 3}};
        slow.weights.assign(3, DenseMatrix::Constant(1, 1, 0.5));
        slow.weights.front()(0, 0) = 0;
        const auto lower = slowBound(slow);
        QVERIFY(lower->holds());
        QVERIFY(near(lower->atTime(1), 4.5 + *slowLossBound(3, 0.25, 1)));
    }

    void caseRefuses()
    {
        LinearCase start = slowExample();
        start.y = DenseMatrix::Zero(2, 3);
        QCOMPARE(slowBound(start).error().text(), "[Y] got [2, 3], expected [2, 2]");
        start = slowExample();
        start.weights[1] = DenseMatrix::Zero(3, 2);
        QCOMPARE(fastBound(start).error().text(), "[W_2] got [3, 2], expected [2, 2]");
        start = slowExample();
        start.weights[1](0, 0) = NAN;
        QVERIFY(!slowBound(start).ok());
        QVERIFY(!fastBound({}).ok());
        QVERIFY(!slowBound({DenseMatrix::Identity(2, 2), DenseMatrix::Identity(2, 2), {}})->holds());
    }
};

RESIDUA_TEST(TestTheoryBounds)
#include "tst_theory_bounds.moc"
