// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/tokeniser/base/pattern.h"

#include <optional>
#include <string_view>
#include <vector>

namespace residua::engine {

/// What becomes of the delimiters that a text is cut at. Contiguous: those side by side are one piece.
enum class Delimiters { Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous };

[[nodiscard]] std::optional<Delimiters> delimitersOf(std::string_view name);

/// A stretch of a text, and whether it is a delimiter.
struct Stretch {
    Span span;
    bool delimiter = false;
};

/// Appends the pieces that the stretches of one part leave, none of them empty.
void appendPieces(const std::vector<Stretch>& stretches, Delimiters delimiters, std::vector<Span>& pieces);

} // namespace residua::engine
