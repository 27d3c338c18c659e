// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace residua::projects {

/// The help's page of every field of a project, in Markdown, from the schema: pointer, unit, range, choices, default
/// and the papers' value.
[[nodiscard]] std::string fieldReference();

} // namespace residua::projects
