// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/link/remote/remote_files.h"

#include "engine/base/api/environment.h"
#include "engine/base/files/content_hash.h"
#include "engine/data/text/data_files.h"
#include "engine/link/bundle/data_paths.h"
#include "engine/link/bundle/manifest.h"
#include "engine/link/remote/remote_paths.h"
#include "engine/runs/results/effects.h"
#include "engine/runs/store/checkpoint.h"
#include "engine/runs/store/database.h"
#include "engine/runs/store/run_directory.h"
#include "projects/base/files.h"
#include "projects/base/scratch_folder.h"
#include "projects/base/whole_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <span>
#include <system_error>
#include <utility>

namespace residua::engine {

namespace {

namespace fs = std::filesystem;

constexpr const char* kFetched = ".fetched-"; ///< begins the names of folders for files that are being fetched

Error unexpected(const std::string& how = {})
{
    return {"engine's connection",
            "carries another answer than was asked for" + (how.empty() ? std::string() : ": it " + how)};
}

constexpr std::array kRecordFiles{kRunFile, kStoreFile};

/// Returns a function that is true for these names.
std::function<bool(const std::string&)> among(std::span<const char* const> names)
{
    return [names](const std::string& name) { return std::ranges::find(names, name) != names.end(); };
}

/// Replaces the store by `copy`. Readers may have the store open, so its contents are replaced under its own locks. A
/// damaged store has no readers, so its file is replaced.
Status replaceStore(const fs::path& store, const fs::path& copy)
{
    StoreTrouble trouble = StoreTrouble::None;
    Result<Database> database = Database::openForWriting(store, &trouble);
    const Status replaced = database ? database->replaceBy(copy) : Status(database.error());
    if (replaced || (database ? database->trouble() : trouble) != StoreTrouble::Damaged) {
        return replaced;
    }
    RESIDUA_TRY(Database::openForReading(copy));
    std::error_code code;
    for (const char* const part : {"-wal", "-shm"}) { // of the damaged store
        fs::remove(store.string() + part, code);
    }
    fs::rename(copy, store, code);
    return code ? Status(systemError(store, "cannot be replaced", code.value())) : Done{};
}

/// Refuses an answer that is not the checkpoint of `step`, or that has no room in the run in `directory`.
Status checkAnswer(const FilesOpened& opened, std::optional<std::int64_t> step, const fs::path& directory)
{
    if (opened.step < 0 || (step && opened.step != *step)) {
        return unexpected("has the step " + std::to_string(opened.step));
    }
    if (opened.files.size() != kCheckpointFiles.size()) {
        return unexpected("has " + std::to_string(opened.files.size()) + " of the " +
                          std::to_string(kCheckpointFiles.size()) + " files of a checkpoint");
    }
    std::uintmax_t bytes = 0;
    for (const OpenedFile& file : opened.files) {
        bytes += static_cast<std::uintmax_t>(file.bytes);
    }
    return checkRoom(directory, bytes, "the checkpoint needs");
}

} // namespace

template <class Answer>
Result<WithBytes<Answer>> RemoteFiles::ask(const FileRequest& request)
{
    RESIDUA_TRY(m_connection.send(frameOf(request)));
    Frame frame = RESIDUA_TRY(m_connection.receive());
    WithBytes<FileAnswer> answer = RESIDUA_TRY(fileAnswerFrom(std::move(frame)));
    if (const auto* const refused = std::get_if<FilesRefused>(&answer.message)) {
        return refused->error;
    }
    auto* const expected = std::get_if<Answer>(&answer.message);
    return expected != nullptr ? Result(WithBytes<Answer>{std::move(*expected), std::move(answer.bytes)})
                               : unexpected();
}

Result<FilesLacking> RemoteFiles::offer(const OfferFiles& files)
{
    Result<WithBytes<FilesLacking>> answer = ask<FilesLacking>(files);
    return answer ? Result<FilesLacking>(std::move(answer->message)) : answer.error();
}

Result<fs::path> RemoteFiles::sendProject(const ProjectFiles& project, const PreparationWatch& watch)
{
    OfferFiles files;
    std::map<std::string, const ProjectFiles::File*> byHash;
    for (const ProjectFiles::File& file : project.files) {
        files.files.push_back(file.offer);
        byHash[file.offer.hash] = &file;
    }
    Result<FilesLacking> lacking = offer(files);
    if (!lacking || lacking->hashes.empty()) {
        return lacking ? Result<fs::path>(lacking->project) : lacking.error();
    }
    m_done = 0;
    m_all = 0;
    std::vector<const ProjectFiles::File*> sent;
    for (const std::string& hash : lacking->hashes) {
        const auto file = byHash.find(hash);
        if (file == byHash.end()) {
            return unexpected("lacks a file that was not offered, or one twice");
        }
        sent.push_back(file->second);
        m_all += file->second->offer.bytes;
        byHash.erase(file);
    }
    for (const ProjectFiles::File* const file : sent) {
        RESIDUA_TRY(sendFile(*file, watch));
    }
    lacking = offer(files); // which the engine answers after it has stored what was sent
    if (!lacking || !lacking->hashes.empty()) {
        return lacking ? unexpected() : lacking.error();
    }
    return fs::path(lacking->project);
}

Status RemoteFiles::sendFile(const ProjectFiles::File& file, const PreparationWatch& watch)
{
    const InputFile input = RESIDUA_TRY(InputFile::open(file.source));
    if (input.size() != static_cast<std::uint64_t>(file.offer.bytes)) {
        return Error{file.source.string(), "has changed while it was sent"};
    }
    std::uint64_t offset = 0;
    do {
        std::string bytes(std::min<std::uint64_t>(kMostPartBytes, input.size() - offset), '\0');
        RESIDUA_TRY(input.read(offset, std::as_writable_bytes(std::span(bytes))));
        const auto count = static_cast<std::int64_t>(bytes.size());
        const StorePart part{file.offer.hash, static_cast<std::int64_t>(offset)};
        RESIDUA_TRY(m_connection.send(frameOf(FileRequest(part), std::move(bytes))));
        offset += static_cast<std::uint64_t>(count);
        m_done += count;
        if (watch && !watch(static_cast<double>(m_done) / static_cast<double>(std::max<std::int64_t>(m_all, 1)))) {
            return preparationGivenUp();
        }
    } while (offset < input.size());
    return Done{};
}

Result<FilesOpened> RemoteFiles::open(const FileRequest& request,
                                      const std::function<bool(const std::string& name)>& isAllowed)
{
    WithBytes<FilesOpened> answer = RESIDUA_TRY(ask<FilesOpened>(request));
    m_done = 0;
    m_all = 0;
    std::set<std::string> names;
    for (const OpenedFile& file : answer.message.files) {
        if (!isAllowed(file.name) || !names.insert(file.name).second) {
            return unexpected("names the file " + shown(file.name));
        }
        if (file.bytes < 0 || file.bytes > kMostStoredBytes) {
            return unexpected("names a file of " + std::to_string(file.bytes) + " bytes");
        }
        m_all += file.bytes;
    }
    return std::move(answer.message);
}

Status RemoteFiles::read(const FilesOpened& opened, std::size_t index, const Take& take)
{
    const OpenedFile& file = opened.files[index];
    Sha256 received;
    std::int64_t bytes = 0;
    while (true) {
        WithBytes<FilePart> part = RESIDUA_TRY(ask<FilePart>(ReadPart{static_cast<std::int64_t>(index)}));
        received.add(asBytes(part.bytes));
        bytes += static_cast<std::int64_t>(part.bytes.size());
        m_done += static_cast<std::int64_t>(part.bytes.size());
        const bool isLast = !part.message.hash.empty();
        if (bytes > file.bytes || (isLast && bytes < file.bytes)) {
            return unexpected("sends " + std::to_string(bytes) + (isLast ? "" : " or more") + " bytes of " + file.name +
                              ", of which it has announced " + std::to_string(file.bytes));
        }
        RESIDUA_TRY(take(part.bytes));
        if (isLast) {
            return received.text() == part.message.hash
                       ? Status(Done{})
                       : Status(Error{"engine's connection", "changed the bytes of a file: fetch it again"});
        }
        if (part.bytes.empty()) {
            return unexpected("sends no bytes of " + file.name);
        }
    }
}

Status RemoteFiles::readInto(const FilesOpened& opened, std::size_t index, const fs::path& path,
                             const PreparationWatch& watch)
{
    FileDescriptor output = createNewFile(path);
    if (!output.isOpen()) {
        return systemError(path, "cannot be created", errno);
    }
    const Status done = read(opened, index, [&](std::string_view bytes) -> Status {
        if (!writeBytes(output.get(), asBytes(bytes))) {
            return systemError(path, "cannot be written", errno);
        }
        const double share = static_cast<double>(m_done) / static_cast<double>(std::max<std::int64_t>(m_all, 1));
        return !watch || watch(share) ? Status(Done{}) : Status(queryGivenUp());
    });
    return done && !finishFile(output) ? Status(systemError(path, "cannot be written", errno)) : done;
}

Result<RunFile> RemoteFiles::readRun(const fs::path& run, bool ended)
{
    const Result<FilesOpened> opened = open(OpenRecord{run.string(), false, ended}, among(kRecordFiles));
    if (!opened || opened->files.size() != 1 || opened->files[0].name != kRunFile) {
        return opened ? unexpected() : opened.error();
    }
    std::string text;
    const Status done = read(*opened, 0, [&](std::string_view bytes) -> Status {
        text += bytes;
        return text.size() <= kLargestText ? Status(Done{}) : Status(unexpected());
    });
    return done ? runFileFrom(run / kRunFile, text) : Result<RunFile>(done.error());
}

Status RemoteFiles::fetchStore(const fs::path& run, const fs::path& directory)
{
    const FilesOpened opened = RESIDUA_TRY(open(OpenRecord{run.string(), true, false}, among(kRecordFiles)));
    const auto store = std::ranges::find(opened.files, kStoreFile, &OpenedFile::name);
    if (store == opened.files.end()) {
        return Done{};
    }
    RESIDUA_TRY(checkRoom(directory, static_cast<std::uintmax_t>(store->bytes), "the store needs"));
    const ScratchFolder scratch = RESIDUA_TRY(ScratchFolder::make(directory, kFetched));
    const fs::path copy = scratch.path() / kStoreFile;
    const auto index = static_cast<std::size_t>(store - opened.files.begin());
    const Status done = readInto(opened, index, copy, {});
    return done ? replaceStore(directory / kStoreFile, copy) : done;
}

Result<FetchedCheckpoint> RemoteFiles::fetchCheckpoint(const fs::path& run, std::optional<std::int64_t> step,
                                                       const fs::path& directory, const PreparationWatch& watch)
{
    const FilesOpened opened = RESIDUA_TRY(open(OpenCheckpoint{run.string(), step}, among(kCheckpointFiles)));
    RESIDUA_TRY(checkAnswer(opened, step, directory));
    RESIDUA_TRY(checkCheckpointsFolder(directory));
    const fs::path folder = checkpointsFolder(directory);
    std::error_code code;
    fs::create_directory(folder, code);
    ScratchFolder scratch = RESIDUA_TRY(ScratchFolder::make(folder, kFetched));
    const std::int64_t bytes = m_all;
    for (std::size_t i = 0; i < opened.files.size(); ++i) {
        const fs::path path = scratch.path() / opened.files[i].name;
        RESIDUA_TRY(readInto(opened, i, path, watch));
    }
    if (const Status intact = checkCheckpoint(scratch.path(), opened.step, directory, watch); !intact) {
        return Error{"the checkpoint that was sent", intact.error().message};
    }
    const fs::path place = checkpointDirectory(directory, opened.step);
    RESIDUA_TRY(replaceFolder(scratch.path(), place));
    // If it has replaced an older copy, the scratch folder now holds that one, and is removed.
    return FetchedCheckpoint{place, opened.step, bytes, fetchEffects(run, opened.step, directory)};
}

std::vector<std::string> RemoteFiles::fetchEffects(const fs::path& run, std::int64_t step, const fs::path& directory)
{
    const auto isOfStep = [prefix = effectsPrefix(step)](const std::string& name) { return name.starts_with(prefix); };
    const Result<FilesOpened> opened = open(OpenEffects{run.string(), step}, isOfStep);
    if (!opened) {
        return {"the knock-outs that the run keeps there are not fetched: " + opened.error().text()};
    }
    std::vector<std::string> notes;
    for (std::size_t i = 0; i < opened->files.size() && notes.empty(); ++i) {
        const OpenedFile& file = opened->files[i];
        std::string text;
        const auto take = [&text](std::string_view bytes) -> Status {
            text += bytes;
            return Done{};
        };
        const Status done = std::cmp_greater(file.bytes, kLongestEffects)
                                ? unexpected("names " + file.name + " of " + std::to_string(file.bytes) + " bytes")
                                : read(*opened, i, take);
        const Result<KeptEffects> effects = done ? effectsFrom(text, file.name) : Result<KeptEffects>(done.error());
        if (const Status kept = effects ? keepEffects(directory, *effects) : effects.error(); !kept) {
            notes.push_back("a kept knock-out is not fetched, nor are those after it: " + kept.error().text());
        }
    }
    return notes;
}

namespace {

namespace fs = std::filesystem;

/// The folder for files outside the project's; a number follows.
constexpr const char* kOutside = "outside-";

class FileLister {
public:
    FileLister(ProjectFiles& files, const fs::path& directory, const PreparationWatch& watch)
        : m_files(files), m_directory(directory), m_watch(watch)
    {
    }

