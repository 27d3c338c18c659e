// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/init/feature_fits.h"

#include "engine/compute/init/fit_cache.h"
#include "engine/compute/init/init_plan.h"
#include "projects/base/random.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>

#include <optional>
#include <utility>

namespace residua::engine {
namespace {

std::vector<double> doublesOf(const at::Tensor& tensor)
{
    const at::Tensor host = tensor.detach().to(at::kCPU, at::kDouble).contiguous();
    const double* const data = host.const_data_ptr<double>();
    return {data, data + host.numel()};
}

std::string countedHeads(std::size_t count)
{
    return std::to_string(count) + (count == 1 ? " attention head" : " attention heads");
}

} // namespace

std::vector<AttentionProblem> attentionProblems(const AttentionFeatures& of, const at::Tensor& features,
                                                const InputsByAttention& inputs, std::int64_t length, std::int64_t seed)
{
    const at::NoGradGuard noGrad;
    AttentionInputs read;
    if (const auto found = inputs.find(of.node); found != inputs.end()) {
        read = found->second;
    } else {
        const Philox random(streamKey(seed, of.node + "fit"));
        read.forQueries = drawNormal({kFitSequences, length, of.width}, random).to(features.device());
        read.forKeys = read.forQueries;
    }
    const AttentionFeatures::Heads heads = of.headsOf(read);
    const std::int64_t kvHeads = features.size(0);
    const std::int64_t group = heads.queries.size(1) / kvHeads;
    std::vector<AttentionProblem> problems;
    for (std::int64_t head = 0; head < kvHeads; ++head) {
        AttentionProblem& problem = problems.emplace_back();
        problem.sequences = heads.keys.size(0);
        problem.group = group;
        problem.length = heads.keys.size(2);
        problem.width = features.size(2);
        problem.features = features.size(1);
        problem.causal = of.causal;
        problem.queries = doublesOf(heads.queries.narrow(1, head * group, group));
        problem.keys = doublesOf(heads.keys.select(1, head));
        problem.start = doublesOf(features.select(0, head));
    }
    return problems;
}

Result<std::vector<std::string>> fitFeatures(const std::vector<FeatureFit>& fits, const FitCache& cache,
                                             const PreparationWatch& watch)
{
    CachedFits cached(cache);
    std::vector<std::vector<std::optional<AttentionFit>>> done;
    for (const FeatureFit& fit : fits) {
        done.emplace_back(fit.problems.size());
    }
    std::vector<FitJob> jobs;
    for (std::size_t i = 0; i < fits.size(); ++i) {
        for (std::size_t head = 0; head < fits[i].problems.size(); ++head) {
            jobs.push_back({fits[i].name, [&, i, head](const LowRankWatch& watched) -> Status {
                                Result<AttentionFit> found = fitKept(fits[i].problems[head], cached, watched);
                                if (!found) {
                                    return found.error();
                                }
                                done[i][head] = std::move(*found);
                                return Done{};
                            }});
        }
    }
    if (const Status made = runFits(jobs, watch); !made) {
        return made.error();
    }
    const at::NoGradGuard noGrad;
    std::size_t unmoved = 0;
    for (std::size_t i = 0; i < fits.size(); ++i) {
        for (std::size_t head = 0; head < done[i].size(); ++head) {
            AttentionFit& fit = *done[i][head];
            const at::Tensor to = fits[i].features.select(0, static_cast<std::int64_t>(head));
            to.copy_(at::from_blob(fit.features.data(), to.sizes(), at::kDouble));
            unmoved += fit.after.error < fit.before.error ? 0 : 1;
        }
    }
    std::vector<std::string> notes;
    if (unmoved > 0) {
        notes.push_back("the features of " + countedHeads(unmoved) +
                        " start as they were drawn: the fit to the softmax found nothing better");
    }
    if (std::string faults = cached.faults(); !faults.empty()) {
        notes.push_back(std::move(faults));
    }
    return notes;
}

} // namespace residua::engine
