// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/maths/lowrank/layer.h"
#include "engine/maths/lowrank/low_rank_fit.h"
#include "engine/maths/theory/dense_matrix.h"
#include "projects/base/random.h"
#include "projects/schema/method_keys.h"
#include "tests/support/test_program.h"

#include <Eigen/SVD>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <numbers>

using namespace residua;
using namespace residua::engine;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

MatrixXd drawn(Index rows, Index columns, std::uint64_t seed)
{
    RandomStream draws(seed, 7);
    return MatrixXd::NullaryExpr(rows, columns, [&] { return draws.gaussian() / std::sqrt(double(columns)); });
}

std::vector<double> numbers(const MatrixXd& matrix)
{
    const DenseMatrix rows = matrix;
    return {rows.data(), rows.data() + rows.size()};
}

LowRankProblem problemOf(const MatrixXd& weight, Index rank, Nonlinearity follows, std::uint64_t seed = 1)
{
    LowRankProblem problem;
    problem.out = weight.rows();
    problem.in = weight.cols();
    problem.weight = numbers(weight);
    problem.rank = rank;
    problem.follows = follows;
    problem.seed = seed;
    problem.lfai = {5e-3, 64, 64, 6}; // a smaller course than the paper's: these layers are small
    return problem;
}

LowRankFit fitted(const LowRankProblem& problem, LowRankMethod method)
{
    residua::Result<LowRankFit> fit = fitLowRank(problem, method);
    if (!fit) {
        qFatal("%s", fit.error().text().c_str());
    }
    return *std::move(fit);
}

MatrixXd productOf(const LowRankProblem& problem, const LowRankFit& fit)
{
    return Eigen::Map<const DenseMatrix>(fit.left.data(), problem.out, problem.rank) *
           Eigen::Map<const DenseMatrix>(fit.right.data(), problem.rank, problem.in);
}

/// Positive, far from the identity, of full rank.
MatrixXd someCovariance(Index size)
{
    const MatrixXd root = drawn(size, size, 21) + MatrixXd::Identity(size, size) * 0.3;
    return root * root.transpose();
}

/// Theorem 3.3's objective for one choice, from the theorem alone: singular vectors, no incremental sums.
double objectiveOf(const MatrixXd& weight, const std::vector<Index>& directions, double (*kernel)(double))
{
    const Eigen::JacobiSVD<MatrixXd> svd(weight, Eigen::ComputeThinU | Eigen::ComputeThinV);
    double sum = 0;
    for (Index i = 0; i < weight.rows(); ++i) {
        double kept = 0;
        for (const Index j : directions) {
            kept += std::pow(weight.row(i).dot(svd.matrixV().col(j)), 2);
        }
        const double root = kernel(std::sqrt(kept) / weight.row(i).norm());
        sum += weight.row(i).squaredNorm() * root * root;
    }
    return sum;
}

double itself(double rho)
{
    return rho;
}

double arcCosine(double rho)
{
    const double cut = std::min(rho, 1.0);
    return (std::sqrt(1 - cut * cut) + (std::numbers::pi - std::acos(cut)) * cut) / std::numbers::pi;
}

/// Directions that differ so in what they give to single rows that the largest singular values are not the best choice.
MatrixXd unevenWeight(std::uint64_t seed)
{
    MatrixXd weight = drawn(9, 7, seed);
    weight.topRows(2) *= 6;
    return weight;
}

constexpr LowRankMethod kAll[] = {LowRankMethod::Baseline, LowRankMethod::Spectral, LowRankMethod::Lfai,
                                  LowRankMethod::LfaiWs,   LowRankMethod::ReluSvd,  LowRankMethod::Exact};
constexpr Nonlinearity kCurved[] = {Nonlinearity::Relu, Nonlinearity::Silu, Nonlinearity::Gelu};

} // namespace

