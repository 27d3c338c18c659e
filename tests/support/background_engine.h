// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/machine/background_files.h"

#include <QStringList>
#include <QtTest>

#include <sys/socket.h>

#include <csignal>
#include <fstream>
#include <string>

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

/// True if the engine uses no processor time for a while.
[[nodiscard]] inline bool rests(pid_t engine = backgroundEngine())
{
    constexpr int kRest = 300; // milliseconds
    const auto ticks = [engine] {
        std::ifstream file("/proc/" + std::to_string(engine) + "/stat");
        std::string line;
        std::getline(file, line);
        const QStringList fields = QString::fromStdString(line.substr(line.rfind(')') + 2)).split(' ');
        return fields.value(11).toLongLong() + fields.value(12).toLongLong(); // utime and stime
    };
    const auto before = ticks();
    QTest::qWait(kRest);
    return ticks() == before;
}

} // namespace residua::tests
