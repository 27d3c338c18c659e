// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/machine/preparation.h"
#include "engine/data/tokens/token_sequence.h"
#include "projects/base/result.h"
#include "projects/model/data_source.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace residua::engine {

/// The rows of a split that are made of documents (projects::DocumentRows). Immutable.
class RowPlan {
public:
    /// A document, or a piece of one, in a row: tokens begin .. begin + inputs − 1 are read.
    struct Segment {
        std::int64_t begin = 0;
        std::int64_t inputs = 0;
    };

    RowPlan() = default;
    /// Plans rows of `time` tokens of the documents that end at `ends`, ascending; the first begins at `begin`. If
    /// `targetsFollow`, the target of a token is the one after it, so that the last token of a document is only read as
    /// a target; otherwise every token is an input. Documents without an input are left out. With Single, a longer
    /// document loses its end. With Packed, it continues in further rows, and each row takes documents in their order
    /// until the next one has no room.
    RowPlan(std::span<const std::int64_t> ends, std::int64_t begin, projects::DocumentRows rows, std::int64_t time,
            bool targetsFollow);

    [[nodiscard]] std::int64_t size() const { return std::ssize(m_rows); }
    /// Returns the documents of a row in their order.
    [[nodiscard]] std::span<const Segment> row(std::int64_t number) const;
    /// Returns the number of tokens that all rows read.
    [[nodiscard]] std::int64_t inputs() const { return m_inputs; }
    /// Returns the number of documents that are longer than a row.
    [[nodiscard]] std::int64_t longer() const { return m_longer; }

private:
    std::vector<Segment> m_segments;
    std::vector<std::size_t> m_rows; ///< the first segment of each row
    std::int64_t m_inputs = 0;
    std::int64_t m_longer = 0;
};

/// Returns the position after each token that is `end`, and after the last token.
[[nodiscard]] Result<std::vector<std::int64_t>> endsAfter(const TokenSequence& tokens, std::int64_t end,
                                                          const PreparationWatch& watch);

} // namespace residua::engine
