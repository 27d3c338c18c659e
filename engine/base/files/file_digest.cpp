// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/files/content_hash.h"

#include "engine/base/machine/machine.h"
#include "projects/base/files.h"
#include "projects/base/whole_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <optional>
#include <system_error>
#include <vector>

#include <sys/stat.h>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDigestEnding = ".digest";
/// The kind of a hash.
struct DigestKind {
    std::string_view version; ///< part of the names in the cache
    std::size_t digits = 0;
};
constexpr DigestKind kContentHash{"digest 1", 16};
constexpr DigestKind kSha256{"sha256 1", kSha256Digits};
constexpr std::size_t kDigestBlock = std::size_t{1} << 20;

/// A file changed within this time, in seconds, may be written again without a different time stamp: file systems round
/// times, at most to two seconds.
constexpr std::time_t kYoung = 3;

/// Identifies a file's contents until it is written to.
using Identity = std::array<std::int64_t, 7>;

Identity identityOf(const struct stat& status)
{
    return {static_cast<std::int64_t>(status.st_dev),          static_cast<std::int64_t>(status.st_ino),
            static_cast<std::int64_t>(status.st_size),         static_cast<std::int64_t>(status.st_mtim.tv_sec),
            static_cast<std::int64_t>(status.st_mtim.tv_nsec), static_cast<std::int64_t>(status.st_ctim.tv_sec),
            static_cast<std::int64_t>(status.st_ctim.tv_nsec)};
}

/// Returns the path of the cached digest; empty if there is no cache.
fs::path keptAt(const UserCache& cache, const fs::path& path, const Identity& identity, const DigestKind& kind)
{
    if (cache.folder.empty()) {
        return {};
    }
    std::error_code code;
    const fs::path place = fs::absolute(path, code).lexically_normal();
    ContentHash name;
    name.add(asBytes(kind.version));
    name.add(asBytes(place.string()));
    name.add(std::as_bytes(std::span(identity)));
    return code ? fs::path() : cache.folder / (name.text() + kDigestEnding);
}

std::optional<std::string> keptDigest(const fs::path& kept, const DigestKind& kind)
{
    const auto text = kept.empty() ? Result<std::string>(Error{}) : readFile(kept, kind.digits);
    const auto isDigit = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
    return text && text->size() == kind.digits && std::ranges::all_of(*text, isDigit) ? std::optional(*text)
                                                                                      : std::nullopt;
}

/// Stores a digest. Ignores errors, because the digest can be computed again.
void keep(const UserCache& cache, const fs::path& kept, const std::string& digest)
{
    std::error_code ignored;
    fs::create_directories(cache.folder, ignored);
    static_cast<void>(writeFileAtomically(kept, digest));
}

template <class Hash>
Result<std::string> digestOf(const FileDescriptor& file, const fs::path& path, const PreparationWatch& watch)
{
    Hash hash;
    std::vector<std::byte> block(kDigestBlock);
    for (std::uint64_t offset = 0;; offset += block.size()) {
        const auto filled = RESIDUA_TRY(readFrom(file, path, offset, block));
        hash.add(std::span(block).first(filled));
        if (filled < block.size()) {
            return hash.text();
        }
        RESIDUA_TRY(stillWanted(watch, 0));
    }
}

UserCache digestCache()
{
    return userCache("digests", kDigestCache);
}

struct FileToDigest {
    FileDescriptor file;
    struct stat before {};
};

Result<FileToDigest> openToDigest(const fs::path& path)
{
    auto file = RESIDUA_TRY(openRegularFile(path));
    FileToDigest opened{std::move(file)};
    return ::fstat(opened.file.get(), &opened.before) == 0
               ? Result<FileToDigest>(std::move(opened))
               : Result<FileToDigest>(systemError(path, "cannot be read", errno));
}

template <class Hash>
Result<std::string> cachedDigest(const fs::path& path, const DigestKind& kind, const PreparationWatch& watch)
{
    auto opened = RESIDUA_TRY(openToDigest(path));
    const auto& [file, before] = opened;
    const UserCache cache = digestCache();
    const fs::path kept = keptAt(cache, path, identityOf(before), kind);
    if (auto known = keptDigest(kept, kind)) {
        return *std::move(known);
    }
    const std::time_t begun = std::time(nullptr);
    auto digest = digestOf<Hash>(file, path, watch);
    struct stat after {};
    const bool rested = ::fstat(file.get(), &after) == 0 && identityOf(after) == identityOf(before) &&
                        before.st_mtim.tv_sec + kYoung < begun;
    if (digest && rested && !kept.empty()) {
        keep(cache, kept, *digest);
    }
    return digest;
}

} // namespace

Result<std::string> digestOfFile(const fs::path& path, const PreparationWatch& watch)
{
    return cachedDigest<ContentHash>(path, kContentHash, watch);
}

Result<std::string> sha256OfFile(const fs::path& path, const PreparationWatch& watch)
{
    return cachedDigest<Sha256>(path, kSha256, watch);
}

std::optional<std::string> knownDigestOfFile(const fs::path& path)
{
    const auto opened = openToDigest(path);
    return opened ? keptDigest(keptAt(digestCache(), path, identityOf(opened->before), kContentHash), kContentHash)
                  : std::nullopt;
}

void trimDigests()
{
    const UserCache cache = digestCache();
    trimCache(cache.folder, kDigestEnding, cache.mostBytes);
}

} // namespace residua::engine
