// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/files/content_hash.h"

#include <array>
#include <bit>
#include <cstring>

namespace residua::engine {
namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78;
constexpr std::size_t kSlices = 8;
using Tables = std::array<std::array<std::uint32_t, 256>, kSlices>;

// Table s advances the checksum of a byte past s more bytes, so that eight bytes are processed at once.
constexpr Tables makeTables()
{
    Tables tables{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
        }
        tables[0][byte] = crc;
    }
    for (std::size_t slice = 1; slice < kSlices; ++slice) {
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const std::uint32_t before = tables[slice - 1][byte];
            tables[slice][byte] = (before >> 8) ^ tables[0][before & 0xff];
        }
    }
    return tables;
}

constexpr Tables kTables = makeTables();

static_assert(std::endian::native == std::endian::little, "files are written as the memory lies: little endian");

} // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc)
{
    crc = ~crc;
    const std::byte* at = bytes.data();
    std::size_t left = bytes.size();
    for (; left >= kSlices; at += kSlices, left -= kSlices) {
        std::uint64_t word = 0;
        std::memcpy(&word, at, sizeof(word));
        word ^= crc;
        crc = kTables[7][word & 0xff] ^ kTables[6][(word >> 8) & 0xff] ^ kTables[5][(word >> 16) & 0xff] ^
              kTables[4][(word >> 24) & 0xff] ^ kTables[3][(word >> 32) & 0xff] ^ kTables[2][(word >> 40) & 0xff] ^
              kTables[1][(word >> 48) & 0xff] ^ kTables[0][word >> 56];
    }
    for (; left > 0; ++at, --left) {
        crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<std::uint32_t>(*at)) & 0xff];
    }
    return ~crc;
}

} // namespace residua::engine
