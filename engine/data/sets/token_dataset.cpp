// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/sets/token_dataset.h"

#include "engine/data/text/data_files.h"
#include "projects/base/mapped.h"
#include "projects/base/random.h"
#include "projects/base/text.h"
#include "projects/model/data_source.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <span>

namespace residua::engine {

SplitRanges splitTokens(std::int64_t size, double validationFraction, double testFraction)
{
    const auto [train, validation, test] = projects::splitSizes(size, validationFraction, testFraction);
    return {TokenRange{0, train}, TokenRange{train, validation}, TokenRange{train + validation, test}};
}

SplitRanges splitDocuments(std::span<const std::int64_t> ends, double validationFraction, double testFraction)
{
    const auto [train, validation, test] = projects::splitSizes(std::ssize(ends), validationFraction, testFraction);
    const auto endOf = [&](std::int64_t count) { return count > 0 ? ends[static_cast<std::size_t>(count - 1)] : 0; };
    const std::int64_t first = endOf(train);
    const std::int64_t second = endOf(train + validation);
    return {TokenRange{0, first}, TokenRange{first, second - first},
            TokenRange{second, endOf(train + validation + test) - second}};
}

TokenPart partOf(DocumentTokens documents, const projects::Project& project, std::string place)
{
    const projects::DataSource& data = project.data;
    const SplitRanges ranges = projects::rowsOf(data) == projects::DocumentRows::Stream
                                   ? splitTokens(documents.tokens.size(), data.validationFraction, data.testFraction)
                                   : splitDocuments(documents.ends, data.validationFraction, data.testFraction);
    TokenPart part{std::move(documents.tokens), ranges, std::move(place)};
    planRows(part, documents.ends, project);
    return part;
}

void planRows(TokenPart& part, std::span<const std::int64_t> ends, const projects::Project& project)
{
    const projects::DocumentRows rows = projects::rowsOf(project.data);
    if (rows == projects::DocumentRows::Stream) {
        return;
    }
    const bool inPlace = projects::traitsOf(project.network.objective).targetOf == projects::TargetOf::Hidden;
    for (std::size_t split = 0; split < kSplits; ++split) {
        const auto& [begin, size] = part.ranges[split];
        const auto first = std::ranges::upper_bound(ends, begin);
        const auto last = std::upper_bound(first, ends.end(), begin + size);
        part.rows[split] = {std::span(first, last), begin, rows, project.training.sequenceLength, !inPlace};
    }
}

std::vector<std::string> rowNotes(const std::vector<TokenPart>& parts, const projects::Project& project)
{
    const projects::DocumentRows rows = projects::rowsOf(project.data);
    if (rows == projects::DocumentRows::Stream) {
        return {};
    }
    std::int64_t count = 0;
    std::int64_t inputs = 0;
    std::int64_t longer = 0;
    for (const TokenPart& part : parts) {
        const RowPlan& plan = part.rows[static_cast<std::size_t>(Split::Train)];
        count += plan.size();
        inputs += plan.inputs();
        longer += plan.longer();
    }
    const double places = static_cast<double>(count) * static_cast<double>(project.training.sequenceLength);
    const double padding = places > 0 ? 100 * (1 - static_cast<double>(inputs) / places) : 0;
    std::vector<std::string> notes{"documents to train on make " + std::to_string(count) + " rows, of which " +
                                   numberText(padding, 3) + " % is padding"};
    if (longer > 0) {
        notes.push_back(std::to_string(longer) + " of the documents are longer than a row of " +
                        std::to_string(project.training.sequenceLength) + " tokens: " +
                        (rows == projects::DocumentRows::Single
                             ? "their ends are left out"
                             : "each continues in further rows as another document"));
    }
    return notes;
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

/// Returns the number of windows, or of rows of documents.
std::int64_t rowsIn(const TokenPart& part, Split split, projects::DocumentRows rows, std::int64_t sequenceLength)
{
    return rows == projects::DocumentRows::Stream ? windowsIn(rangeOf(part, split).size, sequenceLength)
                                                  : part.rows[static_cast<std::size_t>(split)].size();
}

MixtureOrder orderOf(const std::vector<TokenPart>& parts, Split split, projects::DocumentRows rows,
                     std::int64_t sequenceLength)
{
    std::vector<double> shares;
    std::vector<std::int64_t> windows;
    for (const TokenPart& part : parts) {
        shares.push_back(part.share);
        windows.push_back(rowsIn(part, split, rows, sequenceLength));
    }
    return {std::move(shares), windows};
}

/// Returns an error if some parts, but not all, have tokens in a split.
Status checkSplitOfAll(const std::vector<TokenPart>& parts, Split split, projects::DocumentRows rows,
                       std::int64_t sequenceLength)
{
    const bool stream = rows == projects::DocumentRows::Stream;
    const auto has = [&](const TokenPart& part) {
        return (stream ? rangeOf(part, split).size : part.rows[static_cast<std::size_t>(split)].size()) > 0;
    };
    const auto lacking = std::ranges::find_if_not(parts, has);
    if (lacking == parts.end() || std::ranges::none_of(parts, has)) {
        return Done{};
    }
    return Error{lacking->place, "is too short: nothing of it is left for the " + std::string(nameOf(split).title) +
                                     " split, expected at least " +
                                     (stream ? std::to_string(sequenceLength + 1) + " tokens" : "one document") +
                                     ", as of the other parts"};
}

/// Returns an error if no document is left to train on.
Status checkRows(const TokenPart& part)
{
    return part.rows[static_cast<std::size_t>(Split::Train)].size() > 0
               ? Status(Done{})
               : Error{part.place,
                       "has no document of two tokens or more in its training split, expected at least one"};
}

} // namespace

std::int64_t windowsIn(std::int64_t tokens, std::int64_t sequenceLength)
{
    return tokens > 0 ? (tokens - 1) / sequenceLength : 0;
}

std::vector<DataPartOutline> outlinesOf(const std::vector<TokenPart>& parts, projects::DocumentRows rows,
                                        std::int64_t sequenceLength)
{
    auto outlines = mapped(parts, [](const TokenPart& part) {
        return DataPartOutline{part.name, part.share, {}, {}, {}};
    });
    for (std::size_t split = 0; split < kSplits; ++split) {
        const MixtureOrder order = orderOf(parts, static_cast<Split>(split), rows, sequenceLength);
        for (std::size_t i = 0; i < parts.size(); ++i) {
            outlines[i].windows[split] = rowsIn(parts[i], static_cast<Split>(split), rows, sequenceLength);
            outlines[i].sizes[split] = rows == projects::DocumentRows::Stream
                                           ? parts[i].ranges[split].size
                                           : outlines[i].windows[split] * sequenceLength;
            outlines[i].evaluated[split] = order.taken(i) * sequenceLength;
        }
    }
    return outlines;
}

Result<std::unique_ptr<Dataset>> TokenDataset::create(TokenPart part, std::unique_ptr<TextCodec> codec,
                                                      std::int64_t vocabulary, const projects::Project& project,
                                                      std::vector<std::string> notes)
{
    std::vector<TokenPart> parts;
    parts.push_back(std::move(part));
    return create(std::move(parts), std::move(codec), vocabulary, project, std::move(notes));
}

Result<std::unique_ptr<Dataset>> TokenDataset::create(std::vector<TokenPart> parts, std::unique_ptr<TextCodec> codec,
                                                      std::int64_t vocabulary, const projects::Project& project,
                                                      std::vector<std::string> notes)
{
    const projects::DocumentRows rows = projects::rowsOf(project.data);
    const std::int64_t sequenceLength = project.training.sequenceLength;
    std::unique_ptr<TokenDataset> dataset(new TokenDataset);
    double bound = 0;
    for (const TokenPart& part : parts) {
        const bool stream = rows == projects::DocumentRows::Stream;
        RESIDUA_TRY(stream ? checkSplits(part.ranges, sequenceLength, part.place) : checkRows(part));
        bound += part.share;
        dataset->m_bounds.push_back(bound);
    }
    for (int i = 0; i < kSplits; ++i) {
        const auto split = static_cast<Split>(i);
        RESIDUA_TRY(checkSplitOfAll(parts, split, rows, sequenceLength));
        dataset->m_orders[static_cast<std::size_t>(i)] = orderOf(parts, split, rows, sequenceLength);
    }
    std::ranges::move(rowNotes(parts, project), std::back_inserter(notes));
    dataset->m_parts = std::move(parts);
    dataset->m_rows = rows;
    dataset->m_inPlace = projects::traitsOf(project.network.objective).targetOf == projects::TargetOf::Hidden;
    dataset->m_codec = std::move(codec);
    dataset->m_vocabulary = vocabulary;
    dataset->m_time = sequenceLength;
    dataset->m_notes = std::move(notes);
    return std::unique_ptr<Dataset>(std::move(dataset));
}

projects::ExampleSchema TokenDataset::schema() const
{
    return projects::ExampleSchema::nextToken(m_vocabulary, m_rows);
}

std::int64_t TokenDataset::size(Split split) const
{
    std::int64_t tokens = 0;
    for (const TokenPart& part : m_parts) {
        tokens += m_rows == projects::DocumentRows::Stream ? rangeOf(part, split).size
                                                           : rowsIn(part, split, m_rows, m_time) * m_time;
    }
    return tokens;
}

std::vector<DataPartOutline> TokenDataset::parts() const
{
    return m_parts.size() > 1 ? outlinesOf(m_parts, m_rows, m_time) : std::vector<DataPartOutline>();
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
Status TokenDataset::fillWindows(Batch& batch, std::int64_t count, const WindowOf& windowOf) const
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
        RESIDUA_TRY(from.part->tokens.read(from.begin, window));
        std::copy(window.begin() + 1, window.end(), targets.begin() + static_cast<std::ptrdiff_t>(first));
    }
    tokens.pop_back();
    return Done{};
}

