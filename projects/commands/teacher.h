// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/project.h"

#include <string>

namespace residua::projects {

/// How a student learns from a teacher.
struct Teaching {
    std::string name = "teacher"; ///< of the new tower; the loss is called after it
    double weight = 0.5;          ///< of the loss of soft targets, beside the student's own
    double temperature = 2;       ///< T ≥ 0 of the soft targets
};

/// Returns the student's document with the teacher's network as a frozen tower, and a loss between their outputs.
/// Returns an error if the teacher has several towers, reads other examples, or answers with outputs of another shape.
[[nodiscard]] Result<Project> withTeacher(Project student, const Project& teacher, const Teaching& teaching);

} // namespace residua::projects
