// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/link/bundle/data_paths.h"

#include "engine/data/codec/text_codec.h"
#include "projects/base/mapped.h"
#include "projects/model/data_source.h"

namespace residua::engine {

std::vector<DataPath> dataPathsOf(projects::Project& project)
{
    projects::Source& source = project.data.source;
    std::vector<DataPath> paths;
    projects::forEachPath(source, [&](std::string& path) {
        if (!path.empty()) {
            paths.push_back({&path, projects::folderEndingsOf(source)});
        }
    });
    projects::Tokeniser* const tokeniser = projects::tokeniserOf(source);
    if (tokeniser != nullptr && projects::hasModel(tokeniser->kind) && !tokeniser->model.empty()) {
        paths.push_back({&tokeniser->model, {}, tokeniser});
    }
    return paths;
}

std::vector<std::string> namesOf(const DataPath& path, const std::filesystem::path& projectDirectory)
{
    if (path.tokeniser == nullptr) {
        return {*path.path};
    }
    return mapped(tokeniserFiles(*path.tokeniser, projectDirectory),
                  [](const std::filesystem::path& file) { return file.string(); });
}

} // namespace residua::engine
