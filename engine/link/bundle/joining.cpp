// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/link/bundle/unpack.h"

#include "engine/data/codec/text_codec.h"
#include "engine/data/sets/fingerprint.h"
#include "engine/link/bundle/data_paths.h"
#include "engine/link/bundle/moves.h"
#include "engine/runs/results/run_groups.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/study_page.h"
#include "engine/runs/store/run_files.h"
#include "projects/base/text.h"
#include "projects/base/whole_file.h"
#include "projects/file/json.h"
#include "projects/file/store.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <system_error>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

/// Returns the run's project without the locations of its data; nullopt if it cannot be read.
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

/// True if both are the same run, trained to any step.
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
    if (!isThere(place)) {
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
    // Checkpoints are not moved to the trash if nothing replaces them.
    const bool losesCheckpoints = arriving->checkpoints().empty() && !there->checkpoints().empty();
    return losesCheckpoints || isRunLocked(place) ? RunArrival::Renamed : RunArrival::GoneOn;
}

/// Returns the file that is read beside a tokeniser's model, or the end iterator.
template <class Parts>
auto beside(Parts& parts, const std::string& model)
{
    return std::ranges::find(parts, tokeniserSettings(model).string(), &DataPart::name);
}

/// True if the files beside both models have the same content, or if both have none.
bool isSameBeside(const DataFingerprint& a, const std::string& aModel, const DataFingerprint& b,
                  const std::string& bModel)
{
    const auto first = beside(a, aModel);
    const auto second = beside(b, bModel);
    return first == a.end() || second == b.end() ? first == a.end() && second == b.end()
                                                 : isSameContent(*first, *second);
}

