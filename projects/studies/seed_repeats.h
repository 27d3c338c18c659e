// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <string>
#include <string_view>

namespace residua::projects {

/// Runs that differ only in their seeds repeat one experiment. Their losses are averaged, and their curves are shown as
/// one band.

/// True if the pointer refers to one of the seeds, or to all of them.
[[nodiscard]] bool isSeedField(std::string_view pointer);

/// Returns a text that is equal exactly for projects that repeat one experiment: the document without its seeds, name,
/// description and sweeps.
[[nodiscard]] std::string textApartFromSeeds(Project project);

} // namespace residua::projects
