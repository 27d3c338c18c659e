// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
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
/// An opener `b3(` has a kind (a, b, …) and a turn: one of the six permutations of three points. A closer `)b1` has
/// the kind of its opener and a point: begin at point 0, apply the turn of its own opener, then that of the phrase
/// around it, and so on out to the sentence. Turns do not commute, a closer shows one point and not the state that
/// gave it, and finished phrases inside (distractors, with turns of their own) count for nothing. To predict a closer
/// at level n a reader must find the n open brackets among the finished ones and compose n turns in order, which
/// takes more layers the deeper it is; words `w7` are noise.
///
/// Below the deepest level a phrase goes on with a phrase (0.44), a word (0.12) or its closer (0.44); at the deepest
/// with a word (0.12) or its closer (0.88). Openers and words are drawn uniformly. So every level holds about the same
/// share of the text, whatever their number.
class NestedAgreement {
public:
    /// Precondition: checkData() has found no error. The smallest vocabulary has one kind of bracket and one word.
    explicit NestedAgreement(const projects::SyntheticLanguage& source);

    /// The first `tokens` tokens of the text of a seed, the last sentence cut off.
    [[nodiscard]] std::vector<std::uint32_t> generate(std::int64_t seed, std::int64_t tokens) const;

    /// What no reader can go below: the exact entropy of a token given all before it, in nats. Closers and full stops
    /// cost only the choice to stop.
    [[nodiscard]] double entropyFloor() const;
    /// The share of tokens that are closers of a phrase at `level` in 1..levels.
    [[nodiscard]] double closerShare(std::int64_t level) const;

    /// The words by token: ".", openers, closers, words.
    [[nodiscard]] std::vector<std::string> words() const;
    [[nodiscard]] std::int64_t kinds() const { return m_kinds; }

    /// Where a turn (0..5) takes a point (0..2).
    [[nodiscard]] static int turned(int turn, int point);

private:
    struct Choice {
        double open = 0;
        double word = 0;
        double close = 0;
    };
    [[nodiscard]] Choice choiceAt(std::int64_t level) const;
    /// Tokens chosen at each level in a sentence, on average; [0] is level 1.
    [[nodiscard]] std::vector<double> visits() const;

    std::int64_t m_vocabulary = 0;
    std::int64_t m_levels = 0;
    std::int64_t m_kinds = 0;
};

} // namespace residua::engine
