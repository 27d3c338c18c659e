// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/check/validate.h"

#include "projects/check/problems.h"
#include "projects/nodes/shape.h"
#include "projects/nodes/towers.h"

namespace residua::projects {

Result<SoundProject> soundProject(std::shared_ptr<const Project> project)
{
    RESIDUA_TRY(sizesOf(*project));
    Problems problems(*project);
    validateNetwork(*project, problems);
    validateTopology(*project, problems);
    validateTowers(*project, problems);
    validateStepSizes(problems);
    if (std::optional<Error> error = problems.firstError()) {
        return *std::move(error);
    }
    return SoundProject(std::move(project));
}

Result<SoundProject> soundProject(Project project)
{
    return soundProject(std::make_shared<const Project>(std::move(project)));
}

SoundProject viewOf(const SoundProject& project, std::size_t index)
{
    return index == 0 ? project : SoundProject(std::make_shared<const Project>(viewOf(*project, index)));
}

} // namespace residua::projects