Status TokenDataset::fillDocuments(Batch& batch, std::int64_t row, const Window& from) const
{
    const auto each = static_cast<std::size_t>(m_time);
    const auto rowOf = [&](std::size_t field) {
        return std::span(batch.values<std::int64_t>(field)).subspan(static_cast<std::size_t>(row) * each, each);
    };
    std::vector<std::int64_t> read;
    std::size_t at = 0;
    for (const auto& [begin, inputs] : from.part->rows[static_cast<std::size_t>(from.split)].row(from.begin)) {
        read.resize(static_cast<std::size_t>(inputs + (m_inPlace ? 0 : 1)));
        RESIDUA_TRY(from.part->tokens.read(begin, read));
        const auto count = static_cast<std::size_t>(inputs);
        std::ranges::copy(std::span(read).first(count), rowOf(0).subspan(at).begin());
        std::ranges::copy(std::span(read).last(count), rowOf(1).subspan(at).begin());
        if (m_rows == projects::DocumentRows::Packed) {
            const auto positions = rowOf(3).subspan(at, count);
            std::iota(positions.begin(), positions.end(), 0);
        }
        at += count;
    }
    batch.values<std::int64_t>(2)[static_cast<std::size_t>(row)] = static_cast<std::int64_t>(at);
    if (m_rows == projects::DocumentRows::Packed) {
        const auto padding = rowOf(3).subspan(at);
        std::iota(padding.begin(), padding.end(), 0);
    }
    return Done{};
}

