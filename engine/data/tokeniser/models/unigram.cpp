// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/tokeniser/models/token_model.h"

#include "projects/base/utf8.h"

#include <algorithm>
#include <limits>

namespace residua::engine {
namespace {

constexpr double kUnknownPenalty = 10.0;
constexpr std::uint32_t kNoPiece = 0xffffffff;

/// Strings as paths of bytes from a root; a node's children are found by hashing.
class Trie {
public:
    explicit Trie(std::size_t bytes)
    {
        std::size_t slots = 1024;
        while (slots < 2 * bytes) {
            slots *= 2;
        }
        m_slots.resize(slots);
        m_ids.push_back(kNoPiece);
    }
    void add(std::string_view text, std::uint32_t id)
    {
        std::uint32_t node = 0;
        for (const char byte : text) {
            Slot& slot = m_slots[at(node, byte)];
            if (slot.child == 0) {
                slot = {node, static_cast<std::uint32_t>(m_ids.size()), byte};
                m_ids.push_back(kNoPiece);
            }
            node = slot.child;
        }
        m_ids[node] = id;
    }
    /// Returns 0 if the child does not exist.
    [[nodiscard]] std::uint32_t child(std::uint32_t node, char byte) const { return m_slots[at(node, byte)].child; }
    /// Returns the id of the string that ends at the node, or kNoPiece.
    [[nodiscard]] std::uint32_t id(std::uint32_t node) const { return m_ids[node]; }

private:
    struct Slot {
        std::uint32_t parent = 0;
        std::uint32_t child = 0; ///< 0 for an empty slot
        char byte = 0;
    };
    [[nodiscard]] std::size_t at(std::uint32_t node, char byte) const
    {
        const std::size_t mask = m_slots.size() - 1;
        const std::uint64_t key = std::uint64_t{node} << 8 | static_cast<unsigned char>(byte);
        std::size_t place = (key * 0x9e3779b97f4a7c15u >> 20) & mask;
        while (m_slots[place].child != 0 && (m_slots[place].parent != node || m_slots[place].byte != byte)) {
            place = (place + 1) & mask;
        }
        return place;
    }
    std::vector<Slot> m_slots;
    std::vector<std::uint32_t> m_ids;
};

/// Finds the most probable sequence of tokens by dynamic programming over the tokens' ends.
class Unigram : public TokenModel {
public:
    explicit Unigram(const Part& part) : m_trie(bytesOf(part))
    {
        const std::vector<Part> entries = part.parts("vocab");
        if (entries.empty()) {
            part.part("vocab").fail("is empty: the file has no vocabulary; expected a list of tokens and their scores");
        }
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t id = 0; id < entries.size() && !part.failed(); ++id) {
            const nlohmann::json& entry = entries[id].value();
            if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number()) {
                entries[id].fail("is " + entry.dump() + ", expected a token and its score");
                return;
            }
            m_table.add(entry[0].get<std::string>(), static_cast<std::int64_t>(id), entries[id]);
            m_trie.add(entry[0].get<std::string>(), static_cast<std::uint32_t>(id));
            m_scores.push_back(entry[1].get<double>());
            least = std::min(least, m_scores.back());
        }
        m_unknownScore = least - kUnknownPenalty;
        const std::int64_t unknown = part.number("unk_id", -1);
        if (part.has("unk_id") && (unknown < 0 || unknown >= static_cast<std::int64_t>(m_scores.size()))) {
            part.part("unk_id").fail("is " + std::to_string(unknown) + ", the vocabulary has " +
                                     std::to_string(m_scores.size()) + " tokens");
        }
        m_unknown = unknown < 0 ? kNoPiece : static_cast<std::uint32_t>(unknown);
        m_bytesInstead = part.flag("byte_fallback", false);
    }

