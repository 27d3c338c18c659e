// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/tokeniser/base/part.h"
#include "engine/data/tokeniser/models/token_model.h"
#include "engine/data/tokeniser/stages/stages.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

/// A token that is matched in the text before the text is split.
struct AddedToken {
    std::string content;
    std::string decoded; ///< the text for the decoder: the content, normalised if it goes through the normaliser
    std::uint32_t id = 0;
    bool singleWord = false; ///< not inside a word
    bool takesLeft = false;  ///< includes the white space before it
    bool takesRight = false; ///< includes the white space after it
    bool normalised = false; ///< matched in normalised text
    bool special = false;    ///< omitted from decoded text
};

/// Finds strings: the longest one at the leftmost position.
class TokenFinder {
public:
    void add(std::string_view text, const AddedToken* token);
    [[nodiscard]] bool empty() const { return m_nodes.empty(); }
    struct Match {
        Span span;
        const AddedToken* token = nullptr;
    };
    /// Returns the next match from `begin`; its token is null if nothing matches.
    [[nodiscard]] Match next(std::string_view text, std::size_t begin) const;

private:
    struct Node {
        std::map<char, std::size_t> children;
        const AddedToken* token = nullptr;
    };
    std::vector<Node> m_nodes;
    std::array<bool, 256> m_begins{};
};

/// The tokens that a tokenizer.json adds to its model's tokens. Immutable; any thread.
class AddedTokens {
public:
    AddedTokens() = default;
    AddedTokens(const AddedTokens&) = delete;
    AddedTokens& operator=(const AddedTokens&) = delete;

    /// Reads the added tokens. `normaliser` may be empty.
    void read(const Part& file, const TokenTable& table, const Normaliser& normaliser);
    /// Returns null for an unknown id.
    [[nodiscard]] const AddedToken* find(std::uint32_t id) const;
    [[nodiscard]] const AddedToken* find(std::string_view content) const;
    /// Returns one more than the largest id, or 0 without added tokens.
    [[nodiscard]] std::size_t size() const;

    /// The text in which tokens are matched.
    enum class In { RawText, NormalisedText };
    using TakeText = std::function<Status(Span text)>;
    using TakeToken = std::function<void(const AddedToken& token)>;
    /// Calls `takeToken` for the tokens in a text and `takeText` for the text between them, in order.
    [[nodiscard]] Status forEach(std::string_view text, In in, const TakeText& takeText,
                                 const TakeToken& takeToken) const;

private:
    std::map<std::uint32_t, AddedToken> m_tokens;
    TokenFinder m_raw;
    TokenFinder m_normalised;
};

} // namespace residua::engine
