// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/maths/lowrank/sphere_gap.h"

#include "engine/maths/lowrank/gaussian_error.h"
#include "engine/maths/lowrank/low_rank_fit.h"
#include "projects/base/random.h"
#include "projects/base/text.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace residua::engine {
namespace {

std::vector<double> sphereRows(std::int64_t outputs, std::int64_t inputs, std::uint64_t seed)
{
    RandomStream draws(seed, streamOf(Stream::Target));
    std::vector<double> rows(std::size_t(outputs) * std::size_t(inputs));
    for (std::size_t first = 0; first < rows.size(); first += std::size_t(inputs)) {
        const std::span row = std::span(rows).subspan(first, std::size_t(inputs));
        double square = 0;
        for (double& value : row) {
            value = draws.gaussian();
            square += value * value;
        }
        for (double& value : row) {
            value /= std::sqrt(square);
        }
    }
    return rows;
}

/// Sets the correlations. ρ_SVD of a row is the norm of its projection; for rows of norm 1 this is the norm of the
/// spectral row.
void takeCorrelations(const LowRankProblem& problem, const LowRankFit& spectral, SpherePoint& point)
{
    const auto out = std::size_t(problem.out);
    const auto in = std::size_t(problem.in);
    const auto rank = std::size_t(problem.rank);
    double sum = 0;
    double squares = 0;
    for (std::size_t i = 0; i < out; ++i) {
        double shared = 0;
        double own = 0;
        for (std::size_t j = 0; j < in; ++j) {
            double value = 0;
            for (std::size_t k = 0; k < rank; ++k) {
                value += spectral.left[i * rank + k] * spectral.right[k * in + j];
            }
            shared += value * problem.weight[i * in + j];
            own += value * value;
        }
        const double rho = own > 0 ? shared / std::sqrt(own) : 0;
        sum += rho;
        squares += rho * rho;
    }
    point.meanCorrelation = sum / double(out);
    point.correlationDeviation =
        std::sqrt(std::max(0.0, squares / double(out) - point.meanCorrelation * point.meanCorrelation));
}

double roughBound(const SphereCase& of)
{
    const double share = std::numbers::inv_pi - std::sqrt(double(of.rank) / double(of.inputs)) / 2;
    return share > 0 ? double(of.outputs) / (2 * double(of.inputs)) * share * share : 0;
}

} // namespace

SphereCase figureOneCase(std::int64_t n, double rankScale, std::uint64_t seed)
{
    SphereCase result;
    result.inputs = std::max<std::int64_t>(1, std::llround(0.2 * double(n)));
    result.outputs = std::max<std::int64_t>(1, std::llround(std::pow(double(n), 1.5)));
    result.rank = std::max<std::int64_t>(1, std::llround(rankScale * double(result.inputs)));
    result.seed = seed;
    return result;
}

Result<std::vector<SpherePoint>> sphereGap(std::span<const SphereCase> cases, std::span<const LowRankMethod> methods,
                                           int threads, std::stop_token stop)
{
    std::vector<LowRankProblem> problems;
    for (const SphereCase& of : cases) {
        if (of.inputs < 1 || of.outputs < 1) {
            return Error{"", "a weight of " + std::to_string(of.outputs) + " x " + std::to_string(of.inputs) +
                                 ": expected at least 1 x 1"};
        }
        LowRankProblem& problem = problems.emplace_back();
        problem.out = of.outputs;
        problem.in = of.inputs;
        problem.rank = of.rank;
        problem.weight = sphereRows(of.outputs, of.inputs, of.seed);
        problem.follows = Nonlinearity::Relu;
        problem.seed = of.seed;
    }
    std::vector<LowRankMethod> all{LowRankMethod::Spectral};
    all.insert(all.end(), methods.begin(), methods.end());
    const std::vector<Result<LowRankFit>> fits = fitLayers(problems, all, threads, std::move(stop));
    std::vector<SpherePoint> points;
    for (std::size_t k = 0; k < cases.size(); ++k) {
        const std::span row = std::span(fits).subspan(k * all.size(), all.size());
        if (const auto failed = std::ranges::find_if(row, [](const auto& fit) { return !fit; }); failed != row.end()) {
            return failed->error();
        }
        SpherePoint& point = points.emplace_back();
        const double d = double(cases[k].inputs);
        point.of = cases[k];
        point.bound = row[0]->measures.spectralGapBound.value_or(0) / d;
        point.roughBound = roughBound(cases[k]);
        takeCorrelations(problems[k], *row[0], point);
        for (const Result<LowRankFit>& fit : row.subspan(1)) {
            point.errors.push_back(fit->measures.functionError / d);
        }
    }
    return points;
}

std::vector<KernelPoint> kernelCurve(int steps)
{
    std::vector<KernelPoint> points;
    const lowrank::GaussianError error(Nonlinearity::Relu, Eigen::VectorXd::Ones(1));
    const auto at = [&](double norm, double rho) {
        return error(Eigen::VectorXd::Constant(1, norm * norm), Eigen::VectorXd::Constant(1, norm * rho)).error[0];
    };
    for (int k = 0; k <= steps; ++k) {
        KernelPoint& point = points.emplace_back();
        point.rho = double(k) / double(steps);
        point.rootOfH = lowrank::sqrtH(point.rho);
        point.bound = (point.rootOfH - point.rho) * (point.rootOfH - point.rho) / 2;
        point.spectral = at(point.rho, point.rho);
        point.best = at(point.rootOfH, point.rho);
    }
    return points;
}

} // namespace residua::engine