    Status add(const DataPath& path)
    {
        const std::string before = *path.path;
        if (path.tokeniser != nullptr) {
            return addTokeniser(path, before);
        }
        const std::vector<fs::path> files = RESIDUA_TRY(filesAt(m_directory / before, path.endings));
        if (files.empty()) {
            return Error{"data · " + before, "there are no such files"};
        }
        const std::string place = placeOf(before, nextFolder());
        for (const fs::path& file : files) {
            const fs::path below = withoutSlash(file).lexically_relative(withoutSlash(m_directory / before));
            const bool isItself = below.empty() || below == ".";
            RESIDUA_TRY(addFile(isItself ? fs::path(place) : place / below, file));
        }
        rename(*path.path, place);
        return Done{};
    }

private:
    /// Adds a model and the files that are read beside it.
    Status addTokeniser(const DataPath& path, const std::string& before)
    {
        const fs::path folder = nextFolder();
        for (const std::string& name : namesOf(path, m_directory)) {
            RESIDUA_TRY(addFile(placeOf(name, folder), m_directory / name));
            if (const std::string place = placeOf(name, folder); place != name) {
                m_files.renamed[place] = name;
            }
        }
        rename(*path.path, placeOf(before, folder));
        return Done{};
    }

    /// Returns the path there of a path in the project, in `folder` if it is outside the project's folder.
    [[nodiscard]] std::string placeOf(const std::string& name, const fs::path& folder) const
    {
        const fs::path source = withoutSlash(m_directory / name);
        const auto within = placeWithin(withoutSlash(m_directory), source);
        return (within ? *within : folder / source.filename()).generic_string();
    }

