// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/machine/background_files.h"

#include <sys/socket.h>

#include <csignal>

namespace residua::tests {

/// Returns the process of this user's background engine; 0 if none listens.
[[nodiscard]] inline pid_t backgroundEngine()
{
    const auto files = engine::backgroundFiles();
    const auto socket = files ? engine::connectToBackground(*files) : files.error();
    ucred peer{};
    socklen_t size = sizeof peer;
    const bool known =
        socket && socket->isOpen() && getsockopt(socket->get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
    return known ? peer.pid : 0;
}

/// True if a background engine of this user runs.
[[nodiscard]] inline bool hasBackgroundEngine()
{
    const auto files = engine::backgroundFiles();
    return files && engine::isBackgroundLocked(*files);
}

/// Asks the background engine to end, after a checkpoint of its run.
inline void endBackgroundEngine()
{
    if (const pid_t engine = backgroundEngine(); engine > 0) {
        ::kill(engine, SIGTERM);
    }
}

} // namespace residua::tests
