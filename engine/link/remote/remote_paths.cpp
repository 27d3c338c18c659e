// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/link/remote/remote_paths.h"

#include "engine/link/bundle/manifest.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/store/checkpoint.h"
#include "engine/runs/store/database.h"
#include "engine/runs/store/run_files.h"
#include "projects/file/store.h"
#include "projects/model/data_source.h"

#include <variant>
#include <vector>

namespace residua::engine {

namespace fs = std::filesystem;

Status checkRoom(const fs::path& folder, std::uintmax_t bytes, const std::string& what)
{
    std::error_code code;
    const fs::space_info space = fs::space(folder, code);
    return code || bytes <= space.available
               ? Status(Done{})
               : Error{folder.string(), "has room for " + std::to_string(space.available) + " bytes; " + what + " " +
                                            std::to_string(bytes)};
}

Status checkWithin(const fs::path& folder, const std::string& path)
{
    RESIDUA_TRY(checkBundledPath("message", path));
    std::error_code code;
    fs::path place = fs::canonical(folder, code);
    for (const fs::path& part : fs::path(path)) {
        std::error_code ignored; // what does not exist is no link
        place /= part;
        if (code || fs::is_symlink(fs::symlink_status(place, ignored))) {
            return Error{"message",
                         "holds the path " + shown(path) + ", which may lead out of " + folder.string() + " by a link"};
        }
    }
    return Done{};
}

Status checkRunWithin(const fs::path& folder, const std::string& run)
{
    RESIDUA_TRY(checkWithin(folder, run));
    for (const fs::path& part : {fs::path(kRunFile), fs::path(kLockFile), fs::path(kStoreFile),
                                 fs::path(std::string(kStoreFile) + "-wal"), fs::path(std::string(kStoreFile) + "-shm"),
                                 fs::path(kFrozenProject) / projects::kProjectFile, checkpointsFolder({}).filename()}) {
        RESIDUA_TRY(checkWithin(folder, (run / part).string()));
    }
    return Done{};
}

namespace {

/// Refuses the path of a picture, which is a file of the machine that asks.
Status checkPrompt(const fs::path& folder, const SampleRequest& asked)
{
    const auto reader =
        asked.prompt.empty() ? Result<RunReader>(Error{}) : RunReader::open(folder / asked.of.runDirectory);
    const auto project = reader ? reader->project() : Result<projects::Project>(Error{}); // told by the query itself
    return project && projects::promptsArePictures(project->data)
               ? Status(Error{"prompt",
                              "names a picture, which an engine in a folder of its own does not see: leave it "
                              "out for some held-out examples"})
               : Done{};
}

} // namespace

Status checkAtPlace(const fs::path& folder, const Command& command)
{
    const auto check = [&]<class Asked>(const Asked& asked) -> Status {
        if constexpr (!kAtRemote<Asked>) {
            return Error{"message", "is a command that is not taken at a place with a folder of its own"};
        } else {
            RunRef of;
            if constexpr (std::is_same_v<Asked, StartRun>) {
                of = {asked.runDirectory, asked.projectDirectory};
            } else if constexpr (requires { asked.of; }) {
                of = asked.of;
            }
            RESIDUA_TRY(of.runDirectory.empty() ? Status(Done{}) : checkRunWithin(folder, of.runDirectory.string()));
            std::vector<fs::path> paths{of.projectDirectory};
            if constexpr (std::is_same_v<Asked, SampleRequest>) {
                RESIDUA_TRY(checkPrompt(folder, asked));
            }
            if constexpr (std::is_same_v<Asked, EvaluateRequest>) {
                if (!asked.features.empty()) {
                    return Error{"features",
                                 "names a run, which an engine in a folder of its own does not see: compare "
                                 "where both runs are"};
                }
            }
            if constexpr (requires { asked.runFolder; }) {
                paths.push_back(asked.runFolder);
            }
            for (const fs::path& path : paths) {
                RESIDUA_TRY(path.empty() ? Status(Done{}) : checkWithin(folder, path.string()));
            }
            return Done{};
        }
    };
    return std::visit(check, command);
}

} // namespace residua::engine