    fs::path nextFolder() { return kOutside + std::to_string(++m_folders); }

    void rename(std::string& path, const std::string& place)
    {
        if (path != place) {
            m_files.renamed[place] = path;
            path = place;
        }
    }

    Status addFile(const fs::path& place, const fs::path& source)
    {
        std::string path = place.lexically_normal().generic_string();
        if (!m_paths.insert(path).second) {
            return Done{}; // named twice, as by training and validation data
        }
        Result<std::string> hash = sha256OfFile(source, m_watch);
        std::error_code code;
        const auto bytes = static_cast<std::int64_t>(hash ? fs::file_size(source, code) : 0);
        if (!hash || code) {
            return hash ? systemError(source, "cannot be read", code.value()) : hash.error();
        }
        m_files.files.push_back({{std::move(path), bytes, *std::move(hash)}, source});
        return Done{};
    }

    ProjectFiles& m_files;
    const fs::path& m_directory;
    const PreparationWatch& m_watch;
    std::set<std::string> m_paths; ///< of m_files
    int m_folders = 0;
};

} // namespace

Result<ProjectFiles> projectFiles(projects::Project project, const fs::path& directory, const PreparationWatch& watch)
{
    ProjectFiles files;
    files.project = std::move(project);
    std::error_code code;
    const fs::path absolute = fs::absolute(directory, code);
    FileLister lister(files, absolute, watch);
    for (const DataPath& path : dataPathsOf(files.project)) {
        RESIDUA_TRY(lister.add(path));
    }
    trimDigests();
    return files;
}

void restoreNames(DataFingerprint& data, const std::map<std::string, std::string>& renamed)
{
    for (DataPart& part : data) {
        if (const auto original = renamed.find(part.name); original != renamed.end()) {
            part.name = original->second;
        }
    }
}

} // namespace residua::engine
