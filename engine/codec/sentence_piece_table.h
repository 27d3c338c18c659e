// SPDX-License-Identifier: GPL-3.0-or-later
// What the program sees of SentencePiece: a table of plain functions, the one symbol of a shared library of its own
// (libresidua_sentencepiece.so) that is opened at run time. SentencePiece and LibTorch export variables of one name
// (FLAGS_minloglevel, of 32 and of 4 bytes). In one scope of symbols the two would be one variable, and SentencePiece
// would write over what lies beside LibTorch's: the flag by which its allocator ends the process where memory is short.
#pragma once

#include <cstddef>
#include <cstdint>

namespace residua::engine {

inline constexpr int kSentencePieceTableVersion = 2;
inline constexpr const char* kSentencePieceTableSymbol = "residuaSentencePiece";

enum class SentencePieceAnswer { Done, Refused, NoMemory };

/// No exception and no memory crosses the table: what is of no fixed size is handed to `put`, with `to`, which may be
/// called more than once. A model is immutable; any thread.
struct SentencePieceTable {
    using Model = void;

    int version = kSentencePieceTableVersion;
    /// `*model` is the caller's to close where the answer is Done.
    SentencePieceAnswer (*open)(const char* bytes, std::size_t size, Model** model) = nullptr;
    void (*close)(Model* model) = nullptr;
    std::int32_t (*pieces)(const Model* model) = nullptr;
    std::int32_t (*endOfText)(const Model* model) = nullptr; ///< −1 where the model has none
    std::int32_t (*unknown)(const Model* model) = nullptr;
    SentencePieceAnswer (*encode)(const Model* model, const char* text, std::size_t size, void* to,
                                  void (*put)(void* to, const int* ids, std::size_t count)) = nullptr;
    /// Every id is that of a piece.
    SentencePieceAnswer (*decode)(const Model* model, const int* ids, std::size_t count, void* to,
                                  void (*put)(void* to, const char* text, std::size_t size)) = nullptr;
    /// How the model writes that piece: "▁the", "<0x0A>".
    SentencePieceAnswer (*piece)(const Model* model, int id, void* to,
                                 void (*put)(void* to, const char* text, std::size_t size)) = nullptr;
};

} // namespace residua::engine
