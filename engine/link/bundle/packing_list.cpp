// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/link/bundle/packing_list.h"

#include "engine/base/api/environment.h"
#include "engine/data/text/data_files.h"
#include "engine/link/bundle/data_paths.h"
#include "engine/link/bundle/manifest.h"
#include "engine/link/bundle/unpack.h"
#include "engine/runs/results/run_groups.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/study_page.h"
#include "engine/runs/store/checkpoint.h"
#include "engine/runs/store/run_directory.h"
#include "engine/runs/store/run_files.h"
#include "projects/base/mapped.h"
#include "projects/base/text.h"
#include "projects/base/whole_file.h"
#include "projects/file/json.h"
#include "projects/file/store.h"

#include <algorithm>
#include <map>
#include <set>
#include <system_error>
#include <utility>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDataFolder = "data";

/// Returns the path relative to `folder`; nullopt if it is not below it.
std::optional<std::string> placeBelow(const fs::path& folder, const fs::path& path)
{
    const auto within = placeWithin(folder, path);
    return within && *within != "." ? std::optional(within->generic_string()) : std::nullopt;
}

/// True for files that are not packed: locks, stop requests and temporary files of a process.
bool isOfAProcess(const std::string& name)
{
    return name == kLockFile || name == kStopFile || name.ends_with("-shm") || name.starts_with('.') ||
           name.find(kTemporaryMark) != std::string::npos;
}

/// Returns the text with absolute paths below `folder` made relative to it.
std::string withoutPath(std::string text, const fs::path& folder)
{
    const std::string path = folder.string() + "/";
    for (std::size_t at = text.find(path); at != std::string::npos; at = text.find(path, at)) {
        text.erase(at, path.size());
    }
    return text;
}

class Lister {
public:
    Lister(const PackRequest& request, Listing listing, PackingList& list)
        : m_request(request), m_listing(listing), m_list(list)
    {
    }

    /// `runs` are their directories. `only` is the run to pack, or empty to pack the project.
    Status add(const fs::path& directory, const std::vector<fs::path>& runs, const fs::path& only)
    {
        m_list.project = directory;
        RESIDUA_TRY(addProject(only));
        RESIDUA_TRY(addIdentity());
        for (const fs::path& run : runs) {
            RESIDUA_TRY(addRun(run, only.empty() ? Named::No : Named::Yes));
        }
        if (only.empty()) {
            addPages();
        }
        for (const ListedFile& file : m_list.files) {
            RESIDUA_TRY(checkBundledPath(directory.string(), file.path));
        }
        return Done{};
    }

private:
    enum class Named { No, Yes };

    Status addProject(const fs::path& run)
    {
        const fs::path& directory = m_list.project;
        // A run moved away from its project still has its own copy of the project.
        const bool whole = isThere(directory / projects::kProjectFile);
        const fs::path source = (whole ? directory : run / kFrozenProject) / projects::kProjectFile;
        const auto text = readFile(source);
        auto project = RESIDUA_TRY(text ? projects::projectFromJson(*text) : Result<projects::Project>(text.error()));
        m_list.contents.project = printable(project.name, LineEnds::Escape);
        m_list.contents.folder = directory.filename().string();
        if (m_list.contents.folder.empty() || isHidden(m_list.contents.folder) ||
            !checkBundledPath("", m_list.contents.folder)) {
            m_list.contents.folder = "project";
        }
        std::map<std::string, std::string> renamed;
        RESIDUA_TRY(addData(project, renamed, Named::Yes));
        addText(projects::kProjectFile, renamed.empty() ? *text : projects::toJson(project));
        if (whole && isThere(directory / projects::kLayoutFile)) {
            return addFile(projects::kLayoutFile, directory / projects::kLayoutFile);
        }
        return Done{};
    }

    Status addIdentity()
    {
        std::string known = identityOf(m_list.project);
        const bool isProject = isThere(m_list.project / projects::kProjectFile);
        if (known.empty() && isProject && m_listing == Listing::ToPack) {
            auto ensured = ensureIdentity(m_list.project);
            if (ensured) {
                known = std::move(*ensured);
            } else {
                m_list.notes.push_back("what comes back will not be known as this project's: " +
                                       ensured.error().text());
            }
        }
        m_list.contents.identity = known;
        if (!known.empty()) {
            addText(kIdentityFile, known + "\n");
        }
        return Done{};
    }

