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

/// The pieces of every model: SentencePiece's three marks, and one for each byte.
inline constexpr std::int64_t kFixedPieces = 3 + projects::kByteVocabulary;
/// The allowed numbers of pieces: at least the fixed ones and one learned piece, at most the largest vocabulary.
inline constexpr std::int64_t kFewestPieces = kFixedPieces + 1;
inline constexpr std::int64_t kMostPieces = projects::kMostVocabulary;

/// A SentencePiece model that is to be learned from text.
struct TokeniserTraining {
    std::filesystem::path text;   ///< plain text or JSON Lines as in a project, compressed or not
    std::string field = "text";   ///< of JSON Lines or Parquet
    std::filesystem::path output; ///< the model's file; an existing one is replaced
    PieceModel model = PieceModel::Bpe;
    std::int64_t pieces = 8000;
};

/// The progress of a training, as fractions from 0 to 1. Pieces are learned once all text has been read.
struct TokeniserProgress {
    double read = 0;    ///< of the text
    double learned = 0; ///< as SentencePiece's trainer reports it, which does not cover its last phase

    /// The share of the whole once all text has been read.
    static constexpr double kRead = 0.2;
    /// Returns the share of the whole; below kRead until all text has been read.
    [[nodiscard]] double share() const { return kRead * read + (1 - kRead) * learned; }
};

/// A trained tokeniser, and statistics from the beginning of its text.
struct TrainedTokeniser {
    std::int64_t pieces = 0;
    std::int64_t triedBytes = 0; ///< encoded to measure it; at most 1 MiB
    std::int64_t triedCharacters = 0;
    std::int64_t triedTokens = 0;
    bool triedAll = true; ///< true if that is the whole text
    /// The pieces at the beginning of a line of the text, as SentencePiece writes them: "▁the ▁c at", where ▁ is a
    /// space.
    std::string example;
};

/// Trains a model with SentencePiece's own trainer, in a separate process. Keeps the text as it is, including line
/// ends. Characters too rare for a piece are encoded as bytes, so that decoding restores the text. `watch` receives the
/// progress; if it returns false, the training ends. Writes nothing if the training ends early or fails. The error for
/// too many or too few pieces names the number that the text allows. Any thread.
[[nodiscard]] Result<TrainedTokeniser>
trainTokeniser(const TokeniserTraining& training,
               const std::function<bool(const TokeniserProgress& progress)>& watch = {});

/// Returns "bpe" or "unigram", as in the command line and in file names.
[[nodiscard]] std::string nameOf(PieceModel model);

} // namespace residua::engine
