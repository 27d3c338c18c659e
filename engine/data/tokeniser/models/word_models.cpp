// SPDX-License-Identifier: GPL-3.0-or-later
// Models that look up words.
#include "engine/data/tokeniser/models/token_model.h"
#include "projects/base/utf8.h"

#include <algorithm>

namespace residua::engine {
namespace {

std::uint32_t requiredUnknown(const Part& part, const TokenTable& table, const char* otherwise)
{
    const std::string token = part.text("unk_token", otherwise);
    const auto id = table.id(token);
    if (!id) {
        part.part("unk_token").fail("\"" + token + "\" is not in the vocabulary");
    }
    return id.value_or(0);
}

/// Takes the longest tokens from the left. If they do not cover the word, the whole word is unknown.
class WordPiece : public TokenModel {
public:
    explicit WordPiece(const Part& part)
    {
        readTokens(part, m_table);
        m_prefix = part.text("continuing_subword_prefix", "##");
        m_unknown = requiredUnknown(part, m_table, "[UNK]");
        m_most = part.number("max_input_chars_per_word", 100);
        m_table.forEach([&](std::string_view token, std::uint32_t) { m_longest = std::max(m_longest, token.size()); });
    }

    Status encode(std::string_view piece, std::vector<std::uint32_t>& ids) const override
    {
        const std::size_t before = ids.size();
        bool known = std::ranges::count_if(piece, &beginsCodePoint) <= m_most;
        for (std::size_t begin = 0; known && begin < piece.size();) {
            const std::size_t end = longest(piece, begin, ids);
            known = end > begin;
            begin = end;
        }
        if (!known) {
            ids.resize(before);
            ids.push_back(m_unknown);
        }
        return Done{};
    }

private:
    /// Appends the longest token at `begin` and returns its end; returns `begin` if no token matches.
    std::size_t longest(std::string_view piece, std::size_t begin, std::vector<std::uint32_t>& ids) const
    {
        std::string text = begin > 0 ? m_prefix : std::string();
        const std::size_t added = text.size();
        text += piece.substr(begin, m_longest);
        for (std::size_t size = text.size(); size > added; --size) {
            if (begin + size - added < piece.size() && !beginsCodePoint(piece[begin + size - added])) {
                continue;
            }
            if (const auto id = m_table.id(std::string_view(text).substr(0, size))) {
                ids.push_back(*id);
                return begin + size - added;
            }
        }
        return begin;
    }

    std::string m_prefix;
    std::uint32_t m_unknown = 0;
    std::int64_t m_most = 0;   ///< the maximum number of characters in a word; longer words are unknown
    std::size_t m_longest = 0; ///< the maximum length of a token in bytes
};

/// Encodes each piece as one token.
class WordLevel : public TokenModel {
public:
    explicit WordLevel(const Part& part)
    {
        readTokens(part, m_table);
        m_unknown = requiredUnknown(part, m_table, "<unk>");
    }
    Status encode(std::string_view piece, std::vector<std::uint32_t>& ids) const override
    {
        ids.push_back(m_table.id(piece).value_or(m_unknown));
        return Done{};
    }

private:
    std::uint32_t m_unknown = 0;
};

} // namespace

std::unique_ptr<TokenModel> makeWordPiece(const Part& part)
{
    return std::make_unique<WordPiece>(part);
}

std::unique_ptr<TokenModel> makeWordLevel(const Part& part)
{
    return std::make_unique<WordLevel>(part);
}

} // namespace residua::engine
