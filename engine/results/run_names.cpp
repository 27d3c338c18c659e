// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/results/run_names.h"

#include "engine/results/run_reader.h"
#include "projects/diff/diff.h"

#include <optional>
#include <vector>

namespace residua::engine {
namespace {

constexpr const char* kDivider = ", ";
constexpr int kCompared = 20; ///< runs that are compared: more take time, and the newest suffice

bool isOfProject(const RunInfo& run, const std::string& project)
{
    return !run.membership && (run.name == project || run.name.starts_with(project + kDivider));
}

} // namespace

std::string nameForRun(const std::filesystem::path& folder, const projects::Project& project)
{
    std::string name = project.name;
    bool taken = false; ///< whether a run that differs has the project's own name
    int compared = 0;
    for (const RunInfo& run : listRuns(folder)) { // the newest first: the oldest decides what it differs from
        if (!isOfProject(run, project.name) || ++compared > kCompared) {
            continue;
        }
        const auto reader = RunReader::open(run.directory);
        const auto trained = reader ? reader->project() : Result<projects::Project>(reader.error());
        if (!trained) {
            continue;
        }
        const std::string differs = projects::brief(projects::diff(*trained, project));
        if (differs.empty()) {
            return run.name;
        }
        taken = taken || run.name == project.name;
        name = project.name + kDivider + differs;
    }
    return taken ? name : project.name;
}

} // namespace residua::engine
