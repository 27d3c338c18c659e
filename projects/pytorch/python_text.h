// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// Private to projects: builds lines of Python.
class PythonText {
public:
    /// Adds a line at the current depth. An empty line has no spaces.
    void line(std::string_view text = {});
    /// Adds every line of a text at the current depth. The text may begin with a line break, and %1 is the first of
    /// `values`. A line that only consists of empty values is left out.
    void lines(std::string_view text, std::initializer_list<std::string> values = {});
    void indent() { ++m_depth; }
    void outdent() { --m_depth; }
    /// Begins a class of the module: "class name(nn.Module):" and its docstring. Leaves the depth at that of its
    /// members.
    void beginClass(const std::string& name, const std::vector<std::string>& paragraphs);
    /// Begins a method of the class, whatever the depth: an empty line and "def head:" with its docstring, if any.
    /// Leaves the depth at that of its body.
    void define(const std::string& head, const std::vector<std::string>& paragraphs = {});
    /// Adds `"""text"""` on one line if it fits, else wrapped between words. Paragraphs are separated by empty lines.
    void docstring(const std::vector<std::string>& paragraphs);
    /// Adds "# text", wrapped between words.
    void comment(const std::string& text);
    [[nodiscard]] const std::string& text() const { return m_text; }
    [[nodiscard]] bool empty() const { return m_text.empty(); }

private:
    [[nodiscard]] std::size_t room() const;

    std::string m_text;
    int m_depth = 0;
};

/// Unique identifiers in one scope, made from the names that people use.
class PythonNames {
public:
    explicit PythonNames(std::set<std::string> taken) : m_taken(std::move(taken)) {}

    /// Returns "attn_out" for "attn out", "_2nd" for "2nd", "if_" for "if", followed by a number if it is taken. ASCII
    /// only.
    [[nodiscard]] std::string of(std::string_view name);
    /// Returns the identifier of a class: "TransformerQkv" for "transformer-qkv".
    [[nodiscard]] std::string classOf(std::string_view name);
    void take(const std::string& name) { m_taken.insert(name); }

private:
    [[nodiscard]] std::string free(std::string base, std::string_view between);

    std::set<std::string> m_taken;
};

/// Returns the attributes of torch.nn.Module, whose names a module's attributes must not use.
[[nodiscard]] const std::set<std::string>& moduleAttributes();

/// Formats a number that Python reads back to the same bits, with a point or an exponent: "0.1", "1.0", "1e-06".
[[nodiscard]] std::string pythonReal(double value);
/// Returns range(0, 5), range(1, 8, 2) or a tuple.
[[nodiscard]] std::string sequenceText(const std::vector<std::int64_t>& values);
/// Returns a list with its repetitions as products: "[1] + 4 * [2, 3] + [4]".
[[nodiscard]] std::string repeatingText(const std::vector<std::int64_t>& values);
/// Returns the text for a docstring or comment: one line, without characters that would end it.
[[nodiscard]] std::string plainText(std::string_view text);

} // namespace residua::projects
