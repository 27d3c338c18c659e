// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/results/teaching.h"

#include "engine/base/api/environment.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/run_upkeep.h"

#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace residua::engine {

Result<TaughtStudent> taughtStudent(projects::Project student, const Teaching& teaching)
{
    const projects::Project teacher = RESIDUA_TRY(readRunProject(teaching.run));
    const std::vector<std::int64_t> steps = resumableSteps(teaching.run);
    if (steps.empty()) {
        return Error{teaching.run.string(), "has no checkpoint whose weights a teacher could have"};
    }
    TaughtStudent taught{{}, steps.back()};
    taught.weights.project = RESIDUA_TRY(projects::withTeacher(std::move(student), teacher, teaching));
    taught.weights.tower = teaching.name;
    taught.weights.file = checkpointDirectory(teaching.run, taught.step) / "model.safetensors";
    std::error_code ignored;
    if (!std::filesystem::exists(taught.weights.file, ignored)) {
        return Error{teaching.run.string(), "has its checkpoint of step " + std::to_string(taught.step) +
                                                " on another machine; fetch it first"};
    }
    return taught;
}

} // namespace residua::engine