    /// Adds the files that `project` names, each once. Files outside its folder are packed below data/, and `project`
    /// is changed to name them there; `renamed` maps the old names to the new ones.
    Status addData(projects::Project& project, std::map<std::string, std::string>& renamed, Named named)
    {
        for (const DataPath& path : dataPathsOf(project)) {
            const std::string before = *path.path;
            const auto files = filesAt(m_list.project / before, path.endings);
            const bool wanted = path.tokeniser != nullptr || m_request.data == BundledData::Files;
            if (!files || files->empty()) {
                const std::string why = files ? "there are no such files" : files.error().text();
                if (wanted && named == Named::Yes) {
                    return Error{"data · " + before,
                                 why + (path.tokeniser != nullptr
                                            ? "; a tokeniser always comes along: put it there, or name another"
                                            : "; without the data: pack with their fingerprint alone")};
                }
                if (wanted) {
                    m_list.notes.push_back("the data of a run are not taken along: " + why);
                }
                addPart({before, 0, 0, false});
                continue;
            }
            if (path.tokeniser != nullptr) {
                RESIDUA_TRY(addTokeniser(path, renamed));
                continue;
            }
            BundledPart part{before, static_cast<std::int64_t>(files->size()), 0, wanted};
            if (wanted) {
                const std::string place = placeOf(fs::path(before));
                RESIDUA_TRY(addFiles(place, m_list.project / before, *files, part));
                if (place != before && fs::path(before).lexically_normal() != place) {
                    *path.path = place;
                    renamed[before] = place;
                    part.name = place;
                }
            } else {
                std::error_code ignored;
                for (const fs::path& file : *files) {
                    part.bytes += static_cast<std::int64_t>(fs::file_size(file, ignored));
                }
            }
            addPart(std::move(part));
        }
        return Done{};
    }

    /// Adds a model, and the file read beside it, as separate parts. Each model outside the project gets a folder of
    /// its own in data/, so that two models' files do not collide.
    Status addTokeniser(const DataPath& path, std::map<std::string, std::string>& renamed)
    {
        const fs::path model = withoutSlash(m_list.project / *path.path);
        const auto within = placeBelow(m_list.project, model);
        const fs::path folder =
            within && !isHidden(*within) ? fs::path(*within).parent_path() : fs::path(placeOf(model.parent_path()));
        for (const std::string& before : namesOf(path, m_list.project)) {
            const fs::path source = m_list.project / before;
            const std::string place = (folder / source.filename()).generic_string();
            BundledPart part{place, 1, 0, true};
            RESIDUA_TRY(addFiles(place, source, {source}, part));
            if (fs::path(before).lexically_normal() != place) {
                renamed[before] = place;
            }
            addPart(std::move(part));
        }
        if (const auto other = renamed.find(*path.path); other != renamed.end()) {
            *path.path = other->second;
        }
        return Done{};
    }

    void addPart(BundledPart part)
    {
        part.name = printable(part.name, LineEnds::Escape); // no other name is allowed in the bundle
        const auto same = [&](const BundledPart& known) { return known.name == part.name; };
        if (std::ranges::none_of(m_list.contents.data, same)) {
            m_list.contents.data.push_back(std::move(part));
        }
    }

    /// Returns the bundle path for a path of the project. Equal files get the same path.
    std::string placeOf(const fs::path& path)
    {
        const fs::path source = withoutSlash(m_list.project / path);
        const auto within = placeBelow(m_list.project, source);
        if (within && !isHidden(*within)) {
            return *within;
        }
        const auto known = m_places.find(source);
        if (known != m_places.end()) {
            return known->second;
        }
        std::string name = source.has_filename() ? source.filename().string() : kDataFolder;
        name.erase(0, name.find_first_not_of('.')); // an unpacked project has no hidden files
        std::string place = std::string(kDataFolder) + "/" + name;
        for (int number = 2; m_taken.contains(place) || isThere(m_list.project / place); ++number) {
            place = std::string(kDataFolder) + "/" + std::to_string(number) + "-" + name;
        }
        m_taken.insert(place);
        m_places[source] = place;
        return place;
    }

