// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/project_argument.h"

#include "projects/store.h"

namespace residua::cli {

Result<NamedProject> openProject(const std::string& path)
{
    Result<projects::Document> document = projects::loadProject(path);
    if (!document) {
        return document.error();
    }
    std::error_code ignored;
    const bool isDirectory = std::filesystem::is_directory(path, ignored);
    const std::filesystem::path directory =
        isDirectory ? std::filesystem::path(path) : std::filesystem::path(path).parent_path();
    return NamedProject{std::move(*document), std::filesystem::absolute(directory).lexically_normal()};
}

} // namespace residua::cli
