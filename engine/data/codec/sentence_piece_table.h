// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace residua::engine {

// The program's interface to SentencePiece: a table of plain functions, the only symbol of a separate shared library
// (libresidua_sentencepiece.so) that is opened at run time. SentencePiece and LibTorch both export a variable
// FLAGS_minloglevel, of 32 and of 4 bytes. In one symbol scope the two would be one variable. SentencePiece would then
// overwrite memory beside LibTorch's variable: the flag by which its allocator ends the process if memory is short.

inline constexpr int kSentencePieceTableVersion = 2;
inline constexpr const char* kSentencePieceTableSymbol = "residuaSentencePiece";

enum class SentencePieceAnswer { Done, Refused, NoMemory };

/// No exception and no allocated memory crosses the table. Results of variable size are passed to `put` with `to`,
/// possibly in several calls. A model is immutable; any thread.
struct SentencePieceTable {
    using Model = void;

    int version = kSentencePieceTableVersion;
    /// If the answer is Done, the caller must close `*model`.
    SentencePieceAnswer (*open)(const char* bytes, std::size_t size, Model** model) = nullptr;
    void (*close)(Model* model) = nullptr;
    std::int32_t (*pieces)(const Model* model) = nullptr;
    std::int32_t (*endOfText)(const Model* model) = nullptr; ///< −1 if the model has none
    std::int32_t (*unknown)(const Model* model) = nullptr;
    SentencePieceAnswer (*encode)(const Model* model, const char* text, std::size_t size, void* to,
                                  void (*put)(void* to, const int* ids, std::size_t count)) = nullptr;
    /// Every id must be that of a piece.
    SentencePieceAnswer (*decode)(const Model* model, const int* ids, std::size_t count, void* to,
                                  void (*put)(void* to, const char* text, std::size_t size)) = nullptr;
    /// Returns the piece as the model writes it: "▁the", "<0x0A>".
    SentencePieceAnswer (*piece)(const Model* model, int id, void* to,
                                 void (*put)(void* to, const char* text, std::size_t size)) = nullptr;
};

/// Reads a SentencePiece model file of at most 256 MiB and checks that its normalisation tables stay within bounds. The
/// library does not check the ends of these tables.
[[nodiscard]] Result<std::string> readSentencePieceModel(const std::filesystem::path& path);

} // namespace residua::engine
