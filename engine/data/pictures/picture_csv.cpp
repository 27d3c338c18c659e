// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/pictures/picture_set.h"

#include "projects/base/mapped.h"
#include "projects/base/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <iterator>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;
using projects::LabelColumn;
using projects::ValueRange;

constexpr std::int64_t kMostLabel = 1'000'000'000;

std::string_view trimmed(std::string_view text)
{
    constexpr std::string_view kBlanks = " \t\r";
    const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
    return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

/// Returns the next cell of a line and removes it. Sets `ended` behind the last one.
std::string_view takeCell(std::string_view& line, bool& ended)
{
    const std::size_t comma = std::min(line.find(','), line.size());
    const std::string_view cell = trimmed(line.substr(0, comma));
    ended = comma == line.size();
    line.remove_prefix(ended ? comma : comma + 1);
    return cell;
}

/// Appends the numbers of a line. Returns false if it has anything else.
bool addNumbers(std::string_view line, std::vector<double>& numbers)
{
    for (bool ended = false; !ended;) {
        const auto value = numberFrom<double>(takeCell(line, ended));
        if (!value || !std::isfinite(*value)) {
            return false;
        }
        numbers.push_back(*value);
    }
    return true;
}

/// Returns the column that a header names as the label; Detect if it names neither the first nor the last so.
LabelColumn labelIn(std::string_view header)
{
    constexpr std::array<std::string_view, 6> kNames{"label", "labels", "class", "target", "y", "digit"};
    const auto isLabel = [&](std::string name) {
        std::erase(name, '"');
        std::ranges::transform(name, name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c | 0x20) : c; });
        return std::ranges::find(kNames, name) != kNames.end();
    };
    const std::string first(trimmed(header.substr(0, header.find(','))));
    const std::string last(trimmed(header.substr(header.rfind(',') + 1)));
    return isLabel(first) ? LabelColumn::First : isLabel(last) ? LabelColumn::Last : LabelColumn::Detect;
}

/// Returns the form of a square picture with so many values, or nullopt.
std::optional<PictureForm> squareOf(std::size_t values)
{
    for (const std::int64_t channels : {1, 3}) {
        const auto side = std::llround(std::sqrt(static_cast<double>(values) / static_cast<double>(channels)));
        if (side > 0 && static_cast<std::size_t>(side * side * channels) == values) {
            return PictureForm{side, side, channels};
        }
    }
    return std::nullopt;
}

/// The rows of a CSV file.
struct Rows {
    std::size_t columns = 0;
    std::vector<double> numbers;    ///< [rows, columns]
    std::vector<std::size_t> lines; ///< by row
    bool hasHeader = false;
    LabelColumn named = LabelColumn::Detect; ///< by the header

    [[nodiscard]] double label(std::size_t row, LabelColumn column) const
    {
        return numbers[row * columns + (column == LabelColumn::First ? 0 : columns - 1)];
    }
};

bool isLabel(double value)
{
    return value >= 0 && value <= kMostLabel && value == std::floor(value);
}

Result<Rows> rowsOf(const fs::path& path, std::string_view text)
{
    Rows rows;
    for (std::size_t line = 1; !text.empty(); ++line) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view content = trimmed(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (content.empty()) {
            continue;
        }
        const std::string place = path.string() + ":" + std::to_string(line);
        const std::size_t before = rows.numbers.size();
        if (!addNumbers(content, rows.numbers)) {
            if (before > 0 || rows.hasHeader || text.empty()) {
                return Error{place, "has a cell that is not a number: expected the values of a picture and its label"};
            }
            rows.numbers.clear();
            rows.hasHeader = true;
            rows.named = labelIn(content);
            continue;
        }
        const std::size_t got = rows.numbers.size() - before;
        rows.columns = before == 0 ? got : rows.columns;
        if (got != rows.columns) {
            return Error{place, "has " + std::to_string(got) + " columns, expected " + std::to_string(rows.columns) +
                                    ", as in the first line"};
        }
        rows.lines.push_back(line);
    }
    return rows;
}

/// The signs that a column holds labels.
struct ColumnLook {
    bool couldBe = false; ///< whole numbers from 0 on
    bool varies = false;
    bool dense = false; ///< many rows have each number up to the largest, from 0 or 1 on
    bool few = false;   ///< no more different ones than classes, if these are known
    bool fits = false;  ///< and none above the number of classes

    /// The number of classes is weighed as one sign of several, because the project's may be wrong.
    auto operator<=>(const ColumnLook& other) const
    {
        const auto signs = [](const ColumnLook& look) {
            return std::tuple(look.couldBe, look.varies && (look.dense || look.fits), look.fits, look.few, look.varies,
                              look.dense);
        };
        return signs(*this) <=> signs(other);
    }
};

ColumnLook lookAt(const Rows& rows, LabelColumn column, std::int64_t classes)
{
    std::set<double> values;
    for (std::size_t row = 0; row < rows.lines.size(); ++row) {
        const double value = rows.label(row, column);
        if (!isLabel(value)) {
            return {};
        }
        values.insert(value);
    }
    ColumnLook look;
    look.couldBe = true;
    look.varies = values.size() > 1;
    constexpr std::size_t kRowsOfEach = 3;
    look.dense = look.varies && rows.lines.size() >= kRowsOfEach * values.size() && *values.begin() <= 1 &&
                 *values.rbegin() - *values.begin() + 1 == static_cast<double>(values.size());
    look.few = classes == 0 || std::ssize(values) <= classes;
    look.fits = look.few && (classes == 0 || *values.rbegin() <= static_cast<double>(classes));
    return look;
}

