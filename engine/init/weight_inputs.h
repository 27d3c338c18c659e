// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/init/feature_fits.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>

namespace residua::engine {

/// What the weights of a network read. For each the second moments, the mean of x·xᵀ over all rows x that passes have
/// multiplied it with, in double; of each attention the first sequences. Engine thread.
class WeightInputs {
public:
    /// `parameter` is Weight::parameter(); `x` [..., in].
    void add(const at::Tensor& parameter, const at::Tensor& x);
    /// [in, in] on the host; undefined for a weight that was multiplied with nothing.
    [[nodiscard]] at::Tensor momentsOf(const at::Tensor& parameter) const;

    /// What the attention of that name reads: [batch, time, width] each. Kept are kFitSequences pieces at most of
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
