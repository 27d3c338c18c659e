// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/project.h"

#include <string>
#include <string_view>

namespace residua::projects {

/// The document as text: stable key order, one value a line where it can change alone, a newline at the
/// end. toJson(fromJson(toJson(p))) has the same bytes.
[[nodiscard]] std::string toJson(const Project& project);
[[nodiscard]] std::string toJson(const Layout& layout);

/// Errors carry the JSON pointer (or the line and column of a syntax error) as their place, what was got
/// and what was expected. Unknown keys are errors, so that a misspelt one is never ignored. Older
/// schemas are migrated; a newer one is refused. Never throws.
[[nodiscard]] Result<Project> projectFromJson(std::string_view text);
[[nodiscard]] Result<Layout> layoutFromJson(std::string_view text);

} // namespace residua::projects
