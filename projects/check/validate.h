// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/project.h"

#include <string>
#include <vector>

namespace residua::projects {

enum class Severity { Error, Warning };

/// Something that stands in the way of training (Error) or deserves a look (Warning).
struct Problem {
    Severity severity = Severity::Error;
    std::string path;    ///< JSON pointer into project.json, for jumping there
    std::string place;   ///< for people: "block transformer · node up"
    std::string message; ///< what was got and what was expected

    [[nodiscard]] std::string text() const; ///< "[place] message"
    bool operator==(const Problem&) const = default;
};

/// All problems, errors first, then in document order. An empty list means that the project trains.
/// Files that data sources name are not opened here; the engine's data module checks them before training.
[[nodiscard]] std::vector<Problem> validate(const Project& project);
/// The first error of the data, of how long an example is, and of whether all of them can be one batch: what the data
/// module asks before it makes or reads any.
[[nodiscard]] Status checkData(const Project& project);
[[nodiscard]] bool hasErrors(const std::vector<Problem>& problems);

} // namespace residua::projects
