// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/init/factor_fits.h"

#include "engine/compute/init/fit_cache.h"
#include "projects/nodes/activations.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>

#include <optional>
#include <utility>

namespace residua::engine {
namespace {

std::vector<double> numbersOf(const at::Tensor& tensor)
{
    if (!tensor.defined()) {
        return {};
    }
    const at::Tensor host = tensor.detach().to(at::kCPU, at::kDouble).contiguous();
    const double* const data = host.const_data_ptr<double>();
    return {data, data + host.numel()};
}

Nonlinearity followingOf(const std::string& activation)
{
    const projects::Activation* const found = projects::findActivation(activation);
    for (const Nonlinearity each : {Nonlinearity::Relu, Nonlinearity::Silu, Nonlinearity::Gelu}) {
        if (found != nullptr && found->fittedAs == nameOf(each)) {
            return each;
        }
    }
    return Nonlinearity::Identity;
}

/// The results of the jobs.
struct Outcome {
    Outcome(std::size_t count, const FitCache& of) : fits(count), cache(of) {}

    std::vector<std::optional<LowRankFit>> fits;
    CachedFits cache;
};

Status solve(const FactorFit& fit, LowRankMethod wanted, const LowRankWatch& watch, CachedFits& cache,
             std::optional<LowRankFit>& done)
{
    const LowRankProblem problem = problemOf(fit);
    // Without an activation, the spectral start is optimal for isotropic inputs (Eckart and Young).
    const bool needsNoSearch = problem.follows == Nonlinearity::Identity && problem.covariance.empty();
    Result<LowRankFit> found = fitKept(problem, needsNoSearch ? LowRankMethod::Spectral : wanted, cache, watch);
    if (!found) {
        return found.error();
    }
    done = std::move(*found);
    return Done{};
}

std::string counted(std::size_t count)
{
    return std::to_string(count) + (count == 1 ? " factored weight" : " factored weights");
}

/// Returns notes about all fits, in few lines.
std::vector<std::string> notesOf(const std::vector<FactorFit>& fits, LowRankMethod method, const Outcome& outcome)
{
    std::vector<std::string> notes;
    std::size_t unfollowed = 0;
    std::vector<std::string> unfinished;
    for (std::size_t i = 0; i < fits.size(); ++i) {
        unfollowed += followingOf(fits[i].follows) == Nonlinearity::Identity && !fits[i].inputMoments.defined() ? 1 : 0;
        if (!outcome.fits[i]->converged) {
            unfinished.push_back(fits[i].name + ": " + outcome.fits[i]->note);
        }
    }
    if (method != LowRankMethod::Spectral && unfollowed > 0) {
        notes.push_back(counted(unfollowed) + (unfollowed == 1 ? " has" : " have") +
                        " no activation after them that a fit knows: the spectral start is the optimum there, and "
                        "nothing is searched");
    }
    if (!unfinished.empty()) {
        notes.push_back("the fit of " + counted(unfinished.size()) + " did not converge, first of " +
                        unfinished.front());
    }
    if (std::string faults = outcome.cache.faults(); !faults.empty()) {
        notes.push_back(std::move(faults));
    }
    return notes;
}

} // namespace

LowRankProblem problemOf(const FactorFit& fit)
{
    LowRankProblem problem;
    problem.out = fit.whole.size(0);
    problem.in = fit.whole.size(1);
    problem.rank = fit.u.size(1);
    problem.weight = numbersOf(fit.whole);
    problem.follows = followingOf(fit.follows);
    problem.covariance = numbersOf(fit.inputMoments);
    problem.seed = fit.seed;
    problem.lfai.epochs = fit.epochs;
    problem.drawnLeft = numbersOf(fit.u);
    problem.drawnRight = numbersOf(fit.v);
    return problem;
}

GapFit gapOf(const LowRankFit& fit)
{
    const LowRankMeasures& measures = fit.measures;
    return {.state = GapFit::State::Fitted,
            .functionError = measures.functionError,
            .fullFunction = measures.fullFunction,
            .weightError = measures.weightError,
            .meanCorrelation = measures.meanCorrelation,
            .spectralGapBound = measures.spectralGapBound,
            .seconds = measures.seconds,
            .converged = fit.converged,
            .note = fit.note};
}

GapWeight gapWeightOf(const FactorFit& fit)
{
    GapWeight weight{fit.name, fit.whole.size(0), fit.whole.size(1), fit.u.size(1)};
    weight.setFollows(std::string(nameOf(followingOf(fit.follows))));
    return weight;
}

void writeFactors(const FactorFit& fit, const std::vector<double>& left, const std::vector<double>& right)
{
    const at::NoGradGuard noGrad;
    const auto write = [](const at::Tensor& to, const std::vector<double>& values) {
        to.copy_(at::from_blob(const_cast<double*>(values.data()), to.sizes(), at::kDouble));
    };
    write(fit.u, left);
    write(fit.v, right);
}

Result<FitsReport> fitAll(const std::vector<FactorFit>& fits, LowRankMethod method, const FitCache& cache,
                          const PreparationWatch& watch)
{
    if (fits.empty()) {
        return FitsReport{};
    }
    Outcome outcome(fits.size(), cache);
    std::vector<FitJob> jobs;
    for (std::size_t i = 0; i < fits.size(); ++i) {
        jobs.push_back({fits[i].name, [&, i](const LowRankWatch& watched) {
                            return solve(fits[i], method, watched, outcome.cache, outcome.fits[i]);
                        }});
    }
    if (const Status made = runFits(jobs, watch); !made) {
        return made.error();
    }
    FitsReport report;
    report.gap.methods = {method};
    report.gap.outputs = {std::nullopt};
    for (std::size_t i = 0; i < fits.size(); ++i) {
        const LowRankFit& fit = *outcome.fits[i];
        writeFactors(fits[i], fit.left, fit.right);
        report.gap.weights.push_back(gapWeightOf(fits[i]));
        report.gap.fits.push_back(gapOf(fit));
        if (fits[i].inputMoments.defined()) {
            report.gap.inputs = projects::LowRankInputs::Data;
        }
    }
    report.notes = notesOf(fits, method, outcome);
    return report;
}

} // namespace residua::engine
