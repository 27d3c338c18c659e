// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/token_files.h"

#include "engine/data/text_corpus.h"
#include "engine/record/files.h"

#include <array>
#include <cstring>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;
using projects::TokenWidth;

constexpr std::size_t kHeaderWords = 256;
constexpr std::size_t kHeaderBytes = kHeaderWords * sizeof(std::int32_t);

struct HeaderKind {
    std::int32_t magic;
    std::int32_t version;
    TokenSize size;
};
constexpr std::array kHeaders{HeaderKind{20240520, 1, TokenSize::Two}, HeaderKind{20240801, 7, TokenSize::Four}};

std::string bits(TokenSize size)
{
    return size == TokenSize::Two ? "uint16" : "uint32";
}

/// What a file holds after its header, if it has one.
struct Body {
    std::span<const std::byte> bytes;
    TokenSize size = TokenSize::Two;
};

Result<Body> headedBody(std::span<const std::byte> file, const HeaderKind& kind, TokenWidth width,
                        const std::string& place)
{
    std::array<std::int32_t, kHeaderWords> header{};
    std::memcpy(header.data(), file.data(), kHeaderBytes);
    if (header[1] != kind.version) {
        return Error{place, "its header has version " + std::to_string(header[1]) + ", expected " +
                                std::to_string(kind.version) + " with magic " + std::to_string(kind.magic)};
    }
    if (width != TokenWidth::Detect && (width == TokenWidth::Uint16) != (kind.size == TokenSize::Two)) {
        return Error{place, "its header says " + bits(kind.size) + " tokens, the project says otherwise"};
    }
    const auto claimed = static_cast<std::uint64_t>(static_cast<std::uint32_t>(header[2]));
    const std::span<const std::byte> bytes = file.subspan(kHeaderBytes);
    if (claimed * static_cast<std::uint64_t>(kind.size) != bytes.size()) {
        return Error{place, "its header says " + std::to_string(claimed) + " tokens of " + bits(kind.size) +
                                ", the file holds " + std::to_string(bytes.size()) + " bytes of them (truncated?)"};
    }
    return Body{bytes, kind.size};
}

Result<Body> bodyOf(std::span<const std::byte> file, TokenWidth width, std::int64_t vocabulary,
                    const std::string& place)
{
    if (file.size() >= kHeaderBytes) {
        std::int32_t magic = 0;
        std::memcpy(&magic, file.data(), sizeof(magic));
        for (const HeaderKind& kind : kHeaders) {
            if (magic == kind.magic) {
                return headedBody(file, kind, width, place);
            }
        }
    }
    const bool wide = width == TokenWidth::Uint32 || (width == TokenWidth::Detect && vocabulary > 1 << 16);
    const TokenSize size = wide ? TokenSize::Four : TokenSize::Two;
    if (file.size() % static_cast<std::size_t>(size) != 0) {
        return Error{place, std::to_string(file.size()) + " bytes are not a whole number of " + bits(size) + " tokens"};
    }
    return Body{file, size};
}

} // namespace

Status appendTokenFiles(TokenSequence& tokens, const fs::path& path, TokenWidth width, std::int64_t vocabulary)
{
    const auto files = filesAt(path, ".bin");
    if (!files) {
        return files.error();
    }
    const std::int64_t before = tokens.size();
    for (const fs::path& file : *files) {
        auto mapped = MappedFile::open(file);
        if (!mapped) {
            return mapped.error();
        }
        const auto owner = std::make_shared<const MappedFile>(std::move(*mapped));
        const auto body = bodyOf(owner->bytes(), width, vocabulary, file.string());
        if (!body) {
            return body.error();
        }
        TokenSequence one;
        one.append(body->bytes, body->size, owner);
        if (const auto found = one.firstBeyond(vocabulary)) {
            return Error{file.string(), "token " + std::to_string(found->position) + " is " +
                                            std::to_string(found->token) + ", expected one below the vocabulary of " +
                                            std::to_string(vocabulary) + " (read as " + bits(body->size) + ")"};
        }
        tokens.append(body->bytes, body->size, owner);
    }
    if (tokens.size() == before) {
        return Error{path.string(), "is empty, expected tokens"};
    }
    return Done{};
}

} // namespace residua::engine
