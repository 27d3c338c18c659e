// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace residua::engine {

/// The given places of a dimension, ascending, one after another; the tensor itself where they are all of them.
/// Differentiable, and without a table of indexes that would have to be copied to the device.
[[nodiscard]] at::Tensor atPlaces(const at::Tensor& tensor, std::int64_t dimension,
                                  std::span<const std::size_t> places);

/// Which places of a dimension stay, where it is cut into parts of equal length and some of the parts stay.
/// Neighbouring parts are one run, given by its beginning and its length in places. A list of numbers, so that a
/// function keeps it for its backward pass.
class PartRuns {
public:
    /// Every place stays.
    PartRuns() = default;
    /// In a dimension of `size` places these of the `count` parts stay. `parts` ascend.
    PartRuns(std::int64_t size, std::int64_t count, std::span<const std::size_t> parts);
    explicit PartRuns(std::vector<std::int64_t> list) : m_list(std::move(list)) {}

    /// These runs `times` times, each time `size` places further: the same parts of `times` matrices that lie one after
    /// another.
    [[nodiscard]] PartRuns repeated(std::int64_t times, std::int64_t size) const;
    [[nodiscard]] bool all() const { return m_list.empty(); }
    /// What stays, contiguous where not all does.
    [[nodiscard]] at::Tensor take(const at::Tensor& tensor, std::int64_t dimension) const;
    /// `taken` at its places of a dimension of `size`, 0 elsewhere.
    [[nodiscard]] at::Tensor putBack(const at::Tensor& taken, std::int64_t dimension, std::int64_t size) const;
    [[nodiscard]] const std::vector<std::int64_t>& list() const { return m_list; }

private:
    std::vector<std::int64_t> m_list; ///< beginning, length, beginning, …; empty: all
};

/// Cuts `dimension` into `count` parts of equal length and returns those in `parts`, one after another. The gradient is
/// written in one pass over the whole tensor, 0 for the other parts.
[[nodiscard]] at::Tensor atParts(const at::Tensor& tensor, std::int64_t dimension, std::int64_t count,
                                 std::span<const std::size_t> parts);

} // namespace residua::engine
