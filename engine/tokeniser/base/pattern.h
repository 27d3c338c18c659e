// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

/// Bytes begin .. end − 1 of a text.
struct Span {
    std::size_t begin = 0;
    std::size_t end = 0;
    [[nodiscard]] std::size_t size() const { return end - begin; }
    [[nodiscard]] std::string_view of(std::string_view text) const { return text.substr(begin, size()); }
};

/// What is looked for in a text: a string, or a regular expression as Oniguruma's Ruby syntax has it, which is what
/// tokenizer.json is written in. Immutable; any thread.
class Pattern {
public:
    [[nodiscard]] static Pattern literal(std::string text);
    /// Compiled by PCRE2. What the two understand differently is translated, or refused by name.
    [[nodiscard]] static Result<Pattern> regularExpression(std::string_view expression, const std::string& place);

    /// Appends where it occurs in `part` of a valid UTF-8 `text`, in order and without overlap, as if there were
    /// nothing but the part. An error where the search takes too much memory or time.
    [[nodiscard]] Status find(std::string_view text, Span part, std::vector<Span>& found) const;
    /// The same for many parts, one after another; `ends` receives how many had been found when each was done.
    [[nodiscard]] Status find(std::string_view text, const std::vector<Span>& parts, std::vector<Span>& found,
                              std::vector<std::size_t>& ends) const;

    /// Puts `content` in the place of each occurrence in `text`, which is valid UTF-8. On error `text` stays.
    [[nodiscard]] Status replace(std::string& text, const std::string& content) const;

private:
    struct Compiled;
    std::string m_text;                         ///< what is looked for, or the expression
    std::shared_ptr<const Compiled> m_compiled; ///< null for a string
};

} // namespace residua::engine
