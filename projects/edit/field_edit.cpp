// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/edit/field_edit.h"

#include <algorithm>

namespace residua::projects {
namespace {

/// A part of the document that is edited as a whole.
struct Part {
    std::string_view pointer;
    Edit (*edit)(const Project& changed);
};

constexpr Part kParts[] = {
    {"/name", [](const Project& p) -> Edit { return SetName{p.name}; }},
    {"/description", [](const Project& p) -> Edit { return SetDescription{p.description}; }},
    {"/data", [](const Project& p) -> Edit { return SetData{p.data}; }},
    {"/network/width", [](const Project& p) -> Edit { return SetWidth{p.network.width}; }},
    {"/network/stack", [](const Project& p) -> Edit { return SetStack{p.network.stack}; }},
    {"/network/tie_head", [](const Project& p) -> Edit { return SetTieHead{p.network.tieHead}; }},
    {"/network/objective", [](const Project& p) -> Edit { return SetObjective{p.network.objective}; }},
    {"/topology", [](const Project& p) -> Edit { return SetTopology{p.topology}; }},
    {"/initialisation", [](const Project& p) -> Edit { return SetInitialisation{p.initialisation}; }},
    {"/training", [](const Project& p) -> Edit { return SetTraining{p.training}; }},
    {"/schedule", [](const Project& p) -> Edit { return SetSchedule{p.schedule}; }},
    {"/seeds", [](const Project& p) -> Edit { return SetSeeds{p.seeds}; }},
    {"/sweeps", [](const Project& p) -> Edit { return SetSweeps{p.sweeps}; }},
};

bool holds(const Part& part, std::string_view pointer)
{
    return pointer.starts_with(part.pointer) &&
           (pointer.size() == part.pointer.size() || pointer[part.pointer.size()] == '/');
}

} // namespace

Result<Edit> fieldEdit(const Project& project, std::string_view pointer, const FieldScalar& value)
{
    const auto* const part = std::ranges::find_if(kParts, [&](const Part& each) { return holds(each, pointer); });
    if (part == std::end(kParts)) {
        return Error{std::string(pointer), "is no field with an edit of its own"};
    }
    Project changed = project;
    if (const Status set = setField(changed, pointer, value); !set) {
        return set.error();
    }
    return part->edit(changed);
}

} // namespace residua::projects