/// Returns the column of the label, with a note if it is in doubt.
std::pair<LabelColumn, std::string> labelColumnOf(const Rows& rows, const PictureRequest& request)
{
    if (request.labelColumn != LabelColumn::Detect) {
        return {request.labelColumn, {}};
    }
    if (rows.named != LabelColumn::Detect) {
        return {rows.named, {}};
    }
    if (request.reading == ReadingVersion::First) {
        return {LabelColumn::Last, {}};
    }
    const ColumnLook first = lookAt(rows, LabelColumn::First, request.classes);
    const ColumnLook last = lookAt(rows, LabelColumn::Last, request.classes);
    if (const auto order = first <=> last; order != 0) {
        return {order > 0 ? LabelColumn::First : LabelColumn::Last, {}};
    }
    return {LabelColumn::Last, !last.couldBe || !last.varies
                                   ? std::string()
                                   : "the last column is taken for the label, and the first could be it too: "
                                     "label_column says which"};
}

/// A range of values, and how it becomes 0 to 255.
struct RangeForm {
    ValueRange range;
    double least;
    double most;
    std::string_view text;
};
/// From small to large; detection takes the first that holds all values.
constexpr std::array kRanges{
    RangeForm{ValueRange::Unit, 0, 1, "0 … 1"}, RangeForm{ValueRange::Sixteen, 0, 16, "0 … 16"},
    RangeForm{ValueRange::Byte, 0, 255, "0 … 255"}, RangeForm{ValueRange::SignedUnit, -1, 1, "-1 … 1"},
    RangeForm{ValueRange::SignedByte, -128, 127, "-128 … 127"}};

Result<RangeForm> rangeOf(const fs::path& path, const std::vector<double>& values, ValueRange wanted)
{
    const auto [least, most] = std::ranges::minmax(values);
    const auto fits = [&](const RangeForm& form) {
        return (wanted == ValueRange::Detect || wanted == form.range) && least >= form.least && most <= form.most;
    };
    if (const auto* const found = std::ranges::find_if(kRanges, fits); found != kRanges.end()) {
        return *found;
    }
    const auto* const said = std::ranges::find(kRanges, wanted, &RangeForm::range);
    return Error{path.string(),
                 "has values from " + numberText(least) + " to " + numberText(most) + ", expected " +
                     (said != kRanges.end()
                          ? std::string(said->text) + ", as value_range or the training part says"
                          : joinedText(kRanges, ", ", [](const RangeForm& form) { return std::string(form.text); }))};
}

} // namespace

Result<PictureSet> openPictureCsv(const fs::path& path, const PictureRequest& request, const PreparationWatch& watch)
{
    const std::vector<std::uint8_t> content = RESIDUA_TRY(contentOf(path, watch));
    const Rows rows = RESIDUA_TRY(rowsOf(path, {reinterpret_cast<const char*>(content.data()), content.size()}));
    const auto form = rows.columns > 1 ? squareOf(rows.columns - 1) : std::nullopt;
    if (!form) {
        return Error{path.string(), "has " + std::to_string(rows.columns) +
                                        " columns, expected the values of a square picture and a label"};
    }
    const auto [column, note] = labelColumnOf(rows, request);
    std::vector<std::int64_t> labels;
    std::vector<double> values;
    for (std::size_t row = 0; row < rows.lines.size(); ++row) {
        const double label = rows.label(row, column);
        if (!isLabel(label)) {
            return Error{path.string() + ":" + std::to_string(rows.lines[row]),
                         "has the label " + numberText(label) + ", expected a whole number from 0"};
        }
        labels.push_back(static_cast<std::int64_t>(label));
        const auto begin = rows.numbers.begin() + static_cast<std::ptrdiff_t>(row * rows.columns) +
                           (column == LabelColumn::First ? 1 : 0);
        values.insert(values.end(), begin, begin + form->values());
    }
    const RangeForm range = RESIDUA_TRY(rangeOf(path, values, request.valueRange));
    auto bytes = mapped(values, [&](double value) {
        return static_cast<std::uint8_t>(std::lround(255 * (value - range.least) / (range.most - range.least)));
    });
    PictureSet set = setOf(std::move(bytes), *form, std::move(labels), {path});
    set.columns = PictureColumns{column, range.range};
    if (!note.empty()) {
        set.notes.push_back(path.string() + ": " + note);
    }
    return set;
}

bool looksLikePictureCsv(std::string_view head)
{
    constexpr std::size_t kFewest = 17; // of smaller tables, the rows are hardly pictures
    std::vector<double> numbers;
    for (int line = 0; line < 2; ++line) { // the first may be a header
        const std::size_t end = std::min(head.find('\n'), head.size());
        numbers.clear();
        if (addNumbers(trimmed(head.substr(0, end)), numbers)) {
            return numbers.size() >= kFewest && squareOf(numbers.size() - 1).has_value();
        }
        head.remove_prefix(std::min(end + 1, head.size()));
    }
    return false;
}

} // namespace residua::engine
