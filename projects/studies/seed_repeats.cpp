// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/studies/sweep_grid.h"

#include "projects/file/json.h"

namespace residua::projects {
namespace {

constexpr std::string_view kSeeds = "/seeds";

} // namespace

bool isSeedField(std::string_view pointer)
{
    return pointer.starts_with(kSeeds) && (pointer.size() == kSeeds.size() || pointer[kSeeds.size()] == '/');
}

std::string textApartFromSeeds(Project project, InFiles defaults)
{
    project.seeds = {};
    project.name.clear(); // a sweep's members are named after their seeds
    project.description.clear();
    project.sweeps.clear();
    return defaults == InFiles::Always ? toJson(project) : changedFields(project);
}

} // namespace residua::projects
