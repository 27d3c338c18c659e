// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Apart from the studies, because copying settings needs no study.

#include "projects/base/result.h"
#include "projects/model/project.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// Settings in the form FIELD=VALUE of `residua-cli set`, so that an edit of the window can be repeated in the
/// terminal. Pure functions; any thread.

/// Returns the settings that make `after` from `before`: the fields that differ, or parts around them if a key or an
/// entry of a list is gone. Topologies and alternatives are named if that is shorter ("/topology=dca"). Empty if the
/// projects are equal. The settings are applied here to see that they give exactly `after`.
[[nodiscard]] Result<std::vector<std::string>> settingsBetween(const Project& before, const Project& after);

/// Returns the setting of the field at `pointer` with its value in the project. If the file lacks the field, because it
/// has its default, the setting is that of the part around it. Nullopt if there is no such part.
[[nodiscard]] std::optional<std::string> settingAt(const Project& project, std::string_view pointer);

/// Returns `project` with the settings applied as `residua-cli set` does, in the order of settingTurn().
[[nodiscard]] Result<Project> withSettings(Project project, std::vector<std::string> settings);

/// Returns the command for a POSIX shell that applies the settings to the project in `directory`. The error says that a
/// setting is longer than a command line can hold.
[[nodiscard]] Result<std::string> setCommand(const std::filesystem::path& directory,
                                             const std::vector<std::string>& settings);

} // namespace residua::projects
