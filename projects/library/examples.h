// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <string>
#include <vector>

namespace residua::projects {

/// A project that ships inside the program: opens and trains at once with nothing downloaded.
struct Example {
    std::string name; ///< stable key for --example
    std::string title;
    std::string summary; ///< one line for its card
    Project project;
};
/// In display order; the first is what a first start opens.
[[nodiscard]] const std::vector<Example>& examples();
[[nodiscard]] const Example* findExample(const std::string& name);

} // namespace residua::projects