template <class WindowOf>
Status TokenDataset::fillRows(Batch& batch, std::int64_t count, const WindowOf& windowOf) const
{
    if (m_rows == projects::DocumentRows::Stream) {
        return fillWindows(batch, count, windowOf);
    }
    batch.batch = count;
    batch.time = m_time;
    const auto all = static_cast<std::size_t>(count * m_time);
    if (m_rows == projects::DocumentRows::Packed) {
        batch.values<std::int64_t>(3).resize(all);
    }
    batch.values<std::int64_t>(2).resize(static_cast<std::size_t>(count));
    batch.values<std::int64_t>(1).assign(all, projects::kIgnoredTarget);
    batch.values<std::int64_t>(0).assign(all, 0);
    for (std::int64_t row = 0; row < count; ++row) {
        RESIDUA_TRY(fillDocuments(batch, row, windowOf(row)));
    }
    return Done{};
}

Status TokenDataset::fill(Batch& batch, Split split, std::int64_t seed, std::int64_t index, std::int64_t count) const
{
    const std::uint64_t stream = streamOf(Stream::Order, static_cast<std::uint64_t>(split));
    return fillRows(batch, count, [&](std::int64_t row) {
        const std::int64_t number = index * count + row;
        const auto draw = static_cast<std::uint64_t>(number);
        const TokenPart& part = drawnPart(split, seed, draw);
        const std::uint64_t bits = drawBits(static_cast<std::uint64_t>(seed), stream, draw);
        if (m_rows != projects::DocumentRows::Stream) {
            const std::int64_t rows = part.rows[static_cast<std::size_t>(split)].size();
            return Window{&part, m_parts.size() == 1 ? shuffledRow(number, rows, split, seed) : indexFrom(bits, rows),
                          split};
        }
        const TokenRange& tokens = rangeOf(part, split);
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
        const bool stream = m_rows == projects::DocumentRows::Stream;
        return Window{&m_parts[part], stream ? rangeOf(m_parts[part], split).begin + number * m_time : number, split};
    });
}

Result<std::vector<std::int64_t>> TokenDataset::encode(const std::string& text) const
{
    RESIDUA_TRY(checkUtf8(text, "text"));
    std::vector<std::uint32_t> tokens = m_codec->marks().before;
    RESIDUA_TRY(m_codec->encode(text, TextStart::Begins, tokens));
    return std::vector<std::int64_t>(tokens.begin(), tokens.end());
}

std::string TokenDataset::decode(const std::vector<std::int64_t>& tokens) const
{
    return m_codec->decode(tokens);
}

} // namespace residua::engine
