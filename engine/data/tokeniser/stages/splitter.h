// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/tokeniser/base/part.h"
#include "engine/data/tokeniser/base/pattern.h"
#include "engine/data/tokeniser/stages/stages.h"
#include "projects/base/result.h"

#include <functional>
#include <string>
#include <vector>

namespace residua::engine {

/// A text and its parts, which are encoded separately.
struct Pieces {
    std::string text;
    std::vector<Span> spans;             ///< in order, without empty ones
    TextStart start = TextStart::Begins; ///< if it continues, nothing is added before its first character
    bool isFirst = true;                 ///< true if no added token precedes it
    bool bytes = false;                  ///< the text must still be converted to the characters that represent bytes

    /// Converts the text to those characters if `bytes` is set.
    void writeBytes();
};

/// Cuts text into pieces. Any thread.
using Splitter = std::function<Status(Pieces& pieces)>;

/// Makes the splitter that a component of tokenizer.json describes; empty if the part has failed.
[[nodiscard]] Splitter makeSplitter(const Part& part);

} // namespace residua::engine
