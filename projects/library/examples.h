// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <string>
#include <vector>

namespace residua::projects {

/// A project that ships with the program. It opens and trains without a download.
struct Example {
    std::string name; ///< stable key for --example
    std::string title;
    std::string summary; ///< one line for its card
    Project project;
};
/// Returns the examples in display order. The program opens the first one when it is started for the first time.
[[nodiscard]] const std::vector<Example>& examples();
[[nodiscard]] const Example* findExample(const std::string& name);

} // namespace residua::projects
