// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/pytorch/python_text.h"

#include "projects/base/text.h"
#include "projects/base/utf8.h"

#include <algorithm>
#include <cmath>

namespace residua::projects {
namespace {

constexpr std::size_t kLineLength = 100;
constexpr std::size_t kLeastRoom = 40;
constexpr std::size_t kIndent = 4;

std::vector<std::string> wrapped(std::string_view text, std::size_t room)
{
    std::vector<std::string> lines;
    std::string line;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string_view word = text.substr(at, end - at);
        at = end + 1;
        if (!line.empty() && codePoints(line) + 1 + codePoints(word) > room) {
            lines.push_back(std::move(line));
            line.clear();
        }
        line += (line.empty() ? "" : " ") + std::string(word);
    }
    if (!line.empty()) {
        lines.push_back(std::move(line));
    }
    return lines;
}

bool isLetter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

/// Keywords, and names that a module importing torch uses.
const std::set<std::string>& reservedWords()
{
    static const std::set<std::string> words{
        "False", "None",      "True",  "and",    "as",        "assert", "async",  "await",    "break",
        "class", "continue",  "def",   "del",    "elif",      "else",   "except", "finally",  "for",
        "from",  "global",    "if",    "import", "in",        "is",     "lambda", "nonlocal", "not",
        "or",    "pass",      "raise", "return", "try",       "while",  "with",   "yield",    "F",
        "math",  "nn",        "self",  "torch",  "sum",       "range",  "len",    "str",      "super",
        "list",  "itertools", "dict",  "zip",    "enumerate", "l",      "O",      "I"};
    return words;
}

} // namespace

std::size_t PythonText::room() const
{
    const std::size_t margin = kIndent * static_cast<std::size_t>(m_depth);
    return margin + kLeastRoom > kLineLength ? kLeastRoom : kLineLength - margin;
}

void PythonText::line(std::string_view text)
{
    if (!text.empty()) {
        m_text.append(kIndent * static_cast<std::size_t>(m_depth), ' ').append(text);
    }
    m_text += '\n';
}

