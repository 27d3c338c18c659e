// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/link/remote/project_files.h"

#include "engine/base/files/content_hash.h"
#include "engine/data/text/data_files.h"
#include "engine/link/bundle/data_paths.h"
#include "projects/base/files.h"

#include <set>
#include <system_error>
#include <utility>

namespace residua::engine {
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
        const Result<std::vector<fs::path>> files = filesAt(m_directory / before, path.endings);
        if (!files) {
            return files.error();
        }
        if (files->empty()) {
            return Error{"data · " + before, "there are no such files"};
        }
        const std::string place = placeOf(before, nextFolder());
        for (const fs::path& file : *files) {
            const fs::path below = withoutSlash(file).lexically_relative(withoutSlash(m_directory / before));
            const bool isItself = below.empty() || below == ".";
            if (const Status added = addFile(isItself ? fs::path(place) : place / below, file); !added) {
                return added;
            }
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
            if (const Status added = addFile(placeOf(name, folder), m_directory / name); !added) {
                return added;
            }
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
        if (const Status added = lister.add(path); !added) {
            return added.error();
        }
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
