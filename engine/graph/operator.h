// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/graph/pass.h"
#include "engine/runtime/compute.h"
#include "projects/base/result.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace residua::engine {

/// The inputs of one operator: views into the slots of the graph that runs.
class Inputs {
public:
    Inputs(std::span<const at::Tensor> slots, std::span<const std::size_t> indices) : m_slots(slots), m_indices(indices)
    {
    }

    [[nodiscard]] std::size_t size() const { return m_indices.size(); }
    [[nodiscard]] const at::Tensor& operator[](std::size_t i) const { return m_slots[m_indices[i]]; }

private:
    std::span<const at::Tensor> m_slots;
    std::span<const std::size_t> m_indices;
};

/// What a node does when its graph runs. Built once per node and layer; holds its parameters.
class Operator {
public:
    virtual ~Operator() = default;
    [[nodiscard]] virtual at::Tensor run(const Inputs& inputs, const Pass& pass) const = 0;
};

} // namespace residua::engine
