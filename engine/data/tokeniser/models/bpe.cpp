// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/tokeniser/models/merge_table.h"
#include "engine/data/tokeniser/models/token_model.h"
#include "projects/base/utf8.h"

#include <algorithm>
#include <array>
#include <queue>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace residua::engine {
namespace {

constexpr char32_t kFrequent = 0x3000; ///< characters below it are looked up in an array
constexpr std::uint32_t kNoToken = 0xffffffff;

/// A sequence of tokens in which adjacent pairs are merged.
class Word {
public:
    void clear() { m_symbols.clear(); }
    void add(std::uint32_t id)
    {
        const auto place = static_cast<std::int32_t>(m_symbols.size());
        m_symbols.push_back({id, place - 1, place + 1});
    }

    /// Merges the pair of the lowest rank, the first one of equal ranks, until no pair is left.
    void merge(const MergeTable& merges)
    {
        m_size = static_cast<std::int32_t>(m_symbols.size());
        for (std::int32_t left = 0; left + 1 < m_size; ++left) {
            propose(left, merges);
        }
        while (!m_queue.empty()) {
            const Candidate best = m_queue.top();
            m_queue.pop();
            Symbol& left = m_symbols[static_cast<std::size_t>(best.left)];
            if (left.id == kNoToken || left.next >= m_size) {
                continue;
            }
            Symbol& right = m_symbols[static_cast<std::size_t>(left.next)];
            const Merge* const still = merges.find(left.id, right.id);
            if (still == nullptr || still->id != best.id) {
                continue; // one of the two has been merged with another token since
            }
            left.id = best.id;
            right.id = kNoToken;
            left.next = right.next;
            if (left.next < m_size) {
                m_symbols[static_cast<std::size_t>(left.next)].previous = best.left;
                propose(best.left, merges);
            }
            if (left.previous >= 0) {
                propose(left.previous, merges);
            }
        }
    }

    void append(std::vector<std::uint32_t>& ids) const
    {
        for (const Symbol& symbol : m_symbols) {
            if (symbol.id != kNoToken) {
                ids.push_back(symbol.id);
            }
        }
    }

private:
    struct Symbol {
        std::uint32_t id = 0; ///< kNoToken if it was merged into the symbol before it
        std::int32_t previous = 0;
        std::int32_t next = 0;
    };
    struct Candidate {
        std::uint32_t rank = 0;
        std::int32_t left = 0;
        std::uint32_t id = 0;
        bool operator<(const Candidate& other) const { return std::tie(rank, left) > std::tie(other.rank, other.left); }
    };

    void propose(std::int32_t left, const MergeTable& merges)
    {
        const Symbol& symbol = m_symbols[static_cast<std::size_t>(left)];
        const Merge* const merge = merges.find(symbol.id, m_symbols[static_cast<std::size_t>(symbol.next)].id);
        if (merge != nullptr) {
            m_queue.push({merge->rank, left, merge->id});
        }
    }

    std::vector<Symbol> m_symbols;
    std::priority_queue<Candidate> m_queue;
    std::int32_t m_size = 0;
};

/// Byte-pair encoding: starts with characters and merges pairs in the order in which they were learned.
class Bpe : public TokenModel {
public:
    explicit Bpe(const Part& part)
    {
        readTokens(part, m_table);
        m_prefix = part.text("continuing_subword_prefix", "");
        m_suffix = part.text("end_of_word_suffix", "");
        m_fuseUnknown = part.flag("fuse_unk", false);
        m_wholeFirst = part.flag("ignore_merges", false);
        m_unknown = readUnknown(part, m_table);
        if (part.has("dropout") && part.value()["dropout"] != 0) {
            part.part("dropout").fail("leaves out merges by chance, which is not supported here; expected null");
        }
        readBytes(part.flag("byte_fallback", false));
        readCharacters();
        readMerges(part);
        m_cuts = m_prefix.empty() && m_suffix.empty() && !m_wholeFirst;
    }

