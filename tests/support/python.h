// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/child_process.h"

#include <QString>

namespace residua::tests {

/// The Python that exported networks are compared with: the one that exports run.
[[nodiscard]] inline QString pythonProgram()
{
    return QString::fromStdString(pythonCommand());
}

} // namespace residua::tests
