// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/tokens/token_sequence.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

namespace residua::engine {
namespace {

constexpr std::size_t kBlock = 16384; ///< bytes read at once, on the stack

template <class T>
void widen(const std::byte* bytes, std::span<std::int64_t> out)
{
    for (std::int64_t& token : out) {
        T value; // a file's tokens need not be aligned
        std::memcpy(&value, bytes, sizeof(T));
        token = value;
        bytes += sizeof(T);
    }
}

void widen(const std::byte* bytes, TokenSize size, std::span<std::int64_t> out)
{
    switch (size) {
    case TokenSize::One:
        return widen<std::uint8_t>(bytes, out);
    case TokenSize::Two:
        return widen<std::uint16_t>(bytes, out);
    case TokenSize::Four:
        return widen<std::uint32_t>(bytes, out);
    }
}

template <class T>
std::string packed(std::span<const std::uint32_t> tokens)
{
    std::string bytes(tokens.size() * sizeof(T), '\0');
    char* at = bytes.data();
    for (const std::uint32_t token : tokens) {
        const T value = static_cast<T>(token);
        std::memcpy(at, &value, sizeof(T));
        at += sizeof(T);
    }
    return bytes;
}

} // namespace

void TokenSequence::append(ByteRange bytes, TokenSize size)
{
    if (bytes.size == 0) {
        return;
    }
    // Merges adjacent documents into one piece, so that a corpus of millions costs no more than one file.
    if (!m_pieces.empty()) {
        Piece& last = m_pieces.back();
        if (last.bytes.source == bytes.source && last.size == size &&
            last.bytes.begin + last.bytes.size == bytes.begin) {
            last.bytes.size += bytes.size;
            m_size = last.begin + last.tokens();
            return;
        }
    }
    m_pieces.push_back({m_size, std::move(bytes), size});
    m_size += m_pieces.back().tokens();
}

void TokenSequence::append(std::span<const std::uint32_t> tokens, std::int64_t vocabulary)
{
    const bool wide = vocabulary > std::int64_t{1} << 16;
    const Bytes source = bytesInMemory(wide ? packed<std::uint32_t>(tokens) : packed<std::uint16_t>(tokens));
    append({source, 0, source->size()}, wide ? TokenSize::Four : TokenSize::Two);
}

Status TokenSequence::Piece::read(std::int64_t first, std::span<std::int64_t> out) const
{
    std::array<std::byte, kBlock> block;
    const auto width = static_cast<std::size_t>(size);
    std::uint64_t at = bytes.begin + static_cast<std::uint64_t>(first) * width;
    while (!out.empty()) {
        const std::size_t count = std::min(out.size(), kBlock / width);
        RESIDUA_TRY(bytes.source->read(at, std::span(block).first(count * width)));
        widen(block.data(), size, out.first(count));
        out = out.subspan(count);
        at += count * width;
    }
    return Done{};
}

Status TokenSequence::read(std::int64_t begin, std::span<std::int64_t> out) const
{
    if (out.empty()) {
        return Done{};
    }
    auto piece = std::upper_bound(m_pieces.begin(), m_pieces.end(), begin,
                                  [](std::int64_t position, const Piece& other) { return position < other.begin; });
    --piece;
    while (!out.empty()) {
        const std::int64_t first = begin - piece->begin;
        const auto count = std::min(out.size(), static_cast<std::size_t>(piece->tokens() - first));
        RESIDUA_TRY(piece->read(first, out.first(count)));
        out = out.subspan(count);
        begin += static_cast<std::int64_t>(count);
        ++piece;
    }
    return Done{};
}

Result<std::optional<TokenSequence::Found>> TokenSequence::firstBeyond(std::int64_t vocabulary,
                                                                       const PreparationWatch& watch) const
{
    constexpr std::int64_t kAtOnce = 1 << 18; // tokens between two calls of the watch
    std::vector<std::int64_t> block;
    for (const Piece& piece : m_pieces) {
        const std::int64_t bits = 8 * static_cast<std::int64_t>(piece.size);
        if (vocabulary >= std::int64_t{1} << bits) {
            continue; // the width cannot represent such a token
        }
        for (std::int64_t first = 0; first < piece.tokens(); first += static_cast<std::int64_t>(block.size())) {
            if (first > 0) {
                const double share = static_cast<double>(piece.begin + first) / static_cast<double>(m_size);
                RESIDUA_TRY(stillWanted(watch, share));
            }
            block.resize(static_cast<std::size_t>(std::min(piece.tokens() - first, kAtOnce)));
            RESIDUA_TRY(piece.read(first, block));
            const auto found = std::find_if(block.begin(), block.end(),
                                            [vocabulary](std::int64_t token) { return token >= vocabulary; });
            if (found != block.end()) {
                return std::optional(Found{piece.begin + first + (found - block.begin()), *found});
            }
        }
    }
    return std::optional<Found>();
}

} // namespace residua::engine
