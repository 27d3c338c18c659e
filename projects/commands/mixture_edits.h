// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit/edit.h"
#include "projects/model/data_source.h"

#include <cstddef>
#include <string>
#include <vector>

namespace residua::projects {

/// Returns the edit that adds a text at each path to the document's mixture, with the mean of the existing weights, or
/// 1. The document's data must be `mixture`.
[[nodiscard]] Edit addMixtureParts(const MixtureData& mixture, const std::vector<std::string>& paths);
/// Returns the edit that removes the part at `index`.
[[nodiscard]] Edit removeMixturePart(const MixtureData& mixture, std::size_t index);

} // namespace residua::projects
