// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/bundle/joining.h"

#include "engine/api/run_paths.h"
#include "engine/bundle/data_paths.h"
#include "engine/data/fingerprint.h"
#include "engine/results/run_reader.h"
#include "engine/results/run_upkeep.h"
#include "engine/runs/run_files.h"
#include "projects/base/whole_file.h"
#include "projects/file/json.h"
#include "projects/file/store.h"

#include <algorithm>
#include <optional>
#include <set>
#include <system_error>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

/// The project, but for where its data lie.
std::optional<projects::Project> projectOf(const RunReader& run)
{
    const auto project = run.project();
    if (!project) {
        return std::nullopt;
    }
    projects::Project anywhere = *project;
    for (const DataPath& path : dataPathsOf(anywhere)) {
        path.path->clear();
    }
    return anywhere;
}

/// Whether both are one run, however far each was trained.
bool isSameRun(const RunReader& a, const RunReader& b)
{
    const auto first = a.info();
    const auto second = b.info();
    if (!first || !second || first->created != second->created) {
        return false;
    }
    const auto project = projectOf(a);
    return project && project == projectOf(b);
}

RunArrival arrivalOf(const fs::path& run, const fs::path& place, std::int64_t& step)
{
    const auto arriving = RunReader::open(run);
    const auto info = arriving ? arriving->info() : Result<RunInfo>(arriving.error());
    step = info ? info->step : 0;
    std::error_code ignored;
    if (!fs::exists(place, ignored)) {
        return RunArrival::New;
    }
    const auto there = RunReader::open(place);
    if (!info || !there || !isSameRun(*arriving, *there)) {
        return RunArrival::Renamed;
    }
    const auto known = there->info();
    if (known && known->step >= info->step) {
        return RunArrival::Known;
    }
    return isRunLocked(place) ? RunArrival::Renamed : RunArrival::GoneOn;
}

fs::path freeNameFor(const fs::path& place)
{
    std::error_code ignored;
    fs::path free = place;
    for (int number = 2; fs::exists(free, ignored); ++number) {
        free = place.parent_path() / (place.filename().string() + "-" + std::to_string(number));
    }
    return free;
}

Status moveTo(const fs::path& from, const fs::path& to)
{
    std::error_code code;
    fs::create_directories(to.parent_path(), code);
    if (!code) {
        fs::rename(from, to, code);
    }
    if (code) {
        return systemError(to, "cannot be put there", code.value());
    }
    return syncDirectory(to.parent_path());
}

/// Data that the project has are named by the run as the project names them, wherever the bundle had put them.
/// `needed`: gets the names of the run's others.
Status settleData(const fs::path& run, const DataFingerprint& home, std::set<std::string>& needed)
{
    auto file = readRunFile(run);
    const fs::path frozen = run / kFrozenProject / projects::kProjectFile;
    const auto text = readFile(frozen);
    auto project = text ? projects::projectFromJson(*text) : Result<projects::Project>(text.error());
    if (!file || !project) {
        return file ? project.error() : file.error();
    }
    bool changed = false;
    for (const DataPath& path : dataPathsOf(*project)) {
        DataFingerprint none;
        DataFingerprint& parts = file->data ? *file->data : none;
        const auto part = std::ranges::find(parts, *path.path, &DataPart::name);
        const auto same = std::ranges::find_if(home, [&](const DataPart& known) {
            return part != parts.end() && known.files == part->files && known.bytes == part->bytes &&
                   known.content == part->content;
        });
        if (same == home.end()) {
            needed.insert(*path.path);
        } else if (same->name != part->name) {
            *path.path = part->name = same->name;
            changed = true;
        }
    }
    if (!changed) {
        return Done{};
    }
    const Status written = writeOwnFile(frozen, projects::toJson(*project));
    return written ? writeRunFile(run, *file) : written;
}

