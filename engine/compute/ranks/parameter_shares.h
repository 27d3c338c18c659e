// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/init/named_parameter.h"
#include "engine/compute/ranks/ranks.h"
#include "engine/compute/runtime/rounded_weights.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

namespace residua::engine {

struct SharedTensor;

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
    /// `ranks` and `parameters` must outlive it. With `copies` of the parameters, which may be null, parameters that
    /// are read only as copies are exchanged as such; other ranks than the owner then have their values rounded to
    /// bfloat16 until completeValues().
    ParameterShares(Ranks& ranks, std::vector<NamedParameter>& parameters, Together together,
                    std::shared_ptr<RoundedWeights> copies = nullptr);

    [[nodiscard]] bool isOwn(std::size_t parameter) const { return m_owners[parameter] == m_ranks.rank(); }
    /// True on the rank that writes checkpoints.
    [[nodiscard]] bool records() const { return m_ranks.rank() == 0; }
    /// Notes how the graph of a loss reads the parameters, before its backward pass. Each step does so on all ranks.
    void noteReads(const at::Tensor& loss);
    /// Replaces the parameters that have gradients by the values of their owners, in one exchange.
    void exchangeValues();
    /// True unless some values are rounded on the ranks that do not own them.
    [[nodiscard]] bool areComplete() const { return m_rounded.empty(); }
    /// Replaces the rounded values by those of the owners.
    void completeValues();
    /// Returns a state of a parameter from its owner. `state` has its shape and type, and its memory on the owner.
    [[nodiscard]] at::Tensor collect(const at::Tensor& state, std::size_t parameter);

private:
    void exchange(std::vector<SharedTensor> values);

    Ranks& m_ranks;
    std::vector<NamedParameter>& m_parameters;
    std::vector<int> m_owners; ///< the rank of each parameter
    std::shared_ptr<RoundedWeights> m_copies;
    std::unordered_map<const at::TensorImpl*, bool> m_readAsCopy; ///< of the parameters read: true if only so
    std::vector<std::size_t> m_rounded;                           ///< the parameters exchanged as copies
};

} // namespace residua::engine
