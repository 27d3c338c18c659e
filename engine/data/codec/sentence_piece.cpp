// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/machine/machine.h"
#include "engine/data/codec/sentence_piece_table.h"
#include "engine/data/codec/text_codec.h"
#include "projects/base/utf8.h"

#include <dlfcn.h>

#include <new>

namespace residua::engine {
namespace {

constexpr const char* kLibrary = "libresidua_sentencepiece.so";

/// Opens the library once for the process; it is never closed.
Result<const SentencePieceTable*> openTable()
{
    const std::filesystem::path path = findOwnLibrary(kLibrary, "RESIDUA_SENTENCEPIECE", "engine");
    if (path.empty()) {
        return Error{kLibrary, "is not installed beside the program, so that SentencePiece models cannot be read: "
                               "install it again, or use another tokeniser"};
    }
    const Result<void*> library = openLibrary(path, SymbolScope::Own);
    if (!library) {
        return Error{path.string(), "does not load, so that SentencePiece models cannot be read (" +
                                        library.error().message + "): install SentencePiece, or use another tokeniser"};
    }
    using TableFunction = const SentencePieceTable* (*)();
    const auto table = reinterpret_cast<TableFunction>(dlsym(*library, kSentencePieceTableSymbol));
    if (table == nullptr || table()->version != kSentencePieceTableVersion) {
        return Error{path.string(), "is not of this version of the program: install both again"};
    }
    return table();
}

const Result<const SentencePieceTable*>& sentencePiece()
{
    static const Result<const SentencePieceTable*> table = openTable();
    return table;
}

class SentencePieceCodec : public TextCodec {
public:
    explicit SentencePieceCodec(const SentencePieceTable& table) : m_table(table) {}
    ~SentencePieceCodec() override
    {
        if (m_model != nullptr) {
            m_table.close(m_model);
        }
    }
    SentencePieceCodec(const SentencePieceCodec&) = delete;
    SentencePieceCodec& operator=(const SentencePieceCodec&) = delete;

    Status load(const std::string& bytes, const std::string& place)
    {
        if (!accepted(m_table.open(bytes.data(), bytes.size(), &m_model))) {
            return Error{place, "is not a readable SentencePiece model: the SentencePiece library refuses it (damaged, "
                                "or made by a newer version)"};
        }
        return Done{};
    }

    std::int64_t vocabulary() const override { return m_table.pieces(m_model); }
    DocumentMarks marks() const override
    {
        const std::int32_t end = m_table.endOfText(m_model);
        return end < 0 ? DocumentMarks{} : DocumentMarks{{}, {static_cast<std::uint32_t>(end)}};
    }

    Status encode(std::string_view text, TextStart, std::vector<std::uint32_t>& tokens) const override
    {
        const auto put = [](void* to, const int* ids, std::size_t count) {
            auto& all = *static_cast<std::vector<std::uint32_t>*>(to);
            all.insert(all.end(), ids, ids + count);
        };
        if (!accepted(m_table.encode(m_model, text.data(), text.size(), &tokens, put))) {
            return Error{"tokeniser", "the SentencePiece model cannot encode this text"};
        }
        return Done{};
    }

    std::string decode(std::span<const std::int64_t> tokens) const override
    {
        std::vector<int> ids;
        for (const std::int64_t token : tokens) {
            // Rows of the embedding table beyond the model's pieces have no text.
            ids.push_back(token >= 0 && token < vocabulary() ? static_cast<int>(token) : m_table.unknown(m_model));
        }
        std::string text;
        if (!accepted(m_table.decode(m_model, ids.data(), ids.size(), &text, &append))) {
            appendUtf8(text, U'\uFFFD');
        }
        return asUtf8(text);
    }

    std::string piece(std::int64_t token) const override
    {
        std::string text;
        // The library does not check the number.
        const bool known = token >= 0 && token < vocabulary();
        if (!known || !accepted(m_table.piece(m_model, static_cast<int>(token), &text, &append))) {
            appendUtf8(text, U'\uFFFD');
        }
        return asUtf8(text);
    }

private:
    static void append(void* to, const char* part, std::size_t size)
    {
        static_cast<std::string*>(to)->append(part, size);
    }
    static bool accepted(SentencePieceAnswer answer)
    {
        if (answer == SentencePieceAnswer::NoMemory) {
            throw std::bad_alloc();
        }
        return answer == SentencePieceAnswer::Done;
    }

    const SentencePieceTable& m_table;
    SentencePieceTable::Model* m_model = nullptr;
};

} // namespace

Result<std::unique_ptr<TextCodec>> sentencePieceCodec(const std::filesystem::path& model)
{
    const auto bytes = RESIDUA_TRY(readSentencePieceModel(model));
    const auto& table = sentencePiece();
    if (!table) {
        return table.error();
    }
    auto codec = std::make_unique<SentencePieceCodec>(**table);
    RESIDUA_TRY(codec->load(bytes, model.string()));
    return std::unique_ptr<TextCodec>(std::move(codec));
}

} // namespace residua::engine
