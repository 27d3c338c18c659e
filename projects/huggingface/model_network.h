// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/huggingface/known_model.h"
#include "projects/model/project.h"

#include <string>

namespace residua::projects {

/// Returns the network: a stack of one block, or of two if only later layers have a window.
[[nodiscard]] Network networkOf(const KnownModel& model);
/// Returns a project with this network that continues training from given weights.
[[nodiscard]] Project projectOf(const KnownModel& model, const std::string& name, const Source& source);

} // namespace residua::projects
