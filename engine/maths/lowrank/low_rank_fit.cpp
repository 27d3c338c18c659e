// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/maths/lowrank/low_rank_fit.h"

#include "engine/maths/theory/dense_matrix.h"
#include "projects/base/text.h"

#include <chrono>
#include <cmath>

namespace residua::engine {
namespace {

using Eigen::MatrixXd;
using lowrank::Factors;
using lowrank::Searched;

std::vector<double> rowMajor(const MatrixXd& matrix)
{
    std::vector<double> values(std::size_t(matrix.size()));
    Eigen::Map<DenseMatrix>(values.data(), matrix.rows(), matrix.cols()) = matrix;
    return values;
}

/// One fit of one layer. Computes values that several methods need on first use.
class LayerFit {
public:
    LayerFit(const LowRankProblem& problem, lowrank::Layer layer, const LowRankWatch& watch)
        : m_problem(problem), m_layer(std::move(layer)), m_error(m_layer), m_watch(watch)
    {
    }

    [[nodiscard]] Result<Searched> by(LowRankMethod method)
    {
        if (m_watch.stop.stop_requested()) {
            return stoppedFit();
        }
        if (method == LowRankMethod::Baseline) {
            return lowrank::drawnFactors(m_problem).transform([](Factors drawn) {
                return Searched{std::move(drawn), true, ""};
            });
        }
        if (method == LowRankMethod::Spectral) {
            return Searched{spectral(), true, ""};
        }
        if (m_layer.follows == Nonlinearity::Identity) {
            return linearOptimum();
        }
        if (m_layer.kernel > 1 && method != LowRankMethod::Lfai && method != LowRankMethod::LfaiWs) {
            return Searched{spectral(), true, "this search knows no factors by side, and the spectral start is kept"};
        }
        switch (method) {
        case LowRankMethod::ReluSvd:
            return reluSvd();
        case LowRankMethod::Lfai:
            return lowrank::drawnFactors(m_problem).and_then(
                [this](Factors drawn) { return bySamples(std::move(drawn), false); });
        case LowRankMethod::LfaiWs:
            return bySamples(spectral(), true);
        default:
            return exact();
        }
    }

    [[nodiscard]] LowRankMeasures measures(const Factors& factors)
    {
        LowRankMeasures measures = m_error.measures(factors);
        if (m_layer.follows == Nonlinearity::Relu) {
            measures.spectralGapBound = m_error.gapBound(spectral());
        }
        return measures;
    }

private:
    const Factors& spectral()
    {
        if (!m_spectral) {
            m_spectral = lowrank::spectralFactors(m_layer.hasCovariance() ? decomposed(m_layer.weight) : directions(),
                                                  m_layer.rank);
        }
        return *m_spectral;
    }
    /// Returns the singular value decomposition of the weight in terms of inputs from N(0, I).
    const Decomposition& directions()
    {
        if (!m_directions) {
            m_directions = decomposed(m_layer.seen);
        }
        return *m_directions;
    }
    /// Transforms factors from the right singular directions of `seen` to the layer's inputs.
    [[nodiscard]] Factors inInputs(const Factors& factors)
    {
        MatrixXd right = factors.right * directions().v.transpose();
        if (m_layer.hasCovariance()) {
            right = (right * m_layer.inverseRoot).eval();
        }
        return lowrank::balanced({factors.left, std::move(right)});
    }
    [[nodiscard]] MatrixXd rows() { return directions().u * directions().values.asDiagonal(); }

    [[nodiscard]] Searched linearOptimum()
    {
        const char* const note = "nothing known follows the weight, so it is fitted as a linear map: its truncated "
                                 "singular value decomposition is the optimum, and nothing was searched";
        if (!m_layer.hasCovariance()) {
            return {spectral(), true, note};
        }
        const auto rank = m_layer.rank;
        return {inInputs({rows().leftCols(rank), MatrixXd::Identity(rank, directions().values.size())}), true,
                std::string(note) + " (in the measure of the inputs' covariance)"};
    }

