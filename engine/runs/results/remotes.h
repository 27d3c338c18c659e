// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/session.h"
#include "projects/base/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

struct RemoteRun;

/// The place on this machine whose engine outlives the program. Its name is "background".
[[nodiscard]] EngineRemote backgroundRemote();

/// Returns the file of named places, residua/places.json in the user's configuration; empty if the user has no folder
/// for it.
[[nodiscard]] std::filesystem::path remotesFile();
/// Returns the command lines that the user has named, from that file. Empty if there is no such file. The error names
/// the field of a malformed one.
[[nodiscard]] Result<std::vector<EngineRemote>> namedRemotes();
/// Replaces that file. Refuses a name that is empty, reserved, used twice or has control characters, and an empty
/// command line.
[[nodiscard]] Status keepNamedRemotes(const std::vector<EngineRemote>& places);
/// Adds a place to the file. Replaces the one with its name, if there is one.
[[nodiscard]] Status keepNamedRemote(const EngineRemote& place);

/// A place as a user has given it.
struct ChosenRemote {
    EngineRemote place;
    bool isNew = false;        ///< the list lacks it, or has another command line under its name
    std::string formerCommand; ///< that other command line; empty if the name is new
};
/// Returns the place that `text` gives: "background", a name in the list, NAME=COMMAND, or a command line, which has a
/// space and gets a name derived from it. Empty: the program's own child. `folder` is the folder on the other machine,
/// if that is given too; it makes another place, NAME:FOLDER, of a name that the list has with another folder. Returns
/// an error if the list lacks the name, and for a command line with a folder but no name, because its runs record the
/// name. Does not change the list.
[[nodiscard]] Result<ChosenRemote> chooseRemote(const std::string& text,
                                                const std::optional<std::filesystem::path>& folder = {});

/// Returns a place to add to the user's list for a run at the place that it calls `name`, in `folder` there. It has the
/// name if that is one word of a shell, and the command line that the list has under it, or else `formerCommand`.
[[nodiscard]] EngineRemote proposedRemote(const std::string& name, const std::filesystem::path& folder,
                                          const std::string& formerCommand);
/// Returns the place where `remote` is, with the command line from the user's list. The list has it under the same name
/// (or NAME:FOLDER) and folder, or with the command line that an earlier version recorded. The error says how to add
/// it to the list. `run` is the run's directory here, named in the error.
[[nodiscard]] Result<EngineRemote> placeOf(const RemoteRun& remote, const std::filesystem::path& run);
/// Records that the run in `run`, which is at a place with a folder, is at `place` now. Does nothing to a run on this
/// machine, and to one that records that already.
[[nodiscard]] Status recordRemote(const std::filesystem::path& run, const EngineRemote& place);

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
