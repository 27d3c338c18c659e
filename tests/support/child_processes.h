// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace residua::tests {

/// Returns the processes that this one, or the one with that id, has started and not waited for.
[[nodiscard]] inline std::set<pid_t> childProcesses(const std::string& of = "self")
{
    std::set<pid_t> found;
    for (const auto& task : std::filesystem::directory_iterator("/proc/" + of + "/task")) {
        std::ifstream list(task.path() / "children");
        for (pid_t child = 0; list >> child;) {
            found.insert(child);
        }
    }
    return found;
}

} // namespace residua::tests