class TestLowRankFit : public QObject {
    Q_OBJECT

private slots:
    /// Definition 2.1: the error is the sum of squares of the omitted singular values. Both factors hold their square
    /// roots.
    void spectralIsTheTruncatedDecomposition()
    {
        const MatrixXd weight = drawn(12, 8, 1);
        const LowRankProblem problem = problemOf(weight, 3, Nonlinearity::Relu);
        const LowRankFit fit = fitted(problem, LowRankMethod::Spectral);
        const VectorXd values = Eigen::JacobiSVD<MatrixXd>(weight).singularValues();
        QVERIFY(std::abs(fit.measures.weightError - values.tail(5).squaredNorm()) < 1e-12);
        const MatrixXd left = Eigen::Map<const DenseMatrix>(fit.left.data(), 12, 3);
        QVERIFY((left.transpose() * left - MatrixXd(values.head(3).asDiagonal())).norm() < 1e-12);
    }

    void reluSvdIsTheBestOfAllSubsets()
    {
        for (std::uint64_t seed = 1; seed <= 6; ++seed) {
            const MatrixXd weight = unevenWeight(seed);
            for (Index rank = 1; rank <= 6; ++rank) {
                double best = 0;
                for (unsigned mask = 0; mask < 1U << 7; ++mask) {
                    std::vector<Index> directions;
                    for (Index j = 0; j < 7; ++j) {
                        if (mask >> j & 1U) {
                            directions.push_back(j);
                        }
                    }
                    if (Index(directions.size()) == rank) {
                        best = std::max(best, objectiveOf(weight, directions, &arcCosine));
                    }
                }
                const LowRankFit fit = fitted(problemOf(weight, rank, Nonlinearity::Relu), LowRankMethod::ReluSvd);
                // R(Y) = ½(‖W‖² − Σ‖W_i‖²·h(ρ_i)).
                QVERIFY(std::abs(fit.measures.functionError - (weight.squaredNorm() - best) / 2) < 1e-10);
                QVERIFY(QString::fromStdString(fit.note).contains("every choice"));
            }
        }
    }

