// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/sweep.h"

#include <optional>
#include <string>
#include <vector>

namespace residua::projects {

/// What is done to the sweeps of a document; SetSweeps (edit.h) puts the result into it. Pure; any thread.

/// `sweep` in the place of the first that is called `name`, or after all of them where none is.
[[nodiscard]] std::vector<Sweep> withSweep(std::vector<Sweep> sweeps, const std::string& name, Sweep sweep);
/// A further sweep over `axes`, under a name that is free: the last of what is returned.
[[nodiscard]] std::vector<Sweep> withNewSweep(std::vector<Sweep> sweeps, std::vector<SweepAxis> axes);
/// Without those that are called `name`.
[[nodiscard]] std::vector<Sweep> withoutSweep(std::vector<Sweep> sweeps, const std::string& name);
/// `axis` in the place of the one over the same field, or after all of them. nullopt where there are kMaxSweepAxes
/// others.
[[nodiscard]] std::optional<Sweep> withAxis(Sweep sweep, const SweepAxis& axis);

} // namespace residua::projects
