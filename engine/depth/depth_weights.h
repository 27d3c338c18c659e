// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "engine/depth/depth_stack.h"
#include "engine/graph/regulariser.h"
#include "engine/init/init_plan.h"
#include "engine/runs/mix_terms.h"
#include "projects/base/result.h"
#include "projects/model/topology.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace residua::engine {

/// What a reader is about to mix, for weights that depend on it.
struct DepthReading {
    const DepthStack& stack;
    /// Which of the reader's sources are among the stack entries, as places in DepthReader::sources, ascending: all but
    /// those of layers that the pass leaves out. At least one.
    std::span<const std::size_t> places;
    std::span<const std::size_t> sources; ///< their indices among the entries, in that order
    const at::Tensor& newest;             ///< [..., d]: the newest entry
};

/// Some of a reader's sources with the weights that they get. A reader's mix is the sum of its parts.
struct WeighedSources {
    std::vector<std::size_t> sources; ///< indices among the entries
    MixWeights weights;
};

/// Where the mixing weights of all readers come from; one subclass per kind of weight. MixWiring asks for each reader's
/// weights in turn and hands them to the one mixing path.
class DepthWeights {
public:
    virtual ~DepthWeights() = default;

    /// Starts a forward pass: computes from the parameters, once, what is the same for the whole pass.
    virtual void begin() = 0;
    /// The weights of reader `index` (of the plan) in this pass, each of the sources that are there once. Readers ask
    /// in their order; those that nothing asks for are left out. What normalises weights normalises those of absent
    /// sources with the others, but for depth attention, which has nothing to attend to there.
    [[nodiscard]] virtual std::vector<WeighedSources> of(std::size_t index, const DepthReading& reading) = 0;
    /// Ends a forward pass: lets go of what was kept for further readers.
    virtual void end() {}
    /// As LayerWiring::regularisers.
    [[nodiscard]] virtual std::vector<Regulariser> regularisers() const { return {}; }
    /// As CompiledNetwork::coefficients.
    [[nodiscard]] virtual std::vector<Matrix> matrices(std::int64_t step) = 0;

    /// Makes the topology's parameters. Learned weights: "topology.coefficient" (those of all readers one after
    /// another, each [outputs, sources] or, per feature, [outputs, sources, d]; under fixed weights those of learned
    /// shortcuts alone, [learned terms]) and "topology.gate" ([mixes, d]). Made for each token: see token_weights.h.
    /// `depth` must outlive it.
    [[nodiscard]] static Result<std::unique_ptr<DepthWeights>>
    create(const projects::DepthMix& mix, const projects::DepthPlan& depth, std::int64_t width, InitPlan& plan);
};

} // namespace residua::engine
