// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/maths/lowrank/attention_fit.h"

#include "engine/maths/lowrank/adam.h"
#include "engine/maths/lowrank/attention_error.h"
#include "engine/maths/theory/dense_matrix.h"
#include "projects/base/text.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace residua::engine {
namespace {

using Eigen::MatrixXd;
using lowrank::HeadSequence;

/// The fit converges when an epoch lowers the error by less than this fraction.
constexpr double kStandsStill = 1e-2;

bool areFinite(const std::vector<double>& values)
{
    return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
}

Status checkSizes(const AttentionProblem& of)
{
    for (const std::int64_t size : {of.sequences, of.group, of.length, of.width, of.features}) {
        if (size < 1) {
            return Error{"", "attention of " + std::to_string(of.sequences) + " sequences of " +
                                 std::to_string(of.length) + " tokens, " + std::to_string(of.group) + " heads of " +
                                 std::to_string(of.width) + " features and " + std::to_string(of.features) +
                                 " of the kernel: expected at least 1 of each"};
        }
    }
    const std::int64_t keys = of.sequences * of.length * of.width;
    const auto fits = [](const std::vector<double>& values, std::int64_t count) {
        return std::int64_t(values.size()) == count;
    };
    if (!fits(of.keys, keys) || !fits(of.queries, keys * of.group) || !fits(of.start, of.features * of.width)) {
        return Error{"", "queries, keys or features of an attention do not have the sizes that it says"};
    }
    if (!areFinite(of.keys) || !areFinite(of.queries) || !areFinite(of.start)) {
        return Error{"", "queries, keys or features of an attention hold a value that is not finite"};
    }
    return Done{};
}

Status checkCourse(const AttentionCourse& course)
{
    if (course.batch < 1 || course.stepsPerEpoch < 1 || course.epochs < 0 || !std::isfinite(course.learningRate) ||
        course.learningRate <= 0) {
        return Error{"", "a course of " + std::to_string(course.epochs) + " epochs of " +
                             std::to_string(course.stepsPerEpoch) + " steps of " + std::to_string(course.batch) +
                             " sequences at a rate of " + numberText(course.learningRate) +
                             ": expected at least 0, 1, 1 and more than 0"};
    }
    return Done{};
}

MatrixXd matrixOf(const std::vector<double>& values, std::int64_t first, std::int64_t rows, std::int64_t columns)
{
    return Eigen::Map<const DenseMatrix>(values.data() + first, rows, columns);
}

/// The sequences of a problem with their softmax.
struct Sequences {
    std::vector<HeadSequence> trained;
    std::vector<HeadSequence> held;

    explicit Sequences(const AttentionProblem& of)
    {
        const std::int64_t size = of.length * of.width;
        for (std::int64_t n = 0; n < of.sequences; ++n) {
            const MatrixXd keys = matrixOf(of.keys, n * size, of.length, of.width);
            for (std::int64_t g = 0; g < of.group; ++g) {
                HeadSequence sequence(matrixOf(of.queries, (n * of.group + g) * size, of.length, of.width), keys,
                                      of.causal);
                if (of.sequences == 1) {
                    held.push_back(sequence);
                }
                (n % 2 == 0 ? trained : held).push_back(std::move(sequence));
            }
        }
    }
    [[nodiscard]] AttentionError errorOf(const MatrixXd& features) const
    {
        AttentionError sum;
        for (const HeadSequence& sequence : held) {
            const HeadSequence::Measured measured = sequence.measured(features);
            sum.error += measured.error;
            sum.own += measured.own;
            sum.full += sequence.full();
        }
        return sum;
    }
};

/// Runs Adam over the sequences. On entry, `fit` holds the start and its errors.
Status descend(const AttentionProblem& problem, const Sequences& sequences, const LowRankWatch& watch, MatrixXd& best,
               AttentionFit& fit)
{
    const AttentionCourse& course = problem.course;
    const auto batch = std::size_t(course.batch * problem.group);
    lowrank::Adam adam(best, course.learningRate);
    MatrixXd features = best;
    std::size_t next = 0;
    std::int64_t epoch = 0;
    double before = fit.before.error;
    fit.converged = before <= 0;
    while (epoch < course.epochs && !fit.converged && std::isfinite(before)) {
        for (std::int64_t step = 0; step < course.stepsPerEpoch; ++step) {
            if (watch.stop.stop_requested()) {
                return stoppedFit();
            }
            MatrixXd gradient = MatrixXd::Zero(features.rows(), features.cols());
            for (std::size_t i = 0; i < batch; ++i, ++next) {
                (void)sequences.trained[next % sequences.trained.size()].error(features, gradient);
            }
            adam.step(features, gradient);
            if (watch.progress) {
                const double done = double(epoch) + double(step + 1) / double(course.stepsPerEpoch);
                watch.progress({done / double(course.epochs), fit.after.relative()});
            }
        }
        ++epoch;
        const AttentionError now = sequences.errorOf(features);
        fit.converged = std::abs(before - now.error) <= kStandsStill * now.error;
        if (now.error < fit.after.error) {
            fit.after = now;
            best = features;
        }
        before = now.error;
    }
    fit.note = std::to_string(epoch) + (epoch == 1 ? " epoch" : " epochs") +
               (fit.converged ? "" : ", not yet standing still") +
               (fit.after.error < fit.before.error ? "" : "; nothing better than the start was found, and it is kept");
    return Done{};
}

} // namespace

Result<AttentionFit> fitAttention(const AttentionProblem& problem, const LowRankWatch& watch)
{
    const auto start = std::chrono::steady_clock::now();
    RESIDUA_TRY(checkSizes(problem));
    RESIDUA_TRY(checkCourse(problem.course));
    const Sequences sequences(problem);
    MatrixXd best = matrixOf(problem.start, 0, problem.features, problem.width);
    AttentionFit fit;
    fit.before = sequences.errorOf(best);
    fit.after = fit.before;
    RESIDUA_TRY(descend(problem, sequences, watch, best, fit));
    fit.features.resize(std::size_t(best.size()));
    Eigen::Map<DenseMatrix>(fit.features.data(), best.rows(), best.cols()) = best;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    fit.seconds = took.count();
    return fit;
}

Result<AttentionError> measureAttention(const AttentionProblem& problem, const std::vector<double>& features)
{
    AttentionProblem given = problem;
    given.start = features;
    RESIDUA_TRY(checkSizes(given));
    return Sequences(given).errorOf(matrixOf(features, 0, problem.features, problem.width));
}

} // namespace residua::engine
