// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/token_sequence.h"

#include <algorithm>
#include <cstring>

namespace residua::engine {
namespace {

template <class T>
void copyTokens(std::span<const std::byte> bytes, std::int64_t first, std::span<std::int64_t> out)
{
    const std::byte* at = bytes.data() + static_cast<std::size_t>(first) * sizeof(T);
    for (std::int64_t& token : out) {
        T value; // a file's tokens need not be aligned
        std::memcpy(&value, at, sizeof(T));
        token = value;
        at += sizeof(T);
    }
}

void copyTokens(std::span<const std::byte> bytes, TokenSize size, std::int64_t first, std::span<std::int64_t> out)
{
    switch (size) {
    case TokenSize::One:
        return copyTokens<std::uint8_t>(bytes, first, out);
    case TokenSize::Two:
        return copyTokens<std::uint16_t>(bytes, first, out);
    case TokenSize::Four:
        return copyTokens<std::uint32_t>(bytes, first, out);
    }
}

} // namespace

void TokenSequence::append(std::span<const std::byte> bytes, TokenSize size, std::shared_ptr<const void> owner)
{
    if (bytes.empty()) {
        return;
    }
    // Documents that lie side by side are one piece, so that a corpus of millions costs no more than one file.
    if (!m_pieces.empty()) {
        Piece& last = m_pieces.back();
        if (last.owner == owner && last.size == size && last.bytes.data() + last.bytes.size() == bytes.data()) {
            last.bytes = {last.bytes.data(), last.bytes.size() + bytes.size()};
            m_size = last.begin + last.tokens();
            return;
        }
    }
    m_pieces.push_back({m_size, bytes, size, std::move(owner)});
    m_size += m_pieces.back().tokens();
}

void TokenSequence::append(std::span<const std::uint32_t> tokens, std::int64_t vocabulary)
{
    if (vocabulary > std::int64_t{1} << 16) {
        const auto kept = std::make_shared<const std::vector<std::uint32_t>>(tokens.begin(), tokens.end());
        append(std::as_bytes(std::span(*kept)), TokenSize::Four, kept);
    } else {
        const auto kept = std::make_shared<std::vector<std::uint16_t>>(tokens.size());
        std::transform(tokens.begin(), tokens.end(), kept->begin(),
                       [](std::uint32_t token) { return static_cast<std::uint16_t>(token); });
        append(std::as_bytes(std::span(*kept)), TokenSize::Two, kept);
    }
}

void TokenSequence::read(std::int64_t begin, std::span<std::int64_t> out) const
{
    if (out.empty()) {
        return;
    }
    auto piece = std::upper_bound(m_pieces.begin(), m_pieces.end(), begin,
                                  [](std::int64_t position, const Piece& other) { return position < other.begin; });
    --piece;
    while (!out.empty()) {
        const std::int64_t first = begin - piece->begin;
        const auto count = std::min(out.size(), static_cast<std::size_t>(piece->tokens() - first));
        copyTokens(piece->bytes, piece->size, first, out.first(count));
        out = out.subspan(count);
        begin += static_cast<std::int64_t>(count);
        ++piece;
    }
}

std::optional<TokenSequence::Found> TokenSequence::firstBeyond(std::int64_t vocabulary) const
{
    std::vector<std::int64_t> block;
    for (const Piece& piece : m_pieces) {
        const std::int64_t bits = 8 * static_cast<std::int64_t>(piece.size);
        if (vocabulary >= std::int64_t{1} << bits) {
            continue; // it cannot hold such a token
        }
        for (std::int64_t first = 0; first < piece.tokens(); first += static_cast<std::int64_t>(block.size())) {
            block.resize(static_cast<std::size_t>(std::min<std::int64_t>(piece.tokens() - first, 4096)));
            copyTokens(piece.bytes, piece.size, first, block);
            const auto found = std::find_if(block.begin(), block.end(),
                                            [vocabulary](std::int64_t token) { return token >= vocabulary; });
            if (found != block.end()) {
                return Found{piece.begin + first + (found - block.begin()), *found};
            }
        }
    }
    return std::nullopt;
}

} // namespace residua::engine
