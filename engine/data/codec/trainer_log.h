// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Private to tokeniser_training.cpp: the form of another program's log.

#include "engine/base/api/tokeniser_training.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace residua::engine {

/// Parses the log of SentencePiece's trainer, the only source of its progress and of the reason for a failure.
class TrainerLog {
public:
    explicit TrainerLog(TokeniserTraining training);

    /// Adds a piece of the log, cut anywhere.
    void add(std::string_view text);
    /// Returns the fraction of the learning that is done, 0 to 1. For BPE it counts the merges. For Unigram it follows
    /// the logarithm of the number of pieces, which falls as they are pruned.
    [[nodiscard]] double share() const { return m_share; }
    /// Returns why a failed trainer made no model, from its last line, with a suggestion.
    [[nodiscard]] Error reason() const;

private:
    void takeLine();

    TokeniserTraining m_training;
    std::string m_line; ///< the current, incomplete line
    std::string m_last; ///< the last complete line
    std::int64_t m_alphabet = 0;
    std::int64_t m_seeds = 0; ///< the number of pieces that Unigram begins with
    double m_share = 0;
};

} // namespace residua::engine
