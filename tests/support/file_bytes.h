// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace residua::tests {

inline std::string littleEndian(std::uint64_t value, int bytes)
{
    std::string text;
    for (int i = 0; i < bytes; ++i) {
        text.push_back(static_cast<char>(value >> (8 * i) & 255U));
    }
    return text;
}

/// Returns a gzip file (RFC 1952) with one stored block. `content` is below 64 KiB.
inline std::string gzipOf(const std::string& content)
{
    std::uint32_t sum = 0xffffffff; // CRC-32
    for (const char byte : content) {
        sum ^= static_cast<unsigned char>(byte);
        for (int bit = 0; bit < 8; ++bit) {
            sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
        }
    }
    const std::size_t size = content.size();
    return std::string("\x1f\x8b\x08\0\0\0\0\0\0\3", 10) + "\1" + littleEndian(size, 2) + littleEndian(~size, 2) +
           content + littleEndian(~sum, 4) + littleEndian(size, 4);
}

} // namespace residua::tests
