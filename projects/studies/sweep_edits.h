// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/sweep.h"

#include <optional>
#include <string>
#include <vector>

namespace residua::projects {

/// Edits of the sweeps of a document. SetSweeps (edit.h) stores the result. Pure functions; any thread.

/// Replaces the first sweep called `name` by `sweep`, or appends it if there is none.
[[nodiscard]] std::vector<Sweep> withSweep(std::vector<Sweep> sweeps, const std::string& name, Sweep sweep);
/// Appends a sweep over `axes` with a free name.
[[nodiscard]] std::vector<Sweep> withNewSweep(std::vector<Sweep> sweeps, std::vector<SweepAxis> axes);
/// Removes the sweeps called `name`.
[[nodiscard]] std::vector<Sweep> withoutSweep(std::vector<Sweep> sweeps, const std::string& name);
/// Replaces the axis over the same field by `axis`, or appends it. Returns nullopt if there are kMaxSweepAxes other
/// axes.
[[nodiscard]] std::optional<Sweep> withAxis(Sweep sweep, const SweepAxis& axis);

} // namespace residua::projects
