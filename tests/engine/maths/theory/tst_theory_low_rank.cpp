// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/maths/theory/low_rank_model.h"
#include "tests/support/test_program.h"

#include <Eigen/QR>
#include <QTest>

#include <cmath>
#include <numbers>
#include <random>

using namespace residua::engine::theory;
using residua::engine::DenseMatrix;
using std::numbers::pi;

namespace {

bool nearly(double a, double b, double tolerance = 1e-11)
{
    return std::abs(a - b) <= tolerance * (1 + std::abs(b));
}

/// I + m.
DenseMatrix plusOne(const DenseMatrix& m)
{
    return m + DenseMatrix::Identity(m.rows(), m.rows());
}

DenseMatrix randomMatrix(std::int64_t size, unsigned seed)
{
    std::mt19937_64 bits(seed);
    std::normal_distribution<double> gaussian;
    return DenseMatrix::NullaryExpr(size, size, [&] { return gaussian(bits); });
}

/// Symmetric, with A − I of eigenvalues in [low, high], both taken, in random directions.
DenseMatrix target(std::int64_t d, double low, double high, unsigned seed)
{
    const DenseMatrix directions = randomMatrix(d, seed).householderQr().householderQ();
    std::mt19937_64 bits(seed);
    std::uniform_real_distribution<double> inside(low, high);
    const Eigen::VectorXd eigenvalues = Eigen::VectorXd::NullaryExpr(d, [&](Eigen::Index j) {
        return j == 0 ? low : j == 1 ? high : inside(bits);
    });
    const DenseMatrix spread = directions * eigenvalues.asDiagonal() * directions.transpose();
    return plusOne((spread + spread.transpose()) / 2);
}

DenseMatrix diagonalTarget(const std::vector<double>& values)
{
    return plusOne(Eigen::Map<const Eigen::VectorXd>(values.data(), std::int64_t(values.size())).asDiagonal());
}

} // namespace

class TestTheoryLowRank : public QObject {
    Q_OBJECT

private slots:
    void riskByHand()
    {
        // A − I = diag(4, 2, 1), r* = 1: Δ = diag(0, 2, 1), ‖Δ‖² = 5, trace 3: v1 5 − 9/2; the diagonal takes all of
        // v2.
        const auto diagonal = excessRisk(diagonalTarget({4, 2, 1}), 1);
        QVERIFY(nearly(diagonal->resNet, 5));
        QVERIFY(nearly(diagonal->grnV1, 0.5));
        QVERIFY(nearly(diagonal->grnV2, 0));
        QVERIFY(nearly(diagonal->grnV3, 0));

        // A − I = [[5, 1], [1, 5]] ⊕ 1: 6 on (1, 1, 0)/√2, 4 on (1, −1, 0)/√2. r* = 1: Δ = [[2, −2], [−2, 2]] ⊕ 1, ‖Δ‖²
        // = 17, trace 5: v1 17 − 25/2; Σ Δ_ii² = 9 < 12.5: v2 the same. T1: on the rest 4 − 2.5 and 1 − 2.5, ν
        // = 1.5: 12.5 + 2.25/(5π); T2: ν̃ = 2: 9 + 4/(5π), less.
        const DenseMatrix mixed = plusOne(DenseMatrix{{5, 1, 0}, {1, 5, 0}, {0, 0, 1}});
        const auto proved = excessRisk(mixed, 1);
        QVERIFY(nearly(proved->resNet, 17));
        QVERIFY(nearly(proved->grnV1, 4.5));
        QVERIFY(nearly(proved->grnV2, 4.5));
        QVERIFY(nearly(proved->grnV3, 4.5 - 2.25 / (5 * pi)));
        QVERIFY(nearly(excessRisk(mixed, 1, Statement::Printed)->grnV3, 4.5 - 2.25 / (4 * pi)));
    }

