// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/maths/lowrank/exact_fit.h"
#include "engine/maths/lowrank/gaussian_error.h"
#include "projects/base/random.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <numbers>

using namespace residua;
using namespace residua::engine;
using namespace residua::engine::lowrank;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

VectorXd one(double value)
{
    return VectorXd::Constant(1, value);
}

/// σ as its definition says, apart from the engine's.
double plain(Nonlinearity follows, double x)
{
    switch (follows) {
    case Nonlinearity::Relu:
        return x > 0 ? x : 0;
    case Nonlinearity::Silu:
        return x / (1 + std::exp(-x));
    case Nonlinearity::Gelu:
        return x * 0.5 * (1 + std::erf(x / std::numbers::sqrt2));
    case Nonlinearity::Identity:
        break;
    }
    return x;
}

struct Estimate {
    double mean = 0;
    double error = 0; ///< one standard error
};

/// E(σ(u) − σ(v))² by samples of (u, v) with the given second moments.
Estimate sampled(Nonlinearity follows, double own, double full, double shared)
{
    constexpr int kSamples = 400'000;
    RandomStream draws(11, 1);
    double sum = 0;
    double squares = 0;
    const double part = own > 0 ? shared / std::sqrt(own) : 0;
    const double rest = std::sqrt(std::max(0.0, full - part * part));
    for (int k = 0; k < kSamples; ++k) {
        const double a = draws.gaussian();
        const double u = std::sqrt(own) * a;
        const double v = part * a + rest * draws.gaussian();
        const double difference = plain(follows, u) - plain(follows, v);
        sum += difference * difference;
        squares += difference * difference * difference * difference;
    }
    const double mean = sum / kSamples;
    return {mean, std::sqrt((squares / kSamples - mean * mean) / kSamples)};
}

MatrixXd gaussian(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed)
{
    RandomStream draws(seed, 2);
    return MatrixXd::NullaryExpr(rows, columns, [&] { return draws.gaussian(); });
}

void eachNonlinearity()
{
    QTest::addColumn<int>("follows");
    for (const Nonlinearity follows :
         {Nonlinearity::Identity, Nonlinearity::Relu, Nonlinearity::Silu, Nonlinearity::Gelu}) {
        QTest::newRow(std::string(nameOf(follows)).c_str()) << int(follows);
    }
}

} // namespace

class TestGaussianError : public QObject {
    Q_OBJECT

private slots:
    void agreesWithSamples_data() { eachNonlinearity(); }
    void agreesWithSamples()
    {
        QFETCH(int, follows);
        const auto sigma = Nonlinearity(follows);
        struct Moments {
            double own, full, shared;
        };
        for (const auto& [own, full, shared] :
             {Moments{1, 1, 0.5}, Moments{0.3, 1.2, 0.55}, Moments{4, 2, -1}, Moments{1, 1, 0}, Moments{2, 2, 1.99},
              Moments{0, 1, 0}, Moments{9, 16, 10}, Moments{1e-4, 1, 0.009}}) {
            const Estimate estimate = sampled(sigma, own, full, shared);
            const double closed = GaussianError(sigma, one(full))(one(own), one(shared)).error[0];
            QVERIFY2(std::abs(closed - estimate.mean) <= 4.5 * estimate.error + 1e-12,
                     qPrintable(QString("s %1 w %2 c %3: closed %4, sampled %5 +- %6")
                                    .arg(own)
                                    .arg(full)
                                    .arg(shared)
                                    .arg(closed)
                                    .arg(estimate.mean)
                                    .arg(estimate.error)));
        }
    }

    /// Definition 3.2 at values known by hand: √h(0) = 1/π, √h(1) = 1, √h(−1) = 0, √h(½) = (√3/2 + π/3)/π.
    void kernelByHand()
    {
        QCOMPARE(sqrtH(0), std::numbers::inv_pi);
        QCOMPARE(sqrtH(1), 1.0);
        QVERIFY(std::abs(sqrtH(-1)) < 1e-15);
        QCOMPARE(sqrtH(0.5), (std::sqrt(3.0) / 2 + std::numbers::pi / 3) / std::numbers::pi);
    }

