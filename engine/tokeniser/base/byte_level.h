// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace residua::engine {

/// Returns bytes as the 256 characters of byte-level tokenisers: visible characters of Latin-1 represent themselves,
/// and the other bytes are numbered from U+0100 in order.
[[nodiscard]] std::string bytesAsCharacters(std::string_view bytes);
/// Returns the bytes that such characters represent; nullopt if a character is not one of the 256.
[[nodiscard]] std::optional<std::string> charactersAsBytes(std::string_view characters);

} // namespace residua::engine