    Status addFiles(const std::string& place, const fs::path& root, const std::vector<fs::path>& files,
                    BundledPart& part)
    {
        for (const fs::path& file : files) {
            const fs::path below = file.lexically_relative(root);
            const std::string path = below.empty() || below == "." ? place : place + "/" + below.generic_string();
            std::error_code code;
            part.bytes += static_cast<std::int64_t>(fs::file_size(file, code));
            RESIDUA_TRY(addFile(path, file));
        }
        return Done{};
    }

    Status addRun(const fs::path& run, Named named)
    {
        const std::string shown = run.filename().string();
        // A list made to weigh takes no lock, because the lock would keep other processes (and this one) from packing
        // meanwhile.
        auto held = m_listing == Listing::ToPack ? lockRun(run) : Result<FileDescriptor>(Error{});
        if (!held && isRunLocked(run)) {
            if (named == Named::Yes) {
                return Error{run.string(), "is being trained: stop it first, then pack it"};
            }
            m_list.notes.push_back("run " + shown + " is being trained and is left out: stop it first");
            return Done{};
        }
        if (held) { // no lock can be made in a read-only folder, but no process can write the run there either
            m_list.held.push_back(std::move(*held));
        }
        auto file = readRunFile(run);
        const auto frozen = readFile(run / kFrozenProject / projects::kProjectFile);
        auto project = frozen ? projects::projectFromJson(*frozen) : Result<projects::Project>(frozen.error());
        if (!file || !project) {
            const Error& error = file ? project.error() : file.error();
            if (named == Named::Yes) {
                return error;
            }
            m_list.notes.push_back("run " + shown + " cannot be read and is left out: " + error.text());
            return Done{};
        }
        const std::string place = runPlace(run);
        std::map<std::string, std::string> renamed;
        RESIDUA_TRY(addData(*project, renamed, Named::No));
        addText(place + "/" + kFrozenProject + "/" + projects::kProjectFile,
                renamed.empty() ? *frozen : projects::toJson(*project));
        addRunFile(place, std::move(*file), renamed);
        m_list.contents.runs.push_back(place);
        return addRecord(run, place);
    }

    /// Adds the pages about runs, as texts because they are small, and the colours and notes of groups.
    void addPages()
    {
        const fs::path folder = m_list.project / projects::kRunsFolder;
        std::vector<fs::path> files;
        for (const std::string& name : listPages(folder)) {
            const auto file = pageFile(folder, name);
            if (const auto page = file ? readPage(*file) : Result<StudyPage>(file.error())) {
                files.push_back(*file);
            } else {
                m_list.notes.push_back("the page " + name + " is left out: " + page.error().text());
            }
        }
        files.push_back(folder / kGroupsFile);
        for (const fs::path& file : files) {
            std::error_code ignored;
            auto text = fs::is_symlink(file, ignored) ? Result<std::string>(Error{}) : readFile(file, kLargestPage);
            if (text) {
                addText(std::string(projects::kRunsFolder) + "/" + file.filename().string(), *std::move(text));
            }
        }
    }

    /// Returns the run's place relative to the project's folder.
    std::string runPlace(const fs::path& run)
    {
        const auto within = placeBelow(m_list.project / projects::kRunsFolder, run);
        return std::string(projects::kRunsFolder) + "/" + (within ? *within : run.filename().string());
    }

    /// Adds run.json, changed to the places of its project and its data in the bundle.
    void addRunFile(const std::string& place, RunFile file, const std::map<std::string, std::string>& renamed)
    {
        file.projectDirectory = wayUp(place);
        file.remote.reset(); // the other machine is not known where the bundle is unpacked
        // The parent is stored by its place in the bundle, or by its name if it is not below the project's runs. Paths
        // are stored relative to the project.
        const auto parent = placeBelow(m_list.project / projects::kRunsFolder, file.info.parent);
        file.info.parent = parent ? (fs::path(projects::kRunsFolder) / *parent).lexically_relative(place).string()
                                  : fs::path(file.info.parent).filename().string();
        file.info.message = withoutPath(std::move(file.info.message), m_list.project);
        for (std::size_t i = 0; file.data && i < file.data->size(); ++i) {
            std::string& name = (*file.data)[i].name;
            if (const auto other = renamed.find(name); other != renamed.end()) {
                name = other->second;
            }
        }
        addText(place + "/" + kRunFile, runFileText(file));
    }

