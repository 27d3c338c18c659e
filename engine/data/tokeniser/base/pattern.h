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

/// A string, or a regular expression in Oniguruma's Ruby syntax, which tokenizer.json uses. Immutable; any thread.
class Pattern {
public:
    [[nodiscard]] static Pattern literal(std::string text);
    /// Compiles an expression with PCRE2. Translates the parts that the two interpret differently, or returns an error
    /// that names them.
    [[nodiscard]] static Result<Pattern> regularExpression(std::string_view expression, const std::string& place);

    /// Appends the matches in `part` of a valid UTF-8 `text`, in order and without overlap, as if the text were only
    /// this part. Returns an error if the search exceeds its limits of memory or time.
    [[nodiscard]] Status find(std::string_view text, Span part, std::vector<Span>& found) const;
    /// Searches several parts in turn; `ends` receives the total number of matches after each part.
    [[nodiscard]] Status find(std::string_view text, const std::vector<Span>& parts, std::vector<Span>& found,
                              std::vector<std::size_t>& ends) const;

    /// Replaces each match in `text`, which is valid UTF-8, by `content`. On error `text` is unchanged.
    [[nodiscard]] Status replace(std::string& text, const std::string& content) const;

private:
    struct Compiled;
    std::string m_text;                         ///< the string, or the expression
    std::shared_ptr<const Compiled> m_compiled; ///< null for a string
};

/// Translates a regular expression from Oniguruma's Ruby syntax to PCRE2's. White space and word characters follow
/// Unicode; scripts are matched by a character's own script, not its script extensions. Returns an error that names any
/// feature that PCRE2 cannot express.
[[nodiscard]] Result<std::string> translatedExpression(std::string_view expression, const std::string& place);

} // namespace residua::engine
