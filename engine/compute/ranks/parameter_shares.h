// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/init/named_parameter.h"
#include "engine/compute/ranks/ranks.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <vector>

namespace residua::engine {

/// Divides a network's parameters among the ranks. Each rank keeps the optimiser's states of its share and updates it
/// (ZeRO-1). Parameters are not cut, because some algorithms need whole matrices. Engine thread. Functions that
/// exchange are called by all ranks and throw std::runtime_error with the ranks that have ended.
class ParameterShares {
public:
    /// The parameters that have one owner.
    enum class Together {
        Nothing,  ///< the shares are as equal as whole parameters allow
        Siblings, ///< those of the same name in all layers of a tower, which copy states from each other when it grows
    };
    /// `ranks` and `parameters` must outlive it.
    ParameterShares(Ranks& ranks, std::vector<NamedParameter>& parameters, Together together);

    [[nodiscard]] bool isOwn(std::size_t parameter) const { return m_owners[parameter] == m_ranks.rank(); }
    /// True on the rank that writes checkpoints.
    [[nodiscard]] bool records() const { return m_ranks.rank() == 0; }
    /// Replaces the parameters that have gradients by the values of their owners.
    void exchangeValues();
    /// Returns a state of a parameter from its owner. `state` has its shape and type, and its memory on the owner.
    [[nodiscard]] at::Tensor collect(const at::Tensor& state, std::size_t parameter);

private:
    Ranks& m_ranks;
    std::vector<NamedParameter>& m_parameters;
    std::vector<int> m_owners; ///< the rank of each parameter
};

} // namespace residua::engine
