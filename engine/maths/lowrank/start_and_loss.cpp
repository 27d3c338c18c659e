// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/maths/lowrank/start_and_loss.h"

#include "engine/maths/lowrank/adam.h"
#include "engine/maths/lowrank/low_rank_fit.h"
#include "engine/maths/theory/dense_matrix.h"
#include "projects/base/mapped.h"
#include "projects/base/random.h"
#include "projects/schema/method_keys.h"

#include <algorithm>
#include <cmath>

namespace residua::engine {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;
using lowrank::Factors;

constexpr std::size_t kLayers = 2;

Status checkStudy(const StartStudy& study, std::span<const std::int64_t> fitSteps)
{
    if (study.method != LowRankMethod::Lfai && study.method != LowRankMethod::LfaiWs) {
        return Error{"", "got " + wordOf(study.method) + ", expected lfai or lfai-ws: a fit by steps"};
    }
    for (const std::int64_t count : {study.inputs, study.width, study.teacher, study.samples, study.held, study.batch,
                                     study.steps, study.networks}) {
        if (count < 1) {
            return Error{"", "a count of the study is " + std::to_string(count) + ", expected at least 1"};
        }
    }
    if (!(study.rankScale > 0 && study.rankScale <= 1)) {
        return Error{"", "the rank scale of the study is not more than 0 and at most 1"};
    }
    const auto negative = std::ranges::find_if(fitSteps, [](std::int64_t steps) { return steps < 0; });
    return negative == fitSteps.end()
               ? Status(Done{})
               : Error{"", "got " + std::to_string(*negative) + " steps of a fit, expected at least 0"};
}

/// Each column is a sample.
struct Samples {
    MatrixXd inputs;
    RowVectorXd targets;
};

/// The random draws for one network.
struct Drawn {
    Samples trained;
    Samples held;
    MatrixXd weights[kLayers];
    RowVectorXd last;

    Drawn(const StartStudy& study, std::int64_t network)
    {
        const std::uint64_t seed = drawBits(study.seed, streamOf(Stream::Subspace), std::uint64_t(network));
        RandomStream draws(seed, streamOf(Stream::Target));
        const MatrixXd teacher =
            gaussianMatrix<MatrixXd>(study.teacher, study.inputs, draws, 1 / std::sqrt(double(study.inputs)));
        const auto made = [&](std::int64_t count) {
            Samples samples{gaussianMatrix<MatrixXd>(study.inputs, count, draws), {}};
            MatrixXd hidden = (teacher * samples.inputs).cwiseMax(0);
            for (Index j = 1; j < hidden.rows(); j += 2) {
                hidden.row(j) *= -1;
            }
            samples.targets = hidden.colwise().sum() / std::sqrt(double(study.teacher));
            return samples;
        };
        trained = made(study.samples);
        held = made(study.held);
        weights[0] = gaussianMatrix<MatrixXd>(study.width, study.inputs, draws, std::sqrt(2 / double(study.inputs)));
        weights[1] = gaussianMatrix<MatrixXd>(study.width, study.width, draws, std::sqrt(2 / double(study.width)));
        last = gaussianMatrix<MatrixXd>(1, study.width, draws, 1 / std::sqrt(double(study.width)));
    }
};

/// The network with its hidden weights in factors.
class FactoredNetwork {
public:
    FactoredNetwork(const std::vector<Factors>& layers, RowVectorXd last)
    {
        for (const Factors& layer : layers) {
            m_values.push_back(layer.left);
            m_values.push_back(layer.right);
        }
        m_values.emplace_back(std::move(last));
    }

    [[nodiscard]] double loss(const Samples& on) const
    {
        MatrixXd x = on.inputs;
        for (std::size_t layer = 0; layer < kLayers; ++layer) {
            x = (m_values[2 * layer] * (m_values[2 * layer + 1] * x)).cwiseMax(0).eval();
        }
        return (m_values.back() * x - on.targets).squaredNorm() / double(on.targets.size());
    }

    void train(const Drawn& on, const StartStudy& study)
    {
        auto adam = mapped(m_values, [&](const MatrixXd& value) { return lowrank::Adam(value, study.learningRate); });
        for (std::int64_t step = 0; step < study.steps; ++step) {
            const Index count = on.trained.inputs.cols();
            const Index length = std::min<Index>(study.batch, count);
            const Index first = step * length % (count - length + 1);
            const std::vector<MatrixXd> gradients =
                gradientsOf(on.trained.inputs.middleCols(first, length), on.trained.targets.segment(first, length));
            for (std::size_t i = 0; i < m_values.size(); ++i) {
                adam[i].step(m_values[i], gradients[i]);
            }
        }
    }

private:
    [[nodiscard]] std::vector<MatrixXd> gradientsOf(const MatrixXd& inputs, const RowVectorXd& targets) const
    {
        std::vector<MatrixXd> reads{inputs};
        std::vector<MatrixXd> inner;
        for (std::size_t layer = 0; layer < kLayers; ++layer) {
            inner.emplace_back(m_values[2 * layer + 1] * reads.back());
            reads.emplace_back((m_values[2 * layer] * inner.back()).cwiseMax(0));
        }
        std::vector<MatrixXd> gradients(m_values.size());
        const RowVectorXd apart = (m_values.back() * reads.back() - targets) * (2 / double(targets.size()));
        gradients.back() = apart * reads.back().transpose();
        MatrixXd back = m_values.back().transpose() * apart;
        for (std::size_t layer = kLayers; layer-- > 0;) {
            back = back.cwiseProduct((reads[layer + 1].array() > 0).cast<double>().matrix()).eval();
            gradients[2 * layer] = back * inner[layer].transpose();
            const MatrixXd byInner = m_values[2 * layer].transpose() * back;
            gradients[2 * layer + 1] = byInner * reads[layer].transpose();
            back = m_values[2 * layer + 1].transpose() * byInner;
        }
        return gradients;
    }

