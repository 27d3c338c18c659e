// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/pictures/picture_set.h"

#include "engine/data/text/compressed_file.h"
#include "engine/data/text/data_files.h"
#include "engine/data/text/folder_files.h"
#include "projects/base/files.h"
#include "projects/base/text.h"
#include "projects/model/data_source.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

/// More than the first byte of any record of CIFAR, which is a class of 10 or one of 20 coarse ones.
constexpr std::uint8_t kMostCoarseLabels = 20;
constexpr std::string_view kIdxHead("\0\0\x08", 3);

bool isIdxOfPictures(const fs::path& path)
{
    const std::string name = path.filename().string();
    return name.find("-idx3-") != std::string::npos || name.find(".idx3-") != std::string::npos;
}

bool isBinary(const fs::path& path)
{
    constexpr std::array kBinary{".bin"sv};
    return projects::endsIn(path.native(), kBinary);
}

/// True if the name has the word test or t10k, by the first reading at its beginning.
bool isHeldOut(const fs::path& file, ReadingVersion reading)
{
    const std::string name = file.filename().string();
    return std::ranges::any_of(std::array{"test"sv, "t10k"sv}, [&](std::string_view word) {
        const std::size_t at =
            reading == ReadingVersion::First && !name.starts_with(word) ? name.npos : name.find(word);
        return at != std::string::npos && (at == 0 || name[at - 1] == '-' || name[at - 1] == '_');
    });
}

/// True if a file's size and first label are those of records of CIFAR. Reads the beginning alone.
bool looksLikeCifar(const fs::path& file)
{
    const Result<const Compression*> compression = compressionOf(file);
    if (!compression) {
        return false;
    }
    std::error_code ignored;
    const std::uintmax_t size = fs::file_size(file, ignored);
    if (*compression == nullptr && !mayBeCifar(size)) {
        return false;
    }
    const Result<std::string> head = headOf(file, *compression, 1);
    return head && !head->empty() && static_cast<std::uint8_t>(head->front()) < kMostCoarseLabels;
}

/// True if a file is records of CIFAR. Reads all of it.
bool isCifarFile(const fs::path& file)
{
    const auto content = contentOf(file, {});
    return content && isCifar(*content);
}

/// The files of many pictures in a folder, sorted. A compressed file beside itself is left out, unless the reading is
/// the first.
struct RecordFiles {
    std::vector<fs::path> idx;
    std::vector<fs::path> binary;

    /// True if they look like those of MNIST or CIFAR, and not like tokens. Reads the beginning of each.
    [[nodiscard]] bool lookKnown() const
    {
        return !idx.empty() || (!binary.empty() && std::ranges::all_of(binary, looksLikeCifar));
    }
    [[nodiscard]] bool empty() const { return idx.empty() && binary.empty(); }
    [[nodiscard]] const std::vector<fs::path>& files() const { return idx.empty() ? binary : idx; }
    /// True if there are files of both uses.
    [[nodiscard]] bool hasBothUses() const
    {
        const auto tests =
            std::ranges::count_if(files(), [](const fs::path& file) { return isHeldOut(file, kNewestReading); });
        return tests > 0 && tests < std::ssize(files());
    }
};

Result<RecordFiles> recordFilesIn(const fs::path& folder, ReadingVersion reading = kNewestReading)
{
    std::vector<fs::path> entries;
    std::error_code code;
    fs::directory_iterator entry(folder, code);
    for (const fs::directory_iterator end; !code && entry != end; entry.increment(code)) {
        if (!isHiddenEntry(entry->path()) && !isFolder(entry->path())) {
            entries.push_back(entry->path());
        }
    }
    if (code) {
        return systemError(folder, "cannot list the folder", code.value());
    }
    std::ranges::sort(entries);
    RecordFiles records;
    for (const fs::path& file : entries) {
        const fs::path plain(projects::withoutCompression(file.native()));
        if (reading != ReadingVersion::First && plain != file && std::ranges::binary_search(entries, plain)) {
            continue;
        }
        if (isIdxOfPictures(file)) {
            records.idx.push_back(file);
        } else if (isBinary(file)) {
            records.binary.push_back(file);
        }
    }
    return records;
}