    [[nodiscard]] Result<Searched> reluSvd()
    {
        const MatrixXd r = rows();
        const auto choice = RESIDUA_TRY(lowrank::chooseDirections(r, m_layer.rank, &lowrank::sqrtH, m_watch));
        std::string note = choice.enumerated ? "every choice of singular directions was tried"
                                             : "singular directions chosen greedily: from the largest, by exchanges";
        if (m_layer.follows != Nonlinearity::Relu) {
            note += "; chosen and scaled for a relu, though " + std::string(nameOf(m_layer.follows)) + " follows";
        }
        return Searched{inInputs(lowrank::scaledProjection(r, choice.directions, &lowrank::sqrtH)), true,
                        std::move(note)};
    }

    [[nodiscard]] Result<Searched> bySamples(Factors start, bool warm)
    {
        Searched found =
            RESIDUA_TRY(lowrank::fitBySamples(m_layer, m_error, std::move(start), m_problem.lfai, m_watch));
        const double reached = m_error(found.factors);
        const double kept = m_error(spectral());
        if (reached <= kept) {
            return found;
        }
        const std::string above = "ended at " + numberText(reached, 4) + ", above the spectral start's " +
                                  numberText(kept, 4) + " (" + found.note + ")";
        if (warm || !found.converged || !std::isfinite(reached)) {
            return Searched{spectral(), false, "did not converge: " + above + "; the spectral start is kept"};
        }
        found.note = above;
        return found;
    }

    [[nodiscard]] Result<Searched> exact()
    {
        const MatrixXd r = rows();
        const auto choice = RESIDUA_TRY(lowrank::chooseDirections(r, m_layer.rank, &lowrank::sqrtH, m_watch));
        MatrixXd seenRight = spectral().right;
        if (m_layer.hasCovariance()) {
            seenRight = (seenRight * m_layer.root).eval();
        }
        const std::vector<lowrank::NamedStart> starts{
            {"spectral", {spectral().left, seenRight * directions().v}},
            {"ReLU-SVD", lowrank::scaledProjection(r, choice.directions, &lowrank::sqrtH)},
            {"random", lowrank::randomStart(r, m_layer.rank, m_layer.seed)}};
        Searched found = RESIDUA_TRY(lowrank::ExactFit(r, m_layer.follows).search(starts, m_watch));
        found.factors = inInputs(found.factors);
        // In the search's own coordinates the value never rises; the transformation back may add rounding errors.
        if (!(m_error(found.factors) <= m_error(spectral()))) {
            return Searched{spectral(), found.converged, "nothing below the spectral start was found, and it is kept"};
        }
        return found;
    }

    const LowRankProblem& m_problem;
    lowrank::Layer m_layer;
    lowrank::FactorError m_error;
    const LowRankWatch& m_watch;
    std::optional<Decomposition> m_directions;
    std::optional<Factors> m_spectral;
};

Status checkCourse(const LfaiCourse& course)
{
    if (course.batch < 1 || course.stepsPerEpoch < 1 || course.epochs < 0) {
        return Error{"", "a course of " + std::to_string(course.epochs) + " epochs of " +
                             std::to_string(course.stepsPerEpoch) + " steps of " + std::to_string(course.batch) +
                             " samples: expected at least 0, 1 and 1"};
    }
    if (!std::isfinite(course.learningRate) || course.learningRate <= 0) {
        return Error{"", "a learning rate of " + numberText(course.learningRate) + ": expected a number above 0"};
    }
    return Done{};
}

} // namespace

Result<LowRankFit> fitLowRank(const LowRankProblem& problem, LowRankMethod method, const LowRankWatch& watch)
{
    const auto start = std::chrono::steady_clock::now();
    RESIDUA_TRY(checkCourse(problem.lfai));
    lowrank::Layer layer = RESIDUA_TRY(lowrank::layerOf(problem));
    const bool isZero = layer.weight.isZero(0);
    LayerFit fit(problem, std::move(layer), watch);
    Searched found = RESIDUA_TRY(fit.by(method));
    LowRankFit result;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    result.measures = fit.measures(found.factors);
    result.measures.seconds = took.count();
    result.left = rowMajor(found.factors.left);
    result.right = rowMajor(found.factors.right);
    result.converged = found.converged;
    result.note = std::move(found.note);
    if (isZero && found.factors.left.isZero(0) && found.factors.right.isZero(0)) {
        result.note = "the weight is zero, and so are both factors: no gradient would reach them";
    }
    return result;
}

} // namespace residua::engine
