// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/project.h"

#include <string>
#include <vector>

namespace residua::projects {

enum class Severity { Error, Warning };

/// A problem that prevents training (Error) or that the user should check (Warning).
struct Problem {
    Severity severity = Severity::Error;
    std::string path;    ///< JSON pointer into project.json, to navigate to it
    std::string place;   ///< for people: "block transformer · node up"
    std::string message; ///< the value got and the values expected

    [[nodiscard]] std::string text() const; ///< "[place] message"
    bool operator==(const Problem&) const = default;
};

/// Returns all problems, errors first, then in document order. The project can be trained if it has no errors. Does not
/// open the files of data sources; the engine's data module checks them before training.
[[nodiscard]] std::vector<Problem> validate(const Project& project);
/// Returns the first error of the data, of the length of an example, and of a full batch. The data module checks this
/// before it generates or reads data.
[[nodiscard]] Status checkData(const Project& project);
[[nodiscard]] bool hasErrors(const std::vector<Problem>& problems);

} // namespace residua::projects
