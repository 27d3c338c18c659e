// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/tokeniser/base/part.h"
#include "projects/base/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

/// The tokeniser of a tokenizer.json, with the ids of the library `tokenizers`. It finds added tokens in the text,
/// normalises the text between them and splits it into pieces, and encodes each piece by a model. Ignores truncation
/// and padding, which do not apply to training text. Immutable; any thread.
class JsonTokeniser {
public:
    /// Parses a tokeniser from a file's bytes. Errors name the component, below `place`.
    [[nodiscard]] static Result<std::unique_ptr<JsonTokeniser>> parse(std::string_view bytes, const std::string& place);
    ~JsonTokeniser();

    /// Returns one more than the largest id.
    [[nodiscard]] std::int64_t vocabulary() const;
    [[nodiscard]] std::optional<std::uint32_t> id(std::string_view token) const;
    /// Returns the token of an id as the file writes it; empty for an unknown id.
    [[nodiscard]] std::string token(std::int64_t id) const;
    /// Returns the post-processor's special tokens.
    [[nodiscard]] const DocumentMarks& marks() const;
    /// Appends the tokens of valid UTF-8, without marks.
    [[nodiscard]] Status encode(std::string_view text, TextStart start, std::vector<std::uint32_t>& ids) const;
    /// Returns valid UTF-8, without special tokens. An unknown id becomes U+FFFD.
    [[nodiscard]] std::string decode(std::span<const std::int64_t> ids) const;

private:
    struct Parts;
    explicit JsonTokeniser(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> m_parts;
};

} // namespace residua::engine
