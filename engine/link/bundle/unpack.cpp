// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/link/bundle/unpack.h"

#include "engine/data/sets/fingerprint.h"
#include "engine/link/bundle/data_paths.h"
#include "engine/link/bundle/manifest.h"
#include "engine/link/bundle/moves.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/store/run_files.h"
#include "projects/base/scratch_folder.h"
#include "projects/file/store.h"

#include <algorithm>
#include <deque>
#include <set>
#include <system_error>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

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

/// True if the runs join an existing project at `place`.
Result<bool> isJoining(const BundleContents& contents, const fs::path& place)
{
    std::error_code code;
    const fs::file_status status = fs::symlink_status(place, code);
    if (!fs::exists(status)) {
        return false;
    }
    const std::string other = "; name a new folder";
    if (!fs::exists(place / projects::kProjectFile, code)) {
        return Error{place.string(), "is there already, and is no project" + other};
    }
    if (contents.identity.empty() || identityOf(place) != contents.identity) {
        return Error{place.string(), "holds another project than the one that the bundle was packed from" + other};
    }
    return true;
}

/// The fingerprints of projects' data on this machine, each computed once.
class Fingerprints {
public:
    Fingerprints(const fs::path& directory, const BundleWatch& watch) : m_directory(directory), m_watch(watch) {}

    const Result<DataFingerprint>& of(const projects::Project& project, ReadingVersion reading)
    {
        const auto same = [&](const Known& known) {
            return known.data == project.data && known.seed == project.seeds.data && known.reading == reading;
        };
        const auto known = std::ranges::find_if(m_known, same);
        if (known != m_known.end()) {
            return known->fingerprint;
        }
        m_known.push_back({project.data, project.seeds.data, reading,
                           fingerprintOf(project, m_directory, m_watch, LargeFiles::EveryByte, reading)});
        return m_known.back().fingerprint;
    }

private:
    struct Known {
        projects::DataSource data;
        std::int64_t seed = 0;
        ReadingVersion reading = kNewestReading;
        Result<DataFingerprint> fingerprint;
    };
    const fs::path& m_directory;
    const BundleWatch& m_watch;
    std::deque<Known> m_known;
};

/// Adds notes about data that a new project lacks.
void tellLacking(const BundleContents& contents, UnpackedBundle& result)
{
    for (const BundledPart& part : contents.data) {
        const fs::path place = (result.project / part.name).lexically_normal();
        if (isThere(place)) {
            continue;
        }
        if (part.files == 0) {
            result.notes.push_back("the data were not there when the bundle was packed: put them at " + place.string());
        } else {
            result.notes.push_back("the data are not in the bundle: put " + std::to_string(part.files) +
                                   (part.files == 1 ? " file of " : " files of ") + std::to_string(part.bytes) +
                                   " bytes at " + place.string());
        }
    }
}

/// Adds notes about data that the project or a run reads outside of the project's folder: whoever made the bundle has
/// chosen these files.
void tellOutside(UnpackedBundle& result)
{
    std::set<std::string> outside;
    const auto add = [&](projects::Project project) {
        for (const DataPath& path : dataPathsOf(project)) {
            const fs::path place = (result.project / *path.path).lexically_normal();
            if (!placeWithin(result.project, place) && isThere(place)) {
                outside.insert(place.string());
            }
        }
    };
    if (const auto document = projects::loadProject(result.project)) {
        add(document->project);
    }
    for (const ArrivedRun& run : result.runs) {
        if (const auto project = readRunProject(run.directory)) {
            add(*project);
        }
    }
    for (const std::string& path : outside) {
        result.notes.push_back("training reads the data " + path + ", which are outside of the project");
    }
}

/// Adds notes about runs whose data differ from those that they were trained on.
void tellOtherData(const BundleWatch& watch, UnpackedBundle& result)
{
    Fingerprints fingerprints(result.project, watch);
    for (const ArrivedRun& run : result.runs) {
        if (watch && !watch(1)) {
            result.notes.push_back("whether the data are those that the runs were trained on was not looked at");
            return;
        }
        const auto file = readRunFile(run.directory);
        const auto project = readRunProject(run.directory);
        const auto now = project ? fingerprints.of(*project, file ? file->info.reading : kNewestReading)
                                 : Result<DataFingerprint>(project.error());
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

/// Fingerprinting reports fractions of its own; here it only has to be stoppable, so 1 is reported.
BundleWatch atTheEnd(const BundleWatch& watch)
{
    return watch ? BundleWatch([&watch](double) { return watch(1); }) : BundleWatch();
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

Result<UnpackedBundle> unpack(const fs::path& file, const fs::path& folder, const BundleWatch& watch,
                              BundleGrowth growth)
{
    auto reader = RESIDUA_TRY(ArchiveReader::open(file));
    const auto contents = RESIDUA_TRY(readContents(reader, file));
    RESIDUA_TRY(growth == BundleGrowth::Any ? Status(Done{}) : checkGrowth(contents, file));
    const auto target = placeFor(contents, folder);
    const auto joined = RESIDUA_TRY(target ? isJoining(contents, *target) : Result<bool>(target.error()));
    UnpackedBundle result{*target, joined, {}, {}};
    MadeFolders above;
    RESIDUA_TRY(above.make(target->parent_path()));
    std::error_code code;
    // If runs/ is a link to another disk, unpacks on that disk.
    const fs::path neighbour = joined ? fs::weakly_canonical(*target / projects::kRunsFolder, code) : *target;
    const auto temporary = RESIDUA_TRY(ScratchFolder::beside(code ? *target : neighbour));
    const BundleWatch last = atTheEnd(watch);
    Status done = checkRoom(contents, temporary.path());
    done = done ? extractFiles(reader, file, contents, temporary.path(), watch) : done;
    done = done ? checkUnpacked(file, contents, temporary.path()) : done;
    if (done && joined) {
        done = join(contents, temporary.path(), last, result);
    } else if (done) {
        for (const std::string& run : contents.runs) {
            const auto info = readRunFile(temporary.path() / run);
            result.runs.push_back({*target / run, RunArrival::New, info ? info->info.step : 0});
        }
        done = putAt(temporary.path(), *target);
    }
    if (!done) {
        return done.error();
    }
    above.keep();
    if (!result.joined) { // a joined project has its own data
        tellLacking(contents, result);
        tellOutside(result);
    }
    tellOtherData(last, result);
    return result;
}

} // namespace residua::engine
