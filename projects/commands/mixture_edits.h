// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit/edit.h"
#include "projects/model/data_source.h"

#include <cstddef>
#include <string>
#include <vector>

namespace residua::projects {

/// The edit that adds a text at each of these paths to the mixture that the document has, each with the mean of the
/// weights that are there, or 1. Applied to a document that has it as its data.
[[nodiscard]] Edit addMixtureParts(const MixtureData& mixture, const std::vector<std::string>& paths);
/// The edit that removes the part at `index`.
[[nodiscard]] Edit removeMixturePart(const MixtureData& mixture, std::size_t index);

} // namespace residua::projects
