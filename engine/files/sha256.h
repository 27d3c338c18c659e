// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace residua::engine {

/// SHA-256 (FIPS 180-4), for contents that cross between machines.
class Sha256 {
public:
    void add(std::span<const std::byte> bytes);
    /// Ends the hash and returns it as 64 hexadecimal digits. Must be called once.
    [[nodiscard]] std::string text();

private:
    void mixBlock(const std::byte* block);

    std::array<std::uint32_t, 8> m_state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<std::byte, 64> m_block{};
    std::uint64_t m_bytes = 0;
};

/// The number of digits of such a hash.
inline constexpr std::size_t kSha256Digits = 64;
/// True if the text is 64 hexadecimal digits, the letters in lower case.
[[nodiscard]] bool isSha256(std::string_view text);

} // namespace residua::engine
