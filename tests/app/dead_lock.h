// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/whole_file.h"

#include <QSysInfo>

#include <filesystem>
#include <string>

namespace residua::app {

/// Leaves the lock of a program that died in a project's folder, in the format of QLockFile: process, program, host.
inline bool leaveDeadLock(const std::filesystem::path& folder)
{
    const std::string nobody = "2147483647\nresidua\n" + QSysInfo::machineHostName().toStdString() + "\n";
    return writeFileAtomically(folder / ".residua.lock", nobody).ok();
}

} // namespace residua::app
