// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/tokeniser/base/part.h"
#include "projects/base/result.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

/// Converts tokens to text. Immutable; any thread.
class Decoder {
public:
    virtual ~Decoder() = default;
    /// Changes the tokens so that their concatenation is the text. May leave bytes that are not UTF-8.
    virtual void apply(std::vector<std::string>& tokens) const = 0;
};

/// Makes the decoder that a component of tokenizer.json describes; null if the part has failed.
[[nodiscard]] std::unique_ptr<Decoder> makeDecoder(const Part& part);

/// Returns `bytes` with one U+FFFD for each longest incomplete character, and for each other byte that belongs to none
/// (Unicode, section 3.9, the practice for substitution).
[[nodiscard]] std::string repairedUtf8(std::string_view bytes);

} // namespace residua::engine
