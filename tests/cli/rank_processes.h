// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/cli/ran_program.h"
#include "tests/support/free_port.h"

#include <memory>
#include <utility>

namespace residua::cli {

/// A rank among `count` that find each other at a port of this machine.
struct RankOf {
    int rank = 0;
    int count = 2;
    int port = 0;
};

/// Starts the program as one rank, as torchrun does, in `folder` if it is not empty.
inline std::unique_ptr<QProcess> startRank(const RankOf& place, const QStringList& words, const QString& folder = {})
{
    auto process = std::make_unique<QProcess>();
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("RANK", QString::number(place.rank));
    environment.insert("LOCAL_RANK", QString::number(place.rank));
    environment.insert("WORLD_SIZE", QString::number(place.count));
    environment.insert("MASTER_ADDR", "127.0.0.1");
    environment.insert("MASTER_PORT", QString::number(place.port));
    process->setProcessEnvironment(environment);
    process->setWorkingDirectory(folder);
    process->start(RESIDUA_CLI, words);
    return process;
}

} // namespace residua::cli
