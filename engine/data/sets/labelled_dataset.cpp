// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/sets/labelled_dataset.h"

#include "engine/data/sets/class_numbers.h"
#include "engine/data/text/data_files.h"
#include "engine/data/tokens/text_corpus.h"
#include "projects/base/mapped.h"

#include <algorithm>
#include <iterator>

namespace residua::engine {
namespace {

/// The rows of one file. The first value of a row is the label, its texts follow.
struct Table {
    std::filesystem::path path;
    std::vector<TableRow> rows;

    [[nodiscard]] std::string place(const TableRow& row) const
    {
        return path.string() + ":" + std::to_string(row.line);
    }
};

Result<Table> tableAt(const std::filesystem::path& path, const projects::LabelledTextData& source,
                      const PreparationWatch& watch)
{
    std::vector<std::string> columns{source.label, source.text};
    if (!source.second.empty()) {
        columns.push_back(source.second);
    }
    std::vector<TableRow> rows = RESIDUA_TRY(readTable(path, columns, watch));
    Table table{path, std::move(rows)};
    const auto unlabelled =
        std::ranges::find_if(table.rows, [](const TableRow& row) { return classLabel(row.values[0]).empty(); });
    if (unlabelled != table.rows.end()) {
        return Error{table.place(*unlabelled), "has no label in the column \"" + source.label + "\""};
    }
    return table;
}

std::vector<std::string> labelsOf(const Table& table)
{
    return mapped(table.rows, [](const TableRow& row) { return row.values[0]; });
}

/// The tables of training and, if the source has a path for it, of validation, with the number of each row's class.
struct NumberedTables {
    std::vector<Table> tables;
    ClassNumbers classes;
    std::vector<std::vector<std::int64_t>> numbers; ///< by table
};

Result<NumberedTables> numberedTables(const projects::LabelledTextData& source,
                                      const std::filesystem::path& projectDirectory, const Reading& reading,
                                      const PreparationWatch& watch)
{
    std::vector<Table> tables;
    for (const std::string& path : {source.path, source.validationPath}) {
        if (!path.empty()) {
            Table table = RESIDUA_TRY(tableAt(projectDirectory / path, source, watch));
            tables.push_back(std::move(table));
        }
    }
    Result<ClassNumbers> classes = ClassNumbers::of(labelsOf(tables.front()), source.classes, reading);
    if (!classes) {
        return Error{tables.front().path.string(), "the column \"" + source.label + "\" " + classes.error().message};
    }
    std::vector<std::vector<std::int64_t>> numbers;
    for (const Table& table : tables) {
        std::vector<std::int64_t>& added = numbers.emplace_back();
        for (const TableRow& row : table.rows) {
            const Result<std::int64_t> number = classes->numberOf(row.values[0]);
            if (!number) {
                return Error{table.place(row), number.error().message};
            }
            added.push_back(*number);
        }
    }
    return NumberedTables{std::move(tables), *std::move(classes), std::move(numbers)};
}

/// Returns all texts of the tables as one document, which gives a tokeniser of characters its alphabet.
std::vector<Document> documentsOf(const std::vector<Table>& tables)
{
    std::string all;
    for (const Table& table : tables) {
        for (const TableRow& row : table.rows) {
            std::for_each(row.values.begin() + 1, row.values.end(), [&](const std::string& text) { all += text; });
        }
    }
    const std::uint64_t size = all.size();
    return {{bytesInMemory(std::move(all)), 0, size}};
}

/// Returns the lengths that two texts are cut to, the longer one first. If both are cut, the longer one keeps an
/// odd token, or the second one if their lengths are equal, as in the strategy longest_first of `tokenizers`. In the
/// first reading the second one always keeps it.
std::pair<std::size_t, std::size_t> lengthsIn(std::size_t room, std::size_t first, std::size_t second,
                                              ReadingVersion reading)
{
    if (first + second <= room) {
        return {first, second};
    }
    const std::size_t half = room / 2;
    const std::size_t more = room - half;
    const std::size_t shorter = std::min(first, second);
    const bool firstIsLonger = first > second;
    if (shorter <= half) { // the other alone is cut
        return firstIsLonger ? std::pair(room - shorter, shorter) : std::pair(shorter, room - shorter);
    }
    return firstIsLonger && reading != ReadingVersion::First ? std::pair(more, half) : std::pair(half, more);
}

} // namespace

Result<std::vector<std::string>> labelsIn(const projects::LabelledTextData& source,
                                          const std::filesystem::path& projectDirectory, const PreparationWatch& watch)
{
    return tableAt(projectDirectory / source.path, source, watch).transform([](const Table& table) {
        return labelsOf(table);
    });
}

Status checkReadable(const projects::LabelledTextData& source, const std::filesystem::path& projectDirectory,
                     const PreparationWatch& watch)
{
    const auto read = numberedTables(source, projectDirectory, {}, watch);
    return read ? Status(Done{}) : Status(read.error());
}

Result<std::unique_ptr<Dataset>> LabelledDataset::open(const projects::LabelledTextData& source,
                                                       const projects::Project& project,
                                                       const std::filesystem::path& projectDirectory,
                                                       const Reading& reading, const PreparationWatch& watch)
{
    const NumberedTables read = RESIDUA_TRY(numberedTables(source, projectDirectory, reading, watch));
    const std::vector<Table>& tables = read.tables;
    const std::string place = tables.front().path.string();
    auto codec = RESIDUA_TRY(codecFor(documentsOf(tables), source.tokeniser, projectDirectory, place, watch));
    std::unique_ptr<LabelledDataset> dataset(new LabelledDataset);
    dataset->m_schema = projects::examplesOf(project.data);
    dataset->m_codec = std::move(codec);
    dataset->m_time = project.training.sequenceLength;
    dataset->m_reading = reading.version;
    const double validation = tables.size() > 1 ? 0.0 : project.data.validationFraction;
    for (std::size_t at = 0; at < tables.size(); ++at) {
        const Table& table = tables[at];
        const bool validates = at > 0;
        const std::vector<std::int64_t>& numbers = read.numbers[at];
        const std::vector<Split> splits =
            splitsOf(numbers, validation, project.data.testFraction, project.seeds.data, reading.version);
        for (std::size_t i = 0; i < table.rows.size(); ++i) {
            const TableRow& row = table.rows[i];
            Result<Row> made = dataset->encoded(row.values[1], row.values.size() > 2 ? &row.values[2] : nullptr);
            if (!made) {
                return Error{table.place(row), made.error().text()};
            }
            made->label = numbers[i];
            const Split split = validates ? Split::Validation : splits[i];
            dataset->m_rows[static_cast<std::size_t>(split)].push_back(*std::move(made));
        }
    }
    dataset->m_classes = read.classes.names();
    dataset->m_notes = read.classes.notesOn(labelsOf(tables.front()),
                                            tables.size() > 1 ? labelsOf(tables[1]) : std::vector<std::string>());
    dataset->m_notes.push_back(orderNote("labels", dataset->m_classes));
    if (dataset->rowsOf(Split::Train).empty()) {
        return Error{place, "no row is left to train on"};
    }
    return std::unique_ptr<Dataset>(std::move(dataset));
}

std::vector<TextCount> LabelledDataset::texts() const
{
    std::vector<TextCount> counts;
    for (const std::vector<Row>& rows : m_rows) {
        TextCount& count = counts.emplace_back();
        count.texts = std::ssize(rows);
        for (const Row& row : rows) {
            count.tokens += std::ssize(row.tokens);
        }
    }
    return counts;
}

Result<LabelledDataset::Row> LabelledDataset::encoded(const std::string& first, const std::string* second) const
{
    std::array<std::vector<std::uint32_t>, 2> texts;
    const std::string* const given[] = {&first, second};
    for (std::size_t i = 0; i < 2 && given[i] != nullptr; ++i) {
        RESIDUA_TRY(m_codec->encode(*given[i], TextStart::Begins, texts[i]));
    }
    const DocumentMarks marks = m_codec->marks();
    const std::size_t around = marks.before.size() + marks.behind.size() * (second != nullptr ? 2 : 1);
    const auto length = static_cast<std::size_t>(m_time);
    const std::size_t room = length > around ? length - around : 0;
    const auto [left, right] = lengthsIn(room, texts[0].size(), texts[1].size(), m_reading);
    texts[0].resize(left);
    texts[1].resize(right);
    Row row;
    row.tokens = marks.before;
    const auto append = [&row](const std::vector<std::uint32_t>& tokens) {
        row.tokens.insert(row.tokens.end(), tokens.begin(), tokens.end());
    };
    append(texts[0]);
    append(marks.behind);
    row.second = row.tokens.size();
    if (second != nullptr) {
        append(texts[1]);
        append(marks.behind);
    }
    row.tokens.resize(std::min(row.tokens.size(), length));
    return row.tokens.empty() ? Result<Row>(Error{{}, "its text has no tokens"}) : Result<Row>(std::move(row));
}

void LabelledDataset::prepare(Batch& batch, std::int64_t count) const
{
    batch.batch = count;
    batch.time = m_time;
    const auto tokens = static_cast<std::size_t>(count * m_time);
    batch.values<std::int64_t>(0).assign(tokens, 0);
    batch.values<std::int64_t>(1).resize(static_cast<std::size_t>(count));
    batch.values<float>(2).assign(tokens, 0.0F);
    if (m_schema.fields.size() > 3) {
        batch.values<std::int64_t>(3).assign(tokens, 0);
    }
}

void LabelledDataset::copyRow(Batch& batch, std::int64_t to, const Row& row) const
{
    const auto first = to * m_time;
    std::ranges::copy(row.tokens, batch.values<std::int64_t>(0).begin() + first);
    batch.values<std::int64_t>(1)[static_cast<std::size_t>(to)] = row.label;
    std::fill_n(batch.values<float>(2).begin() + first, row.tokens.size(), 1.0F);
    if (m_schema.fields.size() > 3) {
        const std::size_t begin = std::min(row.second, row.tokens.size());
        std::fill_n(batch.values<std::int64_t>(3).begin() + first + static_cast<std::ptrdiff_t>(begin),
                    row.tokens.size() - begin, 1);
    }
}

Status LabelledDataset::fill(Batch& batch, Split split, std::int64_t seed, std::int64_t index, std::int64_t count) const
{
    prepare(batch, count);
    const std::vector<Row>& rows = rowsOf(split);
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t row = shuffledRow(index * count + i, std::ssize(rows), split, seed);
        copyRow(batch, i, rows[static_cast<std::size_t>(row)]);
    }
    return Done{};
}

