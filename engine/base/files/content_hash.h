// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/machine/preparation.h"
#include "projects/base/files.h"
#include "projects/base/result.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace residua::engine {

/// SHA-256 by Nettle, for contents that cross between machines.
class Sha256 {
public:
    Sha256();
    ~Sha256();
    Sha256(Sha256&& other) noexcept;
    Sha256& operator=(Sha256&& other) noexcept;

    void add(std::span<const std::byte> bytes);
    /// Ends the hash and returns it as 64 hexadecimal digits. Must be called once.
    [[nodiscard]] std::string text();

private:
    struct State;
    std::unique_ptr<State> m_state;
};

/// The number of digits of such a hash.
inline constexpr std::size_t kSha256Digits = 64;
/// True if the text is 64 hexadecimal digits, the letters in lower case.
[[nodiscard]] bool isSha256(std::string_view text);

/// A 64-bit hash against accidental collisions, not against an adversary. Each add() counts as a separate piece.
class ContentHash {
public:
    /// A different `start` gives another hash of the same content.
    explicit ContentHash(std::uint64_t start = 0x243f6a8885a308d3u) : m_state(start) {}

    void add(std::span<const std::byte> bytes)
    {
        mix(bytes.size());
        for (; bytes.size() >= sizeof(std::uint64_t); bytes = bytes.subspan(sizeof(std::uint64_t))) {
            std::uint64_t word = 0;
            std::memcpy(&word, bytes.data(), sizeof word);
            mix(word);
        }
        std::uint64_t rest = 0;
        std::memcpy(&rest, bytes.data(), bytes.size());
        mix(rest);
    }

    [[nodiscard]] std::string text() const
    {
        constexpr const char* kDigits = "0123456789abcdef";
        std::string digits;
        for (int shift = 60; shift >= 0; shift -= 4) {
            digits += kDigits[(m_state >> shift) & 15];
        }
        return digits;
    }

private:
    void mix(std::uint64_t word)
    {
        m_state = (m_state ^ word) * 0x9e3779b97f4a7c15u;
        m_state ^= std::rotl(m_state, 29);
        m_state *= 0xd6e8feb86659fd93u;
    }
    std::uint64_t m_state;
};

/// Two hashes with different starts, as a text of 32 hexadecimal digits, so that accidental collisions are negligible.
class ContentDigest {
public:
    void add(std::span<const std::byte> bytes)
    {
        m_one.add(bytes);
        m_other.add(bytes);
    }
    void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
    [[nodiscard]] std::string text() const { return m_one.text() + m_other.text(); }

private:
    ContentHash m_one;
    ContentHash m_other{0x13198a2e03707344u};
};

/// Returns the CRC-32C (Castagnoli, reflected polynomial 0x82f63b78) of `bytes`, continued from `crc`: the checksum of
/// a followed by b is crc32c(b, crc32c(a)). About 1.5 GB/s on one core.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc = 0);

/// Returns a hash of every byte of a regular file, as 16 hexadecimal digits. The hash is cached in residua/digests of
/// the user's caches, keyed by path, size, time stamps and inode, so that a large file is read only once until it
/// changes. Any thread; `watch` may cancel.
[[nodiscard]] Result<std::string> digestOfFile(const std::filesystem::path& path, const PreparationWatch& watch);
/// Returns the SHA-256 of a regular file (Sha256), cached in the same way.
[[nodiscard]] Result<std::string> sha256OfFile(const std::filesystem::path& path, const PreparationWatch& watch);
/// Returns the cached hash of digestOfFile() without reading the file; nullopt if it is not cached.
[[nodiscard]] std::optional<std::string> knownDigestOfFile(const std::filesystem::path& path);
/// Removes the least recently used digests beyond the limit of the cache (kDigestCache). Call it once after hashing
/// many files.
void trimDigests();

/// Returns 32 random hexadecimal digits from the system's random device, unique to a project or run.
[[nodiscard]] std::string newIdentity();
/// True if the text has the form of an identity.
[[nodiscard]] bool isIdentity(const std::string& text);

/// Returns an error if the file is a Git LFS pointer: the few lines of text that a checkout without git lfs leaves in
/// place of the file. `what` names the expected content in the message: "the Parquet file". Reads the beginning of the
/// file. Any thread.
[[nodiscard]] Status refuseLfsPointer(const InputFile& file, const std::string& what);

} // namespace residua::engine
