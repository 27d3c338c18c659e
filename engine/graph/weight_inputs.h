// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>

namespace residua::engine {

/// The second moments of what the weights of a network read: for each the mean of x·xᵀ over all rows x that passes have
/// multiplied it with, in double. Engine thread.
class WeightInputs {
public:
    /// `parameter` is Weight::parameter(); `x` [..., in].
    void add(const at::Tensor& parameter, const at::Tensor& x);
    /// [in, in] on the host; undefined for a weight that was multiplied with nothing.
    [[nodiscard]] at::Tensor momentsOf(const at::Tensor& parameter) const;

private:
    struct Sum {
        at::Tensor products; ///< Σ x·xᵀ
        std::int64_t rows = 0;
    };
    std::map<const void*, Sum> m_sums;
};

} // namespace residua::engine
