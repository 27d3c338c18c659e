// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/pictures/picture_set.h"

#include "engine/data/text/data_files.h"
#include "projects/base/files.h"
#include "projects/base/text.h"

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <span>
#include <sstream>
#include <string_view>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

using Values = std::vector<std::uint8_t>;

// CIFAR

constexpr PictureForm kCifar{32, 32, 3};

/// A version of CIFAR: the labels before each picture. The last one counts.
struct CifarVersion {
    std::size_t labels = 1;
    std::int64_t classes = 10;
    const char* names = ""; ///< of the file with the names of the classes, a line each

    [[nodiscard]] std::size_t record() const { return labels + static_cast<std::size_t>(kCifar.values()); }
};
constexpr std::array kCifarVersions{CifarVersion{1, 10, "batches.meta.txt"},
                                    CifarVersion{2, 100, "fine_label_names.txt"}};

bool hasLabels(const Values& content, const CifarVersion& version)
{
    for (std::size_t at = 0; at < content.size(); at += version.record()) {
        if (content[at + version.labels - 1] >= version.classes) {
            return false;
        }
    }
    return true;
}

/// Returns the version whose records fill a file; null if neither does. If both do, it is the one with right labels, by
/// the first reading CIFAR-10.
const CifarVersion* versionOf(const Values& content, ReadingVersion reading = kNewestReading)
{
    const CifarVersion* found = nullptr;
    for (const CifarVersion& version : kCifarVersions) {
        if (content.empty() || content.size() % version.record() != 0) {
            continue;
        }
        found = found == nullptr ? &version : found;
        if (reading == ReadingVersion::First || hasLabels(content, version)) {
            return &version;
        }
    }
    return found;
}

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

/// Adds the names of the classes from the file beside the records, if it has a name for each; else a note on why not.
void addNames(PictureSet& set, const fs::path& records, const CifarVersion& version)
{
    constexpr std::uint64_t kMostBytes = 16384;
    const fs::path path = records.parent_path() / version.names;
    std::error_code ignored;
    if (!fs::exists(path, ignored)) {
        return;
    }
    const auto refuse = [&](const std::string& why) {
        set.notes.push_back(path.string() + ": the names of the classes are not used: " + why);
    };
    const Result<InputFile> file = InputFile::open(path);
    if (!file || file->size() > kMostBytes) {
        return refuse(file ? "has " + std::to_string(file->size()) + " bytes, expected at most " +
                                 std::to_string(kMostBytes)
                           : file.error().message);
    }
    std::string text(file->size(), '\0');
    if (const Status read = file->read(0, std::as_writable_bytes(std::span(text))); !read) {
        return refuse(read.error().message);
    }
    if (const Status valid = checkUtf8(text, path.string()); !valid) {
        return refuse(valid.error().message);
    }
    std::vector<std::string> names;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        line.erase(0, line.find_first_not_of(" \t\r"));
        line.erase(line.find_last_not_of(" \t\r") + 1);
        if (!line.empty()) {
            names.push_back(line);
        }
    }
    const std::set<std::string> different(names.begin(), names.end());
    if (std::ssize(names) != version.classes || different.size() != names.size()) {
        return refuse("has " + countText(different.size(), "different name") + ", expected " +
                      std::to_string(version.classes));
    }
    set.classes = std::move(names);
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

} // namespace

PictureSet setOf(Values values, const PictureForm& form, std::vector<std::int64_t> labels, std::vector<fs::path> files)
{
    PictureSet set;
    set.labels = std::move(labels);
    set.form = form;
    set.files = std::move(files);
    set.read = [form, held = std::make_shared<const Values>(std::move(values))](std::size_t index) {
        const auto begin = held->begin() + static_cast<std::ptrdiff_t>(index) * form.values();
        return Result<Picture>(Picture{form, {begin, begin + form.values()}});
    };
    return set;
}

Result<PictureSet> openCifar(const std::vector<fs::path>& files, const PreparationWatch& watch, ReadingVersion reading)
{
    Values values;
    std::vector<std::int64_t> labels;
    const CifarVersion* of = nullptr;
    for (const fs::path& path : files) {
        const Result<Values> content = contentOf(path, watch);
        if (!content) {
            return content.error();
        }
        const CifarVersion* const version = versionOf(*content, reading);
        if (version == nullptr) {
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
    PictureSet set = setOf(std::move(values), kCifar, std::move(labels), files);
    set.numbered = of->classes;
    if (reading != ReadingVersion::First) {
        addNames(set, files.front(), *of);
    }
    return set;
}

bool mayBeCifar(std::uintmax_t bytes)
{
    return bytes > 0 && std::ranges::any_of(kCifarVersions,
                                            [&](const CifarVersion& version) { return bytes % version.record() == 0; });
}

bool isCifar(const std::vector<std::uint8_t>& content)
{
    const CifarVersion* const version = versionOf(content);
    return version != nullptr && hasLabels(content, *version);
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
    return setOf(*std::move(values), {sizes[1], sizes[2], 1}, {labels->begin(), labels->end()}, {pictures, beside});
}

} // namespace residua::engine