Status LabelledDataset::fillSequential(Batch& batch, Split split, std::int64_t index, std::int64_t count) const
{
    const std::vector<Row>& rows = rowsOf(split);
    const std::int64_t first = index * count;
    prepare(batch, std::clamp<std::int64_t>(std::ssize(rows) - first, 0, count));
    for (std::int64_t i = 0; i < batch.batch; ++i) {
        copyRow(batch, i, rows[static_cast<std::size_t>(first + i)]);
    }
    return Done{};
}

Status LabelledDataset::fillShown(Batch& batch, Split split, std::int64_t count) const
{
    const std::vector<Row>& rows = rowsOf(split);
    auto labels = mapped(rows, &Row::label);
    const std::vector<std::size_t> shown = evenRows(labels, static_cast<std::size_t>(count));
    prepare(batch, std::ssize(shown));
    for (std::int64_t i = 0; i < batch.batch; ++i) {
        copyRow(batch, i, rows[shown[static_cast<std::size_t>(i)]]);
    }
    return Done{};
}

Result<std::vector<std::int64_t>> LabelledDataset::encode(const std::string& text) const
{
    RESIDUA_TRY(checkUtf8(text, "text"));
    const Result<Row> row = encoded(text, nullptr);
    return row ? Result<std::vector<std::int64_t>>(std::vector<std::int64_t>(row->tokens.begin(), row->tokens.end()))
               : Result<std::vector<std::int64_t>>(row.error());
}

Result<std::string> LabelledDataset::fillText(Batch& batch, const std::string& text) const
{
    const Status valid = checkUtf8(text, "text");
    const Row row = RESIDUA_TRY(valid ? encoded(text, nullptr) : Result<Row>(valid.error()));
    prepare(batch, 1);
    copyRow(batch, 0, row);
    return std::string();
}

std::string LabelledDataset::decode(const std::vector<std::int64_t>& tokens) const
{
    return m_codec->decode(tokens);
}

} // namespace residua::engine
