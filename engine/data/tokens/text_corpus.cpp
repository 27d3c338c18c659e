// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/tokens/text_corpus.h"

#include "engine/data/tokens/token_cache.h"
#include "projects/base/utf8.h"

#include <numeric>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

/// Returns all code points of the corpus, sorted.
Result<std::vector<char32_t>> alphabetOf(const std::vector<Document>& documents, const PreparationWatch& watch)
{
    std::vector<bool> seen(0x110000);
    for (const Document& document : documents) {
        RESIDUA_TRY(forEachPart(document, watch, [&](std::string_view part) -> Status {
            for (std::size_t at = 0; at < part.size();) {
                seen[nextCodePoint(part, at)] = true;
            }
            return Done{};
        }));
    }
    std::vector<char32_t> alphabet;
    for (char32_t codePoint = 0; codePoint < seen.size(); ++codePoint) {
        if (seen[codePoint]) {
            alphabet.push_back(codePoint);
        }
    }
    return alphabet;
}

Result<std::unique_ptr<TextCodec>> makeCodec(const std::vector<Document>& documents,
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
    case projects::TokeniserKind::TokenizerJson:
        return tokenizerJsonCodec(projectDirectory / tokeniser.model);
    }
    return Error{{}, "unknown tokeniser"};
}

/// Returns the document without its final newline.
Result<Document> withoutLastNewline(Document document)
{
    char last = '\0';
    if (document.size > 0) {
        RESIDUA_TRY(
            document.source->read(document.begin + document.size - 1, std::as_writable_bytes(std::span(&last, 1))));
    }
    document.size -= last == '\n' ? 1 : 0;
    return document;
}

/// Returns the documents without their final newlines, which end marks replace.
Result<std::vector<Document>> unended(const std::vector<Document>& documents)
{
    std::vector<Document> texts;
    texts.reserve(documents.size());
    for (const Document& document : documents) {
        auto text = RESIDUA_TRY(withoutLastNewline(document));
        texts.push_back(std::move(text));
    }
    return texts;
}

Result<TokenSequence> encoded(const std::vector<Document>& documents, const TextCodec& codec,
                              const projects::Tokeniser& tokeniser, const std::string& place,
                              const PreparationWatch& watch, std::vector<std::int64_t>* ends)
{
    const DocumentMarks marks = codec.marks();
    const bool pieces = tokeniser.kind == projects::TokeniserKind::SentencePiece || !marks.behind.empty();
    const auto texts = pieces ? unended(documents) : Result<std::vector<Document>>(documents);
    const auto parts = texts ? partsOf(*texts, codec, watch) : Result<std::vector<TextPart>>(texts.error());
    return parts ? encodeParts(*parts, codec, marks, place, watch, ends) : Result<TokenSequence>(parts.error());
}

/// Reads the ends of documents from the file of their lengths. Returns false if it does not exist or does not fit.
bool readEnds(const fs::path& file, std::size_t documents, std::int64_t tokens, const PreparationWatch& watch,
              std::vector<std::int64_t>& ends)
{
    const auto lengths = keptTokens(file, watch);
    if (!lengths || lengths->size() != static_cast<std::int64_t>(documents)) {
        return false;
    }
    ends.resize(documents);
    if (!lengths->read(0, ends)) {
        return false;
    }
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    return !ends.empty() && ends.back() == tokens;
}

/// Writes the lengths of documents as if they were tokens. Does nothing if one has 2³² tokens or more.
void keepEnds(const UserCache& cache, const std::string& name, const std::vector<std::int64_t>& ends)
{
    constexpr std::int64_t kMost = std::int64_t{1} << 32;
    std::vector<std::uint32_t> lengths;
    for (std::size_t i = 0; i < ends.size(); ++i) {
        const std::int64_t length = ends[i] - (i > 0 ? ends[i - 1] : 0);
        if (length >= kMost) {
            return;
        }
        lengths.push_back(static_cast<std::uint32_t>(length));
    }
    TokenSequence sequence;
    sequence.append(lengths, kMost);
    static_cast<void>(keepTokens(cache, name, sequence, kMost)); // without the file they are computed again
}

/// Tokenises the documents, or reads the tokens of large texts from the cache. Errors of the cache are ignored, because
/// the tokens are the same.
Result<TokenSequence> encodedOrKept(const std::vector<Document>& documents, const TextCodec& codec,
                                    const projects::Tokeniser& tokeniser, const fs::path& model,
                                    const std::string& place, const PreparationWatch& watch,
                                    std::vector<std::int64_t>* ends)
{
    constexpr std::uint64_t kWorthKeeping = std::uint64_t{4} << 20;
    const UserCache cache = userTokenCache();
    std::uint64_t bytes = 0;
    for (const Document& document : documents) {
        bytes += document.size;
    }
    if (!projects::hasModel(tokeniser.kind) || cache.folder.empty() || bytes < kWorthKeeping) {
        return encoded(documents, codec, tokeniser, place, watch, ends);
    }
    const auto name = RESIDUA_TRY(tokenFileName(documents, tokeniser.kind, model, codec.marks(), watch));
    const std::string ofEnds = "lengths-" + name;
    if (auto kept = keptTokens(cache.folder / name, watch)) {
        if (ends == nullptr || readEnds(cache.folder / ofEnds, documents.size(), kept->size(), watch, *ends)) {
            return *std::move(kept);
        }
        ends->clear();
    }
    auto tokens = encoded(documents, codec, tokeniser, place, watch, ends);
    if (tokens && keepTokens(cache, name, *tokens, codec.vocabulary())) {
        if (ends != nullptr) {
            keepEnds(cache, ofEnds, *ends);
        }
        if (auto kept = keptTokens(cache.folder / name, watch)) {
            return *std::move(kept); // from here on the tokens are in the file only
        }
    }
    return tokens;
}

} // namespace

Result<std::unique_ptr<TextCodec>> codecFor(const std::vector<Document>& documents,
                                            const projects::Tokeniser& tokeniser, const fs::path& projectDirectory,
                                            const std::string& place, const PreparationWatch& watch)
{
    auto codec = makeCodec(documents, tokeniser, projectDirectory, watch);
    if (codec && (*codec)->vocabulary() > tokeniser.vocabulary) {
        const bool characters = tokeniser.kind == projects::TokeniserKind::Characters;
        return Error{place, (characters ? "the text has " : "the tokeniser has ") +
                                std::to_string((*codec)->vocabulary()) +
                                (characters ? " distinct characters" : " tokens") + ", the project's vocabulary is " +
                                std::to_string(tokeniser.vocabulary) + ": set data.source.tokeniser.vocabulary to " +
                                std::to_string((*codec)->vocabulary()) + " or more"};
    }
    return codec;
}

Result<TokenSequence> tokensOf(const std::vector<Document>& documents, const TextCodec& codec,
                               const projects::Tokeniser& tokeniser, const fs::path& projectDirectory,
                               const std::string& place, const PreparationWatch& watch, std::vector<std::int64_t>* ends)
{
    if (tokeniser.kind == projects::TokeniserKind::Bytes) {
        TokenSequence tokens;
        for (const Document& document : documents) {
            tokens.append(document, TokenSize::One);
            if (ends != nullptr) {
                ends->push_back(tokens.size());
            }
        }
        return tokens;
    }
    return encodedOrKept(documents, codec, tokeniser, projectDirectory / tokeniser.model, place, watch, ends);
}

} // namespace residua::engine
