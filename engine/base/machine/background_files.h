// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/files.h"
#include "projects/base/result.h"

#include <sys/types.h>

#include <filesystem>
#include <optional>

namespace residua::engine {

/// The files of this user's background engine.
struct BackgroundFiles {
    std::filesystem::path folder;

    [[nodiscard]] std::filesystem::path socket() const { return folder / "engine.socket"; }
    /// Locked by the engine while it runs.
    [[nodiscard]] std::filesystem::path lock() const { return folder / "engine.lock"; }
    /// The output of the engine and its libraries.
    [[nodiscard]] std::filesystem::path log() const { return folder / "engine.log"; }
    /// The directory of the run under way.
    [[nodiscard]] std::filesystem::path run() const { return folder / "engine.run"; }
};

/// Returns the files in the folder residua of XDG_RUNTIME_DIR, or background in the user's cache if that is not set.
/// Makes the folder with the rights of this user only. Refuses a folder that others may enter or that belongs to
/// another user.
[[nodiscard]] Result<BackgroundFiles> backgroundFiles();

/// Opens the log of this user's background engine for reading, without creating anything. Returns a closed
/// descriptor if the log does not exist or is not a regular file of this user.
[[nodiscard]] FileDescriptor readBackgroundLog();

/// Takes the lock, which the system releases when the process and its forks have ended. Returns a closed descriptor if
/// another process holds it.
[[nodiscard]] Result<FileDescriptor> lockBackground(const BackgroundFiles& files);
/// True if `lock` is still the lock in that folder, and not a removed file.
[[nodiscard]] bool isLockOf(const BackgroundFiles& files, const FileDescriptor& lock);
/// Notes in the lock that this process, a fork of the one that took it, holds it.
void noteBackgroundOwner(const FileDescriptor& lock);
/// True if an engine holds the lock.
[[nodiscard]] bool isBackgroundLocked(const BackgroundFiles& files);
/// Returns the process that holds the lock; nullopt if none does.
[[nodiscard]] std::optional<pid_t> backgroundOwner(const BackgroundFiles& files);

/// Listens on the socket, which only this user may use. Replaces a socket without an engine; the caller has the lock.
[[nodiscard]] Result<FileDescriptor> listenInBackground(const BackgroundFiles& files);
/// Connects to the socket. Returns a closed descriptor if no process listens.
[[nodiscard]] Result<FileDescriptor> connectToBackground(const BackgroundFiles& files);
/// True if the other end of a connection is a process of this user.
[[nodiscard]] bool isOwnPeer(int connection);

} // namespace residua::engine
