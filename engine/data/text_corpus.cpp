// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/text_corpus.h"

#include "engine/data/utf8.h"

#include <algorithm>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

/// All code points of the corpus, sorted.
Result<std::vector<char32_t>> alphabetOf(const std::vector<Document>& documents, const PreparationWatch& watch)
{
    std::vector<bool> seen(0x110000);
    for (const Document& document : documents) {
        const Status read = forEachPart(document, watch, [&](std::string_view part) -> Status {
            for (std::size_t at = 0; at < part.size();) {
                seen[nextCodePoint(part, at)] = true;
            }
            return Done{};
        });
        if (!read) {
            return read.error();
        }
    }
    std::vector<char32_t> alphabet;
    for (char32_t codePoint = 0; codePoint < seen.size(); ++codePoint) {
        if (seen[codePoint]) {
            alphabet.push_back(codePoint);
        }
    }
    return alphabet;
}

Result<std::unique_ptr<TextCodec>> codecFor(const std::vector<Document>& documents,
                                            const projects::Tokeniser& tokeniser, const fs::path& projectDirectory,
                                            const PreparationWatch& watch)
{
    switch (tokeniser.kind) {
    case projects::TokeniserKind::Bytes:
        return byteCodec();
    case projects::TokeniserKind::Characters: {
        auto alphabet = alphabetOf(documents, watch);
        return alphabet ? Result<std::unique_ptr<TextCodec>>(characterCodec(std::move(*alphabet)))
                        : Result<std::unique_ptr<TextCodec>>(alphabet.error());
    }
    case projects::TokeniserKind::SentencePiece:
        return sentencePieceCodec(projectDirectory / tokeniser.model);
    }
    return Error{{}, "unknown tokeniser"};
}

/// What is being encoded, and who watches.
struct Progress {
    const PreparationWatch& watch;
    std::size_t total = 0; ///< bytes of all documents
    std::size_t done = 0;

    [[nodiscard]] Status add(std::size_t bytes)
    {
        done += bytes;
        return stillWanted(watch, static_cast<double>(done) / static_cast<double>(std::max<std::size_t>(total, 1)));
    }
};

/// The document without the newline that ends it.
Result<Document> withoutLastNewline(Document document)
{
    char last = '\0';
    if (document.size > 0) {
        const Status read =
            document.source->read(document.begin + document.size - 1, std::as_writable_bytes(std::span(&last, 1)));
        if (!read) {
            return read.error();
        }
    }
    document.size -= last == '\n' ? 1 : 0;
    return document;
}

/// The ids of all documents; `place` is where what cannot be encoded stands.
Result<std::vector<std::uint32_t>> idsOf(const std::vector<Document>& documents, const TextCodec& codec, bool pieces,
                                         const std::string& place, const PreparationWatch& watch)
{
    Progress progress{watch};
    for (const Document& document : documents) {
        progress.total += document.size;
    }
    std::vector<std::uint32_t> ids;
    for (const Document& document : documents) {
        const auto text = pieces ? withoutLastNewline(document) : Result<Document>(document);
        if (!text) {
            return text.error();
        }
        const Status encoded = forEachPart(*text, {}, [&](std::string_view part) -> Status {
            if (Status status = codec.encode(part, ids); !status) {
                return Error{place, status.error().text()};
            }
            return progress.add(part.size());
        });
        if (!encoded) {
            return encoded.error();
        }
        if (pieces && codec.endOfText() >= 0) {
            ids.push_back(static_cast<std::uint32_t>(codec.endOfText()));
        }
    }
    return ids;
}

} // namespace

Result<TokenisedText> tokenise(const std::vector<Document>& documents, const projects::Tokeniser& tokeniser,
                               const fs::path& projectDirectory, const std::string& place,
                               const PreparationWatch& watch)
{
    auto codec = codecFor(documents, tokeniser, projectDirectory, watch);
    if (!codec) {
        return codec.error();
    }
    if ((*codec)->vocabulary() > tokeniser.vocabulary) {
        const bool characters = tokeniser.kind == projects::TokeniserKind::Characters;
        return Error{place, (characters ? "the text has " : "the tokeniser has ") +
                                std::to_string((*codec)->vocabulary()) +
                                (characters ? " distinct characters" : " tokens") + ", the project's vocabulary is " +
                                std::to_string(tokeniser.vocabulary)};
    }
    TokenisedText result;
    result.codec = std::move(*codec);
    if (tokeniser.kind == projects::TokeniserKind::Bytes) {
        for (const Document& document : documents) {
            result.tokens.append(document, TokenSize::One);
        }
        return result;
    }
    const bool pieces = tokeniser.kind == projects::TokeniserKind::SentencePiece;
    const auto ids = idsOf(documents, *result.codec, pieces, place, watch);
    if (!ids) {
        return ids.error();
    }
    result.tokens.append(*ids, result.codec->vocabulary());
    return result;
}

} // namespace residua::engine
