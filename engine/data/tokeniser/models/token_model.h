// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/tokeniser/base/part.h"
#include "engine/data/tokeniser/base/pattern.h"
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

/// Maps tokens to ids and back.
class TokenTable {
public:
    /// Ids are less than this, which is also the maximum number of embedding rows.
    static constexpr std::int64_t kMostTokens = projects::kMostVocabulary;

    [[nodiscard]] std::optional<std::uint32_t> id(std::string_view token) const;
    /// Returns nullptr for an unknown id.
    [[nodiscard]] const std::string* token(std::uint32_t id) const;
    /// Returns one more than the largest id.
    [[nodiscard]] std::size_t size() const { return m_tokens.size(); }
    /// Returns the number of tokens, which is less than size() if ids are missing.
    [[nodiscard]] std::size_t count() const { return m_ids.size(); }
    /// Adds a token. Fails if the id is too large, or if the id or the token exists already. `where` is the entry's
    /// place.
    void add(const std::string& token, std::int64_t id, const Part& where);
    /// Returns the id of the token for a byte of a character without a token: "<0x0A>".
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

/// Encodes pieces of text as tokens. Immutable; any thread.
class TokenModel {
public:
    virtual ~TokenModel() = default;
    [[nodiscard]] const TokenTable& table() const { return m_table; }
    /// Appends the tokens of a piece. Returns an error for a character without a token.
    [[nodiscard]] virtual Status encode(std::string_view piece, std::vector<std::uint32_t>& ids) const = 0;
    /// Appends parts of a piece of `text` that can be encoded separately with the same result.
    virtual void cut(std::string_view, Span piece, std::vector<Span>& parts) const { parts.push_back(piece); }

protected:
    TokenTable m_table;
};

/// Makes the model that the component "model" of tokenizer.json describes; null if the part has failed.
[[nodiscard]] std::unique_ptr<TokenModel> makeTokenModel(const Part& part);

// One function for each kind of model.
[[nodiscard]] std::unique_ptr<TokenModel> makeBpe(const Part& part);
[[nodiscard]] std::unique_ptr<TokenModel> makeUnigram(const Part& part);
[[nodiscard]] std::unique_ptr<TokenModel> makeWordPiece(const Part& part);
[[nodiscard]] std::unique_ptr<TokenModel> makeWordLevel(const Part& part);

/// Fills a table from the object "vocab" of tokens and ids, which must not be empty.
void readTokens(const Part& model, TokenTable& table);
/// Returns the id of the token that "unk_token" names; nullopt if it names none.
[[nodiscard]] std::optional<std::uint32_t> readUnknown(const Part& model, const TokenTable& table);

} // namespace residua::engine
