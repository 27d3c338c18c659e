// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/values.h"
#include "engine/compute/depth/depth_stack.h"
#include "engine/compute/depth/layer_stack.h"
#include "engine/compute/graph/pass.h"
#include "engine/compute/init/init_plan.h"
#include "projects/base/result.h"
#include "projects/depth/depth_parameters.h"
#include "projects/depth/depth_program.h"
#include "projects/depth/unrolled_depth.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace residua::engine {

/// The tensors of a wiring's parameters (projects::parametersOf).
class WiringTensors {
public:
    /// Declares the parameters in `plan`.
    WiringTensors(const std::vector<projects::WiringParameter>& parameters, InitPlan& plan);
    /// Returns the parameter "topology." + `name`, or an undefined tensor.
    [[nodiscard]] at::Tensor operator[](const std::string& name) const;
    /// Returns the parameters "topology.<row>." + `name` of rows 1 to `rows`; an undefined tensor for a missing one.
    [[nodiscard]] std::vector<at::Tensor> each(const std::string& name, std::size_t rows) const;

private:
    std::map<std::string, at::Tensor> m_tensors;
};

/// The inputs of a Mix in a pass.
struct MixInputs {
    std::span<const at::Tensor> values; ///< one per input of the step; undefined if absent
    std::vector<std::size_t> places;    ///< inputs that are present, ascending
    std::vector<std::size_t> entries;   ///< their indices in the stack, in that order
    at::Tensor base;                    ///< undefined without a base, and if it is absent
    at::Tensor newest;                  ///< undefined if the step does not ask for it
    EntryFactors factors = {};          ///< of the weights, after their normalisation
    std::vector<double> before = {};    ///< of the weights of each input, before it; empty: all 1
    /// The row of the read that follows a write of streams in this pass. Nullopt for other mixes, and if only one of
    /// the two records gradients.
    std::optional<std::size_t> following = std::nullopt;
};

/// The parameters of a wiring, and the Mix and Join steps of its program that use them. Steps are called in the order
/// of the program.
class DepthRule {
public:
    virtual ~DepthRule() = default;
    /// Start and end a forward pass.
    virtual void begin(const Pass& /*pass*/) {}
    virtual void end() {}
    /// False if a pass cannot start at a later step, because layers use values of layers before.
    [[nodiscard]] virtual bool restarts() const { return true; }
    /// Returns the outputs of a Mix. `stack` has the entries of the step's stack; it is null if no entry is stored.
    [[nodiscard]] virtual std::vector<at::Tensor> mix(const projects::DepthStep& step, const MixInputs& inputs,
                                                      DepthStack* stack);
    /// Returns the output of a Join. Absent inputs are undefined.
    [[nodiscard]] virtual at::Tensor join(const projects::DepthStep& step, std::span<const at::Tensor> inputs);
    /// Returns the wiring's own terms of the training loss.
    [[nodiscard]] virtual std::vector<Regulariser> regularisers() const { return {}; }
    /// As CompiledNetwork::coefficients.
    [[nodiscard]] virtual std::vector<Matrix> coefficients(std::int64_t /*step*/) { return {}; }
};

using DepthRuleResult = Result<std::unique_ptr<DepthRule>>;

/// Make the rule of a wiring of `layers` and add its parameters. `width` is d.
/// Returns the rule of learned shortcuts beside the running sum, or of a depth mix (mix_rules.cpp).
[[nodiscard]] DepthRuleResult makeRule(const projects::DepthMix& mix, LayerStack& layers, std::int64_t width,
                                       InitPlan& plan);
/// Returns the rule of Hyper-Connections and related wirings (stream_rules.cpp).
[[nodiscard]] DepthRuleResult makeRule(const projects::MultiStream& wiring, LayerStack& layers, std::int64_t width,
                                       InitPlan& plan);
/// Returns the rule of gates on the residual or the branch (gate_rules.cpp).
[[nodiscard]] DepthRuleResult makeRule(const projects::BranchGate& wiring, LayerStack& layers, std::int64_t width,
                                       InitPlan& plan);
/// Returns the rule of DenseNet (concat_rule.cpp).
[[nodiscard]] DepthRuleResult makeRule(const projects::Concatenation& wiring, LayerStack& layers, std::int64_t width,
                                       InitPlan& plan);

/// Returns α and β of each module with RW of LAuReL, from their learned parameters: [modules, 2] (gate_rules.cpp).
[[nodiscard]] at::Tensor laurelFactors(projects::LaurelBound bound, const at::Tensor& learned);

/// The mixes of n streams at K modules.
struct StreamTerms {
    at::Tensor read;  ///< from the streams to the layer's input: [K, R, n]
    at::Tensor write; ///< from the old streams and the branch to the new streams: [K, n, n + R]

    /// Returns the weights of all modules and of the exit [n] in the order of the wiring's program.
    [[nodiscard]] std::vector<double> numbers(const at::Tensor& exit) const;
};
/// Returns the mixes of applied weights: `read` is [K, n, R], `carry` [K, from, to] and `write` [K, n]
/// (stream_rules.cpp).
[[nodiscard]] StreamTerms streamTerms(const at::Tensor& read, const at::Tensor& carry, const at::Tensor& write);

/// Returns the values of a tensor in row-major order.
[[nodiscard]] std::vector<double> hostNumbers(const at::Tensor& tensor);

/// Return the weights of a wiring that is not an explicit mix in the terms of one, as the matrix "mix": row j − 1 holds
/// the weights of entries 0 to j − 1 (the input, the branches) at reader j. `weights` has a row of j numbers for each
/// reader.
[[nodiscard]] Matrix mixMatrix(const std::vector<std::vector<double>>& weights, std::int64_t step);
[[nodiscard]] Matrix mixMatrix(const projects::UnrolledDepth& unrolled, std::int64_t step);

} // namespace residua::engine
