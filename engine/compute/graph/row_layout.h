// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace residua::engine {

/// Returns the mask [queries, keys] of keys that a query sees. Query i's own key is j = i + itself; `window` is the
/// largest number of keys up to it, or 0.
[[nodiscard]] at::Tensor seenKeys(std::int64_t queries, std::int64_t keys, std::int64_t itself, std::int64_t window,
                                  const at::TensorOptions& options);
/// Returns the term to add to attention scores: 0 for a key that is seen, and a large negative number, which is finite,
/// for a hidden one. A query without keys therefore has finite weights; beside a key that is seen, the weight of a
/// hidden one is exactly 0.
[[nodiscard]] at::Tensor scoreTermOf(const at::Tensor& hidden, const at::TensorOptions& options);

/// Returns the length of the prefix of each row [batch]: the tokens up to the first one with a target.
[[nodiscard]] at::Tensor prefixBefore(const at::Tensor& targets);

/// The direction and reach of an attention.
struct Sight {
    bool causal = true;
    std::int64_t window = 0; ///< the largest number of tokens that one attends to, including itself; 0: unlimited
};

/// The documents and prefixes in the rows of a batch (projects::kLength, kPositions, kPrefix). Masks are computed once
/// in a pass. Engine thread.
class RowLayout {
public:
    /// Returns the layout in the fields of a batch; null if they have none. A row with a prefix is one document.
    [[nodiscard]] static std::shared_ptr<RowLayout> of(const std::map<std::string, at::Tensor>& fields);

    /// True if a row has several documents.
    [[nodiscard]] bool isPacked() const { return m_positions.defined(); }
    /// True if attention sees other tokens than in a row without a layout. Padding is behind the tokens, so a causal
    /// attention does not see it.
    [[nodiscard]] bool changes(bool causal) const { return isPacked() || m_prefix.defined() || !causal; }

    /// Returns the rows of a table of positions [positions, features] for sequences of `time` tokens: [time, features],
    /// or [batch, time, features] if positions restart at documents.
    [[nodiscard]] at::Tensor rowsOf(const at::Tensor& table, std::int64_t time) const;

    /// Returns the numbers of tokens of all documents, row by row; the padding of a row is the last. Copies the
    /// positions to the host. Precondition: isPacked().
    [[nodiscard]] const std::vector<std::int64_t>& documents();
    /// Returns which keys a query does not see: [batch, 1, time, time].
    [[nodiscard]] at::Tensor hidden(const Sight& sight, std::int64_t time) const;
    /// Returns scoreTermOf(hidden()).
    [[nodiscard]] const at::Tensor& term(const Sight& sight, std::int64_t time, at::ScalarType type);

private:
    at::Tensor m_length;    ///< [batch], or undefined
    at::Tensor m_prefix;    ///< [batch], or undefined
    at::Tensor m_positions; ///< [batch, time], or undefined
    at::TensorOptions m_options;
    std::vector<std::int64_t> m_documents;
    std::map<std::tuple<bool, std::int64_t, std::int64_t, at::ScalarType>, at::Tensor> m_terms;
};

} // namespace residua::engine
