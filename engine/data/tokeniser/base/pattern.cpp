// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/tokeniser/base/pattern.h"

#include "projects/base/utf8.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <new>

namespace residua::engine {

struct Pattern::Compiled {
    std::unique_ptr<pcre2_code, decltype(&pcre2_code_free)> code{nullptr, &pcre2_code_free};
    bool machineCode = false;
};

namespace {

constexpr std::size_t kStackBegin = std::size_t{32} << 10;
constexpr std::size_t kStackMost = std::size_t{16} << 20;

std::string messageOf(int code)
{
    std::array<unsigned char, 256> text{};
    pcre2_get_error_message(code, text.data(), text.size());
    return reinterpret_cast<const char*>(text.data());
}

/// The memory of one search, in addition to the compiled code.
struct Search {
    explicit Search(const pcre2_code* compiled)
        : code(compiled),
          data(pcre2_match_data_create_from_pattern(compiled, nullptr), &pcre2_match_data_free),
          context(pcre2_match_context_create(nullptr), &pcre2_match_context_free),
          stack(pcre2_jit_stack_create(kStackBegin, kStackMost, nullptr), &pcre2_jit_stack_free)
    {
        if (!data || !context) {
            throw std::bad_alloc();
        }
        if (stack) {
            pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
        }
    }

    int at(std::string_view part, std::size_t begin, std::uint32_t options, bool machineCode) const
    {
        const auto* const bytes = reinterpret_cast<const unsigned char*>(part.data());
        return machineCode ? pcre2_jit_match(code, bytes, part.size(), begin, options, data.get(), context.get())
                           : pcre2_match(code, bytes, part.size(), begin, options | PCRE2_NO_UTF_CHECK, data.get(),
                                         context.get());
    }

    const pcre2_code* code;
    std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> data;
    std::unique_ptr<pcre2_match_context, decltype(&pcre2_match_context_free)> context;
    std::unique_ptr<pcre2_jit_stack, decltype(&pcre2_jit_stack_free)> stack;
};

Status findExpression(const Search& search, bool machineCode, std::string_view part, std::size_t offset,
                      const std::string& expression, std::vector<Span>& found)
{
    for (std::size_t at = 0; at <= part.size();) {
        const int count = search.at(part, at, 0, machineCode);
        if (count == PCRE2_ERROR_NOMATCH) {
            break;
        }
        if (count < 0) {
            return Error{"tokeniser", "the pattern " + expression + " cannot be searched for in this text (" +
                                          messageOf(count) + ")"};
        }
        const PCRE2_SIZE* const ends = pcre2_get_ovector_pointer(search.data.get());
        const Span match{ends[0], std::max(ends[0], ends[1])};
        // An empty match directly after another match does not count.
        if (match.size() > 0 || found.empty() || found.back().end != offset + match.begin || at == 0) {
            found.push_back({offset + match.begin, offset + match.end});
        }
        at = match.end;
        if (match.size() == 0) {
            if (at >= part.size()) {
                break;
            }
            at += utf8Length(part.substr(at));
        }
    }
    return Done{};
}

void findLiteral(std::string_view part, std::size_t offset, const std::string& text, std::vector<Span>& found)
{
    for (std::size_t at = part.find(text); at != std::string_view::npos; at = part.find(text, at + text.size())) {
        found.push_back({offset + at, offset + at + text.size()});
    }
}

} // namespace

Pattern Pattern::literal(std::string text)
{
    Pattern pattern;
    pattern.m_text = std::move(text);
    return pattern;
}

Result<Pattern> Pattern::regularExpression(std::string_view expression, const std::string& place)
{
    const auto translated = RESIDUA_TRY(translatedExpression(expression, place));
    int code = 0;
    PCRE2_SIZE at = 0;
    auto compiled = std::make_shared<Compiled>();
    compiled->code.reset(pcre2_compile(reinterpret_cast<const unsigned char*>(translated.data()), translated.size(),
                                       PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &code, &at,
                                       nullptr));
    if (!compiled->code) {
        return Error{place, "the regular expression " + std::string(expression) + " is not understood: " +
                                messageOf(code) + ", at character " + std::to_string(at) + " of " + translated};
    }
    compiled->machineCode = pcre2_jit_compile(compiled->code.get(), PCRE2_JIT_COMPLETE) == 0;
    Pattern pattern;
    pattern.m_text = expression;
    pattern.m_compiled = std::move(compiled);
    return pattern;
}

Status Pattern::find(std::string_view text, Span part, std::vector<Span>& found) const
{
    std::vector<std::size_t> ends;
    return find(text, std::vector{part}, found, ends);
}

Status Pattern::find(std::string_view text, const std::vector<Span>& parts, std::vector<Span>& found,
                     std::vector<std::size_t>& ends) const
{
    if (!m_compiled) {
        for (const Span part : parts) {
            findLiteral(part.of(text), part.begin, m_text, found);
            ends.push_back(found.size());
        }
        return Done{};
    }
    const Search search(m_compiled->code.get());
    for (const Span part : parts) {
        RESIDUA_TRY(findExpression(search, m_compiled->machineCode, part.of(text), part.begin, m_text, found));
        ends.push_back(found.size());
    }
    return Done{};
}

Status Pattern::replace(std::string& text, const std::string& content) const
{
    std::vector<Span> found;
    if (Status status = find(text, {0, text.size()}, found); !status || found.empty()) {
        return status;
    }
    std::string result;
    result.reserve(text.size() + found.size() * content.size());
    std::size_t done = 0;
    for (const Span match : found) {
        result.append(text, done, match.begin - done);
        result += content;
        done = match.end;
    }
    text = result.append(text, done);
    return Done{};
}

} // namespace residua::engine
