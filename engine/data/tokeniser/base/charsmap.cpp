// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/tokeniser/base/characters.h"

#include "projects/base/utf8.h"

#include <cstdint>
#include <cstring>

namespace residua::engine {
namespace {

constexpr std::size_t kUnit = sizeof(std::uint32_t);

std::uint32_t wordAt(std::string_view bytes, std::size_t index)
{
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + index * sizeof(word), sizeof(word));
    return word;
}

std::size_t childrenOf(std::size_t node, std::uint32_t unit)
{
    return node ^ (std::size_t{unit >> 10} << ((unit & 0x200) >> 6));
}

bool endsSequence(std::uint32_t unit)
{
    return (unit & 0x100) != 0;
}

bool isValue(std::uint32_t unit)
{
    return unit >> 31 != 0;
}

std::size_t valueOf(std::uint32_t unit)
{
    return unit & 0x7fffffff;
}

} // namespace

bool isSoundCharsmap(std::string_view map)
{
    if (map.empty()) {
        return true;
    }
    const std::size_t trieBytes = map.size() < kUnit ? 0 : wordAt(map, 0);
    if (trieBytes == 0 || trieBytes % kUnit != 0 || trieBytes >= map.size() - kUnit || map.back() != '\0') {
        return false;
    }
    const std::string_view trie = map.substr(kUnit, trieBytes);
    const std::string_view replacements = map.substr(kUnit + trieBytes);
    const std::size_t units = trieBytes / kUnit;
    // Every lookup begins with unit 0, whatever it holds.
    if (isValue(wordAt(trie, 0)) || !isUtf8(replacements)) {
        return false;
    }
    for (std::size_t i = 0; i < units; ++i) {
        const std::uint32_t unit = wordAt(trie, i);
        if (isValue(unit)) {
            continue;
        }
        const std::size_t children = childrenOf(i, unit);
        if ((children | 0xff) >= units) {
            return false;
        }
        if (!endsSequence(unit)) {
            continue;
        }
        const std::size_t begin = valueOf(wordAt(trie, children));
        if (begin >= replacements.size() || !beginsCodePoint(replacements[begin])) {
            return false;
        }
    }
    return true;
}

std::optional<std::string_view> replacementIn(std::string_view map, std::string_view text)
{
    if (map.empty()) {
        return std::nullopt;
    }
    const std::size_t trieBytes = wordAt(map, 0);
    const std::string_view trie = map.substr(kUnit, trieBytes);
    const std::string_view replacements = map.substr(kUnit + trieBytes);
    std::size_t node = childrenOf(0, wordAt(trie, 0));
    for (const char letter : text) {
        const auto label = static_cast<unsigned char>(letter);
        node ^= label;
        const std::uint32_t unit = wordAt(trie, node);
        if ((unit & 0x800000ff) != label) { // a value has bit 31 set, so it is no label either
            return std::nullopt;
        }
        node = childrenOf(node, unit);
        if (endsSequence(unit)) {
            const std::string_view found = replacements.substr(valueOf(wordAt(trie, node)));
            return found.substr(0, found.find('\0'));
        }
    }
    return std::nullopt;
}

std::optional<std::string> base64Bytes(std::string_view text)
{
    constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    while (!text.empty() && text.back() == '=') {
        text.remove_suffix(1);
    }
    std::string bytes;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char letter : text) {
        const std::size_t digit = kBase64.find(letter);
        if (digit == std::string_view::npos) {
            return std::nullopt;
        }
        bits = bits << 6 | static_cast<std::uint32_t>(digit);
        count += 6;
        if (count >= 8) {
            count -= 8;
            bytes += static_cast<char>(bits >> count & 0xff);
        }
    }
    return bytes;
}

} // namespace residua::engine