void PythonText::lines(std::string_view text, std::initializer_list<std::string> values)
{
    text.remove_prefix(text.starts_with('\n') ? 1 : 0);
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string filled(text.substr(0, end));
        for (std::size_t value = values.size(); value > 0; --value) {
            const std::string place = "%" + std::to_string(value);
            for (std::size_t at = filled.find(place); at != std::string::npos; at = filled.find(place)) {
                filled.replace(at, place.size(), values.begin()[value - 1]);
            }
        }
        if (end == 0 || filled.find_first_not_of(' ') != std::string::npos) {
            line(filled);
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

void PythonText::beginClass(const std::string& name, const std::vector<std::string>& paragraphs)
{
    line("class " + name + "(nn.Module):");
    indent();
    docstring(paragraphs);
}

void PythonText::define(const std::string& head, const std::vector<std::string>& paragraphs)
{
    line();
    m_depth = 1;
    line("def " + head + ":");
    indent();
    if (!paragraphs.empty()) {
        docstring(paragraphs);
    }
}

void PythonText::docstring(const std::vector<std::string>& paragraphs)
{
    constexpr std::size_t kQuotes = 6;
    if (paragraphs.size() == 1 && codePoints(paragraphs[0]) + kQuotes <= room()) {
        line("\"\"\"" + paragraphs[0] + "\"\"\"");
        return;
    }
    for (std::size_t p = 0; p < paragraphs.size(); ++p) {
        if (p > 0) {
            line();
        }
        std::vector<std::string> rows = wrapped(paragraphs[p], room() - kQuotes / 2);
        if (p == 0 && !rows.empty()) {
            rows[0].insert(0, "\"\"\"");
        }
        for (const std::string& row : rows) {
            line(row);
        }
    }
    line("\"\"\"");
}

void PythonText::comment(const std::string& text)
{
    for (const std::string& row : wrapped(text, room() - 2)) {
        line("# " + row);
    }
}

std::string PythonNames::free(std::string base, std::string_view between)
{
    base += reservedWords().contains(base) ? "_" : "";
    std::string name = freeName(
        base, [this](const std::string& taken) { return m_taken.contains(taken); }, between);
    m_taken.insert(name);
    return name;
}

std::string PythonNames::of(std::string_view name)
{
    std::string result;
    for (const char c : name) {
        const bool fits = isLetter(c) || isDigit(c);
        if (fits) {
            result += c;
        } else if (!result.empty() && result.back() != '_') {
            result += '_';
        }
    }
    while (result.ends_with('_')) {
        result.pop_back();
    }
    if (result.empty() || isDigit(result.front())) {
        result.insert(0, result.empty() ? "node" : "n");
    }
    return free(std::move(result), "_");
}

std::string PythonNames::classOf(std::string_view name)
{
    std::string result;
    bool begins = true;
    for (const char c : name) {
        if (isLetter(c) || isDigit(c)) {
            const bool raises = begins && c >= 'a' && c <= 'z';
            result += raises ? static_cast<char>(c - 'a' + 'A') : c;
        }
        begins = !isLetter(c);
    }
    if (result.empty() || isDigit(result.front())) {
        result.insert(0, "Block");
    }
    return free(std::move(result), "");
}

const std::set<std::string>& moduleAttributes()
{
    static const std::set<std::string> names{"T_destination",
                                             "add_module",
                                             "apply",
                                             "bfloat16",
                                             "buffers",
                                             "call_super_init",
                                             "children",
                                             "compile",
                                             "cpu",
                                             "cuda",
                                             "double",
                                             "dump_patches",
                                             "eval",
                                             "extra_repr",
                                             "float",
                                             "forward",
                                             "get_buffer",
                                             "get_extra_state",
                                             "get_parameter",
                                             "get_submodule",
                                             "half",
                                             "ipu",
                                             "load_state_dict",
                                             "modules",
                                             "mtia",
                                             "named_buffers",
                                             "named_children",
                                             "named_modules",
                                             "named_parameters",
                                             "parameters",
                                             "register_backward_hook",
                                             "register_buffer",
                                             "register_forward_hook",
                                             "register_forward_pre_hook",
                                             "register_full_backward_hook",
                                             "register_full_backward_pre_hook",
                                             "register_load_state_dict_post_hook",
                                             "register_load_state_dict_pre_hook",
                                             "register_module",
                                             "register_parameter",
                                             "register_state_dict_post_hook",
                                             "register_state_dict_pre_hook",
                                             "requires_grad_",
                                             "set_extra_state",
                                             "set_submodule",
                                             "share_memory",
                                             "state_dict",
                                             "to",
                                             "to_empty",
                                             "train",
                                             "training",
                                             "type",
                                             "xpu",
                                             "zero_grad"};
    return names;
}

std::string pythonReal(double value)
{
    if (std::isinf(value) || std::isnan(value)) {
        return std::isnan(value) ? "math.nan" : value > 0 ? "math.inf" : "-math.inf";
    }
    const std::string text = numberText(value);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string sequenceText(const std::vector<std::int64_t>& values)
{
    const std::int64_t step = values.size() > 1 ? values[1] - values[0] : 1;
    bool even = values.size() > 2 || step == 1;
    for (std::size_t i = 1; i < values.size(); ++i) {
        even = even && values[i] - values[i - 1] == step;
    }
    if (values.empty()) {
        return "()";
    }
    if (even) {
        const std::string first = values.front() == 0 && step == 1 ? "" : std::to_string(values.front()) + ", ";
        return "range(" + first + std::to_string(values.back() + 1) +
               (step == 1 ? ")" : ", " + std::to_string(step) + ")");
    }
    const auto textOf = [](std::int64_t value) { return std::to_string(value); };
    return "(" + joinedText(values, ", ", textOf) + (values.size() == 1 ? ",)" : ")");
}

std::string repeatingText(const std::vector<std::int64_t>& values)
{
    constexpr std::ptrdiff_t kShort = 6;
    std::vector<std::string> parts;
    const auto add = [&](auto from, auto to, std::ptrdiff_t times) {
        const bool ascends = std::adjacent_find(from, to, [](auto a, auto b) { return b != a + 1; }) == to;
        const std::vector<std::int64_t> part(from, to);
        const std::string list =
            ascends && to - from > kShort
                ? "list(" + sequenceText(part) + ")"
                : "[" + joinedText(part, ", ", [](auto value) { return std::to_string(value); }) + "]";
        if (from != to) {
            parts.push_back((times > 1 ? std::to_string(times) + " * " : "") + list);
        }
    };
    auto single = values.begin(); // the first value that is not in a part
    for (auto at = values.begin(); at != values.end();) {
        std::ptrdiff_t period = 0;
        std::ptrdiff_t times = 1;
        for (std::ptrdiff_t length = 1; 2 * length <= values.end() - at; ++length) {
            std::ptrdiff_t found = 1;
            while ((found + 1) * length <= values.end() - at && std::equal(at, at + length, at + found * length)) {
                ++found;
            }
            if (found > 1 && found * length > times * period) {
                period = length;
                times = found;
            }
        }
        if (times > 1) {
            add(single, at, 1);
            add(at, at + period, times);
        }
        at += std::max<std::ptrdiff_t>(times * period, 1);
        single = times > 1 ? at : single;
    }
    add(single, values.end(), 1);
    return joinedText(parts, " + ");
}

std::string plainText(std::string_view text)
{
    std::string result;
    for (const char c : asUtf8(text)) {
        const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
        result += control ? ' ' : c == '"' || c == '\\' ? '\'' : c;
    }
    return result;
}

} // namespace residua::projects
