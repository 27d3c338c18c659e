// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/init/named_parameter.h"
#include "engine/compute/ranks/tensor_exchange.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <vector>

namespace residua::engine {

/// Clips the gradients of each group of losses by their own norm before they are added (projects::ClipScope::Losses).
class LossClipping {
public:
    /// `parameters` must outlive it.
    LossClipping(double clipNorm, std::vector<NamedParameter>& parameters, std::size_t groups);

    /// Exchanges the gradients of the parameters with those of the group. To be called before each backward pass of the
    /// group, and after it.
    void exchange(std::size_t group);
    /// Replaces the gradients of each group by their means over the ranks. They are valid after exchange.finish().
    void beginMeans(TensorExchange& exchange);
    /// Sets the gradients of the parameters to the sum of the clipped ones, and clears these.
    void finish();
    /// Clears the gradients of all groups.
    void clear();

private:
    /// Divides the gradients by max(1, norm / clipNorm).
    void clip(const std::vector<at::Tensor>& gradients) const;

    double m_clipNorm;
    std::vector<NamedParameter>& m_parameters;
    std::vector<std::vector<at::Tensor>> m_gradients; ///< by group and parameter; undefined: none
};

} // namespace residua::engine