    void riskOfAnUnsymmetricTargetByHand()
    {
        // A − I: the shift with 3, 2, 1. r* = 1 leaves 2 at (2, 3) and 1 at (3, 1): no diagonal, no trace; ν of [0 0 ½;
        // 0 0 1; ½ 1 0] is √(1 + ¼).
        const auto risk = excessRisk(plusOne(DenseMatrix{{0, 3, 0}, {0, 0, 2}, {1, 0, 0}}), 1);
        QVERIFY(nearly(risk->resNet, 5));
        QVERIFY(nearly(risk->grnV1, 5));
        QVERIFY(nearly(risk->grnV2, 5));
        QVERIFY(nearly(risk->grnV3, 5 - 1.25 / (5 * pi)));
    }

    void riskInItsLimits()
    {
        // A = I is what a ResNet without layers computes; A = 3I is a scale, which v1 has and a ResNet lacks.
        const auto nothing = excessRisk(DenseMatrix::Identity(4, 4), 0);
        QCOMPARE(nothing->resNet, 0.0);
        QCOMPARE(nothing->grnV3, 0.0);
        const auto scale = excessRisk(diagonalTarget({2, 2, 2, 2}), 1);
        QVERIFY(nearly(scale->resNet, 12));
        QVERIFY(nearly(scale->grnV1, 0));
        // rank(A − I) = 2.
        QVERIFY(nearly(excessRisk(diagonalTarget({3, 0, 0, -2}), 2)->resNet, 0));
        // Without shortcuts: σ(A) = 4, 2, 1 by Eckart and Young.
        QVERIFY(nearly(*excessRiskWithoutShortcuts(diagonalTarget({3, 1, 0}), 1), 5));
        QVERIFY(nearly(*excessRiskWithoutShortcuts(diagonalTarget({3, 1, 0}), 3), 0));
    }

    void riskFallsWithRankAndWithFreedom()
    {
        const DenseMatrix a = randomMatrix(12, 7);
        double before = INFINITY;
        for (std::int64_t rank = 0; rank < 12; ++rank) {
            const auto risk = excessRisk(a, rank);
            QVERIFY(risk->grnV3 <= risk->grnV2 && risk->grnV2 <= risk->grnV1 && risk->grnV1 <= risk->resNet);
            QVERIFY(risk->resNet < before);
            before = risk->resNet;
        }
    }

    /// v1's class is αI + M: its least risk is the smallest tail of A − αI over α, which the bound must not undercut.
    void grnV1IsNotBelowTheBestScale()
    {
        const DenseMatrix a = target(8, 1, 3, 11);
        for (std::int64_t rank = 0; rank < 8; ++rank) {
            double best = INFINITY;
            for (double alpha = -1; alpha <= 5; alpha += 0.01) {
                DenseMatrix rest = a;
                rest -= alpha * DenseMatrix::Identity(8, 8);
                best = std::min(best, *excessRiskWithoutShortcuts(rest, rank));
            }
            // The grid misses the best α by 0.005 at most, which costs (d − r*)·0.005² at most.
            QVERIFY(excessRisk(a, rank)->grnV1 >= best - 8 * 0.005 * 0.005);
        }
    }

    /// The gate's share, by quadrature: E‖Bx − σ(w^T x)x‖² for d = 2, x = ρ(cos θ, sin θ), with E ρ² = 2, E ρ³ =
    /// 3√(π/2), E ρ⁴ = 8. For B of trace 0 and w along the leading eigenvector, the least over ‖w‖ is ‖B‖² − ν²/(π(d +
    /// 2)).
    void gateShareByQuadrature()
    {
        // A − I = [[1, −2], [−2, 1]], r* = 0: Δ = A − I, Δ − diag(Δ) = B, ν̃ = 2 on (1, −1)/√2.
        constexpr int kAngles = 4000;
        double quadratic = 0;
        double linear = 0;
        for (int k = 0; k < kAngles; ++k) {
            const double theta = 2 * pi * k / kAngles;
            const double x = std::cos(theta);
            const double y = std::sin(theta);
            const double gate = std::max(0.0, (x - y) / std::sqrt(2.0));
            quadratic += gate * gate * 8 / kAngles;
            linear += 2 * gate * (-4 * x * y) * 3 * std::sqrt(pi / 2) / kAngles;
        }
        const double gain = linear * linear / (4 * quadratic); // of s²·quadratic − s·linear
        const auto risk = excessRisk(plusOne(DenseMatrix{{1, -2}, {-2, 1}}), 0);
        // ‖Δ‖² = 10, diagonal 2, scale 2²/2 = 2; ν of both is 2: 10 − 2 − 4/(4π).
        QVERIFY(nearly(risk->grnV3, 8 - gain, 1e-6));
        QVERIFY(nearly(risk->grnV3, 8 - 1 / pi));
        QVERIFY(excessRisk(plusOne(DenseMatrix{{1, -2}, {-2, 1}}), 0, Statement::Printed)->grnV3 < 8 - gain - 0.1);
    }

