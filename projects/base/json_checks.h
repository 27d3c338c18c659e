// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Checks of a JSON text that comes from elsewhere, whichever tree it is read into.
namespace residua {

inline constexpr int kDeepestJson = 64; ///< levels of a document or a configuration, far beyond any

/// Nesting that is too deep.
struct DeepNesting {
    std::size_t at = 0;  ///< the offset of the first bracket that is too deep
    std::string message; ///< "is nested deeper than 64 levels"
};

/// Whether a JSON text nests deeper than `levels`. A reader that calls itself for each level would exhaust its stack.
[[nodiscard]] std::optional<DeepNesting> tooDeep(std::string_view text, int levels);

/// One of an object's `keys` that is there twice: readers would silently take one of its values.
[[nodiscard]] std::optional<std::string_view> keyGivenTwice(std::vector<std::string_view> keys);

} // namespace residua
