// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/queries.h"
#include "engine/base/api/session.h"
#include "projects/base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <type_traits>

namespace residua::engine {

/// The folders below a place's folder.
inline constexpr const char* kRemoteFiles = "files"; ///< the content of files, each named by its SHA-256
inline constexpr const char* kRemoteProjects =
    "projects"; ///< folders of links to them, named by a hash of what they hold
inline constexpr const char* kRemoteRuns = "runs";

template <class Asked, class... Kinds>
inline constexpr bool kIsOneOf = (std::is_same_v<Asked, Kinds> || ...);

/// True for a query about a checkpoint of a run that writes into no folder: it names no other path, or only one to
/// read, which must be empty (checkAtPlace).
template <class Asked>
[[nodiscard]] consteval bool asksOfRunAlone()
{
    bool alone = false;
    if constexpr (kIsQuery<Asked> && requires { &Asked::of; }) {
        alone = true;
        projects::Fields<Asked>::visit([&]<class Member>(const projects::Field&, Member Asked::*) {
            alone = alone && (kIsOneOf<Asked, EvaluateRequest> || !std::is_same_v<Member, std::filesystem::path>);
        });
    }
    return alone;
}

/// True for the commands that an engine takes at a place with a folder of its own.
template <class Asked>
inline constexpr bool kAtRemote = kControlsRun<Asked> ||
                                  asksOfRunAlone<Asked>() || kIsOneOf<Asked, StartRun, ResumeRun, ListDevices, GiveUp>;

/// Returns an error if `folder` has no room for so many bytes. `what` begins the end of its message: "the store needs".
[[nodiscard]] Status checkRoom(const std::filesystem::path& folder, std::uintmax_t bytes, const std::string& what);
/// Returns an error unless `path` is relative and leads to a place below `folder` without a link on its way.
[[nodiscard]] Status checkWithin(const std::filesystem::path& folder, const std::string& path);
/// Does so for the directory of a run, and for what is read in it: its record, store, project and checkpoints.
[[nodiscard]] Status checkRunWithin(const std::filesystem::path& folder, const std::string& run);
/// Returns an error if an engine that serves a place's folder must not take the command: because of its kind, or of a
/// path that is not below the folder or leads through a link.
[[nodiscard]] Status checkAtPlace(const std::filesystem::path& folder, const Command& command);

} // namespace residua::engine