    void riskRefuses()
    {
        QVERIFY(!excessRisk(DenseMatrix{{1, 2, 3}, {4, 5, 6}}, 1).ok());
        QVERIFY(!excessRisk({}, 0).ok());
        QVERIFY(!excessRisk(DenseMatrix::Constant(1, 1, NAN), 0).ok());
        QVERIFY(!excessRisk(DenseMatrix::Identity(3, 3), -1).ok());
        QCOMPARE(excessRisk(DenseMatrix::Identity(3, 3), 3).error().place, "collective rank r*");
        QVERIFY(!excessRiskWithoutShortcuts(DenseMatrix::Identity(3, 3), 4).ok());
    }

    void spectrum()
    {
        const auto known = targetSpectrum(plusOne(DenseMatrix{{3, 2}, {2, 3}}));
        QVERIFY(nearly(known->lambdaMin, 1) && nearly(known->lambdaMax, 5) && nearly(known->kappa(), 0.2));
        QVERIFY(!targetSpectrum(DenseMatrix{{3, 1}, {0, 3}}).ok());
        QVERIFY(!targetSpectrum(diagonalTarget({1, 0})).ok());
        QVERIFY(!targetSpectrum(diagonalTarget({1, -2})).ok());
    }

    void thresholdsByHand()
    {
        // κ = ½, d = 12: √(¼ + 12) = 3.5: v2 (1 + ½·3)² − 1 = 5.25. v1: ½(√1.25 − ½) = 0.30901699…: the golden section.
        const auto twelve = rankThresholds(0.5, 12);
        QVERIFY(nearly(twelve->v2, 5.25));
        const double half = 1 + (std::sqrt(5.0) - 1) / 4;
        QVERIFY(nearly(twelve->v1, 12 * (half * half - 1)));
        // v3: ξ₀ = 1/(π·14·11), η² = ((½ − ½ξ₀)² + ξ₀)/(1 + ξ₀).
        const double xi = 1 / (pi * 154);
        const double eta = std::sqrt((std::pow(0.5 - 0.5 * xi, 2) + xi) / (1 + xi));
        QVERIFY(nearly(twelve->v3, std::pow(1 + eta * (std::sqrt(eta * eta + 12) - eta), 2) - 1.6));
        const double printedXi = 1 / (pi * 143);
        const double printedEta =
            std::sqrt((std::pow(0.5 * (1 + printedXi) - printedXi, 2) + printedXi) / (1 + printedXi));
        QVERIFY(nearly(rankThresholds(0.5, 12, Statement::Printed)->v3,
                       std::pow(1 + printedEta * (std::sqrt(printedEta * printedEta + 12) - printedEta), 2) - 1.6));
    }

