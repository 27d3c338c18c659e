// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

/// What is looked at in a JSON text of a stranger's, whichever tree it is read into.
namespace residua {

inline constexpr int kDeepestJson = 64; ///< levels of a document or a configuration, far beyond any

/// The offset of the first bracket of a JSON text that nests deeper than `levels`, which a recursive walk could not
/// bear.
[[nodiscard]] std::optional<std::size_t> tooDeepAt(std::string_view text, int levels);

/// One of an object's `keys` that is there twice: readers would silently take one of its values.
[[nodiscard]] std::optional<std::string_view> keyGivenTwice(std::vector<std::string_view> keys);

} // namespace residua