/// Removes the files of the other use if some remain.
std::vector<fs::path> filesFor(const PictureRequest& request, std::vector<fs::path> files)
{
    const auto isOther = [&](const fs::path& file) {
        return isHeldOut(file, request.reading) == (request.use == PictureUse::Training);
    };
    if (!std::ranges::all_of(files, isOther)) {
        std::erase_if(files, isOther);
    }
    return files;
}

Result<PictureSet> openFolder(const fs::path& path, const PictureRequest& request, const PreparationWatch& watch)
{
    const RecordFiles records = RESIDUA_TRY(recordFilesIn(path, request.reading));
    if (records.empty()) {
        return openClassFolders(path, request);
    }
    const std::vector<fs::path> files = filesFor(request, records.files());
    if (records.idx.empty()) {
        return openCifar(files, watch, request.reading);
    }
    if (files.size() > 1 && request.reading != ReadingVersion::First) {
        return Error{path.string(),
                     "has " + std::to_string(files.size()) + " sets of pictures: " +
                         joinedText(files, ", ", [](const fs::path& file) { return file.filename().string(); }) +
                         "; name the file of one of them as the path"};
    }
    return openIdx(files.front(), watch, request.reading);
}

/// Returns the beginning of a file's content; empty if it cannot be read.
std::string headAt(const fs::path& path, std::size_t most)
{
    const Result<const Compression*> compression = compressionOf(path);
    const Result<std::string> head = compression ? headOf(path, *compression, most) : Result<std::string>(Error{});
    return head ? *head : std::string();
}

/// Returns the source for a set that was opened.
projects::PictureData sourceOf(const fs::path& path, const PictureSet& set)
{
    projects::PictureData source;
    source.path = path.string();
    const std::set<std::int64_t> labels(set.labels.begin(), set.labels.end());
    const std::int64_t different = set.classes.empty() ? std::ssize(labels) : std::ssize(set.classes);
    source.classes = set.numbered > 0 ? set.numbered : std::max<std::int64_t>(different, 2);
    if (set.form.values() > 0) {
        source.height = set.form.height;
        source.width = set.form.width;
        source.channels = set.form.channels;
    }
    return source;
}

using Found = Result<std::optional<projects::PictureData>>;

Found found(const fs::path& path, const Result<PictureSet>& set)
{
    return set ? Found(std::optional(sourceOf(path, *set))) : Found(set.error());
}

Found picturesIn(const fs::path& folder)
{
    const Result<PictureSet> classes = openClassFolders(folder);
    if (classes) {
        return found(folder, classes);
    }
    const std::string unread = unreadPicturesIn(folder);
    return unread.empty() ? Found(std::nullopt)
                          : Error{folder.string(), "has pictures of kinds that are not read (" + unread +
                                                       "), expected PNG, JPEG or WebP: convert them, such as with "
                                                       "magick mogrify -format png"};
}

} // namespace

std::string unreadPicturesIn(const fs::path& folder)
{
    const Result<std::vector<FolderFiles>> below = filesBelow(std::array{folder});
    std::map<std::string, std::int64_t> kinds;
    for (std::size_t i = 0; below && i < below->front().files.size(); ++i) {
        const fs::path& file = below->front().files[i];
        if (projects::endsIn(file.native(), projects::kOtherPictureEndings)) {
            ++kinds[pictureKindOf(file)];
        }
    }
    return joinedText(kinds, ", ", [](const auto& kind) { return std::to_string(kind.second) + " " + kind.first; });
}

std::string pictureKindOf(const fs::path& path)
{
    const bool picture = projects::endsIn(path.native(), projects::kPictureEndings) ||
                         projects::endsIn(path.native(), projects::kOtherPictureEndings);
    std::string ending = picture ? path.extension().string().substr(1) : std::string();
    std::ranges::transform(ending, ending.begin(),
                           [](char c) { return c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c; });
    return ending == "TIF" ? "TIFF" : ending;
}

