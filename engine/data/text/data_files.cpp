// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/text/data_files.h"

#include "engine/data/text/folder_files.h"
#include "projects/base/files.h"
#include "projects/base/text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <map>

namespace residua::engine {
namespace {

constexpr std::string_view kJsonEnding = ".json";

namespace fs = std::filesystem;

/// The entries of a folder, as sorted lists of paths.
struct Listing {
    std::vector<fs::path> files;  ///< with one of the requested extensions
    std::vector<fs::path> hidden; ///< files and folders with names that begin with a dot or an underscore
    std::vector<fs::path> others;
    std::vector<fs::path> again; ///< links to folders that are listed already
};

Result<Listing> listedIn(const fs::path& folder, std::span<const std::string_view> endings, ReadingVersion reading)
{
    const bool enters = reading != ReadingVersion::First;
    Result<std::vector<FolderFiles>> found =
        filesBelow(std::array{folder}, {}, enters ? LinkedFolders::Entered : LinkedFolders::LeftOut);
    if (!found) {
        return found.error();
    }
    Listing listing{{}, std::move(found->front().hidden), {}, std::move(found->front().again)};
    for (fs::path& file : found->front().files) {
        std::error_code ignored;
        if (fs::is_regular_file(file, ignored)) {
            (projects::endsIn(file.native(), endings) ? listing.files : listing.others).push_back(std::move(file));
        }
    }
    // Many files named .json are metadata, not records.
    constexpr std::array kJson{kJsonEnding};
    const auto isJson = [&](const fs::path& file) { return projects::endsIn(file.native(), kJson); };
    const bool sure = !std::ranges::all_of(listing.files, isJson);
    const auto last = std::ranges::stable_partition(listing.files, [&](const fs::path& file) {
        const auto format = isJson(file) && !sure ? formatOf(file) : Result<FileFormat>(FileFormat{});
        return !isJson(file) || (!sure && (!format || format->empty || format->content == FileContent::JsonLines));
    });
    listing.others.insert(listing.others.end(), last.begin(), last.end());
    listing.files.erase(last.begin(), last.end());
    for (auto* const list : {&listing.files, &listing.others}) {
        std::ranges::sort(*list);
    }
    return listing;
}

/// Returns paths relative to the folder as text: "a.md, b.png and 7 more".
std::string namedIn(const fs::path& folder, const std::vector<fs::path>& paths)
{
    constexpr std::size_t kNamed = 3;
    const auto named = std::span(paths).first(std::min(kNamed, paths.size()));
    return joinedText(named, ", ", [&](const fs::path& path) { return path.lexically_relative(folder).string(); }) +
           (paths.size() > kNamed ? " and " + std::to_string(paths.size() - kNamed) + " more" : "");
}

/// Returns the file that makes a compressed one redundant: the same file uncompressed or compressed by gzip. Empty if
/// there is no such file. `files` must be sorted.
fs::path twinOf(const fs::path& file, const std::vector<fs::path>& files)
{
    if (!projects::compressedEnding(file.native()).empty()) {
        fs::path plain = file;
        plain.replace_extension();
        for (const fs::path& other : {plain, fs::path(plain.string() + ".gz")}) {
            if (other != file && std::ranges::binary_search(files, other)) {
                return other;
            }
        }
    }
    return {};
}

std::uint64_t bytesOf(const Result<std::vector<fs::path>>& files)
{
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; files && i < files->size(); ++i) {
        std::error_code code;
        const std::uintmax_t size = fs::file_size((*files)[i], code);
        bytes += code ? 0 : size;
    }
    return bytes;
}

std::string wordsFor(DataKind kind, const FileFormat& format)
{
    return (kind == DataKind::Tokens                 ? "ready-made tokens"
            : kind == DataKind::Text                 ? "plain text"
            : format.content == FileContent::Parquet ? "Parquet"
                                                     : "JSON Lines") +
           (format.compression != nullptr ? ", compressed by " + std::string(format.compression->name) : std::string());
}

/// Returns a note if the name of a file and its content differ; empty if they do not, or if the difference does not
/// matter.
std::string noteOn(const fs::path& path, DataKind kind, const FileFormat& format)
{
    const std::string name = path.filename().string();
    if (format.empty) {
        return "is empty";
    }
    if (kind == DataKind::Text && format.content == FileContent::JsonLines) {
        return "looks like JSON Lines, and is read as plain text with all its keys: to read one key of it, choose the "
               "source \"JSON Lines or Parquet\" (json_lines)";
    }
    if (const std::uint64_t window = windowOf(path); window > std::uint64_t{1} << 27) {
        return "is decompressed with a window of " + bytesText(static_cast<double>(window));
    }
    if (format.compression != nullptr && projects::compressedEnding(name).empty()) {
        return "is decompressed by its first bytes, for its name does not say that it is compressed by " +
               std::string(format.compression->name);
    }
    const bool told = kind == DataKind::Records && format.content != FileContent::Other;
    return told && !projects::endsIn(name, endingsOf(kind))
               ? "is taken for " + wordsFor(kind, format) + " by its first bytes"
               : std::string();
}

/// Names and counts the entries of a folder that filesAt() leaves out.
std::vector<std::string> leftOutAt(const fs::path& path, std::span<const std::string_view> endings,
                                   ReadingVersion reading)
{
    std::error_code ignored;
    const auto listed = fs::is_directory(path, ignored) ? listedIn(path, endings, reading) : Listing();
    std::vector<std::string> notes;
    if (!listed) {
        return notes;
    }
    std::vector<fs::path> twins;
    std::ranges::copy_if(listed->files, std::back_inserter(twins),
                         [&](const fs::path& file) { return !twinOf(file, listed->files).empty(); });
    if (!twins.empty()) {
        const std::size_t more = twins.size() - 1;
        notes.push_back(twins.front().string() + " is not read, for " +
                        twinOf(twins.front(), listed->files).filename().string() + " lies beside it" +
                        (more == 1  ? ", and so is 1 more"
                         : more > 1 ? ", and so are " + std::to_string(more) + " more"
                                    : ""));
    }
    const auto leftOut = [&](const std::vector<fs::path>& paths, const std::string& why) {
        if (!paths.empty()) {
            notes.push_back(path.string() + ": " +
                            (paths.size() == 1 ? "1 entry is" : std::to_string(paths.size()) + " entries are") +
                            " left out as " + why + ": " + namedIn(path, paths));
        }
    };
    leftOut(listed->hidden, "hidden, by a dot or an underscore");
    leftOut(listed->others, "other files");
    leftOut(listed->again, "links to folders that are read already");
    return notes;
}

} // namespace

