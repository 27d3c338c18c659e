// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/tokeniser_training.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace residua::engine {

/// What SentencePiece's trainer writes while it learns, which is the only way it tells how far it is, and why it makes
/// no model.
class TrainerLog {
public:
    explicit TrainerLog(TokeniserTraining training);

    /// More of it, cut anywhere.
    void add(std::string_view text);
    /// How much of the learning is done, 0 to 1. Byte pairs are counted as they are joined; the logarithm of Unigram's
    /// pieces falls as they are pruned.
    [[nodiscard]] double share() const { return m_share; }
    /// Why there is no model, with what to ask for instead, by the last line; for a trainer that has failed.
    [[nodiscard]] Error reason() const;

private:
    void takeLine();

    TokeniserTraining m_training;
    std::string m_line; ///< as far as it is there
    std::string m_last; ///< the last whole one
    std::int64_t m_alphabet = 0;
    std::int64_t m_seeds = 0; ///< pieces that Unigram begins with
    double m_share = 0;
};

} // namespace residua::engine
