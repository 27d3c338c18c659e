// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/pictures/picture_set.h"

#include "engine/data/text/data_files.h"
#include "projects/base/files.h"
#include "projects/base/text.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>

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

/// Returns the lines of a file of names that have text, without blanks around it. Errors have no place.
Result<std::vector<std::string>> linesOf(const fs::path& path)
{
    constexpr std::uint64_t kMostBytes = 16384;
    const Result<InputFile> file = InputFile::open(path);
    if (!file) {
        return Error{{}, file.error().message};
    }
    if (file->size() > kMostBytes) {
        return Error{{},
                     "has " + std::to_string(file->size()) + " bytes, expected at most " + std::to_string(kMostBytes)};
    }
    std::string text(file->size(), '\0');
    if (const Status read = file->read(0, std::as_writable_bytes(std::span(text))); !read) {
        return Error{{}, read.error().message};
    }
    if (const Status valid = checkUtf8(text, path.string()); !valid) {
        return Error{{}, valid.error().message};
    }
    std::vector<std::string> lines;
    std::istringstream all(text);
    for (std::string line; std::getline(all, line);) {
        line.erase(0, line.find_first_not_of(" \t\r"));
        line.erase(line.find_last_not_of(" \t\r") + 1);
        if (!line.empty()) {
            lines.push_back(line);
        }
    }
    return lines;
}

/// Gives the classes their names by the lines of a file beside the records, or adds a note on why not. Each of so many
/// classes needs a name of its own; 0: of those in the file.
template <class NamesOf>
void addNames(PictureSet& set, const fs::path& path, std::int64_t classes, const NamesOf& namesOf)
{
    if (path.empty() || !isThere(path)) {
        return;
    }
    Result<std::vector<std::string>> names = linesOf(path).and_then(namesOf);
    if (names) {
        const std::set<std::string> different(names->begin(), names->end());
        classes = classes > 0 ? classes : std::ssize(*names);
        if (std::ssize(*names) == classes && std::ssize(different) == classes) {
            set.classes = *std::move(names);
            set.numbered = classes;
            return;
        }
        names =
            Error{{}, "has " + countText(different.size(), "different name") + ", expected " + std::to_string(classes)};
    }
    set.notes.push_back(path.string() + ": the names of the classes are not used: " + names.error().message);
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
    Values content = RESIDUA_TRY(contentOf(path, watch));
    const std::size_t header = 4 + 4 * dims;
    if (content.size() < header || bigEndian(content, 0) != 2048 + static_cast<std::int64_t>(dims)) {
        return Error{path.string(), "is not IDX with bytes in " + std::to_string(dims) + " dimensions"};
    }
    std::int64_t values = 1;
    for (std::size_t i = 0; i < dims; ++i) {
        sizes.push_back(bigEndian(content, 4 + 4 * i));
        values = sizes.back() == 0 || values <= (std::int64_t{1} << 40) / sizes.back() ? values * sizes.back() : -1;
        if (values <= 0) {
            return Error{path.string(), "has no values"};
        }
    }
    const std::int64_t got = std::ssize(content) - static_cast<std::int64_t>(header);
    if (got != values) {
        return Error{path.string(), (got < values ? "is truncated: has " : "has ") + std::to_string(got) +
                                        " values, expected " + std::to_string(values)};
    }
    content.erase(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(header));
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
    if (name == pictures.filename() || isThere(labels)) {
        return labels;
    }
    const bool packed = name.ends_with(".gz");
    const fs::path other = pictures.parent_path() / (packed ? name.substr(0, name.size() - 3) : name + ".gz");
    return isThere(other) ? other : labels;
}

/// Returns the file that maps the numbers of EMNIST's classes to characters, beside a file of pictures such as
/// emnist-letters-train-images-idx3-ubyte; empty if the name has no part of a data set.
fs::path mappingBeside(const fs::path& pictures)
{
    const std::string name = pictures.filename().string();
    for (const char* const part : {"-train-images", "-test-images"}) {
        if (const std::size_t at = name.find(part); at != std::string::npos) {
            return pictures.parent_path() / (name.substr(0, at) + "-mapping.txt");
        }
    }
    return {};
}

