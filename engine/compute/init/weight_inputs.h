// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/init/feature_fits.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>

namespace residua::engine {

/// Collects the inputs of a network's weights. For each weight: the second moments, which are the mean of x·xᵀ over all
/// rows x that it was multiplied with, in double. For each attention: the first sequences. Engine thread.
class WeightInputs {
public:
    /// Adds `x` [..., in]. `parameter` is Weight::parameter().
    void add(const at::Tensor& parameter, const at::Tensor& x);
    /// Returns [in, in] on the host; undefined for a weight without inputs.
    [[nodiscard]] at::Tensor momentsOf(const at::Tensor& parameter) const;

    /// Adds the inputs of the attention `node`: [batch, time, width] each. Keeps at most kFitSequences pieces of
    /// `length` tokens, from the first pass.
    void addSequences(const std::string& node, const at::Tensor& forQueries, const at::Tensor& forKeys);
    void setLength(std::int64_t length) { m_length = length; }
    [[nodiscard]] const InputsByAttention& sequences() const { return m_sequences; }

private:
    struct Sum {
        at::Tensor products; ///< Σ x·xᵀ
        std::int64_t rows = 0;
    };
    std::map<const void*, Sum> m_sums;
    InputsByAttention m_sequences;
    std::int64_t m_length = kFitLength;
};

} // namespace residua::engine
