// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/project.h"
#include "projects/shipped/recipes.h"

#include <cstdint>
#include <string>

namespace residua::projects {

/// The settings of a new project.
struct NewProject {
    std::string name = "Untitled";
    Source source = SyntheticLanguage{};
    std::string recipe; ///< name of a recipe (projects/shipped/recipes.h); empty: the example for the data's kind
    std::int64_t depth = 8;
    std::int64_t width = 128;
    std::string topology = kPlainPreset; ///< name of a preset
    std::int64_t steps = 500;
    std::int64_t batch = 16;
    std::int64_t sequenceLength = 64; ///< language only
};

/// Returns true if the recipe's network reads examples of this kind.
[[nodiscard]] bool fitsRecipe(const Recipe& recipe, const Source& source);
/// Returns the proposed settings for data of this kind: the sizes of the recipe, or without one, of the example that
/// trains on such data. An unknown recipe counts as none.
[[nodiscard]] NewProject proposalFor(const Source& source, const std::string& recipe = {});

/// Returns the project: the recipe, or the example for its data's kind, with these sizes, its blocks adapted to the
/// topology, and problems cured if a cure is known (heads that do not divide the width). It may still have problems.
/// Pictures are scaled to the recipe's size. Errors: an unknown topology or recipe, a recipe that reads other data, an
/// invalid size.
[[nodiscard]] Result<Project> projectFrom(const NewProject& wanted);

} // namespace residua::projects
