// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/link/remote/remote_trim.h"

#include "engine/base/machine/machine.h"
#include "engine/link/remote/remote_paths.h"
#include "engine/runs/store/run_files.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

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
