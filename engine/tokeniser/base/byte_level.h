// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace residua::engine {

/// The 256 characters by which byte-level tokenisers write bytes: those of Latin-1 that are visible stand for
/// themselves, the others follow from U+0100 on in their order.
[[nodiscard]] std::string bytesAsCharacters(std::string_view bytes);
/// The bytes that such characters stand for; nothing where a character is none of the 256.
[[nodiscard]] std::optional<std::string> charactersAsBytes(std::string_view characters);

} // namespace residua::engine
