// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/init/parameter_fits.h"

#include "engine/compute/init/init_plan.h"
#include "projects/base/random.h"
#include "projects/nodes/node_kinds.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <iterator>
#include <memory>
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

Nonlinearity followingOf(const FactorFit& fit)
{
    const projects::Activation* const found = projects::findActivation(fit.follows);
    for (const Nonlinearity each : {Nonlinearity::Relu, Nonlinearity::Silu, Nonlinearity::Gelu}) {
        if (found != nullptr && found->fittedAs == nameOf(each)) {
            return each;
        }
    }
    return Nonlinearity::Identity;
}

/// True if the spectral start is optimal: without an activation, for isotropic inputs (Eckart and Young).
bool needsNoSearch(const FactorFit& fit)
{
    return followingOf(fit) == Nonlinearity::Identity && !fit.inputMoments.defined();
}

LowRankProblem problemOf(const FactorFit& fit)
{
    LowRankProblem problem;
    problem.out = fit.whole.size(0);
    problem.in = fit.whole.size(1);
    problem.rank = fit.u.size(1);
    problem.kernel = fit.kernel;
    problem.weight = numbersOf(fit.whole);
    problem.follows = followingOf(fit);
    problem.covariance = numbersOf(fit.inputMoments);
    problem.seed = fit.seed;
    problem.lfai.epochs = fit.epochs;
    problem.drawnLeft = numbersOf(fit.u);
    problem.drawnRight = numbersOf(fit.v);
    return problem;
}

std::string counted(std::size_t count, const std::string& thing)
{
    return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

void addFaults(const CachedFits& cache, std::vector<std::string>& notes)
{
    if (std::string faults = cache.faults(); !faults.empty()) {
        notes.push_back(std::move(faults));
    }
}

} // namespace

GapWeight gapWeightOf(const FactorFit& fit)
{
    return GapWeight::from(
        fit.name, {fit.whole.size(0), fit.whole.size(1), fit.u.size(1), std::string(nameOf(followingOf(fit)))});
}

NamedFit fitBy(LowRankMethod method, const FactorFit& fit)
{
    return {fit.name, static_cast<double>(fit.whole.numel() * fit.u.size(1)),
            [fit, method] { return fitJob(problemOf(fit), method); }};
}

FeatureFit featureFit(const AttentionFeatures& of, const std::string& name, const at::Tensor& features,
                      const FitInputs& inputs, std::int64_t seed)
{
    const at::NoGradGuard noGrad;
    AttentionInputs read;
    if (const auto found = inputs.attentions.find(of.node); found != inputs.attentions.end()) {
        read = found->second;
    } else {
        const Philox random(streamKey(seed, of.node + "fit"));
        read.forQueries = drawNormal({kFitSequences, inputs.length, of.width}, random).to(features.device());
        read.forKeys = read.forQueries;
    }
    const AttentionFeatures::Heads heads = of.headsOf(read);
    const std::int64_t kvHeads = features.size(0);
    const std::int64_t group = heads.queries.size(1) / kvHeads;
    FeatureFit fit{name, features, {}};
    for (std::int64_t head = 0; head < kvHeads; ++head) {
        AttentionProblem& problem = fit.problems.emplace_back();
        problem.sequences = heads.keys.size(0);
        problem.group = group;
        problem.length = heads.keys.size(2);
        problem.width = features.size(2);
        problem.features = features.size(1);
        problem.causal = of.causal;
        problem.queries = numbersOf(heads.queries.narrow(1, head * group, group));
        problem.keys = numbersOf(heads.keys.select(1, head));
        problem.start = numbersOf(features.select(0, head));
    }
    return fit;
}

std::vector<NamedFit> fitsOf(FeatureFit fit, FitJob (*job)(AttentionProblem))
{
    std::vector<NamedFit> fits;
    for (AttentionProblem& problem : fit.problems) {
        const double work = static_cast<double>(problem.queries.size()) * static_cast<double>(problem.features);
        fits.push_back({fit.name, work, [job, of = std::make_shared<AttentionProblem>(std::move(problem))] {
                            return job(std::move(*of)); // which is called once
                        }});
    }
    return fits;
}

void writeMatrices(const Fitted& fit, const std::vector<at::Tensor>& tensors)
{
    const at::NoGradGuard noGrad;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        tensors[i].copy_(at::from_blob(const_cast<double*>(fit.matrices[i].data()), tensors[i].sizes(), at::kDouble));
    }
}

Result<FitsReport> fitAll(const std::vector<FactorFit>& fits, LowRankMethod method, const FitCache& cache,
                          const PreparationWatch& watch)
{
    FitsReport report;
    if (fits.empty()) {
        return report;
    }
    CachedFits cached(cache);
    std::vector<NamedFit> jobs;
    std::size_t unsearched = 0;
    for (const FactorFit& fit : fits) {
        unsearched += needsNoSearch(fit) ? 1 : 0;
        jobs.push_back(fitBy(needsNoSearch(fit) ? LowRankMethod::Spectral : method, fit));
    }
    std::vector<Fitted> done = RESIDUA_TRY(runFits(std::move(jobs), cached, watch));
    report.gap.methods = {method};
    report.gap.outputs = {std::nullopt};
    std::vector<std::string> unfinished;
    for (std::size_t i = 0; i < fits.size(); ++i) {
        writeMatrices(done[i], {fits[i].u, fits[i].v});
        const GapFit& fit = report.gap.fits.emplace_back(std::move(done[i].gap));
        report.gap.weights.push_back(gapWeightOf(fits[i]));
        if (fits[i].inputMoments.defined()) {
            report.gap.inputs = projects::LowRankInputs::Data;
        }
        if (!fit.converged) {
            unfinished.push_back(fits[i].name + ": " + fit.note);
        }
    }
    if (method != LowRankMethod::Spectral && unsearched > 0) {
        report.notes.push_back(counted(unsearched, "factored weight") + (unsearched == 1 ? " has" : " have") +
                               " no activation after them that a fit knows: the spectral start is the optimum there, "
                               "and nothing is searched");
    }
    if (!unfinished.empty()) {
        report.notes.push_back("the fit of " + counted(unfinished.size(), "factored weight") +
                               " did not converge, first of " + unfinished.front());
    }
    addFaults(cached, report.notes);
    return report;
}

Result<std::vector<std::string>> fitAll(std::vector<FeatureFit> fits, const FitCache& cache,
                                        const PreparationWatch& watch)
{
    CachedFits cached(cache);
    std::vector<NamedFit> jobs;
    std::vector<at::Tensor> heads;
    for (FeatureFit& fit : fits) {
        const std::vector<at::Tensor> own = fit.features.detach().unbind();
        heads.insert(heads.end(), own.begin(), own.end());
        std::ranges::move(fitsOf(std::move(fit), &fitJob), std::back_inserter(jobs));
    }
    const std::vector<Fitted> done = RESIDUA_TRY(runFits(std::move(jobs), cached, watch));
    std::size_t unmoved = 0;
    for (std::size_t head = 0; head < heads.size(); ++head) {
        writeMatrices(done[head], {heads[head]});
        unmoved += done[head].gap.weightError > 0 ? 0 : 1;
    }
    std::vector<std::string> notes;
    if (unmoved > 0) {
        notes.push_back("the features of " + counted(unmoved, "attention head") +
                        " start as they were drawn: the fit to the softmax found nothing better");
    }
    addFaults(cached, notes);
    return notes;
}

} // namespace residua::engine
