// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/depth/depth_rule.h"
#include "engine/compute/depth/depth_stack.h"
#include "projects/depth/depth_plan.h"
#include "projects/model/topology.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/index_select.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace residua::engine {

/// Some of a reader's sources with their weights. A reader's mix is the sum of its parts.
struct WeighedSources {
    std::vector<std::size_t> sources; ///< indices among the entries
    MixWeights weights;
};

/// The mixes of a DepthMix on the stack; one subclass per kind of weight.
class DepthWeights : public DepthRule {
public:
    DepthWeights(const projects::DepthMix& mix, std::int64_t layers, at::Tensor shared)
        : m_mix(mix), m_depth(projects::planOf(mix, layers)), m_shared(std::move(shared))
    {
    }

    [[nodiscard]] std::vector<at::Tensor> mix(const projects::DepthStep& step, const MixInputs& inputs,
                                              DepthStack* stack) final;

protected:
    /// Returns the weights of reader `index` (of the plan) in this pass; each present source occurs once. Readers are
    /// called in order; those without present sources are skipped. A normalisation includes absent sources, except for
    /// depth attention, which has no entries to attend to there.
    [[nodiscard]] virtual std::vector<WeighedSources> of(std::size_t index, const MixInputs& inputs,
                                                         const DepthStack& stack) = 0;

    const projects::DepthMix m_mix;
    const projects::DepthPlan m_depth;
    /// Returns the rows of a parameter that the readers of the plan have.
    [[nodiscard]] at::Tensor byReader(const at::Tensor& parameter) const
    {
        return m_shared.defined() ? parameter.index_select(0, m_shared) : parameter;
    }

private:
    const at::Tensor m_shared; ///< projects::sharedRows(); undefined if visits share no weights
};

/// Returns the rule of weights computed for each token, in the parameters' precision whatever the stack's
/// (token_weights.cpp).
///
/// MUDD (WeightKind::PerToken), for reader j with n sources and O outputs: GELU(RMSNorm(x) W1) W2 + b of the newest
/// entry x, with h hidden features (projects::perTokenHidden) and a norm without weights. If normalised, a softmax over
/// the sources with temperature τ follows.
///
/// Attention Residuals (WeightKind::DepthAttention), for each output of each reader: p = softmax_i(⟨q,
/// RMSNorm(x_i)⊙w⟩/τ) over its sources.
///
/// The matrix of both is "mix", the mean over the tokens of the last pass.
[[nodiscard]] DepthRuleResult makeTokenWeights(const projects::DepthMix& mix, std::int64_t layers,
                                               const WiringTensors& tensors, const Compute& compute,
                                               const at::Tensor& shared);

} // namespace residua::engine
