// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/tokeniser/base/part.h"
#include "projects/base/result.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

/// Makes text of the tokens that were written. Immutable; any thread.
class Decoder {
public:
    virtual ~Decoder() = default;
    /// Changes the tokens, whose texts in a row are what was written. May leave bytes that are no UTF-8.
    virtual void apply(std::vector<std::string>& tokens) const = 0;
};

/// Makes the decoder that a component of tokenizer.json describes; null where the part has failed.
[[nodiscard]] std::unique_ptr<Decoder> makeDecoder(const Part& part);

/// `bytes` with one U+FFFD for each longest beginning of a character that breaks off, and for each other byte that is
/// part of none (Unicode, section 3.9, the practice for substitution).
[[nodiscard]] std::string repairedUtf8(std::string_view bytes);

} // namespace residua::engine
