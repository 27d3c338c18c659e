// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>

namespace residua::engine {

/// Removes from a place's folder what was not used for the longest time, until its files are within
/// kPlaceLimit: first
/// files that no project has, then projects with the files that no other one has. Keeps the project of a run that is
/// being written, and what was used within the last day. A run whose project was removed gets it again when it is
/// used with a project. `scratch` is a folder on the same file system, for what is being removed.
void trimPlace(const std::filesystem::path& folder, const std::filesystem::path& scratch);

} // namespace residua::engine
