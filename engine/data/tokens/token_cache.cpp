// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/tokens/token_cache.h"

#include "engine/base/files/content_hash.h"
#include "projects/base/files.h"
#include "projects/base/whole_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <span>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTokensEnding = ".tokens";
constexpr std::size_t kTokensAtOnce = std::size_t{1} << 18;

/// The header before the tokens. `format` must change if tokenisers' results change.
struct Head {
    std::array<char, 16> format{'r', 'e', 's', 'i', 'd', 'u', 'a', ' ', 't', 'o', 'k', 'e', 'n', 's', ' ', '2'};
    std::uint64_t bytes = 0; ///< of the tokens
    std::uint64_t width = 0; ///< bytes of one
    std::array<char, 32> sum{};
};

std::array<char, 32> sumOf(const ContentDigest& digest)
{
    std::array<char, 32> sum{};
    std::ranges::copy(digest.text(), sum.begin());
    return sum;
}

Status addFile(const fs::path& path, ContentDigest& digest)
{
    // A file read as a tokeniser's model has a size limit elsewhere.
    const auto bytes = readFile(path, std::numeric_limits<std::uint64_t>::max());
    if (bytes) {
        digest.add(*bytes);
    }
    return bytes ? Status(Done{}) : Status(bytes.error());
}

/// Reads the tokens of a file once and checks them against their checksum.
bool isSound(const InputFile& file, const Head& head, const PreparationWatch& watch)
{
    ContentDigest digest;
    std::vector<std::byte> block;
    for (std::uint64_t done = 0; done < head.bytes; done += block.size()) {
        block.resize(std::min<std::uint64_t>(head.bytes - done, kTokensAtOnce * head.width));
        if (!stillWanted(watch, 0) || !file.read(sizeof(Head) + done, block)) {
            return false;
        }
        digest.add(block);
    }
    return sumOf(digest) == head.sum;
}

template <class T>
Status writeTokens(OutputFile& file, const TokenSequence& tokens, ContentDigest& digest)
{
    std::vector<std::int64_t> wide;
    std::vector<T> narrow;
    for (std::int64_t begin = 0; begin < tokens.size(); begin += static_cast<std::int64_t>(wide.size())) {
        wide.resize(std::min(kTokensAtOnce, static_cast<std::size_t>(tokens.size() - begin)));
        RESIDUA_TRY(tokens.read(begin, wide));
        narrow.assign(wide.begin(), wide.end());
        const auto bytes = std::as_bytes(std::span(narrow));
        digest.add(bytes);
        RESIDUA_TRY(file.write(bytes));
    }
    return Done{};
}

/// Writes the whole file under another name: the head first, and again when its checksum is known.
Status writeWhole(const fs::path& path, const TokenSequence& tokens, bool wide)
{
    Head head;
    head.width = wide ? sizeof(std::uint32_t) : sizeof(std::uint16_t);
    head.bytes = static_cast<std::uint64_t>(tokens.size()) * head.width;
    auto file = RESIDUA_TRY(OutputFile::create(path));
    ContentDigest digest;
    RESIDUA_TRY(file.write(std::as_bytes(std::span(&head, 1))));
    RESIDUA_TRY(wide ? writeTokens<std::uint32_t>(file, tokens, digest)
                     : writeTokens<std::uint16_t>(file, tokens, digest));
    head.sum = sumOf(digest);
    const FileDescriptor again(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!again.isOpen() || ::pwrite(again.get(), &head, sizeof head, 0) != static_cast<ssize_t>(sizeof head)) {
        return systemError(path, "cannot be written", errno);
    }
    return file.sync();
}

} // namespace

UserCache userTokenCache()
{
    return userCache("tokens", kTokenCache);
}

std::vector<std::string> tokenCacheFaults(projects::TokeniserKind kind)
{
    std::string fault = projects::hasModel(kind) ? userTokenCache().fault : std::string();
    return fault.empty() ? std::vector<std::string>() : std::vector<std::string>{std::move(fault)};
}

Result<std::string> tokenFileName(const std::vector<Document>& documents, projects::TokeniserKind kind,
                                  const fs::path& model, const DocumentMarks& marks, const PreparationWatch& watch)
{
    ContentDigest digest;
    digest.add(kind == projects::TokeniserKind::TokenizerJson ? "tokenizer.json" : "SentencePiece");
    RESIDUA_TRY(addFile(model, digest));
    digest.add(std::as_bytes(std::span(marks.before)));
    digest.add(std::as_bytes(std::span(marks.behind)));
    std::vector<std::byte> block;
    for (const Document& document : documents) {
        digest.add(std::as_bytes(std::span(&document.size, 1)));
        for (std::uint64_t done = 0; done < document.size; done += block.size()) {
            block.resize(std::min<std::uint64_t>(document.size - done, kTokensAtOnce));
            RESIDUA_TRY(document.source->read(document.begin + done, block));
            RESIDUA_TRY(stillWanted(watch, 0));
            digest.add(block);
        }
    }
    return digest.text() + kTokensEnding;
}

std::optional<TokenSequence> keptTokens(const fs::path& file, const PreparationWatch& watch)
{
    if (!isThere(file)) {
        return std::nullopt;
    }
    auto opened = InputFile::open(file);
    Head head;
    const Head expected;
    if (!opened || opened->size() < sizeof head || !opened->read(0, std::as_writable_bytes(std::span(&head, 1))) ||
        head.format != expected.format || head.bytes != opened->size() - sizeof head ||
        (head.width != sizeof(std::uint16_t) && head.width != sizeof(std::uint32_t)) || head.bytes % head.width != 0 ||
        !isSound(*opened, head, watch)) {
        return std::nullopt;
    }
    // Keeps the file's modification time, because readers with the file open would otherwise treat it as changed.
    TokenSequence tokens;
    tokens.append({bytesOfFile(*std::move(opened)), sizeof head, head.bytes},
                  head.width == sizeof(std::uint16_t) ? TokenSize::Two : TokenSize::Four);
    return tokens;
}

Status keepTokens(const UserCache& cache, const std::string& name, const TokenSequence& tokens, std::int64_t vocabulary)
{
    std::error_code failed;
    fs::create_directories(cache.folder, failed);
    if (failed) {
        return Error{cache.folder.string(), "cannot be made: " + failed.message()};
    }
    const bool wide = vocabulary > std::int64_t{1} << 16;
    Status status =
        replaceBy([&](const fs::path& temporary) { return writeWhole(temporary, tokens, wide); }, cache.folder / name);
    trimCache(cache.folder, kTokensEnding, cache.mostBytes);
    return status;
}

} // namespace residua::engine
