// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/tokeniser/base/part.h"
#include "engine/tokeniser/base/pattern.h"
#include "engine/tokeniser/stages/normaliser.h"
#include "projects/base/result.h"

#include <memory>
#include <string>
#include <vector>

namespace residua::engine {

/// A text, and the parts of it of which each becomes tokens by itself.
struct Pieces {
    std::string text;
    std::vector<Span> spans;             ///< in order, none empty
    TextStart start = TextStart::Begins; ///< where it goes on, nothing is put before its first character
    bool isFirst = true;                 ///< whether no added token stands before it
    bool bytes = false;                  ///< still to be written as characters that stand for bytes

    /// Writes the text as those characters now, where `bytes` asks for it.
    void writeBytes();
};

/// Cuts text into pieces. Immutable; any thread.
class Splitter {
public:
    virtual ~Splitter() = default;
    [[nodiscard]] virtual Status apply(Pieces& pieces) const = 0;
};

/// Makes the splitter that a component of tokenizer.json describes; null where the part has failed.
[[nodiscard]] std::unique_ptr<Splitter> makeSplitter(const Part& part);

} // namespace residua::engine
