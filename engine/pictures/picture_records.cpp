// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/pictures/picture_set.h"

#include "projects/base/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string_view>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

using Values = std::vector<std::uint8_t>;

/// Returns a set of equal pictures, one after another in `values`.
PictureSet setOf(Values values, const PictureForm& form, std::vector<std::int64_t> labels)
{
    PictureSet set;
    set.labels = std::move(labels);
    set.read = [form, held = std::make_shared<const Values>(std::move(values))](std::size_t index) {
        const auto begin = held->begin() + static_cast<std::ptrdiff_t>(index) * form.values();
        return Result<Picture>(Picture{form, {begin, begin + form.values()}});
    };
    return set;
}

// CIFAR

constexpr PictureForm kCifar{32, 32, 3};

/// A version of CIFAR: the labels before each picture. The last one counts.
struct CifarVersion {
    std::size_t labels = 1;
    std::int64_t classes = 10;

    [[nodiscard]] std::size_t record() const { return labels + static_cast<std::size_t>(kCifar.values()); }
};
constexpr std::array kCifarVersions{CifarVersion{1, 10}, CifarVersion{2, 100}};

/// Appends a file's records. The planes of each picture become values per pixel.
Status addRecords(const fs::path& path, const Values& content, const CifarVersion& version, Values& values,
                  std::vector<std::int64_t>& labels)
{
    const std::size_t pixels = static_cast<std::size_t>(kCifar.height * kCifar.width);
    for (std::size_t at = 0; at < content.size(); at += version.record()) {
        const std::int64_t label = content[at + version.labels - 1];
        if (label >= version.classes) {
            return Error{path.string(), "record " + std::to_string(at / version.record() + 1) + " has the label " +
                                            std::to_string(label) + ", expected 0 … " +
                                            std::to_string(version.classes - 1)};
        }
        labels.push_back(label);
        const std::uint8_t* const planes = content.data() + at + version.labels;
        for (std::size_t i = 0; i < pixels; ++i) {
            values.insert(values.end(), {planes[i], planes[pixels + i], planes[2 * pixels + i]});
        }
    }
    return Done{};
}

// IDX

std::int64_t bigEndian(const Values& content, std::size_t offset)
{
    std::int64_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        value = value * 256 + content[offset + i];
    }
    return value;
}

/// Returns the content after the header with `dims` sizes, which `sizes` receives.
Result<Values> readIdx(const fs::path& path, std::size_t dims, std::vector<std::int64_t>& sizes,
                       const PreparationWatch& watch)
{
    Result<Values> content = contentOf(path, watch);
    if (!content) {
        return content.error();
    }
    const std::size_t header = 4 + 4 * dims;
    if (content->size() < header || bigEndian(*content, 0) != 2048 + static_cast<std::int64_t>(dims)) {
        return Error{path.string(), "is not IDX with bytes in " + std::to_string(dims) + " dimensions"};
    }
    std::int64_t values = 1;
    for (std::size_t i = 0; i < dims; ++i) {
        sizes.push_back(bigEndian(*content, 4 + 4 * i));
        values = sizes.back() == 0 || values <= (std::int64_t{1} << 40) / sizes.back() ? values * sizes.back() : -1;
        if (values <= 0) {
            return Error{path.string(), "has no values"};
        }
    }
    const std::int64_t got = std::ssize(*content) - static_cast<std::int64_t>(header);
    if (got != values) {
        return Error{path.string(), (got < values ? "is truncated: has " : "has ") + std::to_string(got) +
                                        " values, expected " + std::to_string(values)};
    }
    content->erase(content->begin(), content->begin() + static_cast<std::ptrdiff_t>(header));
    return content;
}

/// Returns the file of the labels beside that of the pictures.
fs::path labelsBeside(const fs::path& pictures)
{
    std::string name = pictures.filename().string();
    for (const auto& [from, to] : {std::pair("images", "labels"), std::pair("idx3", "idx1")}) {
        if (const std::size_t at = name.find(from); at != std::string::npos) {
            name.replace(at, std::string_view(from).size(), to);
        }
    }
    const fs::path labels = pictures.parent_path() / name;
    std::error_code ignored;
    if (name == pictures.filename() || fs::exists(labels, ignored)) {
        return labels;
    }
    const bool packed = name.ends_with(".gz");
    const fs::path other = pictures.parent_path() / (packed ? name.substr(0, name.size() - 3) : name + ".gz");
    return fs::exists(other, ignored) ? other : labels;
}

// CSV

