// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/graph/pass.h"
#include "engine/compute/runtime/compute.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

namespace residua::engine {

/// The inputs of one operator: views of the running graph's slots, and the pass's use of the graph's layer.
class Inputs {
public:
    Inputs(std::span<const at::Tensor> slots, std::span<const std::size_t> indices, const LayerUse& layer)
        : m_slots(slots), m_indices(indices), m_layer(layer)
    {
    }

    [[nodiscard]] std::size_t size() const { return m_indices.size(); }
    [[nodiscard]] const at::Tensor& operator[](std::size_t i) const { return m_slots[m_indices[i]]; }
    /// In a stem or a head, a use that runs everything.
    [[nodiscard]] const LayerUse& layer() const { return m_layer; }

private:
    std::span<const at::Tensor> m_slots;
    std::span<const std::size_t> m_indices;
    const LayerUse& m_layer;
};

/// The computation of a node. Built once per node and layer; holds its parameters.
class Operator {
public:
    virtual ~Operator() = default;
    [[nodiscard]] virtual at::Tensor run(const Inputs& inputs, const Pass& pass) const = 0;
    /// Runs a step with a second output (ProgramStep::second): {run(), the second output}. Most operators have none.
    [[nodiscard]] virtual std::pair<at::Tensor, at::Tensor> runBoth(const Inputs& inputs, const Pass& pass) const
    {
        return {run(inputs, pass), at::Tensor()};
    }
    /// True if it casts its inputs to the compute's activation type.
    [[nodiscard]] virtual bool castsInputs() const { return false; }
    /// True if it leaves out elements in training, by Pass::draws.
    [[nodiscard]] virtual bool drops() const { return false; }
};

using ActivationFunction = at::Tensor (*)(const at::Tensor& x);

/// Returns the elementwise function of an activation in projects/nodes/node_kinds.h, for tensors of any shape; nullptr
/// for an unknown name.
[[nodiscard]] ActivationFunction activationFunction(std::string_view name);

} // namespace residua::engine