    std::vector<MatrixXd> m_values; ///< left and right of each layer, then the last weight
};

LowRankProblem problemOf(const StartStudy& study, const MatrixXd& weight, std::int64_t steps, std::uint64_t seed)
{
    LowRankProblem problem;
    problem.out = weight.rows();
    problem.in = weight.cols();
    problem.rank = std::max<std::int64_t>(1, std::llround(study.rankScale * double(std::min(problem.out, problem.in))));
    problem.weight.resize(std::size_t(weight.size()));
    Eigen::Map<DenseMatrix>(problem.weight.data(), weight.rows(), weight.cols()) = weight;
    problem.follows = Nonlinearity::Relu;
    problem.seed = seed;
    problem.lfai.stepsPerEpoch = std::max<std::int64_t>(steps, 1);
    problem.lfai.epochs = steps > 0 ? 1 : 0;
    return problem;
}

/// Trains one network from one start.
Result<StartPoint> pointOf(const StartStudy& study, const Drawn& drawn, std::int64_t fitSteps, std::uint64_t seed,
                           const LowRankWatch& watch)
{
    StartPoint point;
    std::vector<Factors> layers;
    for (const MatrixXd& weight : drawn.weights) {
        const LowRankProblem problem = problemOf(study, weight, fitSteps, seed);
        const lowrank::Layer layer = RESIDUA_TRY(lowrank::layerOf(problem));
        const lowrank::FactorError error(layer);
        Factors start =
            RESIDUA_TRY(study.method == LowRankMethod::Lfai
                            ? lowrank::drawnFactors(problem)
                            : Result<Factors>(lowrank::spectralFactors(decomposed(layer.weight), layer.rank)));
        lowrank::Searched fit = RESIDUA_TRY(lowrank::fitBySamples(layer, error, std::move(start), problem.lfai, watch));
        point.fitError += error.measures(fit.factors).relativeFunctionError / double(kLayers);
        layers.push_back(std::move(fit.factors));
    }
    FactoredNetwork network(layers, drawn.last);
    point.lossAtStart = network.loss(drawn.held);
    network.train(drawn, study);
    point.loss = network.loss(drawn.held);
    return point;
}

StartPoint meanOf(std::int64_t fitSteps, std::span<const Result<StartPoint>> networks)
{
    StartPoint mean;
    mean.fitSteps = fitSteps;
    const auto count = double(networks.size());
    double squares = 0;
    for (const Result<StartPoint>& each : networks) {
        mean.fitError += each->fitError / count;
        mean.lossAtStart += each->lossAtStart / count;
        mean.loss += each->loss / count;
        squares += each->loss * each->loss / count;
    }
    const double variance = std::max(0.0, squares - mean.loss * mean.loss);
    mean.lossError = networks.size() > 1 ? std::sqrt(variance / (count - 1)) : 0;
    return mean;
}

} // namespace

Result<std::vector<StartPoint>> lossByStart(const StartStudy& study, std::span<const std::int64_t> fitSteps,
                                            int threads, std::stop_token stop)
{
    RESIDUA_TRY(checkStudy(study, fitSteps));
    const auto count = std::size_t(study.networks);
    std::vector<Drawn> networks;
    for (std::size_t network = 0; network < count; ++network) {
        networks.emplace_back(study, std::int64_t(network));
    }
    LowRankWatch watch;
    watch.stop = stop;
    std::vector<Result<StartPoint>> points(fitSteps.size() * count, Result<StartPoint>(stoppedFit()));
    runOnThreads(std::vector<double>(points.size(), 1.0), threads, [&](std::size_t i) {
        if (!stop.stop_requested()) {
            points[i] =
                guardedFit([&] { return pointOf(study, networks[i % count], fitSteps[i / count], i % count, watch); });
        }
    });
    if (const auto failed = std::ranges::find_if(points, [](const auto& point) { return !point; });
        failed != points.end()) {
        return failed->error();
    }
    std::vector<StartPoint> means;
    for (std::size_t k = 0; k < fitSteps.size(); ++k) {
        means.push_back(meanOf(fitSteps[k], std::span(points).subspan(k * count, count)));
    }
    return means;
}

} // namespace residua::engine
