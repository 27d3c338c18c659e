// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/tokeniser/base/part.h"
#include "engine/tokeniser/models/token_model.h"
#include "engine/tokeniser/stages/normaliser.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

/// A token that is looked for in the text itself, before the text is cut.
struct AddedToken {
    std::string content;
    std::string
        decoded; ///< what a decoder is handed: the content, as the normaliser leaves it where it goes through it
    std::uint32_t id = 0;
    bool singleWord = false; ///< not inside of a word
    bool takesLeft = false;  ///< with the white space before it
    bool takesRight = false; ///< with the white space behind it
    bool normalised = false; ///< looked for in normalised text
    bool special = false;    ///< left out of decoded text
};

/// Strings of which the longest at the leftmost place is found.
class TokenFinder {
public:
    void add(std::string_view text, const AddedToken* token);
    [[nodiscard]] bool empty() const { return m_nodes.empty(); }
    struct Match {
        Span span;
        const AddedToken* token = nullptr;
    };
    /// The next one from `begin` on; no token where there is none.
    [[nodiscard]] Match next(std::string_view text, std::size_t begin) const;

private:
    struct Node {
        std::map<char, std::size_t> children;
        const AddedToken* token = nullptr;
    };
    std::vector<Node> m_nodes;
    std::array<bool, 256> m_begins{};
};

/// The tokens that tokenizer.json adds to its model's. Immutable; any thread.
class AddedTokens {
public:
    AddedTokens() = default;
    AddedTokens(const AddedTokens&) = delete;
    AddedTokens& operator=(const AddedTokens&) = delete;

    /// `normaliser` may be null.
    void read(const Part& file, const TokenTable& table, const Normaliser* normaliser);
    /// Null for an id that none has.
    [[nodiscard]] const AddedToken* find(std::uint32_t id) const;
    [[nodiscard]] const AddedToken* find(std::string_view content) const;
    /// One more than their largest id; 0 where there are none.
    [[nodiscard]] std::size_t size() const;

    /// Which of them are looked for.
    enum class In { RawText, NormalisedText };
    using TakeText = std::function<Status(Span text)>;
    using TakeToken = std::function<void(const AddedToken& token)>;
    /// Hands out the tokens in a text and what stands between them, in order.
    [[nodiscard]] Status forEach(std::string_view text, In in, const TakeText& takeText,
                                 const TakeToken& takeToken) const;

private:
    std::map<std::uint32_t, AddedToken> m_tokens;
    TokenFinder m_raw;
    TokenFinder m_normalised;
};

} // namespace residua::engine