    Status encode(std::string_view piece, std::vector<std::uint32_t>& ids) const override
    {
        if (m_wholeFirst) {
            if (const auto whole = m_table.id(piece)) {
                ids.push_back(*whole);
                return Done{};
            }
        }
        Word word;
        std::uint32_t unknown = kNoToken; // an unknown token that waits to be fused with the next one
        const auto flush = [&] {
            if (unknown != kNoToken) {
                word.add(std::exchange(unknown, kNoToken));
            }
        };
        for (std::size_t at = 0; at < piece.size();) {
            const std::size_t begin = at;
            const char32_t character = nextCodePoint(piece, at);
            const std::string_view text = piece.substr(begin, at - begin);
            const std::uint32_t id = idOf(character, text, begin == 0, at == piece.size());
            if (id != kNoToken) {
                flush();
                word.add(id);
            } else if (addBytes(word, text, begin == 0, at == piece.size())) {
                // A waiting unknown token is added after the bytes, as in `tokenizers`.
            } else if (m_unknown) {
                if (!m_fuseUnknown) {
                    flush();
                }
                unknown = *m_unknown;
            }
        }
        flush();
        word.merge(m_merges);
        word.append(ids);
        return Done{};
    }

    /// Cuts between two characters if no merge joins a token that ends with the first and one that begins with the
    /// second.
    void cut(std::string_view text, Span piece, std::vector<Span>& parts) const override
    {
        constexpr std::size_t kShort = 32;
        if (!m_cuts || piece.size() <= kShort) {
            parts.push_back(piece);
            return;
        }
        std::size_t begin = piece.begin;
        std::size_t at = piece.begin;
        char32_t before = nextCodePoint(text, at);
        while (at < piece.end) {
            const std::size_t end = at;
            const char32_t character = nextCodePoint(text, at);
            if (!m_joints.contains(jointOf(before, character)) && standsAlone(before) && standsAlone(character)) {
                parts.push_back({begin, end});
                begin = end;
            }
            before = character;
        }
        parts.push_back({begin, piece.end});
    }

private:
    static std::uint64_t jointOf(char32_t left, char32_t right) { return std::uint64_t{left} << 32 | right; }

    /// True if the character's tokens do not depend on the adjacent characters.
    bool standsAlone(char32_t character) const
    {
        return characterId(character) != kNoToken || (m_hasAllBytes && !m_joinsBytes);
    }

    std::uint32_t characterId(char32_t character) const
    {
        if (character < kFrequent) {
            return m_frequent[character];
        }
        const auto found = m_others.find(character);
        return found == m_others.end() ? kNoToken : found->second;
    }

    std::uint32_t idOf(char32_t character, std::string_view text, bool first, bool last) const
    {
        const bool before = !first && !m_prefix.empty();
        const bool behind = last && !m_suffix.empty();
        if (!before && !behind) {
            return characterId(character);
        }
        return m_table.id((before ? m_prefix : "") + std::string(text) + (behind ? m_suffix : "")).value_or(kNoToken);
    }

    /// Adds the tokens of a character's bytes; returns false unless every byte has a token.
    bool addBytes(Word& word, std::string_view text, bool first, bool last) const
    {
        if (!m_bytesInstead) {
            return false;
        }
        const std::string whole = (first ? "" : m_prefix) + std::string(text) + (last ? m_suffix : "");
        const auto idOfByte = [&](char byte) { return m_bytes[static_cast<unsigned char>(byte)]; };
        if (std::ranges::find(whole, kNoToken, idOfByte) != whole.end()) {
            return false;
        }
        for (const char byte : whole) {
            word.add(idOfByte(byte));
        }
        return true;
    }

    void readBytes(bool wanted)
    {
        m_bytesInstead = wanted;
        for (std::size_t byte = 0; byte < m_bytes.size(); ++byte) {
            m_bytes[byte] = m_table.byteId(static_cast<unsigned char>(byte)).value_or(kNoToken);
        }
        m_hasAllBytes = wanted && std::ranges::find(m_bytes, kNoToken) == m_bytes.end();
    }

