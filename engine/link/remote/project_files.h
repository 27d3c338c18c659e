// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/machine/preparation.h"
#include "engine/link/wire/file_messages.h"
#include "engine/runs/store/run_files.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace residua::engine {

/// A project with the files that training it reads, for another machine.
struct ProjectFiles {
    struct File {
        FileOffer offer; ///< its path in the project's folder there
        std::filesystem::path source;
    };
    projects::Project project;                  ///< names files outside its folder by a path within it
    std::map<std::string, std::string> renamed; ///< such paths, and the original ones
    std::vector<File> files;                    ///< each path once
};

/// Returns the files of a project in `directory`, with their hashes. Returns an error if one is missing. Reads all
/// bytes of files that have changed since their hash was cached; `watch` may cancel.
[[nodiscard]] Result<ProjectFiles> projectFiles(projects::Project project, const std::filesystem::path& directory,
                                                const PreparationWatch& watch);
/// Changes the names in a fingerprint from the project there to the original ones.
void restoreNames(DataFingerprint& data, const std::map<std::string, std::string>& renamed);

} // namespace residua::engine
