// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// Private to projects: lines of Python under construction.
class PythonText {
public:
    /// A line at the current depth; an empty one has no spaces.
    void line(std::string_view text = {});
    /// Every line of a text at the current depth.
    void lines(std::string_view text);
    void indent() { ++m_depth; }
    void outdent() { --m_depth; }
    /// `"""text"""`, on one line where it is one and short enough, else wrapped between words; paragraphs are set
    /// apart.
    void docstring(const std::vector<std::string>& paragraphs);
    /// "# text", wrapped between words.
    void comment(const std::string& text);
    [[nodiscard]] const std::string& text() const { return m_text; }
    [[nodiscard]] bool empty() const { return m_text.empty(); }

private:
    [[nodiscard]] std::size_t room() const;

    std::string m_text;
    int m_depth = 0;
};

/// Names in one scope: what people call a thing as an identifier that nothing else there has.
class PythonNames {
public:
    explicit PythonNames(std::set<std::string> taken) : m_taken(std::move(taken)) {}

    /// "attn out" → "attn_out", "2nd" → "_2nd", "if" → "if_"; with a number where that is taken. ASCII alone.
    [[nodiscard]] std::string of(std::string_view name);
    /// The same for a class: "transformer-qkv" → "TransformerQkv".
    [[nodiscard]] std::string classOf(std::string_view name);
    void take(const std::string& name) { m_taken.insert(name); }

private:
    [[nodiscard]] std::string free(std::string base, std::string_view between);

    std::set<std::string> m_taken;
};

/// What torch.nn.Module has of its own: no attribute of a module may be called that.
[[nodiscard]] const std::set<std::string>& moduleAttributes();

/// A number as Python reads it back to the same bits, with a point or an exponent: "0.1", "1.0", "1e-06".
[[nodiscard]] std::string pythonReal(double value);
/// The text for a docstring or comment: one line, without what ends either.
[[nodiscard]] std::string plainText(std::string_view text);

} // namespace residua::projects