Status joinRun(const fs::path& run, const fs::path& place, UnpackedBundle& result)
{
    ArrivedRun arrived{place, RunArrival::New, 0};
    arrived.arrival = arrivalOf(run, place, arrived.step);
    if (arrived.arrival == RunArrival::Renamed) {
        arrived.directory = freeNameFor(place);
    }
    if (arrived.arrival != RunArrival::GoneOn) {
        result.runs.push_back(arrived);
        return arrived.arrival == RunArrival::Known ? Status(Done{}) : moveTo(run, arrived.directory);
    }
    const auto trashed = trashRun(place);
    if (!trashed) {
        return trashed.error();
    }
    if (const Status moved = moveTo(run, place); !moved) {
        const auto back = restoreRun(*trashed);
        return back ? moved : back.error();
    }
    result.notes.push_back("what was known of run " + place.filename().string() + " lies in " + trashed->string());
    result.runs.push_back(arrived);
    return Done{};
}

/// Whether the file is one of those that the part of this name consists of.
bool belongsTo(const BundledPart& part, const std::string& path)
{
    const std::string place = fs::path(part.name).lexically_normal().generic_string();
    return part.inside && (path == place || path.starts_with(place + "/"));
}

/// Files of data that runs need and the project has not; those that it has stay.
Status addData(const BundleContents& contents, const fs::path& folder, const std::set<std::string>& needed,
               UnpackedBundle& result)
{
    for (const BundledFile& file : contents.files) {
        const bool isData = std::ranges::any_of(contents.data, [&](const BundledPart& part) {
            return needed.contains(part.name) && belongsTo(part, file.path);
        });
        std::error_code ignored;
        const fs::path place = result.project / file.path;
        if (!isData || fs::exists(fs::symlink_status(place, ignored))) {
            continue;
        }
        // Not through a link that leads out of the project.
        const fs::path parent = fs::weakly_canonical(place.parent_path(), ignored);
        const fs::path project = fs::weakly_canonical(result.project, ignored);
        if (const fs::path within = parent.lexically_relative(project); within.empty() || *within.begin() == "..") {
            result.notes.push_back("the data of " + file.path + " are not put there: a link leads elsewhere");
            continue;
        }
        if (const Status moved = moveTo(folder / file.path, place); !moved) {
            return moved;
        }
        result.notes.push_back("the data of " + file.path + " were not here, and are taken from the bundle");
    }
    return Done{};
}

} // namespace

fs::path wayUp(const std::string& place)
{
    fs::path way;
    for ([[maybe_unused]] const fs::path& part : fs::path(place)) {
        way /= "..";
    }
    return way;
}

Status checkUnpacked(const fs::path& file, const BundleContents& contents, const fs::path& folder)
{
    const auto wrong = [&](const Error& error) {
        const fs::path within = fs::path(error.place).lexically_relative(folder);
        return Error{file.string() + (within.empty() ? "" : " · " + within.string()), error.message};
    };
    if (const auto project = projects::loadProject(folder); !project) {
        return wrong(project.error());
    }
    for (const std::string& run : contents.runs) {
        const auto record = readRunFile(folder / run);
        if (!record) {
            return wrong(record.error());
        }
        if (record->projectDirectory != wayUp(run)) {
            return Error{file.string() + " · " + run, "takes its project to be elsewhere, expected in the bundle"};
        }
    }
    return Done{};
}

Status join(const BundleContents& contents, const fs::path& folder, UnpackedBundle& result)
{
    const auto project = projects::loadProject(result.project);
    const auto data = project ? fingerprintOf(project->project, result.project) : Result<DataFingerprint>(Error{});
    const DataFingerprint home = data ? *data : DataFingerprint();
    std::set<std::string> needed;
    for (const std::string& run : contents.runs) {
        std::set<std::string> ofRun;
        Status joined = settleData(folder / run, home, ofRun);
        joined = joined ? joinRun(folder / run, result.project / run, result) : joined;
        if (!joined) {
            return joined;
        }
        if (result.runs.back().arrival != RunArrival::Known) {
            needed.insert(ofRun.begin(), ofRun.end());
        }
    }
    return addData(contents, folder, needed, result);
}

} // namespace residua::engine
