// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/tokeniser/base/pattern.h"

#include <optional>
#include <string_view>
#include <vector>

namespace residua::engine {

/// The treatment of delimiters at which a text is split. Contiguous: adjacent ones form one piece.
enum class Delimiters { Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous };

[[nodiscard]] std::optional<Delimiters> delimitersOf(std::string_view name);

/// A range of a text that is a delimiter or not.
struct Stretch {
    Span span;
    bool delimiter = false;
};

/// Appends the pieces of the stretches of one part, without empty ones.
void appendPieces(const std::vector<Stretch>& stretches, Delimiters delimiters, std::vector<Span>& pieces);

} // namespace residua::engine