    /// Adds all other files of the run, with the chosen checkpoints only.
    Status addRecord(const fs::path& run, const std::string& place)
    {
        const std::set<fs::path> chosen = chosenCheckpoints(run);
        m_list.contents.checkpoints += static_cast<std::int64_t>(chosen.size());
        std::error_code code;
        fs::recursive_directory_iterator entry(run, code);
        for (const fs::recursive_directory_iterator end; !code && entry != end; entry.increment(code)) {
            const fs::path& path = entry->path();
            const fs::path below = path.lexically_relative(run);
            const fs::file_status status = entry->symlink_status(code);
            if (fs::is_symlink(status)) {
                m_list.notes.push_back("the link " + path.string() + " is left out");
                entry.disable_recursion_pending();
            } else if (fs::is_directory(status)) {
                const bool other = path.parent_path() == checkpointsFolder(run) && !chosen.contains(path);
                if (other || below == kFrozenProject || isOfAProcess(path.filename().string())) {
                    entry.disable_recursion_pending();
                }
            } else if (path.extension() == kBundleSuffix) {
                m_list.notes.push_back("the bundle " + path.string() + " is left out");
            } else if (fs::is_regular_file(status) && below != kRunFile && !isOfAProcess(path.filename().string())) {
                RESIDUA_TRY(addFile(place + "/" + below.generic_string(), path));
            }
        }
        return code ? Status(systemError(run, "cannot be listed", code.value())) : Status(Done{});
    }

    std::set<fs::path> chosenCheckpoints(const fs::path& run)
    {
        std::vector<std::int64_t> steps = checkpointSteps(run);
        std::optional<std::int64_t> one = steps.empty() ? std::nullopt : std::optional(steps.back());
        if (m_request.checkpoints == BundledCheckpoints::Best) {
            const auto file = readRunFile(run);
            const auto best = file ? bestCheckpoint(run, file->info.judge()) : std::nullopt;
            if (!best && one) {
                m_list.notes.push_back("run " + run.filename().string() +
                                       " has no checkpoint with a validation loss: its last is taken");
            }
            one = best ? best : one;
        }
        if (m_request.checkpoints == BundledCheckpoints::None) {
            steps.clear();
        } else if (m_request.checkpoints != BundledCheckpoints::All && one) {
            steps = {*one};
        }
        std::set<fs::path> chosen;
        for (const std::int64_t step : steps) {
            chosen.insert(checkpointDirectory(run, step));
        }
        return chosen;
    }

    Status addFile(const std::string& path, const fs::path& source)
    {
        if (!m_paths.insert(path).second) {
            return Done{}; // two runs on the same data
        }
        std::error_code code;
        const auto bytes = static_cast<std::int64_t>(fs::file_size(source, code));
        if (code) {
            return systemError(source, "cannot be read", code.value());
        }
        m_list.files.push_back({path, source, std::nullopt, bytes});
        return Done{};
    }

    void addText(const std::string& path, std::string text)
    {
        m_paths.insert(path);
        const auto bytes = static_cast<std::int64_t>(text.size());
        m_list.files.push_back({path, {}, std::move(text), bytes});
    }

    const PackRequest& m_request;
    Listing m_listing;
    PackingList& m_list;
    std::set<std::string> m_paths;
    std::set<std::string> m_taken;
    std::map<fs::path, std::string> m_places; ///< for files outside the project's folder
};

} // namespace

Result<PackingList> packingList(const PackRequest& request, Listing listing)
{
    PackingList list;
    Lister lister(request, listing, list);
    std::error_code ignored;
    fs::path source = withoutSlash(fs::weakly_canonical(fs::absolute(request.source, ignored), ignored));
    if (fs::exists(source / kRunFile, ignored)) {
        const auto project = RESIDUA_TRY(projectDirectoryOf(source));
        const Status added = lister.add(project, {source}, source);
        return added ? Result<PackingList>(std::move(list)) : Result<PackingList>(added.error());
    }
    if (source.filename() == projects::kProjectFile) {
        source = source.parent_path();
    }
    if (!fs::exists(source / projects::kProjectFile, ignored)) {
        return Error{source.string(),
                     "is neither a project's folder nor a run's: it has no project.json and no run.json"};
    }
    const std::vector<fs::path> runs = mapped<fs::path>(listRuns(source / projects::kRunsFolder), &RunInfo::directory);
    const Status added = lister.add(source, runs, {});
    return added ? Result<PackingList>(std::move(list)) : Result<PackingList>(added.error());
}

} // namespace residua::engine
