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
/// Differentiable, and without a number that a device would have to be told.
[[nodiscard]] at::Tensor atPlaces(const at::Tensor& tensor, std::int64_t dimension,
                                  std::span<const std::size_t> places);

/// Those of `count` parts of equal length that stay, in a dimension: runs of neighbours, each a beginning and a length
/// in places. A list of numbers, so that a function keeps it for its backward pass.
class PartRuns {
public:
    /// Every place stays.
    PartRuns() = default;
    /// In a dimension of `size` places these of the `count` parts stay. `parts` ascend.
    PartRuns(std::int64_t size, std::int64_t count, std::span<const std::size_t> parts);
    explicit PartRuns(std::vector<std::int64_t> list) : m_list(std::move(list)) {}

    /// The same once more, `times` in all, each `size` places further: the same parts of matrices that lie one after
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

/// Places of `dimension` in parts of equal length, of which those in `parts` stay. The gradient is filled up by one
/// pass over the whole tensor.
[[nodiscard]] at::Tensor atParts(const at::Tensor& tensor, std::int64_t dimension, std::int64_t count,
                                 std::span<const std::size_t> parts);

} // namespace residua::engine