    /// E gelu(z)² = ¼ + (1/(2π))·(π/6 + 1/√3) at w = 1.
    void fullFunctionsByHand()
    {
        const double gelu = GaussianError(Nonlinearity::Gelu, one(1)).fullFunction();
        const double byHand =
            0.25 + std::asin(0.5) / (2 * std::numbers::pi) + 1 / (2 * std::numbers::pi * std::sqrt(3.0));
        QVERIFY(std::abs(gelu - byHand) < 1e-14);
        QCOMPARE(GaussianError(Nonlinearity::Relu, one(3)).fullFunction(), 1.5);
    }

    /// A row equal to the full one has no error, at any size.
    void equalRowsHaveNoError_data() { eachNonlinearity(); }
    void equalRowsHaveNoError()
    {
        QFETCH(int, follows);
        for (const double w : {0.0, 1e-8, 0.1, 1.0, 25.0, 1e4}) {
            const auto rows = GaussianError(Nonlinearity(follows), one(w))(one(w), one(w));
            QVERIFY2(std::abs(rows.error[0]) <= 1e-12 * w, qPrintable(QString::number(rows.error[0])));
            QVERIFY(std::isfinite(rows.byOwn[0]) && std::isfinite(rows.byFull[0]));
        }
    }

    /// Diverged factors must not look like the full layer.
    void nanDoesNotBecomeANumber_data() { eachNonlinearity(); }
    void nanDoesNotBecomeANumber()
    {
        QFETCH(int, follows);
        const GaussianError error(Nonlinearity(follows), one(1));
        const double none = std::nan("");
        QVERIFY(!(error(one(none), one(none)).error[0] < 1e300));
        QVERIFY(!(error(one(HUGE_VAL), one(none)).error[0] < 1e300));
    }

    void gradientAgreesWithDifferences_data() { eachNonlinearity(); }
    void gradientAgreesWithDifferences()
    {
        QFETCH(int, follows);
        constexpr Eigen::Index kOut = 7;
        constexpr Eigen::Index kDirections = 5;
        constexpr Eigen::Index kRank = 3;
        const MatrixXd rows = gaussian(kOut, kDirections, 3);
        const ExactFit fit(rows, Nonlinearity(follows));
        const VectorXd at = gaussian((kOut + kDirections) * kRank, 1, 4);
        VectorXd gradient(at.size());
        VectorXd unused(at.size());
        (void)fit(at, gradient, kRank);
        for (Eigen::Index i = 0; i < at.size(); ++i) {
            constexpr double kStep = 1e-5;
            VectorXd low = at;
            VectorXd high = at;
            low[i] -= kStep;
            high[i] += kStep;
            const double slope = (fit(high, unused, kRank) - fit(low, unused, kRank)) / (2 * kStep);
            QVERIFY2(std::abs(slope - gradient[i]) < 1e-6 * (1 + std::abs(slope)),
                     qPrintable(QString("%1: %2, differences give %3").arg(i).arg(gradient[i]).arg(slope)));
        }
    }

    /// A zero row has a gradient, so that a search can leave it.
    void zeroRowLeadsSomewhere_data() { eachNonlinearity(); }
    void zeroRowLeadsSomewhere()
    {
        QFETCH(int, follows);
        const GaussianError error(Nonlinearity(follows), one(1));
        const auto rows = error(one(0), one(0));
        QVERIFY(rows.byFull[0] < 0); // along the full row R falls
        constexpr double kStep = 1e-3;
        QVERIFY(error(one(kStep * kStep), one(kStep)).error[0] < rows.error[0]);
    }
};

RESIDUA_TEST(TestGaussianError)
#include "tst_gaussian_error.moc"
