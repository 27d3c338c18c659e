// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/tokeniser/base/part.h"
#include "engine/tokeniser/base/pattern.h"
#include "projects/base/result.h"
#include "projects/model/data_source.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace residua::engine {

/// Tokens and their ids, both ways.
class TokenTable {
public:
    /// Ids are below it; embeddings have no more rows either.
    static constexpr std::int64_t kMostTokens = projects::kMostVocabulary;

    [[nodiscard]] std::optional<std::uint32_t> id(std::string_view token) const;
    /// Nothing for an id that no token has.
    [[nodiscard]] const std::string* token(std::uint32_t id) const;
    /// One more than the largest id.
    [[nodiscard]] std::size_t size() const { return m_tokens.size(); }
    /// How many tokens there are; fewer where ids are left out.
    [[nodiscard]] std::size_t count() const { return m_ids.size(); }
    /// An error where the id is too large, or the id or the token is taken by another. `where` is the entry's place.
    void add(const std::string& token, std::int64_t id, const Part& where);
    /// The id of the token that stands for a byte where text has none of its own: "<0x0A>".
    [[nodiscard]] std::optional<std::uint32_t> byteId(unsigned char byte) const;
    template <class Take>
    void forEach(const Take& take) const
    {
        for (const auto& [token, id] : m_ids) {
            take(std::string_view(token), id);
        }
    }

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
    };
    std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> m_ids;
    std::vector<std::optional<std::string>> m_tokens;
};

/// Pieces of text to tokens. Immutable; any thread.
class TokenModel {
public:
    virtual ~TokenModel() = default;
    [[nodiscard]] const TokenTable& table() const { return m_table; }
    /// Appends the tokens of a piece. An error where it has a character that no token stands for.
    [[nodiscard]] virtual Status encode(std::string_view piece, std::vector<std::uint32_t>& ids) const = 0;
    /// Appends parts of a piece of `text` whose tokens, one after another, are those of the whole.
    virtual void cut(std::string_view, Span piece, std::vector<Span>& parts) const { parts.push_back(piece); }

protected:
    TokenTable m_table;
};

/// Makes the model that the component "model" of tokenizer.json describes; null where the part has failed.
[[nodiscard]] std::unique_ptr<TokenModel> makeTokenModel(const Part& part);

// One for each kind of model.
[[nodiscard]] std::unique_ptr<TokenModel> makeBpe(const Part& part);
[[nodiscard]] std::unique_ptr<TokenModel> makeUnigram(const Part& part);
[[nodiscard]] std::unique_ptr<TokenModel> makeWordPiece(const Part& part);
[[nodiscard]] std::unique_ptr<TokenModel> makeWordLevel(const Part& part);

/// Fills a table from the object "vocab" of tokens and ids, which has to hold some.
void readTokens(const Part& model, TokenTable& table);
/// The id of the token that "unk_token" names; nothing where it names none.
[[nodiscard]] std::optional<std::uint32_t> readUnknown(const Part& model, const TokenTable& table);

} // namespace residua::engine
