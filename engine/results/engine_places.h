// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/session.h"
#include "projects/base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace residua::engine {

/// The place on this machine whose engine outlives the program. Its name is "background".
[[nodiscard]] EnginePlace backgroundPlace();

/// Returns the command lines that the user has named, from residua/places.json in the user's configuration. Empty if
/// there is no such file. The error names the field of a malformed one.
[[nodiscard]] Result<std::vector<EnginePlace>> namedPlaces();
/// Replaces that file. Refuses a name that is empty, reserved or used twice, and an empty command line.
[[nodiscard]] Status keepNamedPlaces(const std::vector<EnginePlace>& places);

/// Returns the place called `text`: "background", a name in the file, or a command line, which has a space. Empty: the
/// program's own child.
[[nodiscard]] Result<EnginePlace> placeCalled(const std::string& text);

/// Returns the place's name for people: its command line if it has no name.
[[nodiscard]] const std::string& titleOf(const EnginePlace& place);

/// The checkpoints of a run that are on another machine only.
struct DistantCheckpoints {
    std::string place;               ///< its title; empty for a run on this machine
    std::vector<std::int64_t> steps; ///< ascending
};
/// Blocking; any thread.
[[nodiscard]] DistantCheckpoints distantCheckpoints(const std::filesystem::path& run);

/// Returns the directory of the run that this user's background engine trains; empty if it trains no run.
[[nodiscard]] std::filesystem::path backgroundRun();

} // namespace residua::engine
