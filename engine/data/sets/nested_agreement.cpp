// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/sets/nested_agreement.h"

#include "projects/base/random.h"

#include <algorithm>
#include <array>

namespace residua::engine {
namespace {

constexpr std::int64_t kTurns = 6;
constexpr std::int64_t kPoints = 3;
constexpr std::int64_t kTokensPerKind = kTurns + kPoints;
constexpr std::int64_t kMostKinds = 4;
constexpr std::int64_t kFirstOpener = 1; // kFullStop is 0

// The permutations of three points in lexicographic order. They do not all commute.
constexpr std::array<std::array<int, kPoints>, kTurns> kPermutations{
    {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};

struct OpenPhrase {
    std::int64_t kind = 0;
    int turn = 0;
};

int closingPoint(const std::vector<OpenPhrase>& open)
{
    int point = 0;
    for (auto phrase = open.rbegin(); phrase != open.rend(); ++phrase) {
        point = NestedAgreement::turned(phrase->turn, point);
    }
    return point;
}

} // namespace

int NestedAgreement::turned(int turn, int point)
{
    return kPermutations[static_cast<std::size_t>(turn)][static_cast<std::size_t>(point)];
}

NestedAgreement::NestedAgreement(const projects::SyntheticLanguage& source)
    : m_vocabulary(source.vocabulary),
      m_levels(source.levels),
      // Gives the brackets about half of the vocabulary, up to kMostKinds kinds; the rest are plain words.
      m_kinds(std::clamp<std::int64_t>((source.vocabulary / 2 - 1) / kTokensPerKind, 1, kMostKinds))
{
}

NestedAgreement::Choice NestedAgreement::choiceAt(std::int64_t level) const
{
    return level < m_levels ? Choice{0.44, 0.12, 0.44} : Choice{0.0, 0.12, 0.88};
}

std::vector<std::uint32_t> NestedAgreement::generate(std::int64_t seed, std::int64_t tokens) const
{
    const std::int64_t firstCloser = kFirstOpener + m_kinds * kTurns;
    const std::int64_t firstWord = kFirstOpener + m_kinds * kTokensPerKind;
    RandomStream random(static_cast<std::uint64_t>(seed), streamOf(Stream::Language));
    std::vector<std::uint32_t> text;
    text.reserve(static_cast<std::size_t>(tokens));
    std::vector<OpenPhrase> open;
    bool finished = false; // the sentence's phrase is closed and its full stop is next
    while (static_cast<std::int64_t>(text.size()) < tokens) {
        std::int64_t token = 0;
        const double pick = random.uniform();
        const Choice choice = choiceAt(static_cast<std::int64_t>(open.size()));
        if (finished) {
            finished = false;
        } else if (open.empty() || pick < choice.open) {
            const std::int64_t form = random.below(m_kinds * kTurns);
            open.push_back({form / kTurns, static_cast<int>(form % kTurns)});
            token = kFirstOpener + form;
        } else if (pick < choice.open + choice.word) {
            token = firstWord + random.below(m_vocabulary - firstWord);
        } else {
            token = firstCloser + open.back().kind * kPoints + closingPoint(open);
            open.pop_back();
            finished = open.empty();
        }
        text.push_back(static_cast<std::uint32_t>(token));
    }
    return text;
}

std::vector<std::string> NestedAgreement::words() const
{
    const auto name = [](std::int64_t kind) { return std::string(1, static_cast<char>('a' + kind)); };
    std::vector<std::string> words{"."};
    for (std::int64_t kind = 0; kind < m_kinds; ++kind) {
        for (std::int64_t turn = 0; turn < kTurns; ++turn) {
            words.push_back(name(kind) + std::to_string(turn) + "(");
        }
    }
    for (std::int64_t kind = 0; kind < m_kinds; ++kind) {
        for (std::int64_t point = 0; point < kPoints; ++point) {
            words.push_back(")" + name(kind) + std::to_string(point));
        }
    }
    for (std::int64_t word = 0; static_cast<std::int64_t>(words.size()) < m_vocabulary; ++word) {
        words.push_back("w" + std::to_string(word));
    }
    return words;
}

} // namespace residua::engine
