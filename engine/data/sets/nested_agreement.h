// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/data_source.h"

#include <cstdint>
#include <string>
#include <vector>

namespace residua::engine {

/// The synthetic language: typed brackets whose closing word agrees with its own opener and with every level around it.
///
///     sentence → phrase "."
///     phrase   → opener part* closer          nested at most `levels` deep
///     part     → phrase | word
///
/// An opener `b3(` has a kind (a, b, …) and a turn: one of the six permutations of three points. A closer `)b1` has the
/// kind of its opener and a point. The point results from point 0 by applying the turn of its own opener, then that of
/// the enclosing phrase, and so on out to the sentence. Turns do not commute, and a closer shows one point, not the
/// whole state. Finished phrases inside are distractors: their turns do not matter. To predict a closer at level n, a
/// reader must find the n open brackets among the finished ones and compose n turns in order. Deeper closers therefore
/// need more layers. Words `w7` are noise.
///
/// Above the deepest level, a phrase continues with a phrase (0.44), a word (0.12) or its closer (0.44); at the deepest
/// level, with a word (0.12) or its closer (0.88). Openers and words are drawn uniformly. Every level therefore has
/// about the same share of the text, for any number of levels.
class NestedAgreement {
public:
    /// The token that ends a sentence.
    static constexpr std::int64_t kFullStop = 0;

    /// Precondition: checkData() has found no error. The smallest vocabulary has one kind of bracket and one word.
    explicit NestedAgreement(const projects::SyntheticLanguage& source);

    /// Returns the first `tokens` tokens of a seed's text; the last sentence may be cut off.
    [[nodiscard]] std::vector<std::uint32_t> generate(std::int64_t seed, std::int64_t tokens) const;

    /// Returns the words by token: ".", openers, closers, words.
    [[nodiscard]] std::vector<std::string> words() const;
    [[nodiscard]] std::int64_t kinds() const { return m_kinds; }

    /// Returns the image of a point (0 to 2) under a turn (0 to 5).
    [[nodiscard]] static int turned(int turn, int point);

private:
    struct Choice {
        double open = 0;
        double word = 0;
        double close = 0;
    };
    [[nodiscard]] Choice choiceAt(std::int64_t level) const;

    std::int64_t m_vocabulary = 0;
    std::int64_t m_levels = 0;
    std::int64_t m_kinds = 0;
};

} // namespace residua::engine
