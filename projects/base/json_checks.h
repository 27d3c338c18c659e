// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Checks of an external JSON text before it is parsed into any tree.
namespace residua {

inline constexpr int kDeepestJson = 64; ///< levels; far more than any document or configuration has

/// The place where a text nests too deeply.
struct DeepNesting {
    std::size_t at = 0;  ///< the offset of the first bracket that is too deep
    std::string message; ///< "is nested deeper than 64 levels"
};

/// Checks whether a JSON text nests deeper than `levels`. A recursive reader would exhaust its stack on such a text.
[[nodiscard]] std::optional<DeepNesting> tooDeep(std::string_view text, int levels);

/// Returns a key that occurs twice in an object's `keys`. Readers would silently use only one of its values.
[[nodiscard]] std::optional<std::string_view> keyGivenTwice(std::vector<std::string_view> keys);

} // namespace residua