bool isHiddenEntry(const fs::path& path)
{
    const std::string name = path.filename().string();
    return name.starts_with('.') || name.starts_with('_');
}

Result<std::vector<fs::path>> filesAt(const fs::path& path, std::span<const std::string_view> endings,
                                      ReadingVersion reading)
{
    std::error_code code;
    const fs::file_status status = fs::status(path, code);
    if (!fs::exists(status)) {
        return systemError(path, "cannot open the data", code ? code.value() : ENOENT);
    }
    if (!fs::is_directory(status)) {
        return std::vector<fs::path>{path};
    }
    if (endings.empty()) {
        return Error{path.string(), "is a folder; expected a file"};
    }
    const auto listed = listedIn(path, endings, reading);
    if (!listed) {
        return listed.error();
    }
    if (listed->files.empty()) {
        return Error{path.string(), "the folder holds no file that ends in " + joinedText(endings) +
                                        ", alone or before " + joinedText(projects::kCompressedEndings)};
    }
    std::vector<fs::path> files;
    std::ranges::copy_if(listed->files, std::back_inserter(files),
                         [&](const fs::path& file) { return twinOf(file, listed->files).empty(); });
    return files;
}

DataKind kindAt(const fs::path& path, ReadingVersion reading)
{
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
        const auto texts = filesAt(path, projects::kTextEndings, reading);
        const auto records = filesAt(path, projects::kRecordEndings, reading);
        if (records && (!texts || bytesOf(records) > bytesOf(texts))) {
            return DataKind::Records;
        }
        return !texts && filesAt(path, projects::kTokenEndings, reading) ? DataKind::Tokens : DataKind::Text;
    }
    const std::string name = path.filename().string();
    const auto format = formatOf(path);
    const FileContent content = format ? format->content : FileContent::Other;
    const bool text = projects::endsIn(name, projects::kTextEndings);
    const bool records = content == FileContent::JsonLines || content == FileContent::Parquet;
    if (content == FileContent::HeadedTokens) { // which no text begins with
        return DataKind::Tokens;
    }
    if (text || records) {
        return text ? DataKind::Text : DataKind::Records;
    }
    const bool tokens = projects::endsIn(name, projects::kTokenEndings);
    // A .json that does not begin as JSON Lines is one document, and its text can be read.
    const bool named =
        projects::endsIn(name, projects::kRecordEndings) && !projects::endsIn(name, std::array{kJsonEnding});
    return tokens ? DataKind::Tokens : named ? DataKind::Records : DataKind::Text;
}

std::span<const std::string_view> endingsOf(DataKind kind)
{
    switch (kind) {
    case DataKind::Records:
        return projects::kRecordEndings;
    case DataKind::Tokens:
        return projects::kTokenEndings;
    case DataKind::Text:
        break;
    }
    return projects::kTextEndings;
}

DataLook lookAt(const fs::path& path, DataKind kind, ReadingVersion reading)
{
    DataLook look{{}, leftOutAt(path, endingsOf(kind), reading)};
    std::map<std::string, std::size_t> kinds;
    std::map<std::string, std::vector<std::string>> notes; // equal notes of several files are combined
    const auto files = filesAt(path, endingsOf(kind), reading);
    for (std::size_t i = 0; files && i < files->size(); ++i) {
        const auto format = formatOf((*files)[i]);
        if (!format) {
            continue;
        }
        ++kinds[wordsFor(kind, *format)];
        if (const std::string note = noteOn((*files)[i], kind, *format); !note.empty()) {
            notes[note].push_back((*files)[i].string());
        }
    }
    look.files =
        joinedText(kinds, "; ", [](const auto& one) { return countText(one.second, "file") + " of " + one.first; });
    for (const auto& [note, names] : notes) {
        look.notes.push_back(names.front() + " " + note +
                             (names.size() > 1 ? ", and so on for " + countText(names.size() - 1, "more file") : ""));
    }
    return look;
}

} // namespace residua::engine