    void thresholdsInTheirLimits()
    {
        // κ = 1 (A − I a scale): a GRN wins at every r* up to d; 1.6 is v3's own loss. κ = 0: never, for v1 and v2.
        const auto one = rankThresholds(1, 50);
        QVERIFY(nearly(one->v1, 50) && nearly(one->v2, 50) && nearly(one->v3, 49.4));
        const auto zero = rankThresholds(0, 50);
        QVERIFY(nearly(zero->v1, 0) && nearly(zero->v2, 0));
        // Below κ = ξ₀/(1 + ξ₀), η stays: the vertex, η² = ξ₀/(1 + ξ₀).
        const double xi = 1 / (pi * 52 * 49);
        QVERIFY(nearly(zero->v3, rankThresholds(0.9 * xi, 50)->v3));
        QVERIFY(rankThresholds(2 * xi, 50)->v3 > zero->v3);
        // "Increasing in κ" and in d (§4.3). For a few dimensions v3's ξ₀ falls faster than d grows; not from here on.
        for (double kappa = 0.05; kappa < 0.95; kappa += 0.05) {
            for (const std::int64_t d : {20, 200}) {
                const auto here = rankThresholds(kappa, d);
                const auto more = rankThresholds(kappa + 0.05, d);
                const auto wider = rankThresholds(kappa, 2 * d);
                QVERIFY(here->v1 < more->v1 && here->v2 < more->v2 && here->v3 < more->v3);
                QVERIFY(here->v1 < wider->v1 && here->v2 < wider->v2 && here->v3 < wider->v3);
            }
        }
        QVERIFY(!rankThresholds(1.1, 50).ok());
        QVERIFY(!rankThresholds(NAN, 50).ok());
        QVERIFY(!rankThresholds(0.5, 1).ok());
    }

    void gainsByHand()
    {
        // λ 5 and 10, d = 100. r* = 44: √144 − √100 = 2: 56·25 − 4·75. r* = 8: √9 − 1 = 2: 92·25 − 4·75.
        // r* = 2.4: √4 − 1 = 1: 97.6·25 + (50 − 25)/(102π) − 75.
        const TargetSpectrum figure5{5, 10};
        QVERIFY(nearly(gainBounds(figure5, 100, 44)->v1, 1100));
        QVERIFY(nearly(gainBounds(figure5, 100, 8)->v2, 2000));
        QVERIFY(nearly(gainBounds(figure5, 100, 2.4)->v3, 2365 + 25 / (102 * pi)));
        QVERIFY(nearly(gainBounds(figure5, 100, 2.4, Statement::Printed)->v3, 2365 + 25 / (101 * pi)));
        QVERIFY(!gainBounds({10, 5}, 100, 8).ok());
        QVERIFY(!gainBounds({0, 5}, 100, 8).ok());
        QVERIFY(!gainBounds({5, INFINITY}, 100, 8).ok());
        QVERIFY(!gainBounds(figure5, 100, 100).ok());
        QVERIFY(!gainBounds(figure5, 100, 0.5).ok());
    }

    /// The gain's bound is 0 exactly where (4.1) and (4.2) put the threshold.
    void gainsVanishAtTheThresholds()
    {
        for (const double kappa : {0.3, 0.5, 0.8}) {
            const auto threshold = rankThresholds(kappa, 100);
            const TargetSpectrum spectrum{10 * kappa, 10};
            QVERIFY(std::abs(gainBounds(spectrum, 100, threshold->v1)->v1) < 1e-9);
            QVERIFY(std::abs(gainBounds(spectrum, 100, threshold->v2)->v2) < 1e-9);
        }
    }

    void gainsFollowFigure5()
    {
        const TargetSpectrum figure5{5, 10};
        for (double rank = 1; rank < 90; rank += 1) {
            const auto here = gainBounds(figure5, 100, rank);
            const auto more = gainBounds(figure5, 100, rank + 1);
            const auto wider = gainBounds(figure5, 200, rank);
            QVERIFY(here->v1 > more->v1 && here->v2 > more->v2 && here->v3 > more->v3);
            QVERIFY(here->v1 < wider->v1 && here->v2 < wider->v2 && here->v3 < wider->v3);
            QVERIFY(here->v1 > here->v2 && here->v2 > here->v3);
        }
    }

