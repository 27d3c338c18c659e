// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/session.h"
#include "engine/base/files/content_hash.h"
#include "projects/base/files.h"
#include "tests/engine/compute/session/run_harness.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

/// A machine that sees none of the project's folders, by a child process with a folder of its own.
namespace residua::tests {

/// Returns a place with an engine that is started in `folder` by `command`, and whose own folder is "place" there.
inline engine::EngineRemote placeIn(const std::filesystem::path& folder,
                                    const std::string& command = "exec " RESIDUA_ENGINE_PROGRAM " --stdio")
{
    std::filesystem::create_directories(folder);
    return {"other", engine::EngineRemote::Kind::CommandLine, "cd '" + folder.string() + "'; " + command, "place"};
}

inline std::string contentOf(const std::filesystem::path& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Writes a project's text of `bytes` bytes, and returns the project of `steps` steps, with checkpoints every 10.
inline projects::Project textProject(const std::filesystem::path& folder, std::int64_t steps, int bytes = 20'000)
{
    std::filesystem::create_directories(folder / "data");
    std::ofstream file(folder / "data/text.txt");
    for (int i = 0; i < bytes; ++i) {
        file << static_cast<char>('a' + i * i % 23);
    }
    projects::Project project = quickLanguage(steps);
    project.data.source = projects::TextData{.path = "data/text.txt", .tokeniser = {}};
    project.training.checkpointEvery = 10;
    return project;
}

/// True if every file that the place keeps has the content that its name says. Ignores what a process that has just
/// lost its connection has not removed yet.
inline bool holdsWholeFiles(const std::filesystem::path& place)
{
    std::error_code code;
    for (std::filesystem::directory_iterator entry(place / "files", code), end; !code && entry != end; ++entry) {
        if (entry->path().filename().string().starts_with(".incoming-")) {
            continue;
        }
        engine::Sha256 hash;
        hash.add(asBytes(contentOf(entry->path())));
        if (!entry->is_regular_file() || hash.text() != entry->path().filename()) {
            return false;
        }
    }
    return true;
}

} // namespace residua::tests
