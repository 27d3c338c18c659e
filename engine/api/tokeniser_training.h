// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace residua::engine {

enum class PieceModel { Bpe, Unigram };

/// A SentencePiece model that is to be learned from text.
struct TokeniserTraining {
    std::filesystem::path text;   ///< what a project may have as text or JSON Lines, compressed or not
    std::string field = "text";   ///< of JSON Lines or Parquet
    std::filesystem::path output; ///< the model's file; one that is there is replaced
    PieceModel model = PieceModel::Bpe;
    std::int64_t pieces = 8000;
};

/// Learns it with SentencePiece's own trainer, in a process of its own, and tells how many pieces the model has. Text
/// is left as it is, line ends included, and characters that are too rare for a piece are written as bytes, so that
/// text comes back as it was. `watch` is told what share of the text has been read, 1 while the trainer computes; false
/// ends it. Nothing is written where it ends or fails. Any thread.
[[nodiscard]] Result<std::int64_t> trainTokeniser(const TokeniserTraining& training,
                                                  const std::function<bool(double share)>& watch = {});

} // namespace residua::engine
