// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/sets/token_dataset.h"

#include "engine/data/text/data_files.h"
#include "projects/base/random.h"
#include "projects/model/data_source.h"

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
            return Error{place, "the " + std::string(nameOf(split).title) + " split has " + std::to_string(size) +
                                    " of " + std::to_string(all) + " tokens, expected at least " +
                                    std::to_string(sequenceLength + 1) + ": one sequence of " +
                                    std::to_string(sequenceLength) + " and the token after it"};
        }
    }
    return Done{};
}

namespace {

const TokenRange& rangeOf(const TokenPart& part, Split split)
{
    return part.ranges[static_cast<std::size_t>(split)];
}

MixtureOrder orderOf(const std::vector<TokenPart>& parts, Split split, std::int64_t sequenceLength)
{
    std::vector<double> shares;
    std::vector<std::int64_t> windows;
    for (const TokenPart& part : parts) {
        shares.push_back(part.share);
        windows.push_back(windowsIn(rangeOf(part, split).size, sequenceLength));
    }
    return {std::move(shares), windows};
}

/// Returns an error if some parts, but not all, have tokens in a split.
Status checkSplitOfAll(const std::vector<TokenPart>& parts, Split split, std::int64_t sequenceLength)
{
    const auto has = [&](const TokenPart& part) { return rangeOf(part, split).size > 0; };
    const auto lacking = std::ranges::find_if_not(parts, has);
    if (lacking == parts.end() || std::ranges::none_of(parts, has)) {
        return Done{};
    }
    return Error{lacking->place, "is too short: nothing of it is left for the " + std::string(nameOf(split).title) +
                                     " split, expected at least " + std::to_string(sequenceLength + 1) +
                                     " tokens, as of the other parts"};
}

} // namespace

std::int64_t windowsIn(std::int64_t tokens, std::int64_t sequenceLength)
{
    return tokens > 0 ? (tokens - 1) / sequenceLength : 0;
}

std::vector<DataPartOutline> outlinesOf(const std::vector<TokenPart>& parts, std::int64_t sequenceLength)
{
    std::vector<DataPartOutline> outlines;
    for (const TokenPart& part : parts) {
        outlines.push_back({part.name, part.share, {}, {}});
    }
    for (std::size_t split = 0; split < kSplits; ++split) {
        const MixtureOrder order = orderOf(parts, static_cast<Split>(split), sequenceLength);
        for (std::size_t i = 0; i < parts.size(); ++i) {
            outlines[i].sizes[split] = parts[i].ranges[split].size;
            outlines[i].evaluated[split] = order.taken(i) * sequenceLength;
        }
    }
    return outlines;
}

Result<std::unique_ptr<Dataset>> TokenDataset::create(TokenSequence tokens, SplitRanges ranges,
                                                      std::unique_ptr<TextCodec> codec, std::int64_t vocabulary,
                                                      std::int64_t sequenceLength, const std::string& place,
                                                      std::vector<std::string> notes)
{
    std::vector<TokenPart> parts;
    parts.push_back({std::move(tokens), ranges, place});
    return create(std::move(parts), std::move(codec), vocabulary, sequenceLength, std::move(notes));
}

Result<std::unique_ptr<Dataset>> TokenDataset::create(std::vector<TokenPart> parts, std::unique_ptr<TextCodec> codec,
                                                      std::int64_t vocabulary, std::int64_t sequenceLength,
                                                      std::vector<std::string> notes)
{
    std::unique_ptr<TokenDataset> dataset(new TokenDataset);
    double bound = 0;
    for (const TokenPart& part : parts) {
        if (const Status status = checkSplits(part.ranges, sequenceLength, part.place); !status) {
            return status.error();
        }
        bound += part.share;
        dataset->m_bounds.push_back(bound);
    }
    for (int i = 0; i < kSplits; ++i) {
        const auto split = static_cast<Split>(i);
        if (const Status status = checkSplitOfAll(parts, split, sequenceLength); !status) {
            return status.error();
        }
        dataset->m_orders[static_cast<std::size_t>(i)] = orderOf(parts, split, sequenceLength);
    }
    dataset->m_parts = std::move(parts);
    dataset->m_codec = std::move(codec);
    dataset->m_vocabulary = vocabulary;
    dataset->m_time = sequenceLength;
    dataset->m_notes = std::move(notes);
    return std::unique_ptr<Dataset>(std::move(dataset));
}

