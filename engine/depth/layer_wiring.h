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

/// How the layers of a stack are connected: what each reads of what was before it, and what becomes of its branch. It
/// owns the layers and asks the LayerStack alone to run them. A few subclasses per alternative of projects::Wiring.
class LayerWiring {
public:
    virtual ~LayerWiring() = default;
    /// The stack's input [..., d] to the final output [..., d].
    [[nodiscard]] virtual at::Tensor run(const at::Tensor& input, const Pass& pass) = 0;
    /// The topology's own terms of the training loss.
    [[nodiscard]] virtual std::vector<Regulariser> regularisers() const { return {}; }
    /// As CompiledNetwork::coefficients.
    [[nodiscard]] virtual std::vector<Matrix> coefficients(std::int64_t step) = 0;

    /// `width` is d. Adds the topology's parameters.
    [[nodiscard]] static Result<std::unique_ptr<LayerWiring>> create(const projects::Wiring& wiring, LayerStack layers,
                                                                     std::int64_t width, InitPlan& plan);
};

/// A wiring that is no explicit mix, in the algebra's terms: row j − 1 holds the weights with which entries 0..j − 1
/// (the input, the branches) reach reader j. `weights` has a row of j numbers for each reader.
[[nodiscard]] Matrix unfolded(const std::vector<std::vector<float>>& weights, std::int64_t step);

using LayerWiringResult = Result<std::unique_ptr<LayerWiring>>;
/// x_l = x_{l−1} + f_l: the plain residual network, with its learned shortcuts beside the sum (sum_wiring.cpp).
[[nodiscard]] LayerWiringResult makeSumWiring(const projects::DepthMix& mix, LayerStack layers, InitPlan& plan);
/// Every other mix of the algebra (mix_wiring.cpp).
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