/// Reads a line of a mapping: the number of a class, then the ASCII codes of its characters, such as "1 65 97".
Result<std::pair<std::int64_t, std::string>> mappedClass(const std::string& line)
{
    constexpr std::size_t kMostCharacters = 8;
    std::istringstream words(line);
    std::string word;
    words >> word;
    const std::optional<std::int64_t> number = numberFrom<std::int64_t>(word);
    std::string name;
    while (number && words >> word) {
        const std::optional<int> code = numberFrom<int>(word);
        if (!code || *code <= ' ' || *code > '~') {
            return Error{{},
                         "has \"" + word.substr(0, kMostCharacters) + "\" for class " + std::to_string(*number) +
                             ", expected the ASCII code of a printable character, 33 … 126"};
        }
        name.push_back(static_cast<char>(*code));
    }
    if (!number || name.empty() || name.size() > kMostCharacters) {
        return Error{
            {}, "has the line \"" + line.substr(0, 40) + "\", expected the number of a class and 1 … 8 ASCII codes"};
    }
    return std::pair(*number, name);
}

/// Returns the names by the lines of a mapping, in the order of the classes' numbers. These follow each other from
/// `first`, which is 0 or 1, and include all `labels`.
Result<std::vector<std::string>> mappedNames(const std::vector<std::string>& lines,
                                             const std::vector<std::int64_t>& labels, std::int64_t& first)
{
    std::map<std::int64_t, std::string> byNumber;
    for (const std::string& line : lines) {
        const std::pair<std::int64_t, std::string> mapped = RESIDUA_TRY(mappedClass(line));
        if (!byNumber.insert(mapped).second) {
            return Error{{}, "has two lines for class " + std::to_string(mapped.first)};
        }
    }
    first = byNumber.contains(0) ? 0 : 1;
    std::vector<std::string> names;
    for (const auto& [number, name] : byNumber) {
        if (const std::int64_t next = first + std::ssize(names); number != next) {
            return Error{{}, "has no line for class " + std::to_string(next)};
        }
        names.push_back(name);
    }
    const auto hasNone = [&](std::int64_t label) { return !byNumber.contains(label); };
    if (const auto missing = std::ranges::find_if(labels, hasNone); missing != labels.end()) {
        return Error{{}, "has no line for class " + std::to_string(*missing)};
    }
    return names;
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
        const Values content = RESIDUA_TRY(contentOf(path, watch));
        const CifarVersion* const version = versionOf(content, reading);
        if (version == nullptr) {
            return Error{path.string(), "has " + std::to_string(content.size()) +
                                            " bytes: is truncated or not a data set that is known, expected records of "
                                            "3073 bytes (CIFAR-10) or 3074 (CIFAR-100), IDX, or CSV"};
        }
        of = of == nullptr ? version : of;
        if (of != version) {
            return Error{path.string(), "is of another version of CIFAR than " + files.front().string()};
        }
        RESIDUA_TRY(addRecords(path, content, *version, values, labels));
    }
    PictureSet set = setOf(std::move(values), kCifar, std::move(labels), files);
    set.numbered = of->classes;
    if (reading != ReadingVersion::First) {
        addNames(set, files.front().parent_path() / of->names, of->classes,
                 [](std::vector<std::string> lines) { return Result<std::vector<std::string>>(std::move(lines)); });
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

Result<PictureSet> openIdx(const fs::path& pictures, const PreparationWatch& watch, ReadingVersion reading)
{
    std::vector<std::int64_t> sizes;
    Values values = RESIDUA_TRY(readIdx(pictures, 3, sizes, watch));
    const fs::path beside = labelsBeside(pictures);
    std::vector<std::int64_t> count;
    const Values labels = RESIDUA_TRY(
        beside == pictures
            ? Result<Values>(Error{pictures.string(), "has pictures without labels: expected a name with \"images\""})
            : readIdx(beside, 1, count, watch));
    if (count[0] != sizes[0]) {
        return Error{beside.string(), "has " + std::to_string(count[0]) + " labels, expected " +
                                          std::to_string(sizes[0]) + ", one for each picture"};
    }
    PictureSet set =
        setOf(std::move(values), {sizes[1], sizes[2], 1}, {labels.begin(), labels.end()}, {pictures, beside});
    if (reading != ReadingVersion::First) {
        addNames(set, mappingBeside(pictures), 0, [&](const std::vector<std::string>& lines) {
            return mappedNames(lines, set.labels, set.firstNumber);
        });
        set.refusedNames = set.notes.empty() ? std::string() : set.notes.back();
    }
    if (!set.classes.empty()) {
        for (std::int64_t& label : set.labels) {
            label -= set.firstNumber;
        }
    }
    return set;
}

} // namespace residua::engine