Found pictureRecordsIn(const fs::path& folder)
{
    if (isThere(folder / "data_batch_1") || isThere(folder / "batches.meta")) {
        return Error{folder.string(), "is the Python version of CIFAR: expected the binary version "
                                      "(cifar-10-binary.tar.gz), unpacked"};
    }
    const Result<RecordFiles> records = recordFilesIn(folder);
    if (!records || !records->lookKnown()) {
        return records ? Found(std::nullopt) : records.error();
    }
    const bool both = records->hasBothUses();
    const Result<PictureSet> set = openPictures(folder);
    if (records->idx.empty()) {
        const bool isSound = set && (!both || openPictures(folder, {.use = PictureUse::HeldOut}));
        if (!isSound && !std::ranges::all_of(records->binary, isCifarFile)) {
            return Found(std::nullopt); // tokens that fill records
        }
    }
    Found source = found(folder, set);
    if (source && both) {
        (*source)->validationPath = folder.string();
    }
    return source;
}

Found picturesAt(const fs::path& path)
{
    if (isFolder(path)) {
        return picturesIn(path);
    }
    if (const std::string kind = pictureKindOf(path); !kind.empty()) {
        return Error{path.string(), "is one picture (" + kind +
                                        "), expected a folder with a folder of PNG, JPEG or WebP files for each class"};
    }
    constexpr std::size_t kHead = std::size_t{1} << 20;
    if (isBinary(path)) {
        const auto set = looksLikeCifar(path) ? openCifar({path}, {}) : Result<PictureSet>(Error{});
        return set ? found(path, set) : Found(std::nullopt);
    }
    if (isIdxOfPictures(path) && headAt(path, kIdxHead.size()) == kIdxHead) {
        return found(path, openIdx(path, {}));
    }
    if (projects::endsIn(path.native(), projects::kSheetEndings) && looksLikePictureCsv(headAt(path, kHead))) {
        const Result<PictureSet> set = openPictureCsv(path, {}, {});
        return set ? found(path, set) : Found(std::nullopt);
    }
    return Found(std::nullopt);
}

Result<std::vector<std::uint8_t>> contentOf(const fs::path& path, const PreparationWatch& watch)
{
    const Compression* const compression = RESIDUA_TRY(compressionOf(path));
    InputFile file = RESIDUA_TRY(InputFile::open(path));
    const TextMemory memory;
    if (compression == nullptr && file.size() > memory.left()) {
        return memory.refusal(path, "take fewer files");
    }
    const Bytes bytes = RESIDUA_TRY(compression != nullptr ? decompressed(path, *compression, watch, memory)
                                                           : Result<Bytes>(bytesOfFile(std::move(file))));
    std::vector<std::uint8_t> content(bytes->size());
    RESIDUA_TRY(bytes->read(0, std::as_writable_bytes(std::span(content))));
    return content;
}

Result<PictureSet> openPictures(const fs::path& path, const PictureRequest& request, const PreparationWatch& watch)
{
    if (isFolder(path)) {
        return openFolder(path, request, watch);
    }
    if (const std::string kind = pictureKindOf(path); !kind.empty()) {
        return Error{path.string(),
                     "is one picture (" + kind + "), expected a folder with a folder of pictures for each class"};
    }
    const Result<const Compression*> compression = compressionOf(path);
    const std::string head =
        RESIDUA_TRY(compression ? headOf(path, *compression, 256) : Result<std::string>(compression.error()));
    if (head.empty()) {
        return Error{path.string(), "is empty"};
    }
    if (head.starts_with(kIdxHead)) {
        return openIdx(path, watch, request.reading);
    }
    const bool isText =
        std::ranges::all_of(head, [](char c) { return c == '\n' || c == '\r' || (c >= ' ' && c <= '~'); });
    return isText ? openPictureCsv(path, request, watch) : openCifar({path}, watch, request.reading);
}

} // namespace residua::engine
