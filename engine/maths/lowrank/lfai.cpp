// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/maths/lowrank/low_rank_fit.h"

#include "engine/maths/lowrank/adam.h"
#include "projects/base/random.h"

#include <cmath>
#include <utility>
#include <vector>

namespace residua::engine::lowrank {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// The search converges when an epoch changes the error by less than this fraction.
constexpr double kStandsStill = 1e-3;
constexpr double kOfZeros = 0.9999;

/// Draws N(0, 1) with both numbers of each Box–Muller pair.
void drawGaussians(MatrixXd& values, RandomStream& draws)
{
    for (Index i = 0; i + 1 < values.size(); i += 2) {
        const double first = draws.uniform(); // the order of the two draws decides the numbers
        const auto [one, other] = gaussianPair(first, draws.uniform());
        values.data()[i] = one;
        values.data()[i + 1] = other;
    }
    if (values.size() % 2 == 1) {
        values.data()[values.size() - 1] = draws.gaussian();
    }
}

/// Returns the rows of a matrix that read row `side` of a patch: one for each output.
MatrixXd rowsOf(const MatrixXd& matrix, const Layer& layer, Index side)
{
    return matrix(Eigen::seqN(side, layer.outputs(), layer.kernel), Eigen::all);
}

/// The loss of one batch, with its gradients by both factors.
class SampledLoss {
public:
    SampledLoss(const Layer& layer, std::int64_t batch)
        : m_layer(layer), m_batch(batch), m_draws(layer.seed, streamOf(Stream::Inputs))
    {
        for (Index side = 0; side < layer.kernel; ++side) {
            m_sides.push_back({rowsOf(layer.weight, layer, side), MatrixXd(layer.weight.cols(), batch), {}, {}});
        }
    }
    double operator()(const Factors& factors, MatrixXd& byLeft, MatrixXd& byRight)
    {
        MatrixXd full;
        MatrixXd reached;
        for (Side& side : m_sides) {
            drawGaussians(side.inputs, m_draws);
            if (m_layer.hasCovariance()) {
                side.inputs = (m_layer.root * side.inputs).eval();
            }
            side.left = rowsOf(factors.left, m_layer, &side - m_sides.data());
            side.middle = factors.right * side.inputs;
            add(full, side.weight * side.inputs);
            add(reached, side.left * side.middle);
        }
        applyNonlinearity(m_layer.follows, full);
        MatrixXd slopes;
        applyNonlinearity(m_layer.follows, reached, slopes);
        const MatrixXd difference = reached - full;
        const double scale = 2.0 / double(m_batch);
        const MatrixXd back = scale * difference.cwiseProduct(slopes);
        byLeft.resize(factors.left.rows(), factors.left.cols());
        MatrixXd sum;
        for (const Side& side : m_sides) {
            const MatrixXd ofSide = back * side.middle.transpose();
            byLeft(Eigen::seqN(&side - m_sides.data(), m_layer.outputs(), m_layer.kernel), Eigen::all) = ofSide;
            add(sum, (side.left.transpose() * back) * side.inputs.transpose());
        }
        byRight = std::move(sum);
        return difference.squaredNorm() / double(m_batch);
    }

private:
    /// The weights and values for one row of the patches.
    struct Side {
        MatrixXd weight; ///< [outputs, in]
        MatrixXd inputs; ///< [in, batch]
        MatrixXd left;   ///< [outputs, rank]
        MatrixXd middle; ///< [rank, batch]
    };
    static void add(MatrixXd& sum, MatrixXd term)
    {
        if (sum.size() == 0) {
            sum = std::move(term);
        } else {
            sum += term;
        }
    }

    const Layer& m_layer;
    const std::int64_t m_batch;
    std::vector<Side> m_sides;
    RandomStream m_draws;
};

} // namespace

Result<Searched> fitBySamples(const Layer& layer, const FactorError& error, Factors start, const LfaiCourse& course,
                              const LowRankWatch& watch)
{
    SampledLoss loss(layer, course.batch);
    Adam left(start.left, course.learningRate);
    Adam right(start.right, course.learningRate);
    Searched searched{std::move(start), false, ""};
    Factors& factors = searched.factors;
    MatrixXd byLeft;
    MatrixXd byRight;
    const double full = error.measures(factors).fullFunction;
    double before = error(factors);
    std::int64_t epoch = 0;
    while (epoch < course.epochs && !searched.converged && std::isfinite(before)) {
        for (std::int64_t step = 0; step < course.stepsPerEpoch; ++step) {
            if (watch.stop.stop_requested()) {
                return stoppedFit();
            }
            const double sampled = loss(factors, byLeft, byRight);
            left.step(factors.left, byLeft);
            right.step(factors.right, byRight);
            if (watch.progress) {
                const double done = double(epoch) + double(step + 1) / double(course.stepsPerEpoch);
                watch.progress({done / double(course.epochs), full > 0 ? sampled / full : 0});
            }
        }
        ++epoch;
        const double now = error(factors);
        // If all outputs have died, the error is constant too, but no better than with factors of zeros.
        const bool isStill = std::abs(before - now) <= kStandsStill * now && now < kOfZeros * full;
        searched.converged = isStill || now <= 1e-15 * full;
        before = now;
    }
    searched.note = std::to_string(epoch) + (epoch == 1 ? " epoch" : " epochs") +
                    (searched.converged ? "" : ", not yet standing still");
    return searched;
}

} // namespace residua::engine::lowrank
