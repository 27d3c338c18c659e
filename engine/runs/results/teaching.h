// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/model_queries.h"
#include "projects/base/result.h"
#include "projects/commands/tower_edits.h"
#include "projects/model/project.h"

#include <cstdint>
#include <filesystem>

namespace residua::engine {

/// How a student learns from a trained run. Its fields are options of the terminal and rows of a dialog.
struct Teaching : projects::Teaching {
    std::filesystem::path run;
};

/// A student whose teacher is a trained run.
struct TaughtStudent {
    LoadWeightsRequest weights; ///< makes the student's run; its folders are not set
    std::int64_t step = 0;      ///< of the teacher's checkpoint
};
/// Returns the student with the network of the run as its teacher, which takes the run's newest weights. Returns an
/// error if these weights are not on this machine, or if projects::withTeacher() returns one. Blocking; any thread.
[[nodiscard]] Result<TaughtStudent> taughtStudent(projects::Project student, const Teaching& teaching);

} // namespace residua::engine

namespace residua::projects {

template <>
struct Fields<engine::Teaching> {
    static constexpr void visit(auto&& v)
    {
        using engine::Teaching;
        v({"teacher",
           "teacher's run",
           "the run whose newest weights the teacher has",
           {.value = "RUN", .need = Need::Required}},
          &Teaching::run);
        v({"name", "teacher's tower", "the teacher's tower", {.value = "NAME", .otherwise = "teacher"}},
          &Teaching::name);
        v({"weight",
           "weight of its loss",
           "weight of the loss to the teacher's outputs",
           {.range = Range::atLeast(0), .value = "W"}},
          &Teaching::weight);
        v({"temperature", "temperature", "divides the logits of both", {.range = Range::moreThan(0), .value = "T"}},
          &Teaching::temperature);
    }
};

} // namespace residua::projects
