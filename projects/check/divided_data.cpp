// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/check/divided_data.h"

#include <variant>

namespace residua::projects {

Status checkDivision(const Project& project)
{
    if (std::holds_alternative<WorldData>(project.data.source)) {
        return Error{"data", "is a world, whose replay buffer one process has; expected a run without other ranks"};
    }
    for (const Loss& loss : project.losses) {
        if (loss.kind == LossKind::Contrastive) {
            return Error{"loss " + loss.name, "compares all examples of a step with each other, and each rank has a "
                                              "part of them; expected a run without other ranks"};
        }
    }
    return Done{};
}

} // namespace residua::projects