    Status encode(std::string_view piece, std::vector<std::uint32_t>& ids) const override
    {
        std::vector<Node> ends(piece.size() + 1);
        for (std::size_t begin = 0; begin < piece.size();) {
            const std::size_t next = begin + utf8Length(piece.substr(begin));
            if (!extend(piece, begin, next, ends)) {
                return Error{"tokeniser", "has no token for \"" + std::string(piece.substr(begin, next - begin)) +
                                              "\" and none for what is unknown"};
            }
            begin = next;
        }
        std::vector<Span> spans = walkBack(ends);
        for (const Span span : spans) {
            append(span.of(piece), ids);
        }
        return Done{};
    }

private:
    /// The best sequence of tokens that ends at some position.
    struct Node {
        double score = 0;
        std::size_t begin = kNowhere; ///< of its last token
        std::uint32_t id = 0;
    };
    static constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

    static std::size_t bytesOf(const Part& part)
    {
        std::size_t bytes = 0;
        for (const Part& entry : part.parts("vocab")) {
            const nlohmann::json& value = entry.value();
            bytes += value.is_array() && !value.empty() && value[0].is_string()
                         ? value[0].get_ref<const std::string&>().size()
                         : 0;
        }
        return bytes;
    }

    static void improve(Node& node, double score, std::size_t begin, std::uint32_t id)
    {
        if (node.begin == kNowhere || score > node.score) {
            node = {score, begin, id};
        }
    }

    /// Adds all tokens that begin here. If none of them is the single character, that character is unknown. Returns
    /// false if the model has no unknown token and needs one.
    bool extend(std::string_view piece, std::size_t begin, std::size_t next, std::vector<Node>& ends) const
    {
        const double sofar = ends[begin].score;
        bool single = false;
        std::uint32_t node = 0;
        for (std::size_t end = begin; end < piece.size();) {
            node = m_trie.child(node, piece[end++]);
            if (node == 0) {
                break;
            }
            if (const std::uint32_t id = m_trie.id(node); id != kNoPiece) {
                improve(ends[end], m_scores[id] + sofar, begin, id);
                single = single || end == next;
            }
        }
        if (single) {
            return true;
        }
        const double score = m_unknownScore + sofar;
        if (m_unknown == kNoPiece) { // not needed if a better sequence already ends there
            return ends[next].begin != kNowhere && score <= ends[next].score;
        }
        improve(ends[next], score, begin, m_unknown);
        return true;
    }

    /// Returns the tokens in order; adjacent unknown characters are joined.
    std::vector<Span> walkBack(const std::vector<Node>& ends) const
    {
        std::vector<Span> spans;
        bool unknownBehind = false;
        for (std::size_t end = ends.size() - 1; end > 0; end = ends[end].begin) {
            const Node& node = ends[end];
            const bool unknown = node.id == m_unknown;
            if (unknown && unknownBehind) {
                spans.back().begin = node.begin;
            } else {
                spans.push_back({node.begin, end});
            }
            unknownBehind = unknown;
        }
        std::ranges::reverse(spans);
        return spans;
    }

    void append(std::string_view text, std::vector<std::uint32_t>& ids) const
    {
        if (const auto id = m_table.id(text)) {
            ids.push_back(*id);
            return;
        }
        const std::size_t before = ids.size();
        for (std::size_t i = 0; m_bytesInstead && i < text.size(); ++i) {
            const auto id = m_table.byteId(static_cast<unsigned char>(text[i]));
            if (!id) {
                ids.resize(before);
                break;
            }
            ids.push_back(*id);
        }
        if (ids.size() == before) {
            ids.push_back(m_unknown);
        }
    }

    Trie m_trie;
    std::vector<double> m_scores;
    double m_unknownScore = 0;
    std::uint32_t m_unknown = kNoPiece;
    bool m_bytesInstead = false;
};

} // namespace

std::unique_ptr<TokenModel> makeUnigram(const Part& part)
{
    return std::make_unique<Unigram>(part);
}

} // namespace residua::engine