std::string_view trimmed(std::string_view text)
{
    constexpr std::string_view kBlanks = " \t\r";
    const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
    return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

/// Appends the numbers of a line. Returns false if it has anything else.
bool addNumbers(std::string_view line, std::vector<double>& numbers)
{
    while (true) {
        const std::size_t comma = std::min(line.find(','), line.size());
        const std::string_view cell = trimmed(line.substr(0, comma));
        const auto value = numberFrom<double>(cell);
        if (!value || !std::isfinite(*value)) {
            return false;
        }
        numbers.push_back(*value);
        if (comma == line.size()) {
            return true;
        }
        line.remove_prefix(comma + 1);
    }
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
    std::vector<double> numbers; ///< [rows, columns]
};

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
            return Error{place, "has a cell that is not a number: expected the values of a picture, then its label"};
        }
        const std::size_t got = rows.numbers.size() - before;
        rows.columns = before == 0 ? got : rows.columns;
        if (got != rows.columns) {
            return Error{place, "has " + std::to_string(got) + " columns, expected " + std::to_string(rows.columns) +
                                    ", as in the first line"};
        }
        const double label = rows.numbers.back();
        if (label < 0 || label != std::floor(label) || label > 1e9) {
            return Error{place, "has the label " + numberText(label) + ", expected a whole number from 0"};
        }
    }
    return rows;
}

} // namespace

Result<PictureSet> openCifar(const std::vector<fs::path>& files, const PreparationWatch& watch)
{
    Values values;
    std::vector<std::int64_t> labels;
    const CifarVersion* of = nullptr;
    for (const fs::path& path : files) {
        const Result<Values> content = contentOf(path, watch);
        if (!content) {
            return content.error();
        }
        const auto* const version = std::ranges::find_if(kCifarVersions, [&](const CifarVersion& one) {
            return !content->empty() && content->size() % one.record() == 0;
        });
        if (version == kCifarVersions.end()) {
            return Error{path.string(), "has " + std::to_string(content->size()) +
                                            " bytes: is truncated or not a data set that is known, expected records of "
                                            "3073 bytes (CIFAR-10) or 3074 (CIFAR-100), IDX, or CSV"};
        }
        of = of == nullptr ? version : of;
        if (of != version) {
            return Error{path.string(), "is of another version of CIFAR than " + files.front().string()};
        }
        if (const Status added = addRecords(path, *content, *version, values, labels); !added) {
            return added.error();
        }
    }
    return setOf(std::move(values), kCifar, std::move(labels));
}

Result<PictureSet> openIdx(const fs::path& pictures, const PreparationWatch& watch)
{
    std::vector<std::int64_t> sizes;
    Result<Values> values = readIdx(pictures, 3, sizes, watch);
    if (!values) {
        return values.error();
    }
    const fs::path beside = labelsBeside(pictures);
    std::vector<std::int64_t> count;
    const Result<Values> labels =
        beside == pictures
            ? Result<Values>(Error{pictures.string(), "has pictures without labels: expected a name with \"images\""})
            : readIdx(beside, 1, count, watch);
    if (!labels) {
        return labels.error();
    }
    if (count[0] != sizes[0]) {
        return Error{beside.string(), "has " + std::to_string(count[0]) + " labels, expected " +
                                          std::to_string(sizes[0]) + ", one for each picture"};
    }
    return setOf(*std::move(values), {sizes[1], sizes[2], 1}, {labels->begin(), labels->end()});
}

Result<PictureSet> openPictureCsv(const fs::path& path, const PreparationWatch& watch)
{
    const Result<Values> content = contentOf(path, watch);
    if (!content) {
        return content.error();
    }
    const Result<Rows> rows = rowsOf(path, {reinterpret_cast<const char*>(content->data()), content->size()});
    if (!rows) {
        return rows.error();
    }
    const auto form = rows->columns > 1 ? squareOf(rows->columns - 1) : std::nullopt;
    if (!form) {
        return Error{path.string(), "has " + std::to_string(rows->columns) +
                                        " columns, expected the values of a square picture and a label"};
    }
    std::vector<std::int64_t> labels;
    std::vector<double> values;
    for (std::size_t at = 0; at < rows->numbers.size(); at += rows->columns) {
        const auto row = rows->numbers.begin() + static_cast<std::ptrdiff_t>(at);
        values.insert(values.end(), row, row + form->values());
        labels.push_back(static_cast<std::int64_t>(row[form->values()]));
    }
    const auto [least, most] = std::ranges::minmax(values);
    if (least < 0 || most > 255) {
        return Error{path.string(), "has values from " + numberText(least) + " to " + numberText(most) +
                                        ", expected 0 … 1, 0 … 16 or 0 … 255"};
    }
    const double scale = most <= 1 ? 255 : most <= 16 ? 255.0 / 16 : 1;
    Values bytes;
    std::ranges::transform(values, std::back_inserter(bytes),
                           [&](double value) { return static_cast<std::uint8_t>(std::lround(scale * value)); });
    return setOf(std::move(bytes), *form, std::move(labels));
}

} // namespace residua::engine
