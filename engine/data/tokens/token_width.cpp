// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/tokens/token_files.h"

#include <algorithm>
#include <array>

namespace residua::engine {
namespace {

using projects::TokenWidth;

constexpr std::uint64_t kProbedBytes = 4096;
constexpr std::uint64_t kBlocks = 64;
constexpr std::int64_t kNarrowVocabulary = std::int64_t{1} << 16;

/// Statistics of the samples as pairs of 16-bit words. Each pair would be one 32-bit token.
struct Counts {
    std::int64_t pairs = 0;
    std::int64_t highZero = 0; ///< pairs with a zero second word
    std::int64_t anyLow = 0;   ///< pairs with a nonzero first word
    std::int64_t below = 0;    ///< pairs that form a token of the vocabulary
    std::int64_t oddPairs = 0; ///< pairs at odd positions
    std::int64_t oddZero = 0;  ///< odd pairs that are zero

    void add(std::span<const std::uint32_t> words, std::int64_t vocabulary)
    {
        for (std::size_t i = 0; i < words.size(); ++i) {
            const std::uint32_t word = words[i];
            ++pairs;
            highZero += word >> 16 == 0 ? 1 : 0;
            anyLow += (word & 0xffff) != 0 ? 1 : 0;
            below += word < vocabulary ? 1 : 0;
            oddPairs += i % 2 == 1 ? 1 : 0;
            oddZero += i % 2 == 1 && word == 0 ? 1 : 0;
        }
    }

    /// True for zero-extended 16-bit words that are not all zero.
    [[nodiscard]] bool looksWide() const { return pairs > 0 && highZero == pairs && anyLow > 0; }
    /// True for zero-extended 32-bit words.
    [[nodiscard]] bool looksVeryWide() const
    {
        return oddPairs > 0 && oddZero == oddPairs && anyLow > 0 && highZero == pairs;
    }
    [[nodiscard]] bool isNearlyWide() const { return pairs > 0 && anyLow > 0 && 10 * highZero >= 9 * pairs; }
};

Result<Counts> sample(const Bytes& file, std::int64_t vocabulary)
{
    Counts counts;
    std::array<std::uint32_t, kProbedBytes / sizeof(std::uint32_t)> words{};
    const std::uint64_t blocks = (file->size() + kProbedBytes - 1) / kProbedBytes;
    const std::uint64_t taken = std::min(blocks, kBlocks);
    for (std::uint64_t i = 0; i < taken; ++i) {
        const std::uint64_t begin = i * blocks / taken * kProbedBytes;
        const std::size_t whole = std::min(file->size() - begin, kProbedBytes) / sizeof(std::uint32_t);
        const auto part = std::span(words).first(whole);
        RESIDUA_TRY(file->read(begin, std::as_writable_bytes(part)));
        counts.add(part, vocabulary);
    }
    return counts;
}

constexpr const char* kSayWidth = "; if that is wrong, give the data's token width in the project";

Result<TokenWidthFound> detect(const Counts& counts, std::uint64_t bytes, std::int64_t vocabulary,
                               const std::string& place)
{
    if (bytes % 8 == 0 && counts.looksVeryWide()) {
        return Error{place, "looks like 64-bit tokens: of every four 16-bit words three are zero; expected uint16 or "
                            "uint32: convert it, or give the token width in the project if it is one of these"};
    }
    if (vocabulary > kNarrowVocabulary) {
        if (bytes % 2 == 0 && 2 * counts.below < counts.pairs) {
            return TokenWidthFound{TokenSize::Two, "read as uint16 tokens: as uint32, " +
                                                       std::to_string(counts.pairs - counts.below) + " of " +
                                                       std::to_string(counts.pairs) +
                                                       " looked at would be beyond the vocabulary" + kSayWidth};
        }
        return TokenWidthFound{TokenSize::Four, {}};
    }
    if (bytes % 4 == 0 && counts.looksWide()) {
        return TokenWidthFound{TokenSize::Four, std::string("read as uint32 tokens: every second 16-bit word that was "
                                                            "looked at is zero") +
                                                    kSayWidth};
    }
    if (counts.isNearlyWide()) {
        return TokenWidthFound{TokenSize::Two, "read as uint16 tokens, though " + std::to_string(counts.highZero) +
                                                   " of " + std::to_string(counts.pairs) +
                                                   " second words are zero, as they are in uint32 tokens" + kSayWidth};
    }
    return TokenWidthFound{TokenSize::Two, {}};
}

} // namespace

std::string toString(TokenSize size)
{
    switch (size) {
    case TokenSize::One:
        return "uint8";
    case TokenSize::Two:
        return "uint16";
    case TokenSize::Four:
        return "uint32";
    }
    return {};
}

Result<TokenWidthFound> tokenWidthOf(const Bytes& file, TokenWidth said, std::int64_t vocabulary,
                                     const std::string& place)
{
    const auto counts = RESIDUA_TRY(sample(file, vocabulary));
    if (said == TokenWidth::Uint32) {
        return TokenWidthFound{TokenSize::Four, {}};
    }
    if (said == TokenWidth::Uint16) {
        const bool doubtful = file->size() % 4 == 0 && counts.looksWide();
        return TokenWidthFound{TokenSize::Two, doubtful ? "read as uint16 tokens, as the project says, though every "
                                                          "second one is 0, as in uint32 tokens"
                                                        : ""};
    }
    auto found = detect(counts, file->size(), vocabulary, place);
    if (found && counts.pairs > 0 && counts.anyLow == 0 && counts.highZero == counts.pairs) {
        found->note = "every token that was looked at is 0: is the file complete?";
    }
    return found;
}

} // namespace residua::engine
