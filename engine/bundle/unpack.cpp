// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/bundle/archive.h"
#include "engine/bundle/bundle.h"
#include "engine/bundle/extract.h"
#include "engine/bundle/joining.h"
#include "engine/bundle/project_identity.h"
#include "engine/data/fingerprint.h"
#include "engine/results/run_reader.h"
#include "engine/runs/run_files.h"
#include "projects/file/store.h"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

/// A folder that is removed with all that is in it, unless it was moved away.
class TemporaryFolder {
public:
    static Result<TemporaryFolder> beside(const fs::path& place)
    {
        std::string name = (place.parent_path() / ("." + place.filename().string() + ".unpack-XXXXXX")).string();
        if (::mkdtemp(name.data()) == nullptr) {
            return systemError(place.parent_path(), "cannot be written", errno);
        }
        // As any new folder: mkdtemp's is closed to others.
        std::error_code ignored;
        fs::permissions(name,
                        fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read | fs::perms::others_exec,
                        fs::perm_options::add, ignored);
        return TemporaryFolder(name);
    }
    TemporaryFolder(TemporaryFolder&& other) noexcept : m_path(std::exchange(other.m_path, {})) {}
    TemporaryFolder& operator=(TemporaryFolder&&) = delete;
    ~TemporaryFolder()
    {
        if (!m_path.empty()) {
            std::error_code ignored;
            fs::remove_all(m_path, ignored);
        }
    }
    [[nodiscard]] const fs::path& path() const { return m_path; }

private:
    explicit TemporaryFolder(fs::path path) : m_path(std::move(path)) {}
    fs::path m_path;
};

Result<fs::path> placeFor(const BundleContents& contents, const fs::path& folder)
{
    std::error_code code;
    fs::path place = fs::absolute(folder.empty() ? fs::path(contents.folder) : folder, code).lexically_normal();
    place = place.has_filename() ? place : place.parent_path();
    if (code || place == place.root_path()) {
        return Error{folder.string(), "is no place for a project"};
    }
    return place;
}

/// Whether the runs join a project that is there.
Result<bool> isJoining(const BundleContents& contents, const fs::path& place)
{
    std::error_code code;
    const fs::file_status status = fs::symlink_status(place, code);
    if (!fs::exists(status)) {
        return false;
    }
    const std::string other = "; name a new folder with -o";
    if (!fs::exists(place / projects::kProjectFile, code)) {
        return Error{place.string(), "is there already, and is no project" + other};
    }
    if (contents.identity.empty() || identityOf(place) != contents.identity) {
        return Error{place.string(), "holds another project than the one that the bundle was packed from" + other};
    }
    return true;
}

/// Puts `from` at `to`, where nothing is.
Status place(const fs::path& from, const fs::path& to)
{
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) != 0) {
        std::error_code code;
        const bool unknown = errno == EINVAL || errno == ENOSYS; // to this file system
        if (!unknown || fs::exists(fs::symlink_status(to, code))) {
            return systemError(to, "cannot be put there", errno);
        }
        fs::rename(from, to, code);
        if (code) {
            return systemError(to, "cannot be put there", code.value());
        }
    }
    return syncDirectory(to.parent_path());
}

/// Says where the data of the runs are not those that they were trained on, or are not there.
void tellData(const BundleContents& contents, UnpackedBundle& result)
{
    for (const BundledPart& part : contents.data) {
        std::error_code ignored;
        if (result.joined) {
            break; // the project has its own
        }
        if (const fs::path place = (result.project / part.name).lexically_normal(); !fs::exists(place, ignored)) {
            result.notes.push_back("the data are not in the bundle: put " + std::to_string(part.files) +
                                   (part.files == 1 ? " file of " : " files of ") + std::to_string(part.bytes) +
                                   " bytes at " + place.string());
        }
    }
    for (const ArrivedRun& run : result.runs) {
        const auto file = readRunFile(run.directory);
        const auto reader = RunReader::open(run.directory);
        const auto project = reader ? reader->project() : Result<projects::Project>(reader.error());
        const auto now = project ? fingerprintOf(*project, result.project) : Result<DataFingerprint>(project.error());
        if (!now && result.joined) {
            result.notes.push_back("the data of run " + run.directory.filename().string() +
                                   " are not here: " + now.error().text());
        }
        if (!file || !file->data || !now) {
            continue;
        }
        if (const auto difference = differenceOf(*file->data, *now)) {
            result.notes.push_back("run " + run.directory.filename().string() +
                                   " was trained on other data: " + difference->text());
        }
    }
}

} // namespace

std::string textOf(RunArrival arrival)
{
    switch (arrival) {
    case RunArrival::New:
        return "new";
    case RunArrival::GoneOn:
        return "gone on";
    case RunArrival::Renamed:
        return "renamed";
    case RunArrival::Known:
        return "known";
    }
    return {};
}

Result<BundleContents> readBundle(const fs::path& file)
{
    auto reader = ArchiveReader::open(file);
    return reader ? readContents(*reader, file) : Result<BundleContents>(reader.error());
}

Result<UnpackedBundle> unpack(const fs::path& file, const fs::path& folder, const BundleWatch& watch)
{
    auto reader = ArchiveReader::open(file);
    const auto contents = reader ? readContents(*reader, file) : Result<BundleContents>(reader.error());
    if (!contents) {
        return contents.error();
    }
    const auto target = placeFor(*contents, folder);
    const auto joined = target ? isJoining(*contents, *target) : Result<bool>(target.error());
    if (!joined) {
        return joined.error();
    }
    UnpackedBundle result{*target, *joined, {}, {}};
    std::error_code code;
    fs::create_directories(target->parent_path(), code);
    if (code) {
        return systemError(target->parent_path(), "cannot be made", code.value());
    }
    // Where runs/ is a link to another disk, on that disk.
    const fs::path neighbour = *joined ? fs::weakly_canonical(*target / projects::kRunsFolder, code) : *target;
    const auto temporary = TemporaryFolder::beside(code ? *target : neighbour);
    if (!temporary) {
        return temporary.error();
    }
    Status done = checkRoom(*contents, temporary->path());
    done = done ? extractFiles(*reader, file, *contents, temporary->path(), watch) : done;
    done = done ? checkUnpacked(file, *contents, temporary->path()) : done;
    if (done && *joined) {
        done = join(*contents, temporary->path(), result);
    } else if (done) {
        for (const std::string& run : contents->runs) {
            const auto info = readRunFile(temporary->path() / run);
            result.runs.push_back({*target / run, RunArrival::New, info ? info->info.step : 0});
        }
        done = place(temporary->path(), *target);
    }
    if (!done) {
        return done.error();
    }
    tellData(*contents, result);
    return result;
}

} // namespace residua::engine
