// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/project_argument.h"

#include "projects/presets.h"
#include "projects/store.h"

namespace residua::cli {

Result<NamedProject> openProject(const std::string& path)
{
    std::error_code ignored;
    const projects::Example* const example = projects::findExample(path);
    if (example != nullptr && !std::filesystem::exists(path, ignored)) {
        projects::Document fresh;
        fresh.project = example->project;
        return NamedProject{std::move(fresh), std::filesystem::current_path(ignored)};
    }
    Result<projects::Document> document = projects::loadProject(path);
    if (!document) {
        return document.error();
    }
    const bool isDirectory = std::filesystem::is_directory(path, ignored);
    const std::filesystem::path directory =
        isDirectory ? std::filesystem::path(path) : std::filesystem::path(path).parent_path();
    return NamedProject{std::move(*document), std::filesystem::absolute(directory).lexically_normal()};
}

} // namespace residua::cli