    void readCharacters()
    {
        m_frequent.assign(kFrequent, kNoToken);
        m_table.forEach([&](std::string_view token, std::uint32_t id) {
            if (token.empty() || utf8Length(token) != token.size()) {
                return;
            }
            std::size_t at = 0;
            const char32_t character = nextCodePoint(token, at);
            if (character < kFrequent) {
                m_frequent[character] = id;
            } else {
                m_others[character] = id;
            }
        });
    }

    void readMerges(const Part& part)
    {
        const std::vector<Part> merges = part.parts("merges");
        m_merges = MergeTable(merges.size());
        for (std::size_t rank = 0; rank < merges.size() && !part.failed(); ++rank) {
            const auto [left, right] = pairOf(merges[rank]);
            if (!part.failed()) {
                addMerge(merges[rank], left, right, static_cast<std::uint32_t>(rank));
            }
        }
    }

    /// Parses "a b", or ["a", "b"].
    static std::pair<std::string, std::string> pairOf(const Part& merge)
    {
        const nlohmann::json& value = merge.value();
        if (value.is_array() && value.size() == 2 && value[0].is_string() && value[1].is_string()) {
            return {value[0].get<std::string>(), value[1].get<std::string>()};
        }
        const std::string text = value.is_string() ? value.get<std::string>() : std::string();
        const std::size_t space = text.find(' ');
        if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos) {
            merge.fail("is " + value.dump() + ", expected two tokens");
            return {};
        }
        return {text.substr(0, space), text.substr(space + 1)};
    }

    void addMerge(const Part& merge, const std::string& left, const std::string& right, std::uint32_t rank)
    {
        const bool prefixed = !m_prefix.empty() && right.starts_with(m_prefix);
        const std::string joined = left + (prefixed ? right.substr(m_prefix.size()) : right);
        for (const std::string& token : {left, right, joined}) {
            if (!m_table.id(token)) {
                merge.fail("joins \"" + left + "\" and \"" + right + "\", but \"" + token +
                           "\" is not in the vocabulary");
                return;
            }
        }
        if (!m_merges.add(*m_table.id(left), *m_table.id(right), {rank, *m_table.id(joined)})) {
            merge.fail("joins \"" + left + "\" and \"" + right + "\", as one before it does");
            return;
        }
        m_joinsBytes = m_joinsBytes || isByteToken(left) || isByteToken(right);
        if (left.empty() || right.empty()) {
            merge.fail("joins an empty token");
            return;
        }
        m_joints.insert(jointOf(lastOf(left), firstOf(right)));
    }

    bool isByteToken(const std::string& token) const
    {
        return m_bytesInstead && token.size() == 6 && token.starts_with("<0x");
    }
    static char32_t firstOf(const std::string& token)
    {
        std::size_t at = 0;
        return nextCodePoint(token, at);
    }
    static char32_t lastOf(const std::string& token)
    {
        std::size_t at = lastCodePoint(token);
        return nextCodePoint(token, at);
    }

    std::vector<std::uint32_t> m_frequent; ///< the ids of single-character tokens
    std::unordered_map<char32_t, std::uint32_t> m_others;
    std::array<std::uint32_t, 256> m_bytes{};
    bool m_bytesInstead = false; ///< encodes the bytes of a character without a token
    bool m_hasAllBytes = false;  ///< so that no character is unknown
    std::optional<std::uint32_t> m_unknown;
    bool m_fuseUnknown = false;
    bool m_wholeFirst = false;
    std::string m_prefix;
    std::string m_suffix;
    MergeTable m_merges;
    bool m_cuts = false;
    bool m_joinsBytes = false;                  ///< true if byte tokens are merged with others
    std::unordered_set<std::uint64_t> m_joints; ///< pairs of characters at which some merge joins two tokens
};

} // namespace

std::unique_ptr<TokenModel> makeBpe(const Part& part)
{
    if (!part.has("merges")) {
        part.part("merges").fail("is missing: the file has no merges; expected a list of pairs of tokens");
        return nullptr;
    }
    return std::make_unique<Bpe>(part);
}

} // namespace residua::engine