projects::ExampleSchema TokenDataset::schema() const
{
    return projects::ExampleSchema::nextToken(m_vocabulary);
}

std::int64_t TokenDataset::size(Split split) const
{
    std::int64_t tokens = 0;
    for (const TokenPart& part : m_parts) {
        tokens += rangeOf(part, split).size;
    }
    return tokens;
}

std::vector<DataPartOutline> TokenDataset::parts() const
{
    return m_parts.size() > 1 ? outlinesOf(m_parts, m_time) : std::vector<DataPartOutline>();
}

const TokenPart& TokenDataset::drawnPart(Split split, std::int64_t seed, std::uint64_t draw) const
{
    if (m_parts.size() == 1) {
        return m_parts.front();
    }
    const std::uint64_t stream = streamOf(Stream::Part, static_cast<std::uint64_t>(split));
    const double uniform = uniformFrom(drawBits(static_cast<std::uint64_t>(seed), stream, draw));
    const auto bound = std::ranges::upper_bound(m_bounds, uniform * m_bounds.back());
    return m_parts[std::min(static_cast<std::size_t>(bound - m_bounds.begin()), m_parts.size() - 1)];
}

template <class WindowOf>
Status TokenDataset::fillRows(Batch& batch, std::int64_t count, const WindowOf& windowOf) const
{
    const auto length = static_cast<std::size_t>(m_time);
    batch.batch = count;
    batch.time = m_time;
    std::vector<std::int64_t>& targets = batch.values<std::int64_t>(1);
    std::vector<std::int64_t>& tokens = batch.values<std::int64_t>(0);
    targets.resize(static_cast<std::size_t>(count) * length);
    tokens.resize(targets.size() + 1);
    for (std::int64_t row = 0; row < count; ++row) {
        // Reads the window and the token after it at once; the next row overwrites that last token.
        const std::size_t first = static_cast<std::size_t>(row) * length;
        const auto window = std::span(tokens).subspan(first, length + 1);
        const Window from = windowOf(row);
        if (Status status = from.part->tokens.read(from.begin, window); !status) {
            return status;
        }
        std::copy(window.begin() + 1, window.end(), targets.begin() + static_cast<std::ptrdiff_t>(first));
    }
    tokens.pop_back();
    return Done{};
}

Status TokenDataset::fill(Batch& batch, Split split, std::int64_t seed, std::int64_t index, std::int64_t count) const
{
    const std::uint64_t stream = streamOf(Stream::Order, static_cast<std::uint64_t>(split));
    return fillRows(batch, count, [&](std::int64_t row) {
        const auto draw = static_cast<std::uint64_t>(index * count + row);
        const TokenPart& part = drawnPart(split, seed, draw);
        const TokenRange& tokens = rangeOf(part, split);
        const std::uint64_t bits = drawBits(static_cast<std::uint64_t>(seed), stream, draw);
        return Window{&part, tokens.begin + indexFrom(bits, tokens.size - m_time)};
    });
}

Status TokenDataset::fillSequential(Batch& batch, Split split, std::int64_t index, std::int64_t count) const
{
    const MixtureOrder& order = m_orders[static_cast<std::size_t>(split)];
    const std::int64_t first = std::min(index * count, order.size());
    const auto windows = order.windows(first, std::min(order.size() - first, count));
    return fillRows(batch, std::ssize(windows), [&](std::int64_t row) {
        const auto& [part, number] = windows[static_cast<std::size_t>(row)];
        return Window{&m_parts[part], rangeOf(m_parts[part], split).begin + number * m_time};
    });
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