/// Renames the run's data that the project has (`known`) to the project's names for them. Adds the names of the others
/// to `needed`.
Status renameData(const fs::path& run, const DataFingerprint& known, std::set<std::string>& needed)
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
        const auto same = std::ranges::find_if(known, [&](const DataPart& other) {
            return part != parts.end() && isSameContent(other, *part) &&
                   (path.tokeniser == nullptr || isSameBeside(known, other.name, parts, part->name));
        });
        const auto besideIt = path.tokeniser != nullptr ? beside(parts, *path.path) : parts.end();
        if (same == known.end()) {
            needed.insert(*path.path);
            if (besideIt != parts.end()) {
                needed.insert(besideIt->name);
            }
        } else if (same->name != part->name) {
            if (besideIt != parts.end()) {
                besideIt->name = tokeniserSettings(same->name).string();
            }
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

Status joinRun(const fs::path& run, const fs::path& place, Moves& moves, UnpackedBundle& result)
{
    ArrivedRun arrived{place, RunArrival::New, 0};
    arrived.arrival = arrivalOf(run, place, arrived.step);
    if (arrived.arrival == RunArrival::Renamed) {
        arrived.directory = freePath(place);
    }
    if (arrived.arrival == RunArrival::GoneOn) {
        const auto trashed = RESIDUA_TRY(moves.trash(place));
        result.notes.push_back("what was known of run " + place.filename().string() + " lies in " + trashed.string());
    }
    result.runs.push_back(arrived);
    return arrived.arrival == RunArrival::Known ? Status(Done{}) : moves.move(run, arrived.directory);
}

/// True if the file belongs to the part.
bool belongsTo(const BundledPart& part, const std::string& path)
{
    const std::string place = withoutSlash(part.name).generic_string();
    return part.inside && (path == place || path.starts_with(place + "/"));
}

/// True if a file at this place would be written inside the project's folder and not through a link.
bool isWithin(const fs::path& project, const fs::path& place)
{
    std::error_code ignored;
    const fs::path parent = fs::weakly_canonical(place.parent_path(), ignored);
    return placeWithin(fs::weakly_canonical(project, ignored), parent).has_value();
}

/// Adds the files of data that runs need and the project lacks. Existing files are kept.
Status addData(const BundleContents& contents, const fs::path& folder, const std::set<std::string>& needed,
               Moves& moves, UnpackedBundle& result)
{
    for (const BundledPart& part : contents.data) {
        std::int64_t files = 0;
        std::int64_t bytes = 0;
        bool isBeyondLink = false;
        for (const BundledFile& file : contents.files) {
            std::error_code ignored;
            const fs::path place = result.project / file.path;
            if (!needed.contains(part.name) || !belongsTo(part, file.path) ||
                fs::exists(fs::symlink_status(place, ignored))) {
                continue;
            }
            if (!isWithin(result.project, place)) {
                isBeyondLink = true;
                continue;
            }
            RESIDUA_TRY(moves.move(folder / file.path, place));
            ++files;
            bytes += file.bytes;
        }
        if (isBeyondLink) {
            result.notes.push_back("the data " + part.name + " are not all put there: a link leads elsewhere");
        }
        if (files > 0) {
            result.notes.push_back("the data " + part.name + " were not all here: " + std::to_string(files) +
                                   (files == 1 ? " file of " : " files of ") + std::to_string(bytes) +
                                   " bytes from the bundle");
        }
    }
    return Done{};
}

/// Gives the runs that a page names their names in `renamed`.
void renameRuns(StudyPage& page, const std::map<std::string, std::string>& renamed)
{
    const auto rename = [&](std::string& run) {
        const auto now = renamed.find(run);
        run = now == renamed.end() ? run : now->second;
    };
    std::ranges::for_each(page.runs, rename);
    for (std::string* const run : {&page.baseline, &page.front, &page.chosen}) {
        rename(*run);
    }
    for (auto& [plot, entries] : page.view.hidden) {
        for (std::string& entry : entries) {
            if (entry.starts_with(kHiddenRun)) {
                std::string run = entry.substr(kHiddenRun.size());
                rename(run);
                entry = std::string(kHiddenRun) + run;
            }
        }
    }
}

/// Adds the pages in `from`, a folder of runs. A page whose name another page has gets a number. Pages keep their runs,
/// even if these got other names.
Status joinPages(const fs::path& from, const std::map<std::string, std::string>& renamed, Moves& moves,
                 UnpackedBundle& result)
{
    const fs::path folder = result.project / projects::kRunsFolder;
    for (const std::string& name : listPages(from)) {
        auto page = RESIDUA_TRY(readPage(from / (name + kPageSuffix)));
        renameRuns(page, renamed);
        const auto isKnown = [&](const Result<fs::path>& file) {
            const auto there = file ? readPage(*file) : Result<StudyPage>(file.error());
            return there && *there == page;
        };
        const auto isTaken = [&](const std::string& other) {
            std::error_code ignored;
            const Result<fs::path> file = pageFile(folder, other);
            return file && !isKnown(file) && fs::exists(fs::symlink_status(*file, ignored));
        };
        const Result<fs::path> place = pageFile(folder, freeName(name, isTaken, "-", kLongestPageName));
        if (isKnown(place)) {
            continue;
        }
        RESIDUA_TRY(place ? writePage(from, name, page) : Status(place.error()));
        RESIDUA_TRY(moves.move(from / (name + kPageSuffix), *place));
    }
    return Done{};
}

Error ofRun(const std::string& run, const Error& error)
{
    return {"run " + run, error.text()};
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
    for (const std::string& name : listPages(folder / projects::kRunsFolder)) {
        const auto page = readPage(folder / projects::kRunsFolder / (name + kPageSuffix));
        if (!page) {
            return wrong(page.error());
        }
    }
    for (const std::string& run : contents.runs) {
        const auto record = readRunFile(folder / run);
        if (!record) {
            return wrong(record.error());
        }
        if (record->projectDirectory != wayUp(run)) {
            return Error{file.string() + " · " + run, "takes its project to be elsewhere, expected in the bundle"};
        }
        if (record->remote) {
            return Error{file.string() + " · " + run,
                         "names another machine to be at, \"" + record->remote->place +
                             "\", which no run in a bundle does: it is no work of Residua"};
        }
    }
    return Done{};
}

Status join(const BundleContents& contents, const fs::path& folder, const BundleWatch& watch, UnpackedBundle& result)
{
    const auto project = projects::loadProject(result.project);
    const auto data =
        project ? fingerprintOf(project->project, result.project, watch) : Result<DataFingerprint>(Error{});
    if (watch && !watch(1)) {
        return Error{"", "given up: nothing is unpacked"};
    }
    Moves moves;
    std::set<std::string> needed;
    std::map<std::string, std::string> renamed; // runs as pages have them
    for (const std::string& run : contents.runs) {
        std::set<std::string> ofIt;
        Status joined = renameData(folder / run, data ? *data : DataFingerprint(), ofIt);
        joined = joined ? joinRun(folder / run, result.project / run, moves, result) : joined;
        if (!joined) {
            return ofRun(run, joined.error());
        }
        renamed[pathOnPage(projects::kRunsFolder, run)] =
            pathOnPage(result.project / projects::kRunsFolder, result.runs.back().directory);
        if (result.runs.back().arrival != RunArrival::Known) {
            needed.insert(ofIt.begin(), ofIt.end());
        }
    }
    RESIDUA_TRY(addData(contents, folder, needed, moves, result));
    const fs::path from = folder / projects::kRunsFolder;
    RESIDUA_TRY(joinPages(from, renamed, moves, result));
    moves.keep();
    if (const Status added = joinGroups(result.project / projects::kRunsFolder, from); !added) {
        result.notes.push_back("the notes of groups are not added: " + added.error().text());
    }
    return Done{};
}

} // namespace residua::engine
