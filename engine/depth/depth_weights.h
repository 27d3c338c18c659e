// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "engine/depth/depth_stack.h"
#include "engine/graph/pass.h"
#include "engine/init/init_plan.h"
#include "engine/runs/run_files.h"
#include "projects/base/result.h"
#include "projects/model/topology.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace residua::engine {

/// The entries that a reader is about to mix, for weights that depend on them.
struct DepthReading {
    const DepthStack& stack;
    /// The reader's sources that are among the stack entries, as indices into DepthReader::sources, ascending. Excludes
    /// sources from layers that the pass leaves out. Never empty.
    std::span<const std::size_t> places;
    std::span<const std::size_t> sources; ///< their indices among the entries, in that order
    const at::Tensor& newest;             ///< [..., d]: the newest entry
};

/// Some of a reader's sources with their weights. A reader's mix is the sum of its parts.
struct WeighedSources {
    std::vector<std::size_t> sources; ///< indices among the entries
    MixWeights weights;
};

/// Computes the mixing weights of all readers; one subclass per kind of weight. A rule asks for each reader's
/// weights in turn and passes them to DepthStack::mix.
class DepthWeights {
public:
    virtual ~DepthWeights() = default;

    /// Starts a forward pass: computes the values that are constant during the pass.
    virtual void begin() = 0;
    /// Returns the weights of reader `index` (of the plan) in this pass; each present source occurs once. Readers are
    /// called in order; those that read nothing are skipped. A normalisation includes absent sources, except for depth
    /// attention, which has no entries to attend to there.
    [[nodiscard]] virtual std::vector<WeighedSources> of(std::size_t index, const DepthReading& reading) = 0;
    /// Ends a forward pass: frees what was kept for further readers.
    virtual void end() {}
    /// As DepthRule::regularisers.
    [[nodiscard]] virtual std::vector<Regulariser> regularisers() const { return {}; }
    /// As CompiledNetwork::coefficients.
    [[nodiscard]] virtual std::vector<Matrix> matrices(std::int64_t step) = 0;

    /// Makes the topology's parameters. Learned weights: "topology.coefficient" and "topology.gate" ([mixes, d]). The
    /// coefficients of all readers are concatenated, each [outputs, sources] or, per feature, [outputs, sources, d];
    /// under fixed weights only learned shortcuts have one, [learned terms]. Weights computed per token: see
    /// token_weights.h. `depth` must outlive the result.
    [[nodiscard]] static Result<std::unique_ptr<DepthWeights>>
    create(const projects::DepthMix& mix, const projects::DepthPlan& depth, std::int64_t width, InitPlan& plan);
};

/// Weights computed for each token, in the parameters' precision whatever the stack's.
///
/// MUDD (WeightKind::PerToken), for reader j with n sources and O outputs: GELU(RMSNorm(x) W1) W2 + b of the newest
/// entry x, with h hidden features (projects::perTokenHidden) and a norm without weights. "topology.<j>.hidden" [h, d]
/// starts normal with deviation 1/√d, "topology.<j>.mix" [O·n, h] from 0, "topology.<j>.bias" [O·n] from the document's
/// start. If normalised, a softmax over the sources with temperature τ follows.
///
/// Attention Residuals (WeightKind::DepthAttention), for each output of each reader: p = softmax_i(⟨q,
/// RMSNorm(x_i)⊙w⟩/τ) over its sources. "topology.query" [mixes, d] from 0, "topology.norm" [mixes, d] from 1.
///
/// The matrix of both is "mix", the mean over the tokens of the last pass.
[[nodiscard]] Result<std::unique_ptr<DepthWeights>>
makeTokenWeights(const projects::DepthMix& mix, const projects::DepthPlan& depth, std::int64_t width, InitPlan& plan);

} // namespace residua::engine
