// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace residua::projects {

/// Returns the help page of all fields of a project in Markdown, made from the schema: pointer, unit, range, choices,
/// default and the papers' value.
[[nodiscard]] std::string fieldReference();

} // namespace residua::projects
