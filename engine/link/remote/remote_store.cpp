// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/link/remote/remote_store.h"

#include "engine/base/api/environment.h"
#include "engine/base/machine/machine.h"
#include "engine/link/bundle/manifest.h"
#include "engine/link/remote/remote_paths.h"
#include "engine/runs/results/effects.h"
#include "engine/runs/store/checkpoint.h"
#include "engine/runs/store/database.h"
#include "engine/runs/store/run_files.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

namespace residua::engine {

namespace {

namespace fs = std::filesystem;

constexpr const char* kIncoming = ".incoming-";
constexpr std::uint32_t kReadOnly = 0444; ///< projects are links to the files, which must not change
constexpr std::chrono::seconds kEndingPatience{30};
constexpr std::chrono::milliseconds kEndingPause{50};

Status makeOwnFolder(const fs::path& folder)
{
    std::error_code code;
    fs::create_directories(folder, code);
    if (code) {
        return systemError(folder, "cannot create the folder", code.value());
    }
    return fs::is_directory(fs::symlink_status(folder, code))
               ? Status(Done{})
               : Status(Error{folder.string(), "is not a folder, or a link to one"});
}

/// Returns a hash of the names and contents of a project's files.
std::string projectHash(std::vector<FileOffer> files)
{
    std::ranges::sort(files, {}, &FileOffer::path);
    Sha256 hash;
    for (const FileOffer& file : files) {
        hash.add(asBytes(file.hash + " " + file.path + "\n"));
    }
    return hash.text();
}

/// Copies a store that another process may be writing.
Status copyStore(const fs::path& store, const fs::path& copy)
{
    Database database = RESIDUA_TRY(Database::openForWriting(store));
    std::string quoted;
    for (const char c : copy.string()) {
        quoted += c == '\'' ? "''" : std::string(1, c);
    }
    return database.execute(("VACUUM INTO '" + quoted + "'").c_str());
}

template <class Answer>
std::optional<FileAnswer> orRefused(Result<Answer> answer)
{
    return answer ? FileAnswer(*std::move(answer)) : FileAnswer(FilesRefused{answer.error()});
}

} // namespace

Result<RemoteStore> RemoteStore::open(const fs::path& folder)
{
    std::error_code code;
    fs::create_directories(folder, code);
    const fs::path place = fs::canonical(folder, code);
    if (code) {
        return systemError(folder, "cannot create the folder", code.value());
    }
    for (const char* const part : {kRemoteFiles, kRemoteProjects, kRemoteRuns}) {
        RESIDUA_TRY(makeOwnFolder(place / part));
    }
    Result<ScratchFolder> scratch = ScratchFolder::make(place / kRemoteFiles, kIncoming);
    return scratch ? Result<RemoteStore>(RemoteStore(place, *std::move(scratch))) : scratch.error();
}

std::optional<Frame> RemoteStore::answer(Frame request)
{
    Result<WithBytes<FileRequest>> read = fileRequestFrom(std::move(request));
    if (!read) {
        return frameOf(FileAnswer(FilesRefused{read.error()}));
    }
    std::string bytes;
    const std::optional<FileAnswer> answer =
        std::visit(Overloaded{[&](const OfferFiles& offer) { return orRefused(offered(offer)); },
                              [&](const StorePart& part) -> std::optional<FileAnswer> {
                                  m_stored = m_stored ? store(part, read->bytes) : m_stored;
                                  return std::nullopt;
                              },
                              [&](const OpenRecord& asked) { return orRefused(openRecord(asked)); },
                              [&](const OpenCheckpoint& asked) { return orRefused(openCheckpoint(asked)); },
                              [&](const OpenEffects& asked) { return orRefused(openEffects(asked)); },
                              [&](const ReadPart& part) { return orRefused(readPart(part, bytes)); }},
                   read->message);
    return answer ? std::optional(frameOf(*answer, std::move(bytes))) : std::nullopt;
}

fs::path RemoteStore::contentOf(const std::string& hash) const
{
    return m_folder / kRemoteFiles / hash;
}

Status RemoteStore::checkOffer(const OfferFiles& offer) const
{
    for (const FileOffer& file : offer.files) {
        RESIDUA_TRY(checkBundledPath("offer", file.path));
        if (!isSha256(file.hash)) {
            return Error{"offer · " + shown(file.path), "has the hash " + shown(file.hash) + "; expected a SHA-256"};
        }
        if (file.bytes < 0 || file.bytes > kMostStoredBytes) {
            return Error{"offer · " + shown(file.path), "has " + std::to_string(file.bytes) +
                                                            " bytes; expected at most " +
                                                            std::to_string(kMostStoredBytes)};
        }
    }
    return Done{};
}

Result<FilesLacking> RemoteStore::offered(const OfferFiles& offer)
{
    m_lacking.clear();
    std::error_code code;
    if (m_arriving) { // the file was not completed
        fs::remove(m_arriving->path, code);
        m_arriving.reset();
    }
    RESIDUA_TRY(std::exchange(m_stored, Done{}));
    RESIDUA_TRY(checkOffer(offer));
    const fs::path project = fs::path(kRemoteProjects) / projectHash(offer.files);
    if (fs::is_directory(fs::symlink_status(m_folder / project, code))) {
        fs::last_write_time(m_folder / project, fs::file_time_type::clock::now(),
                            code); // by which projects are trimmed
        return FilesLacking{{}, project.string()};
    }
    FilesLacking lacking;
    std::uintmax_t bytes = 0;
    for (const FileOffer& file : offer.files) {
        const bool known = fs::is_regular_file(fs::symlink_status(contentOf(file.hash), code));
        if (known && fs::file_size(contentOf(file.hash), code) != static_cast<std::uintmax_t>(file.bytes)) {
            return Error{"offer · " + shown(file.path), "has the hash of a file of another size"};
        }
        if (!known && m_lacking.emplace(file.hash, file.bytes).second) {
            lacking.hashes.push_back(file.hash);
            bytes += static_cast<std::uintmax_t>(file.bytes);
        }
    }
    if (!lacking.hashes.empty()) {
        const Status fits = checkRoom(m_folder, bytes, "the files need");
        return fits ? Result<FilesLacking>(std::move(lacking)) : fits.error();
    }
    const Status made = makeProject(offer, project);
    return made ? Result<FilesLacking>(FilesLacking{{}, project.string()}) : made.error();
}

Status RemoteStore::makeProject(const OfferFiles& offer, const fs::path& project) const
{
    std::error_code code;
    const fs::path made = m_scratch.path() / kRemoteProjects;
    fs::remove_all(made, code);
    fs::create_directory(made, code);
    for (const FileOffer& file : offer.files) {
        fs::create_directories((made / file.path).parent_path(), code);
        if (!code) {
            fs::create_hard_link(contentOf(file.hash), made / file.path, code);
        }
        if (code && code != std::errc::file_exists && code != std::errc::not_a_directory) {
            // The file system has no links, or none left for this file.
            fs::copy_file(contentOf(file.hash), made / file.path, code);
        }
        if (code) {
            return systemError("offer · " + shown(file.path), "cannot be placed in the project", code.value());
        }
    }
    fs::rename(made, m_folder / project, code);
    if (code && !isFolder(m_folder / project)) { // another connection may have been faster
        return systemError(m_folder / project, "cannot be created", code.value());
    }
    trimPlace(m_folder, m_scratch.path());
    return syncDirectory((m_folder / project).parent_path());
}

Status RemoteStore::begin(const StorePart& part)
{
    if (m_arriving || part.offset != 0 || !m_lacking.contains(part.hash)) {
        return Error{"file", "is received that was not asked for, or not in the order of its bytes"};
    }
    const fs::path path = m_scratch.path() / part.hash;
    FileDescriptor file = createNewFile(path, kReadOnly);
    if (!file.isOpen()) {
        return systemError(path, "cannot be created", errno);
    }
    m_arriving.emplace(Arriving{part.hash, path, std::move(file), 0, {}});
    return Done{};
}

Status RemoteStore::store(const StorePart& part, std::string_view bytes)
{
    if (!m_arriving || m_arriving->hash != part.hash) {
        RESIDUA_TRY(begin(part));
    }
    const std::int64_t size = m_lacking.at(part.hash);
    const auto count = static_cast<std::int64_t>(bytes.size());
    if (bytes.size() > kMostPartBytes || part.offset != m_arriving->bytes || count > size - m_arriving->bytes) {
        return Error{"file", "is longer than its offer, or is not received in the order of its bytes"};
    }
    if (!writeBytes(m_arriving->file.get(), asBytes(bytes))) {
        return systemError(m_arriving->path, "cannot be written", errno);
    }
    m_arriving->received.add(asBytes(bytes));
    m_arriving->bytes += count;
    return m_arriving->bytes == size ? endArriving() : Done{};
}

Status RemoteStore::endArriving()
{
    Arriving arrived = *std::exchange(m_arriving, std::nullopt);
    const std::string hash = arrived.received.text();
    std::error_code code;
    if (hash != arrived.hash) {
        fs::remove(arrived.path, code);
        return Error{"file", "was received with the SHA-256 " + hash + "; expected " + arrived.hash};
    }
    if (!finishFile(arrived.file)) {
        return systemError(arrived.path, "cannot be written", errno);
    }
    fs::rename(arrived.path, contentOf(hash), code);
    if (code) {
        return systemError(contentOf(hash), "cannot be created", code.value());
    }
    m_lacking.erase(hash);
    return syncDirectory(m_folder / kRemoteFiles);
}

Status RemoteStore::addOpened(FilesOpened& opened, const std::string& name, const fs::path& path)
{
    InputFile file = RESIDUA_TRY(InputFile::open(path));
    opened.files.push_back({name, static_cast<std::int64_t>(file.size())});
    m_opened.push_back({std::move(file), 0, {}});
    return Done{};
}

Result<FilesOpened> RemoteStore::openRecord(const OpenRecord& request)
{
    m_opened.clear();
    RESIDUA_TRY(checkRunWithin(m_folder, request.run));
    const fs::path run = m_folder / request.run;
    const auto until = std::chrono::steady_clock::now() + kEndingPatience;
    while (request.ended && isRunLocked(run) && std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(kEndingPause); // a process whose connection was lost writes a checkpoint, and ends
    }
    FilesOpened opened;
    RESIDUA_TRY(addOpened(opened, kRunFile, run / kRunFile));
    std::error_code ignored;
    const fs::path copy = m_scratch.path() / kStoreFile;
    fs::remove(copy, ignored);
    // A damaged store is not needed: training goes on without it.
    if (request.store && fs::exists(run / kStoreFile, ignored) && copyStore(run / kStoreFile, copy)) {
        RESIDUA_TRY(addOpened(opened, kStoreFile, copy));
    }
    return opened;
}

Result<FilesOpened> RemoteStore::openCheckpoint(const OpenCheckpoint& request)
{
    m_opened.clear();
    RESIDUA_TRY(checkRunWithin(m_folder, request.run));
    const fs::path run = m_folder / request.run;
    const std::vector<std::int64_t> steps = checkpointSteps(run);
    if (steps.empty() || (request.step && !std::ranges::binary_search(steps, *request.step))) {
        return Error{run.string(), request.step ? "has no checkpoint of step " + std::to_string(*request.step)
                                                : "has no checkpoint yet"};
    }
    FilesOpened opened;
    opened.step = request.step.value_or(steps.back());
    const fs::path checkpoint = checkpointDirectory(run, opened.step);
    for (const char* const name : kCheckpointFiles) {
        RESIDUA_TRY(addOfRun(opened, checkpoint / name));
    }
    return opened;
}

Status RemoteStore::addOfRun(FilesOpened& opened, const fs::path& path)
{
    const Status within = checkWithin(m_folder, path.lexically_relative(m_folder).string());
    return within ? addOpened(opened, path.filename().string(), path) : within;
}

Result<FilesOpened> RemoteStore::openEffects(const OpenEffects& request)
{
    m_opened.clear();
    RESIDUA_TRY(checkRunWithin(m_folder, request.run));
    const fs::path run = m_folder / request.run;
    const auto kept = RESIDUA_TRY(readEffects(run));
    FilesOpened opened;
    opened.step = request.step;
    for (const KeptEffects& effects : kept) {
        const bool isOfStep = effects.key.step == request.step;
        RESIDUA_TRY(isOfStep ? addOfRun(opened, effectsPath(run, effects.key)) : Done{});
    }
    return opened;
}

Result<FilePart> RemoteStore::readPart(const ReadPart& request, std::string& bytes)
{
    if (request.file < 0 || request.file >= std::ssize(m_opened) ||
        m_opened[static_cast<std::size_t>(request.file)].ended) {
        return Error{"file", "number " + std::to_string(request.file) + " is not open"};
    }
    Leaving& file = m_opened[static_cast<std::size_t>(request.file)];
    bytes.resize(std::min<std::uint64_t>(kMostPartBytes, file.file.size() - file.sent));
    if (const Status read = file.file.read(file.sent, std::as_writable_bytes(std::span(bytes))); !read) {
        bytes.clear();
        return read.error();
    }
    file.sent += bytes.size();
    file.hash.add(asBytes(bytes));
    file.ended = file.sent == file.file.size();
    return FilePart{file.ended ? file.hash.text() : std::string()};
}

namespace {

constexpr std::chrono::hours kKept{24}; ///< a longer pause than between the offer of a project and its run

bool isOld(fs::file_time_type used)
{
    return fs::file_time_type::clock::now() - used > kKept;
}

/// Removes the files that no project has, and returns the bytes of the others. Projects have links to the files. On a
/// file system without links they have copies, and all files go.
std::uintmax_t sweepFiles(const fs::path& files)
{
    std::uintmax_t kept = 0;
    std::error_code code;
    for (fs::directory_iterator entry(files, code), end; !code && entry != end; entry.increment(code)) {
        std::error_code gone; // another process may trim too
        if (!fs::is_regular_file(entry->symlink_status(gone))) {
            continue;
        }
        const std::uintmax_t bytes = entry->file_size(gone);
        const bool isUnused = entry->hard_link_count(gone) == 1 && isOld(entry->last_write_time(gone));
        if (!gone && !(isUnused && fs::remove(entry->path(), gone))) {
            kept += bytes;
        }
    }
    return kept;
}

std::uintmax_t bytesIn(const fs::path& files)
{
    std::uintmax_t bytes = 0;
    std::error_code code;
    for (fs::directory_iterator entry(files, code), end; !code && entry != end; entry.increment(code)) {
        std::error_code gone;
        const std::uintmax_t size = fs::is_regular_file(entry->symlink_status(gone)) ? entry->file_size(gone) : 0;
        bytes += gone ? 0 : size;
    }
    return bytes;
}

/// Returns the projects of runs that a process is writing.
std::set<fs::path> projectsInUse(const fs::path& runs)
{
    std::set<fs::path> used;
    std::error_code code;
    for (fs::directory_iterator entry(runs, code), end; !code && entry != end; entry.increment(code)) {
        if (isRunLocked(entry->path())) {
            const auto file = readRunFile(entry->path());
            used.insert(file ? resolvedProjectDirectory(entry->path(), file->projectDirectory) : fs::path());
        }
    }
    return used;
}

} // namespace

void trimPlace(const fs::path& folder, const fs::path& scratch)
{
    const fs::path files = folder / kRemoteFiles;
    const std::uint64_t most = userCache(kRemoteFiles, kPlaceLimit).mostBytes;
    if (bytesIn(files) <= most || sweepFiles(files) <= most) {
        return;
    }
    const std::set<fs::path> used = projectsInUse(folder / kRemoteRuns);
    if (used.contains(fs::path())) {
        return; // a run has just begun
    }
    std::vector<std::pair<fs::file_time_type, fs::path>> projects; // by their last use
    std::error_code code;
    for (fs::directory_iterator entry(folder / kRemoteProjects, code), end; !code && entry != end;
         entry.increment(code)) {
        std::error_code gone;
        const fs::file_time_type last = entry->last_write_time(gone);
        if (!gone && isOld(last) && !used.contains(entry->path())) {
            projects.emplace_back(last, entry->path());
        }
    }
    std::ranges::sort(projects);
    for (const auto& [last, project] : projects) {
        const fs::path doomed = scratch / "trimmed"; // no run finds a part of a project
        fs::rename(project, doomed, code);
        if (!code) {
            fs::remove_all(doomed, code);
        }
        if (sweepFiles(files) <= most) {
            return;
        }
    }
}

} // namespace residua::engine
