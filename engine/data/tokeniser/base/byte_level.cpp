// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/tokeniser/base/characters.h"

#include "projects/base/utf8.h"

#include <array>

namespace residua::engine {
namespace {

constexpr char32_t kFirstOther = 0x100;

struct Tables {
    std::array<char32_t, 256> characters{};
    std::array<int, 2 * kFirstOther> bytes{}; ///< −1 for a character that represents no byte

    constexpr Tables()
    {
        bytes.fill(-1);
        char32_t next = kFirstOther;
        for (char32_t byte = 0; byte < characters.size(); ++byte) {
            const bool visible = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
            characters[byte] = visible ? byte : next++;
            bytes[characters[byte]] = static_cast<int>(byte);
        }
    }
};
constexpr Tables kTables;

} // namespace

std::string bytesAsCharacters(std::string_view bytes)
{
    std::string characters;
    characters.reserve(2 * bytes.size());
    for (const char byte : bytes) {
        appendUtf8(characters, kTables.characters[static_cast<unsigned char>(byte)]);
    }
    return characters;
}

std::optional<std::string> charactersAsBytes(std::string_view characters)
{
    std::string bytes;
    for (std::size_t at = 0; at < characters.size();) {
        const char32_t character = nextCodePoint(characters, at);
        if (character >= kTables.bytes.size() || kTables.bytes[character] < 0) {
            return std::nullopt;
        }
        bytes += static_cast<char>(kTables.bytes[character]);
    }
    return bytes;
}

} // namespace residua::engine
