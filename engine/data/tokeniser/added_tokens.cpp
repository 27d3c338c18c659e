// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/tokeniser/added_tokens.h"

#include "engine/data/tokeniser/base/characters.h"
#include "projects/base/utf8.h"

#include <algorithm>

namespace residua::engine {
namespace {

/// Returns the beginning of the character before `end`.
std::size_t before(std::string_view text, std::size_t end)
{
    return lastCodePoint(text.substr(0, end));
}

char32_t characterAt(std::string_view text, std::size_t at)
{
    return nextCodePoint(text, at);
}

bool standsAlone(std::string_view text, Span span)
{
    const bool joinsLeft = span.begin > 0 && isWordCharacter(characterAt(text, before(text, span.begin)));
    const bool joinsRight = span.end < text.size() && isWordCharacter(characterAt(text, span.end));
    return !joinsLeft && !joinsRight;
}

/// Returns `span` extended by the adjacent white space that the token takes, but not before `least`.
Span widened(std::string_view text, Span span, const AddedToken& token, std::size_t least)
{
    while (token.takesLeft && span.begin > least) {
        const std::size_t at = before(text, span.begin);
        if (!isWhiteSpace(characterAt(text, at))) {
            break;
        }
        span.begin = at;
    }
    while (token.takesRight && span.end < text.size()) {
        std::size_t at = span.end;
        if (!isWhiteSpace(nextCodePoint(text, at))) {
            break;
        }
        span.end = at;
    }
    return span;
}

} // namespace

void TokenFinder::add(std::string_view text, const AddedToken* token)
{
    if (m_nodes.empty()) {
        m_nodes.emplace_back();
    }
    std::size_t node = 0;
    for (const char byte : text) {
        const auto [child, isNew] = m_nodes[node].children.emplace(byte, m_nodes.size());
        node = child->second;
        if (isNew) {
            m_nodes.emplace_back();
        }
    }
    m_nodes[node].token = token;
    m_begins[static_cast<unsigned char>(text.front())] = true;
}

TokenFinder::Match TokenFinder::next(std::string_view text, std::size_t begin) const
{
    for (std::size_t at = begin; at < text.size(); ++at) {
        if (!m_begins[static_cast<unsigned char>(text[at])]) {
            continue;
        }
        Match longest;
        std::size_t node = 0;
        for (std::size_t end = at; end < text.size(); ++end) {
            const auto child = m_nodes[node].children.find(text[end]);
            if (child == m_nodes[node].children.end()) {
                break;
            }
            node = child->second;
            if (m_nodes[node].token != nullptr) {
                longest = {{at, end + 1}, m_nodes[node].token};
            }
        }
        if (longest.token != nullptr) {
            return longest;
        }
    }
    return {};
}

void AddedTokens::read(const Part& file, const TokenTable& table, const Normaliser& normaliser)
{
    if (!file.has("added_tokens")) {
        return;
    }
    for (const Part& part : file.parts("added_tokens")) {
        AddedToken token;
        token.content = part.text("content", "");
        if (token.content.empty()) {
            continue; // never found
        }
        // As in the library: the model's own id, or else the next one after the model's count and the largest id so
        // far.
        const AddedToken* const known = find(token.content);
        token.id =
            table.id(token.content)
                .value_or(known != nullptr ? known->id : static_cast<std::uint32_t>(std::max(table.count(), size())));
        token.singleWord = part.flag("single_word", false);
        token.takesLeft = part.flag("lstrip", false);
        token.takesRight = part.flag("rstrip", false);
        token.special = part.flag("special", false);
        token.normalised = part.flag("normalized", !token.special);
        token.decoded = token.content;
        if (token.normalised && normaliser) {
            if (const Status status = normaliser(token.decoded, TextStart::Begins); !status) {
                part.fail(status.error().text());
                return;
            }
        }
        m_tokens.insert_or_assign(token.id, token); // if a token occurs twice, the last entry counts
    }
    for (const auto& [id, token] : m_tokens) {
        if (!token.decoded.empty()) {
            (token.normalised ? m_normalised : m_raw).add(token.decoded, &token);
        }
    }
}

const AddedToken* AddedTokens::find(std::uint32_t id) const
{
    const auto found = m_tokens.find(id);
    return found == m_tokens.end() ? nullptr : &found->second;
}

const AddedToken* AddedTokens::find(std::string_view content) const
{
    const auto found =
        std::ranges::find_if(m_tokens, [&](const auto& entry) { return entry.second.content == content; });
    return found == m_tokens.end() ? nullptr : &found->second;
}

std::size_t AddedTokens::size() const
{
    return m_tokens.empty() ? 0 : std::size_t{m_tokens.rbegin()->first} + 1;
}

Status AddedTokens::forEach(std::string_view text, In in, const TakeText& takeText, const TakeToken& takeToken) const
{
    const TokenFinder& finder = in == In::RawText ? m_raw : m_normalised;
    std::size_t done = 0;
    for (std::size_t at = 0; !finder.empty();) {
        const TokenFinder::Match match = finder.next(text, at);
        if (match.token == nullptr) {
            break;
        }
        at = match.span.end;
        if (match.token->singleWord && !standsAlone(text, match.span)) {
            continue;
        }
        const Span span = widened(text, match.span, *match.token, done);
        if (span.begin > done) {
            RESIDUA_TRY(takeText({done, span.begin}));
        }
        takeToken(*match.token);
        done = span.end;
    }
    return done < text.size() ? takeText({done, text.size()}) : Status(Done{});
}

} // namespace residua::engine
