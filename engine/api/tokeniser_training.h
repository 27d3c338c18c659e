// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/data_source.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace residua::engine {

enum class PieceModel { Bpe, Unigram };

/// What every model has: SentencePiece's three marks, and a piece for each byte.
inline constexpr std::int64_t kFixedPieces = 3 + projects::kByteVocabulary;
/// What may be asked for: at least those and one piece to learn, at most what a vocabulary may have.
inline constexpr std::int64_t kFewestPieces = kFixedPieces + 1;
inline constexpr std::int64_t kMostPieces = projects::kMostVocabulary;

/// A SentencePiece model that is to be learned from text.
struct TokeniserTraining {
    std::filesystem::path text;   ///< what a project may have as text or JSON Lines, compressed or not
    std::string field = "text";   ///< of JSON Lines or Parquet
    std::filesystem::path output; ///< the model's file; one that is there is replaced
    PieceModel model = PieceModel::Bpe;
    std::int64_t pieces = 8000;
};

/// How far a training is, each from 0 to 1. Pieces are learned once all text has been read.
struct TokeniserProgress {
    double read = 0;    ///< of the text
    double learned = 0; ///< as SentencePiece's trainer tells it, which says nothing of its last stretch
};

/// A tokeniser that was learned, and what it makes of the beginning of its text.
struct TrainedTokeniser {
    std::int64_t pieces = 0;
    std::int64_t triedBytes = 0; ///< of text, 1 MiB at most
    std::int64_t triedCharacters = 0;
    std::int64_t triedTokens = 0;
    bool triedAll = true; ///< that is the whole text
    /// The beginning of a line of the text in pieces, as SentencePiece writes them: "▁the ▁c at", where ▁ is a space.
    std::string example;
};

/// Learns it with SentencePiece's own trainer, in a process of its own. Text is left as it is, line ends included, and
/// characters that are too rare for a piece are written as bytes, so that text comes back as it was. `watch` is told
/// how far it is; false ends it. Nothing is written where it ends or fails: an error of too many or too few pieces
/// names how many the text allows. Any thread.
[[nodiscard]] Result<TrainedTokeniser>
trainTokeniser(const TokeniserTraining& training,
               const std::function<bool(const TokeniserProgress& progress)>& watch = {});

/// "bpe", "unigram": what the command line and the names of files call it.
[[nodiscard]] std::string nameOf(PieceModel model);

} // namespace residua::engine
