// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/maths/lowrank/low_rank_fit.h"

#include "engine/maths/lowrank/adam.h"
#include "projects/base/random.h"

#include <cmath>

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

/// The loss of one batch, with its gradients by both factors.
class SampledLoss {
public:
    SampledLoss(const Layer& layer, std::int64_t batch)
        : m_layer(layer), m_inputs(layer.weight.cols(), batch), m_draws(layer.seed, streamOf(Stream::Inputs))
    {
    }
    double operator()(const Factors& factors, MatrixXd& byLeft, MatrixXd& byRight)
    {
        drawGaussians(m_inputs, m_draws);
        if (m_layer.hasCovariance()) {
            m_inputs = (m_layer.root * m_inputs).eval();
        }
        MatrixXd full = m_layer.weight * m_inputs;
        applyNonlinearity(m_layer.follows, full);
        const MatrixXd middle = factors.right * m_inputs;
        MatrixXd reached = factors.left * middle;
        MatrixXd slopes;
        applyNonlinearity(m_layer.follows, reached, slopes);
        const MatrixXd difference = reached - full;
        const double scale = 2.0 / double(m_inputs.cols());
        const MatrixXd back = scale * difference.cwiseProduct(slopes);
        byLeft.noalias() = back * middle.transpose();
        byRight.noalias() = (factors.left.transpose() * back) * m_inputs.transpose();
        return difference.squaredNorm() / double(m_inputs.cols());
    }

private:
    const Layer& m_layer;
    MatrixXd m_inputs; ///< [in, batch]
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
