// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <string>
#include <string_view>

namespace residua::projects {

/// Runs that differ in their seeds alone repeat one experiment: their losses are averaged, and their curves are one
/// band.

/// Whether the field at a JSON pointer is one of the seeds, or all of them.
[[nodiscard]] bool isSeedField(std::string_view pointer);

/// What projects that repeat one experiment have in common, and no others: the document without its seeds, and without
/// what trains nothing (name, description, sweeps).
[[nodiscard]] std::string textApartFromSeeds(Project project);

} // namespace residua::projects
