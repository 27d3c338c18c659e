// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace residua::engine {

/// Returns the given places of a dimension, ascending and concatenated; the tensor itself if they are all of them.
/// Differentiable, without an index table that would have to be copied to the device.
[[nodiscard]] at::Tensor atPlaces(const at::Tensor& tensor, std::int64_t dimension,
                                  std::span<const std::size_t> places);

/// The places of a dimension that are kept when it is divided into parts of equal length and only some parts are kept.
/// Adjacent parts form one run, stored as its beginning and its length in places. A list of numbers, so that a function
/// can save it for its backward.
class PartRuns {
public:
    /// Keeps every place.
    PartRuns() = default;
    /// Keeps `parts` (ascending) of the `count` parts of a dimension with `size` places.
    PartRuns(std::int64_t size, std::int64_t count, std::span<const std::size_t> parts);
    explicit PartRuns(std::vector<std::int64_t> list) : m_list(std::move(list)) {}

    /// Returns these runs `times` times, each shifted by a further `size` places: the same parts of `times` consecutive
    /// matrices.
    [[nodiscard]] PartRuns repeated(std::int64_t times, std::int64_t size) const;
    [[nodiscard]] bool all() const { return m_list.empty(); }
    /// Returns the kept places; contiguous unless all are kept.
    [[nodiscard]] at::Tensor take(const at::Tensor& tensor, std::int64_t dimension) const;
    /// Returns a tensor with `taken` at its places of a dimension of `size`, and 0 elsewhere.
    [[nodiscard]] at::Tensor putBack(const at::Tensor& taken, std::int64_t dimension, std::int64_t size) const;
    [[nodiscard]] const std::vector<std::int64_t>& list() const { return m_list; }

private:
    std::vector<std::int64_t> m_list; ///< beginning, length, beginning, …; empty: all
};

/// Divides `dimension` into `count` parts of equal length and returns the ones in `parts`, concatenated. The backward
/// writes the whole gradient in one pass, with 0 for the other parts.
[[nodiscard]] at::Tensor atParts(const at::Tensor& tensor, std::int64_t dimension, std::int64_t count,
                                 std::span<const std::size_t> parts);

} // namespace residua::engine
