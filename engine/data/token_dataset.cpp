// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/token_dataset.h"

#include "engine/data/random.h"
#include "engine/data/utf8.h"
#include "projects/model/split_sizes.h"

#include <algorithm>
#include <span>

namespace residua::engine {

SplitRanges splitTokens(std::int64_t size, double validationFraction, double testFraction)
{
    const auto [train, validation, test] = projects::splitSizes(size, validationFraction, testFraction);
    return {TokenRange{0, train}, TokenRange{train, validation}, TokenRange{train + validation, test}};
}

Status checkSplits(const SplitRanges& ranges, std::int64_t sequenceLength, const std::string& place)
{
    std::int64_t all = 0;
    for (const TokenRange& range : ranges) {
        all += range.size;
    }
    for (int i = 0; i < kSplits; ++i) {
        const auto split = static_cast<Split>(i);
        const std::int64_t size = ranges[static_cast<std::size_t>(i)].size;
        const auto use = split == Split::Train ? projects::SplitUse::Training : projects::SplitUse::HeldOut;
        if (projects::isTooShort(size, use, sequenceLength)) {
            return Error{place, "the " + toString(split) + " split has " + std::to_string(size) + " of " +
                                    std::to_string(all) + " tokens, expected at least " +
                                    std::to_string(sequenceLength + 1) + ": one sequence of " +
                                    std::to_string(sequenceLength) + " and the token after it"};
        }
    }
    return Done{};
}

Result<std::unique_ptr<Dataset>> TokenDataset::create(TokenSequence tokens, SplitRanges ranges,
                                                      std::unique_ptr<TextCodec> codec, std::int64_t vocabulary,
                                                      std::int64_t sequenceLength, const std::string& place,
                                                      std::vector<std::string> notes)
{
    if (const Status status = checkSplits(ranges, sequenceLength, place); !status) {
        return status.error();
    }
    std::unique_ptr<TokenDataset> dataset(new TokenDataset);
    dataset->m_tokens = std::move(tokens);
    dataset->m_ranges = ranges;
    dataset->m_codec = std::move(codec);
    dataset->m_vocabulary = vocabulary;
    dataset->m_time = sequenceLength;
    dataset->m_notes = std::move(notes);
    return std::unique_ptr<Dataset>(std::move(dataset));
}

ExampleSchema TokenDataset::schema() const
{
    return ExampleSchema::nextToken(m_vocabulary);
}

std::int64_t TokenDataset::size(Split split) const
{
    return range(split).size;
}

template <class BeginOf>
Status TokenDataset::fillRows(Batch& batch, std::int64_t count, const BeginOf& beginOf) const
{
    const auto length = static_cast<std::size_t>(m_time);
    batch.batch = count;
    batch.time = m_time;
    batch.targets.resize(static_cast<std::size_t>(count) * length);
    batch.tokens.resize(batch.targets.size() + 1);
    batch.inputs.clear();
    batch.outputs.clear();
    for (std::int64_t row = 0; row < count; ++row) {
        // One read for both: the window, and the token after it, which the next row writes over.
        const std::size_t first = static_cast<std::size_t>(row) * length;
        const auto window = std::span(batch.tokens).subspan(first, length + 1);
        if (Status status = m_tokens.read(beginOf(row), window); !status) {
            return status;
        }
        std::copy(window.begin() + 1, window.end(), batch.targets.begin() + static_cast<std::ptrdiff_t>(first));
    }
    batch.tokens.pop_back();
    return Done{};
}

Status TokenDataset::fill(Batch& batch, Split split, std::int64_t seed, std::int64_t index, std::int64_t count) const
{
    const TokenRange& tokens = range(split);
    const std::uint64_t stream = streamOf(Stream::Order, static_cast<std::uint64_t>(split));
    return fillRows(batch, count, [&](std::int64_t row) {
        const auto draw = static_cast<std::uint64_t>(index * count + row);
        const std::uint64_t bits = drawBits(static_cast<std::uint64_t>(seed), stream, draw);
        return tokens.begin + below(bits, tokens.size - m_time);
    });
}

Status TokenDataset::fillSequential(Batch& batch, Split split, std::int64_t index, std::int64_t count) const
{
    const TokenRange& tokens = range(split);
    const std::int64_t windows = tokens.size > 0 ? (tokens.size - 1) / m_time : 0;
    const std::int64_t first = index * count;
    return fillRows(batch, std::clamp<std::int64_t>(windows - first, 0, count),
                    [&](std::int64_t row) { return tokens.begin + (first + row) * m_time; });
}

void TokenDataset::fillAll(Batch& batch, Split) const
{
    batch = {};
}

Result<std::vector<std::int64_t>> TokenDataset::encode(const std::string& text) const
{
    if (auto status = checkUtf8(text, "text"); !status) {
        return status.error();
    }
    std::vector<std::uint32_t> tokens = m_codec->marks().before;
    if (auto status = m_codec->encode(text, TextStart::Begins, tokens); !status) {
        return status.error();
    }
    return std::vector<std::int64_t>(tokens.begin(), tokens.end());
}

std::string TokenDataset::decode(const std::vector<std::int64_t>& tokens) const
{
    return m_codec->decode(tokens);
}

} // namespace residua::engine
