// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/pictures/picture_set.h"

#include "engine/pictures/picture.h"
#include "engine/text/compressed_file.h"
#include "engine/text/data_files.h"
#include "projects/base/files.h"
#include "projects/base/text.h"
#include "projects/model/data_endings.h"

#include <algorithm>
#include <memory>
#include <span>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

/// Returns the entries of a folder, sorted, without hidden ones.
Result<std::vector<fs::path>> entriesOf(const fs::path& folder)
{
    std::vector<fs::path> entries;
    std::error_code code;
    fs::directory_iterator entry(folder, code);
    for (const fs::directory_iterator end; !code && entry != end; entry.increment(code)) {
        if (!isHiddenEntry(entry->path())) {
            entries.push_back(entry->path());
        }
    }
    if (code) {
        return systemError(folder, "cannot list the folder", code.value());
    }
    std::ranges::sort(entries);
    return entries;
}

bool isFolder(const fs::path& path)
{
    std::error_code ignored;
    return fs::is_directory(path, ignored);
}

/// Appends the pictures below a folder to `files`, sorted. Counts other files in `others`.
Status addPictures(const fs::path& folder, std::vector<fs::path>& files, std::int64_t& others)
{
    const Result<std::vector<fs::path>> entries = entriesOf(folder);
    if (!entries) {
        return entries.error();
    }
    for (const fs::path& entry : *entries) {
        if (isFolder(entry)) {
            if (Status added = addPictures(entry, files, others); !added) {
                return added;
            }
        } else if (projects::endsIn(entry.native(), projects::kPictureEndings)) {
            files.push_back(entry);
        } else {
            ++others;
        }
    }
    return Done{};
}

bool isIdxOfPictures(const fs::path& path)
{
    return path.filename().string().find("-idx3-") != std::string::npos ||
           path.filename().string().find(".idx3-") != std::string::npos;
}

bool isBinary(const fs::path& path)
{
    constexpr std::array kBinary{".bin"sv};
    return projects::endsIn(path.native(), kBinary);
}

/// Removes the files of the other use if some remain.
std::vector<fs::path> filesFor(PictureUse use, std::vector<fs::path> files)
{
    const auto isOther = [use](const fs::path& file) {
        const std::string name = file.filename().string();
        return (name.starts_with("test") || name.starts_with("t10k")) == (use == PictureUse::Training);
    };
    if (!std::ranges::all_of(files, isOther)) {
        std::erase_if(files, isOther);
    }
    return files;
}

Result<PictureSet> openFolder(const fs::path& path, PictureUse use, const PreparationWatch& watch)
{
    const Result<std::vector<fs::path>> entries = entriesOf(path);
    if (!entries) {
        return entries.error();
    }
    std::vector<fs::path> idx;
    std::vector<fs::path> binary;
    for (const fs::path& entry : *entries) {
        if (!isFolder(entry) && isIdxOfPictures(entry)) {
            idx.push_back(entry);
        } else if (!isFolder(entry) && isBinary(entry)) {
            binary.push_back(entry);
        }
    }
    if (!idx.empty()) {
        return openIdx(filesFor(use, std::move(idx)).front(), watch);
    }
    return binary.empty() ? openClassFolders(path) : openCifar(filesFor(use, std::move(binary)), watch);
}

} // namespace

Result<PictureSet> openClassFolders(const fs::path& path)
{
    const Result<std::vector<fs::path>> entries = entriesOf(path);
    if (!entries) {
        return entries.error();
    }
    PictureSet set;
    std::int64_t others = 0;
    const auto files = std::make_shared<std::vector<fs::path>>();
    for (const fs::path& entry : *entries) {
        if (!isFolder(entry)) {
            ++others;
            continue;
        }
        const std::size_t before = files->size();
        if (const Status added = addPictures(entry, *files, others); !added) {
            return added.error();
        }
        if (files->size() == before) {
            set.emptyClasses.push_back(entry.string());
        }
        set.labels.resize(files->size(), std::ssize(set.classes));
        set.classes.push_back(entry.filename().string());
    }
    if (files->empty()) {
        return Error{path.string(), "has no pictures, expected a folder of PNG, JPEG or WebP files for each class"};
    }
    if (others > 0) {
        set.notes.push_back(path.string() + ": leaves out " + std::to_string(others) +
                            " files that are not in the folder of a class or not named as PNG, JPEG or WebP");
    }
    set.read = [files](std::size_t index) { return readPicture(files->at(index)); };
    return set;
}

Result<std::vector<std::uint8_t>> contentOf(const fs::path& path, const PreparationWatch& watch)
{
    const Result<const Compression*> compression = compressionOf(path);
    if (!compression) {
        return compression.error();
    }
    Result<InputFile> file = InputFile::open(path);
    if (!file) {
        return file.error();
    }
    const TextMemory memory;
    if (*compression == nullptr && file->size() > memory.left()) {
        return memory.refusal(path, "take fewer files");
    }
    const Result<Bytes> bytes = *compression != nullptr ? decompressed(path, **compression, watch, memory)
                                                        : Result<Bytes>(bytesOfFile(*std::move(file)));
    if (!bytes) {
        return bytes.error();
    }
    std::vector<std::uint8_t> content((*bytes)->size());
    if (const Status read = (*bytes)->read(0, std::as_writable_bytes(std::span(content))); !read) {
        return read.error();
    }
    return content;
}

Result<PictureSet> openPictures(const fs::path& path, PictureUse use, const PreparationWatch& watch)
{
    if (isFolder(path)) {
        return openFolder(path, use, watch);
    }
    if (projects::endsIn(path.native(), projects::kPictureEndings)) {
        return Error{path.string(), "is one picture, expected a folder with a folder of pictures for each class"};
    }
    const Result<const Compression*> compression = compressionOf(path);
    const Result<std::string> head =
        compression ? headOf(path, *compression, 256) : Result<std::string>(compression.error());
    if (!head) {
        return head.error();
    }
    if (head->empty()) {
        return Error{path.string(), "is empty"};
    }
    if (head->starts_with("\0\0\x08"sv)) {
        return Error{path.string(), "is IDX, expected the folder of the files of pictures and labels"};
    }
    const bool isText =
        std::ranges::all_of(*head, [](char c) { return c == '\n' || c == '\r' || (c >= ' ' && c <= '~'); });
    return isText ? openPictureCsv(path, watch) : openCifar({path}, watch);
}

} // namespace residua::engine
