// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "engine/depth/layer_stack.h"
#include "engine/graph/pass.h"
#include "engine/graph/regulariser.h"
#include "engine/init/init_plan.h"
#include "projects/base/result.h"
#include "projects/model/topology.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace residua::engine {

/// Connects the layers of a stack: decides what each layer reads and how its branch is used. Owns the layers and runs
/// them only through the LayerStack. Each alternative of projects::Wiring has a few subclasses.
class LayerWiring {
public:
    virtual ~LayerWiring() = default;
    /// Maps the stack's input [..., d] to the final output [..., d].
    [[nodiscard]] virtual at::Tensor run(const at::Tensor& input, const Pass& pass) = 0;
    /// Returns the topology's own terms of the training loss.
    [[nodiscard]] virtual std::vector<Regulariser> regularisers() const { return {}; }
    /// As CompiledNetwork::coefficients.
    [[nodiscard]] virtual std::vector<Matrix> coefficients(std::int64_t step) = 0;

    /// Creates the wiring and adds the topology's parameters. `width` is d.
    [[nodiscard]] static Result<std::unique_ptr<LayerWiring>> create(const projects::Wiring& wiring, LayerStack layers,
                                                                     std::int64_t width, InitPlan& plan);
};

/// Returns the weights of a wiring that is not an explicit mix in the terms of one: row j − 1 holds the weights of
/// entries 0 to j − 1 (the input, the branches) at reader j. `weights` has a row of j numbers for each reader.
[[nodiscard]] Matrix unfolded(const std::vector<std::vector<float>>& weights, std::int64_t step);

using LayerWiringResult = Result<std::unique_ptr<LayerWiring>>;
/// The plain residual network x_l = x_{l−1} + f_l, with learned shortcuts beside the sum (sum_wiring.cpp).
[[nodiscard]] LayerWiringResult makeSumWiring(const projects::DepthMix& mix, LayerStack layers, InitPlan& plan);
/// All other depth mixes (mix_wiring.cpp).
[[nodiscard]] LayerWiringResult makeMixWiring(const projects::DepthMix& mix, LayerStack layers, std::int64_t width,
                                              InitPlan& plan);
/// Hyper-Connections and mHC (stream_wiring.cpp).
[[nodiscard]] LayerWiringResult makeStreamWiring(const projects::MultiStream& wiring, LayerStack layers,
                                                 std::int64_t width, InitPlan& plan);
/// Gates on the residual or the branch (gate_wiring.cpp).
[[nodiscard]] LayerWiringResult makeGateWiring(const projects::BranchGate& wiring, LayerStack layers,
                                               std::int64_t width, InitPlan& plan);
/// DenseNet (concat_wiring.cpp).
[[nodiscard]] LayerWiringResult makeConcatWiring(LayerStack layers, std::int64_t width, InitPlan& plan);

} // namespace residua::engine
