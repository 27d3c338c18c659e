// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/sets/masked_dataset.h"

#include "engine/data/text/data_files.h"
#include "projects/base/mapped.h"
#include "projects/base/random.h"
#include "projects/base/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>

namespace residua::engine {
namespace {

/// The mask token of BERT and that of RoBERTa.
constexpr std::array<std::string_view, 2> kMaskSpellings{"[MASK]", "<mask>"};

bool isMask(std::string_view piece)
{
    return std::ranges::find(kMaskSpellings, piece) != kMaskSpellings.end();
}

/// Returns the parts of a text before, between and after its masks.
std::vector<std::string> partsBetweenMasks(std::string_view text)
{
    std::vector<std::string> parts;
    while (true) {
        std::size_t at = std::string_view::npos;
        std::string_view found;
        for (const std::string_view spelling : kMaskSpellings) {
            if (const std::size_t next = text.find(spelling); next < at) {
                at = next;
                found = spelling;
            }
        }
        parts.emplace_back(text.substr(0, at));
        if (at == std::string_view::npos) {
            return parts;
        }
        text.remove_prefix(at + found.size());
    }
}

/// Returns for each token whether it belongs to the word of the token before it: "##ing" of WordPiece, or in a
/// vocabulary whose words begin with "▁" or "Ġ", a piece that does not.
std::vector<bool> continuing(const TextCodec& codec)
{
    const auto beginsWord = [](const std::string& piece) { return piece.starts_with("▁") || piece.starts_with("Ġ"); };
    std::vector<std::string> pieces;
    for (std::int64_t token = 0; token < codec.vocabulary(); ++token) {
        pieces.push_back(codec.piece(token));
    }
    const bool marked = std::ranges::any_of(pieces, beginsWord);
    return mapped(pieces,
                  [&](const std::string& piece) { return piece.starts_with("##") || (marked && !beginsWord(piece)); });
}

} // namespace

std::int64_t maskTokenOf(const projects::Masking& masking, const TextCodec& codec, std::int64_t rows)
{
    if (masking.token >= 0) {
        return masking.token;
    }
    for (std::int64_t token = 0; token < codec.vocabulary(); ++token) {
        if (isMask(codec.piece(token))) {
            return token;
        }
    }
    return codec.unusedToken().value_or(rows > codec.vocabulary() ? rows - 1 : -1);
}

Result<std::unique_ptr<Dataset>> MaskedDataset::create(std::unique_ptr<Dataset> windows,
                                                       const projects::Masking& masking, std::int64_t dataSeed)
{
    std::unique_ptr<MaskedDataset> dataset(new MaskedDataset(std::move(windows), dataSeed));
    const TextCodec& codec = *dataset->codec();
    const std::int64_t rows = dataset->windows().schema().input().vocabulary;
    dataset->m_mask = maskTokenOf(masking, codec, rows);
    if (dataset->m_mask < 0) {
        return Error{"data · masking · token", "the tokeniser has no token [MASK] or <mask>; expected the number of a "
                                               "token that the text does not use, or a larger vocabulary, whose last "
                                               "token is the mask then"};
    }
    if (dataset->m_mask >= rows) {
        return Error{"data · masking · token", "got " + std::to_string(dataset->m_mask) +
                                                   ", expected less than the vocabulary, which is " +
                                                   std::to_string(rows)};
    }
    dataset->m_kept.resize(static_cast<std::size_t>(std::max(rows, codec.vocabulary())));
    dataset->m_kept[static_cast<std::size_t>(dataset->m_mask)] = true;
    const DocumentMarks marks = codec.marks();
    for (const auto* const side : {&marks.before, &marks.behind}) {
        for (const std::uint32_t mark : *side) {
            dataset->m_kept[mark] = true;
        }
    }
    if (masking.wholeWords) {
        dataset->m_continues = continuing(codec);
        dataset->m_continues.resize(dataset->m_kept.size());
    }
    dataset->m_vocabulary = codec.vocabulary();
    dataset->m_masking = masking;
    return std::unique_ptr<Dataset>(std::move(dataset));
}

projects::ExampleSchema MaskedDataset::schema() const
{
    projects::ExampleSchema schema = windows().schema();
    if (m_masking.nextSentence) {
        schema.addNextSentence();
    }
    return schema;
}

Status MaskedDataset::pair(Batch& batch, Split split, std::int64_t seed, std::int64_t first) const
{
    const DocumentMarks marks = codec()->marks();
    const auto time = static_cast<std::size_t>(batch.time);
    const std::size_t room = time - std::min(time, marks.before.size() + 2 * marks.behind.size());
    if (room < 2) {
        return Error{"training · sequence length", "got " + std::to_string(time) + ", expected at least " +
                                                       std::to_string(time - room + 2) + " for two texts"};
    }
    std::vector<std::int64_t>& labels = batch.values<std::int64_t>(3);
    std::vector<std::int64_t>& segments = batch.values<std::int64_t>(2);
    segments.assign(static_cast<std::size_t>(batch.batch) * time, 0);
    labels.assign(static_cast<std::size_t>(batch.batch), 0);
    const std::uint64_t stream = streamOf(Stream::Pairs, static_cast<std::uint64_t>(split));
    Batch other;
    for (std::int64_t row = 0; row < batch.batch; ++row) {
        const std::uint64_t key =
            drawBits(static_cast<std::uint64_t>(seed), stream, static_cast<std::uint64_t>(first + row));
        RandomStream random(key, 0);
        const auto cut = static_cast<std::size_t>(1 + random.below(static_cast<std::int64_t>(room) - 1));
        const std::int64_t label = random.below(2);
        const auto tokens =
            std::span(batch.values<std::int64_t>(0)).subspan(static_cast<std::size_t>(row) * time, time);
        std::vector<std::int64_t> text(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(room));
        if (label == 1) {
            RESIDUA_TRY(windows().fill(other, split, static_cast<std::int64_t>(key >> 1), 0, 1));
            std::copy_n(other.values<std::int64_t>(0).begin(), room - cut,
                        text.begin() + static_cast<std::ptrdiff_t>(cut));
        }
        const auto middle = text.begin() + static_cast<std::ptrdiff_t>(cut);
        auto to = std::ranges::copy(marks.before, tokens.begin()).out;
        to = std::copy(text.begin(), middle, to);
        to = std::ranges::copy(marks.behind, to).out;
        std::fill(segments.begin() + (row + 1) * batch.time - (tokens.end() - to),
                  segments.begin() + (row + 1) * batch.time, 1);
        to = std::copy(middle, text.end(), to);
        std::ranges::copy(marks.behind, to);
        labels[static_cast<std::size_t>(row)] = label;
    }
    return Done{};
}

Status MaskedDataset::hide(Batch& batch, Split split, std::int64_t seed, std::int64_t first) const
{
    RESIDUA_TRY(m_masking.nextSentence ? pair(batch, split, seed, first) : Status(Done{}));
    const auto time = static_cast<std::size_t>(batch.time);
    std::vector<std::int64_t>& all = batch.values<std::int64_t>(0);
    std::vector<std::int64_t>& targets = batch.values<std::int64_t>(1);
    const bool padded = windows().schema().hasLayout();
    std::ranges::fill(targets, projects::kIgnoredTarget);
    const std::uint64_t stream = streamOf(Stream::Masking, static_cast<std::uint64_t>(split));
    for (std::int64_t row = 0; row < batch.batch; ++row) {
        RandomStream random(drawBits(static_cast<std::uint64_t>(seed), stream, static_cast<std::uint64_t>(first + row)),
                            0);
        const auto tokens = std::span(all).subspan(static_cast<std::size_t>(row) * time, time);
        const auto hidden = std::span(targets).subspan(static_cast<std::size_t>(row) * time, time);
        const std::size_t length =
            padded ? static_cast<std::size_t>(batch.values<std::int64_t>(2)[static_cast<std::size_t>(row)]) : time;
        const auto wanted = std::max<std::int64_t>(1, std::llround(static_cast<double>(length) * m_masking.share));
        const std::int64_t most = m_masking.most > 0 ? std::min(wanted, m_masking.most) : wanted;
        std::vector<std::vector<std::size_t>> words; // the positions of each word, or of each token
        for (std::size_t at = 0; at < length; ++at) {
            const auto token = static_cast<std::size_t>(tokens[at]);
            if (m_kept[token]) {
                continue;
            }
            const bool joins =
                !m_continues.empty() && m_continues[token] && !words.empty() && words.back().back() + 1 == at;
            if (!joins) {
                words.emplace_back();
            }
            words.back().push_back(at);
        }
        // A Fisher–Yates shuffle, as far as it is needed.
        std::int64_t left = most;
        for (std::size_t i = 0; i < words.size() && left > 0; ++i) {
            const auto other = static_cast<std::size_t>(random.below(std::ssize(words) - static_cast<std::int64_t>(i)));
            std::swap(words[i], words[i + other]);
            const bool isFirst = left == most;
            if (std::ssize(words[i]) > left && !isFirst) {
                continue; // a word that is too long for the rest; the first is taken whole
            }
            left -= std::ssize(words[i]);
            for (const std::size_t at : words[i]) {
                hidden[at] = tokens[at];
                const double which = random.uniform();
                const std::int64_t drawn = random.below(m_vocabulary);
                if (which < m_masking.masked) {
                    tokens[at] = m_mask;
                } else if (which < m_masking.masked + m_masking.random) {
                    tokens[at] = drawn;
                }
            }
        }
    }
    return Done{};
}

Result<std::vector<std::int64_t>> MaskedDataset::encode(const std::string& text) const
{
    RESIDUA_TRY(checkUtf8(text, "text"));
    const DocumentMarks marks = codec()->marks();
    std::vector<std::uint32_t> tokens = marks.before;
    std::vector<std::string> parts = partsBetweenMasks(text);
    // A tokeniser that knows its mask in a text takes the white space around it as the token says (lstrip, rstrip).
    const std::string own = codec()->piece(m_mask);
    std::vector<std::uint32_t> joined;
    if (isMask(own) && codec()->encode(joinedText(parts, own), TextStart::Begins, joined) &&
        std::ranges::count(joined, static_cast<std::uint32_t>(m_mask)) == std::ssize(parts) - 1) {
        parts = {joinedText(parts, own)};
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i > 0) {
            tokens.push_back(static_cast<std::uint32_t>(m_mask));
        }
        const TextStart start = i == 0 ? TextStart::Begins : TextStart::GoesOn;
        RESIDUA_TRY(parts[i].empty() ? Status(Done{}) : codec()->encode(parts[i], start, tokens));
    }
    tokens.insert(tokens.end(), marks.behind.begin(), marks.behind.end());
    return std::vector<std::int64_t>(tokens.begin(), tokens.end());
}

} // namespace residua::engine