    /// The chain of the proof on a matrix: with the rank that Lemma C.1 leaves, Theorem 4.2's bounds save at least G.
    void gainsAreBelowTheRisksSaved()
    {
        const std::int64_t d = 30;
        const DenseMatrix a = target(d, 4, 7, 5);
        const auto spectrum = targetSpectrum(a);
        QVERIFY(nearly(spectrum->lambdaMin, 4) && nearly(spectrum->lambdaMax, 7));
        for (std::int64_t rank = 2; rank < d; ++rank) {
            const double r = double(rank);
            const double roots[] = {std::sqrt(30 + r) - std::sqrt(30.0), std::sqrt(1 + r) - 1, std::sqrt(1.6 + r) - 1};
            std::int64_t left[3];
            for (int k = 0; k < 3; ++k) {
                left[k] = std::max<std::int64_t>(1, std::int64_t(std::ceil(r - roots[k] * roots[k])));
            }
            const double plain = excessRisk(a, rank)->resNet;
            const auto gains = gainBounds(*spectrum, d, r);
            QVERIFY(plain - excessRisk(a, left[0])->grnV1 >= gains->v1 - 1e-9);
            QVERIFY(plain - excessRisk(a, left[1])->grnV2 >= gains->v2 - 1e-9);
            // The proof gives v3 at least half a rank less than the ResNet (one gate), as Lemma C.1 does from r* = 2.
            if (left[2] < rank) {
                QVERIFY(plain - excessRisk(a, left[2])->grnV3 >= gains->v3 - 1e-9);
            }
        }
    }

    void equivalentRanksByHand()
    {
        // κ = ½, d = 100, r* = 60: (60 − 25)/0.75. κ = 0.8, r* = 50: (50 − 64)/0.36 < 0: a diagonal or a scale is
        // enough.
        const auto half = equivalentRanks(0.5, 100, 60);
        QVERIFY(nearly(half->v1, 35 / 0.75) && nearly(half->v2, 35 / 0.75));
        QVERIFY(half->v3 < half->v1);
        QVERIFY(nearly(equivalentRanks(0.8, 100, 50)->v1, -14 / 0.36));
        QVERIFY(nearly(equivalentRanks(0, 100, 60)->v1, 60));
        QVERIFY(std::isinf(equivalentRanks(1, 100, 60)->v1) && equivalentRanks(1, 100, 60)->v1 < 0);
        QVERIFY(std::isinf(equivalentRanks(1, 100, 60)->v3));
        QVERIFY(!equivalentRanks(0.5, 100, 100).ok());
        QVERIFY(!equivalentRanks(-0.5, 100, 60).ok());
    }

    /// Proposition 4.4 on matrices: at the reduced rank, rounded up, the risk bound is not above the ResNet's risk.
    void equivalentRanksKeepTheRisk()
    {
        const std::int64_t d = 24;
        for (const double low : {0.5, 2.0, 3.5}) {
            const DenseMatrix a = target(d, low, 4, 9);
            const double kappa = targetSpectrum(a)->kappa();
            for (std::int64_t rank = 2; rank < d; ++rank) {
                const auto reduced = equivalentRanks(kappa, d, double(rank));
                const double plain = excessRisk(a, rank)->resNet;
                const auto linear = std::int64_t(std::max(0.0, std::ceil(reduced->v1)));
                const auto gated = std::int64_t(std::max(1.0, std::ceil(reduced->v3)));
                QVERIFY(linear <= rank && gated <= rank);
                QVERIFY(excessRisk(a, linear)->grnV1 <= plain + 1e-9);
                QVERIFY(excessRisk(a, gated)->grnV3 <= plain + 1e-9);
            }
        }
    }

    void modelSizes()
    {
        // d = 10, T = 4 layers of rank 3: 2·10·12 = 240; 6 pairs; 4 gates.
        QCOMPARE(*modelSize(DepthModel::ResNet, 10, 4, 12), 240);
        QCOMPARE(*modelSize(DepthModel::GrnV1, 10, 4, 12), 246);
        QCOMPARE(*modelSize(DepthModel::GrnV2, 10, 4, 12), 300);
        QCOMPARE(*modelSize(DepthModel::GrnV3, 10, 4, 12), 340);
        QVERIFY(!modelSize(DepthModel::ResNet, 10, 4, 3).ok());
        QVERIFY(!modelSize(DepthModel::ResNet, 0, 4, 12).ok());
        QVERIFY(!modelSize(DepthModel::GrnV2, 1'000'000'000, 1'000'000, 1'000'000).ok());
    }
};

RESIDUA_TEST(TestTheoryLowRank)
#include "tst_theory_low_rank.moc"