    /// Without enumeration the exchanges are at least as good as the largest singular values, and mostly optimal.
    void exchangesComeCloseToTheBest()
    {
        int reached = 0;
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            const Eigen::JacobiSVD<MatrixXd> svd(unevenWeight(seed), Eigen::ComputeThinU | Eigen::ComputeThinV);
            const MatrixXd rows = svd.matrixU() * svd.singularValues().asDiagonal();
            const auto all = lowrank::chooseDirections(rows, 3, &lowrank::sqrtH, {});
            const auto exchanged = lowrank::chooseDirections(rows, 3, &lowrank::sqrtH, {}, 0);
            QVERIFY(all && exchanged && all->enumerated && !exchanged->enumerated);
            QVERIFY(exchanged->objective <= all->objective * (1 + 1e-12));
            QVERIFY(exchanged->objective >= objectiveOf(unevenWeight(seed), {0, 1, 2}, &arcCosine) - 1e-9);
            reached += exchanged->objective >= all->objective * (1 - 1e-12) ? 1 : 0;
        }
        QVERIFY(reached >= 16);
    }

    /// Corollary 3.6: with ρ² instead of h the choice is the largest singular values, and Y is the truncated SVD.
    void squareInPlaceOfHGivesTheDecomposition()
    {
        const MatrixXd weight = drawn(9, 7, 4);
        const Eigen::JacobiSVD<MatrixXd> svd(weight, Eigen::ComputeThinU | Eigen::ComputeThinV);
        const MatrixXd rows = svd.matrixU() * svd.singularValues().asDiagonal();
        const auto choice = lowrank::chooseDirections(rows, 3, &itself, {});
        QVERIFY(choice && choice->directions == (std::vector<Index>{0, 1, 2}));
        const lowrank::Factors y = lowrank::scaledProjection(rows, choice->directions, &itself);
        MatrixXd truncated = rows;
        truncated.rightCols(4).setZero();
        QVERIFY((y.left * y.right - truncated).norm() < 1e-12);
    }

    void theoremsBoundHolds()
    {
        for (std::uint64_t seed = 1; seed <= 12; ++seed) {
            const MatrixXd weight = seed % 2 ? drawn(20, 10, seed) : unevenWeight(seed);
            for (const Index rank : {1, 3, 5}) {
                const LowRankProblem problem = problemOf(weight, rank, Nonlinearity::Relu);
                const LowRankFit spectral = fitted(problem, LowRankMethod::Spectral);
                const LowRankFit exact = fitted(problem, LowRankMethod::Exact);
                QVERIFY(spectral.measures.spectralGapBound.has_value());
                QCOMPARE(spectral.measures.spectralGapBound, exact.measures.spectralGapBound);
                const double gap = spectral.measures.functionError - exact.measures.functionError;
                QVERIFY2(gap >= *spectral.measures.spectralGapBound - 1e-9, qPrintable(QString::number(gap)));
                // As printed, from the correlations of the largest singular values.
                const Eigen::JacobiSVD<MatrixXd> svd(weight, Eigen::ComputeThinU | Eigen::ComputeThinV);
                double printed = 0;
                for (Index i = 0; i < weight.rows(); ++i) {
                    const double norm = weight.row(i).norm();
                    const double rho = (weight.row(i) * svd.matrixV().leftCols(rank)).norm() / norm;
                    printed += std::pow(norm * (arcCosine(rho) - rho), 2) / 2;
                }
                QVERIFY(std::abs(printed - *spectral.measures.spectralGapBound) < 1e-10);
            }
        }
    }

    /// Corollary 3.7, rows on the sphere: at least (m/2)·(1/π − ½·√(r/d))² where √(r/d) < 2/π.
    void sphericalBoundHolds()
    {
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
            MatrixXd weight = drawn(90, 20, seed);
            weight.rowwise().normalize();
            for (const Index rank : {2, 4, 6}) {
                const LowRankProblem problem = problemOf(weight, rank, Nonlinearity::Relu);
                const double gap = fitted(problem, LowRankMethod::Spectral).measures.functionError -
                                   fitted(problem, LowRankMethod::ReluSvd).measures.functionError;
                const double share = std::numbers::inv_pi - std::sqrt(double(rank) / 20) / 2;
                QVERIFY2(gap >= 45 * share * share, qPrintable(QString("%1 < %2").arg(gap).arg(45 * share * share)));
            }
        }
    }

    void exactIsNeverAboveTheOthers()
    {
        for (const Nonlinearity follows : kCurved) {
            for (std::uint64_t seed = 1; seed <= 3; ++seed) {
                for (const bool real : {false, true}) {
                    LowRankProblem problem = problemOf(drawn(24, 12, seed), 3, follows, seed);
                    if (real) {
                        problem.covariance = numbers(someCovariance(12));
                    }
                    const double exact = fitted(problem, LowRankMethod::Exact).measures.functionError;
                    for (const LowRankMethod method : kAll) {
                        const LowRankFit other = fitted(problem, method);
                        QVERIFY2(exact <= other.measures.functionError * (1 + 1e-9),
                                 qPrintable(QString::fromStdString(std::string(nameOf(follows)) + " " + wordOf(method) +
                                                                   ": " + other.note)));
                    }
                }
            }
        }
    }

    /// Compares the measures of given factors with samples of the layer, for inputs with a covariance.
    void measuresAgreeWithSamples()
    {
        for (const Nonlinearity follows : kCurved) {
            const MatrixXd weight = drawn(6, 5, 8);
            LowRankProblem problem = problemOf(weight, 2, follows);
            const MatrixXd covariance = someCovariance(5);
            problem.covariance = numbers(covariance);
            const LowRankFit fit = fitted(problem, LowRankMethod::Exact);
            const MatrixXd root = covariance.llt().matrixL();
            const MatrixXd product = productOf(problem, fit);
            RandomStream draws(5, 5);
            double sum = 0;
            double squares = 0;
            constexpr int kSamples = 60'000;
            for (int k = 0; k < kSamples; ++k) {
                const VectorXd x = root * VectorXd::NullaryExpr(5, [&] { return draws.gaussian(); });
                MatrixXd full = weight * x;
                MatrixXd reached = product * x;
                lowrank::applyNonlinearity(follows, full);
                lowrank::applyNonlinearity(follows, reached);
                const double error = (reached - full).squaredNorm();
                sum += error;
                squares += error * error;
            }
            const double mean = sum / kSamples;
            const double bar = std::sqrt((squares / kSamples - mean * mean) / kSamples);
            QVERIFY(std::abs(mean - fit.measures.functionError) < 4 * bar);
        }
    }

    /// Three rows of the weight make an output, each from its own row of the patch.
    void factorsBySideAreFittedToTheConvolution()
    {
        constexpr Index kKernel = 3;
        for (const Nonlinearity follows : {Nonlinearity::Relu, Nonlinearity::Silu}) {
            LowRankProblem problem = problemOf(drawn(6 * kKernel, 4 * kKernel, 3), 2, follows);
            problem.kernel = kKernel;
            problem.lfai = {1e-3, 256, 128, 6};
            const LowRankFit spectral = fitted(problem, LowRankMethod::Spectral);
            const LowRankFit found = fitted(problem, LowRankMethod::LfaiWs);
            QVERIFY(found.measures.functionError < 0.995 * spectral.measures.functionError);
            QVERIFY(found.measures.weightError > spectral.measures.weightError);
            QCOMPARE(fitted(problem, LowRankMethod::Exact).left, spectral.left);
            const MatrixXd whole = Eigen::Map<const DenseMatrix>(problem.weight.data(), problem.out, problem.in);
            const MatrixXd product = productOf(problem, found);
            RandomStream draws(9, 7);
            constexpr int kSamples = 20'000;
            double error = 0;
            for (int sample = 0; sample < kSamples; ++sample) {
                MatrixXd values = MatrixXd::Zero(problem.out / kKernel, 2);
                for (Index side = 0; side < kKernel; ++side) {
                    const VectorXd x = VectorXd::NullaryExpr(problem.in, [&] { return draws.gaussian(); });
                    for (Index o = 0; o < values.rows(); ++o) {
                        values(o, 0) += whole.row(o * kKernel + side).dot(x);
                        values(o, 1) += product.row(o * kKernel + side).dot(x);
                    }
                }
                lowrank::applyNonlinearity(follows, values);
                error += (values.col(0) - values.col(1)).squaredNorm() / kSamples;
            }
            QVERIFY(std::abs(error / found.measures.functionError - 1) < 0.03);
        }
    }

    /// With the identity nothing is searched. With a covariance the optimum is the decomposition in its norm.
    void identityNeedsNoSearch()
    {
        LowRankProblem problem = problemOf(drawn(10, 6, 3), 2, Nonlinearity::Identity);
        const LowRankFit spectral = fitted(problem, LowRankMethod::Spectral);
        for (const LowRankMethod method : {LowRankMethod::Exact, LowRankMethod::LfaiWs, LowRankMethod::Lfai}) {
            const LowRankFit fit = fitted(problem, method);
            QVERIFY(fit.left == spectral.left && fit.right == spectral.right);
            QVERIFY(QString::fromStdString(fit.note).contains("nothing was searched"));
        }
        const MatrixXd covariance = someCovariance(6);
        problem.covariance = numbers(covariance);
        const LowRankFit fit = fitted(problem, LowRankMethod::Exact);
        const MatrixXd seen = drawn(10, 6, 3) * MatrixXd(covariance.llt().matrixL());
        const VectorXd values = Eigen::JacobiSVD<MatrixXd>(seen).singularValues();
        QVERIFY(std::abs(fit.measures.functionError - values.tail(4).squaredNorm()) < 1e-10);
        QVERIFY(fitted(problem, LowRankMethod::Spectral).measures.functionError > fit.measures.functionError);
    }

    void fullRankIsTheLayerItself()
    {
        for (const Nonlinearity follows : kCurved) {
            const MatrixXd weight = drawn(9, 6, 2);
            const LowRankProblem problem = problemOf(weight, 6, follows);
            for (const LowRankMethod method :
                 {LowRankMethod::Spectral, LowRankMethod::ReluSvd, LowRankMethod::Exact, LowRankMethod::LfaiWs}) {
                const LowRankFit fit = fitted(problem, method);
                QVERIFY2((productOf(problem, fit) - weight).norm() < 1e-6, wordOf(method).c_str());
                QVERIFY(fit.measures.relativeFunctionError < 1e-12);
            }
        }
    }

    void zeroAndSingularWeightsWork()
    {
        MatrixXd singular = drawn(8, 2, 1) * drawn(2, 5, 2);
        singular.row(3).setZero();
        for (const MatrixXd& weight : {MatrixXd(MatrixXd::Zero(8, 5)), singular}) {
            for (const Nonlinearity follows : kCurved) {
                for (const LowRankMethod method : kAll) {
                    LowRankProblem problem = problemOf(weight, 3, follows);
                    for (const bool real : {false, true}) {
                        if (real) { // inputs that fill two of five directions
                            problem.covariance = numbers(drawn(5, 2, 6) * drawn(5, 2, 6).transpose());
                        }
                        const LowRankFit fit = fitted(problem, method);
                        QVERIFY(productOf(problem, fit).allFinite());
                        QVERIFY(std::isfinite(fit.measures.functionError));
                        if (method == LowRankMethod::Exact) {
                            QVERIFY(fit.measures.functionError < 1e-12);
                        }
                    }
                }
            }
        }
    }

    void rowsOfNoCorrelationGetTheirNorm()
    {
        // Rank 1 of two orthogonal rows: the one that is left out still gets norm ‖W_i‖/π, and R = ½(‖W‖² − Σ‖W_i‖²h).
        const MatrixXd weight = VectorXd{{2.0, 1.0}}.asDiagonal();
        const LowRankFit fit = fitted(problemOf(weight, 1, Nonlinearity::Relu), LowRankMethod::ReluSvd);
        const double h = std::numbers::inv_pi * std::numbers::inv_pi;
        QVERIFY(std::abs(fit.measures.functionError - (5 - 4 - h) / 2) < 1e-12);
    }

    void sameBitsForAnyNumberOfThreads()
    {
        std::vector<LowRankProblem> problems;
        for (std::uint64_t k = 0; k < 4; ++k) {
            problems.push_back(problemOf(drawn(10 + Index(k), 8, k), 2, kCurved[k % 3], k));
        }
        const auto alone = fitLayers(problems, kAll, 1);
        const auto together = fitLayers(problems, kAll, 5);
        QCOMPARE(alone.size(), problems.size() * std::size(kAll));
        for (std::size_t k = 0; k < alone.size(); ++k) {
            QVERIFY(alone[k] && together[k]);
            QVERIFY(alone[k]->left == together[k]->left && alone[k]->right == together[k]->right);
            QCOMPARE(alone[k]->note, together[k]->note);
        }
        // Another seed is another start.
        LowRankProblem other = problems[0];
        other.seed = 77;
        QVERIFY(fitted(other, LowRankMethod::Baseline).left != fitted(problems[0], LowRankMethod::Baseline).left);
    }

    void stopsWithinOneIteration()
    {
        for (const LowRankMethod method : {LowRankMethod::Exact, LowRankMethod::Lfai, LowRankMethod::LfaiWs}) {
            std::stop_source source;
            LowRankWatch watch;
            int told = 0;
            watch.stop = source.get_token();
            watch.progress = [&](const LowRankProgress& progress) {
                QVERIFY(progress.fraction > 0 && progress.fraction <= 1);
                ++told;
                source.request_stop();
            };
            const auto fit = fitLowRank(problemOf(drawn(20, 10, 1), 2, Nonlinearity::Relu), method, watch);
            QVERIFY(!fit);
            QCOMPARE(fit.error(), stoppedFit());
            QCOMPARE(told, 1);
        }
        std::stop_source source;
        source.request_stop();
        const std::vector<LowRankProblem> problems{problemOf(drawn(20, 10, 1), 2, Nonlinearity::Relu)};
        for (const auto& fit : fitLayers(problems, kAll, 2, source.get_token())) {
            QVERIFY(!fit && fit.error() == stoppedFit());
        }
    }

    /// Far too long steps end with a larger error than the spectral start. That start is kept, with a note.
    void divergentFitKeepsTheSpectralStart()
    {
        LowRankProblem problem = problemOf(drawn(12, 8, 1), 2, Nonlinearity::Silu);
        const LowRankFit spectral = fitted(problem, LowRankMethod::Spectral);
        for (const double rate : {10.0, 1e200}) {
            problem.lfai = {rate, 8, 3, 2};
            for (const LowRankMethod method : {LowRankMethod::Lfai, LowRankMethod::LfaiWs}) {
                const LowRankFit fit = fitted(problem, method);
                QVERIFY(!fit.converged);
                QVERIFY(fit.left == spectral.left && fit.right == spectral.right);
                QVERIFY2(QString::fromStdString(fit.note).contains("the spectral start is kept"), fit.note.c_str());
            }
        }
    }

    void badInputIsRefused_data()
    {
        QTest::addColumn<int>("change");
        QTest::addColumn<QString>("says");
        const char* const messages[] = {"rank 0 of a weight of 4 x 3: expected 1 to 3",
                                        "rank 4 of a weight of 4 x 3: expected 1 to 3",
                                        "the weight has 11 numbers, expected 4 x 3",
                                        "the weight has a value that is not finite",
                                        "the inputs' covariance has 4 numbers, expected 3 x 3",
                                        "not symmetric",
                                        "the negative eigenvalue -1",
                                        "0 samples",
                                        "a learning rate of 0",
                                        "the weight has 12 numbers, expected -4 x -3",
                                        "the drawn left factor has 1 numbers, expected 4 x 2"};
        for (int k = 0; k < int(std::size(messages)); ++k) {
            QTest::newRow(messages[k]) << k << messages[k];
        }
    }
    void badInputIsRefused()
    {
        QFETCH(int, change);
        QFETCH(QString, says);
        LowRankProblem problem = problemOf(drawn(4, 3, 1), 2, Nonlinearity::Relu);
        MatrixXd covariance = MatrixXd::Identity(3, 3);
        switch (change) {
        case 0:
            problem.rank = 0;
            break;
        case 1:
            problem.rank = 4;
            break;
        case 2:
            problem.weight.pop_back();
            break;
        case 3:
            problem.weight[5] = std::nan("");
            break;
        case 4:
            problem.covariance = {1, 0, 0, 1};
            break;
        case 5:
            covariance(0, 1) = 0.5;
            problem.covariance = numbers(covariance);
            break;
        case 6:
            covariance(2, 2) = -1;
            problem.covariance = numbers(covariance);
            break;
        case 7:
            problem.lfai.batch = 0;
            break;
        case 8:
            problem.lfai.learningRate = 0;
            break;
        case 9:
            problem.out = -4;
            problem.in = -3;
            break;
        default:
            problem.drawnLeft = {1};
            break;
        }
        const auto fit = fitLowRank(problem, LowRankMethod::Baseline);
        QVERIFY(!fit);
        QVERIFY(fit.error().place.empty());
        QVERIFY2(QString::fromStdString(fit.error().message).contains(says), fit.error().message.c_str());
    }
};

RESIDUA_TEST(TestLowRankFit)
#include "tst_low_rank_fit.moc"
