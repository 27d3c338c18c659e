// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/machine/machine.h"

#include <QString>

namespace residua::tests {

/// The Python that exported networks are compared with: the one that exports run.
[[nodiscard]] inline QString pythonProgram()
{
    return QString::fromStdString(engine::pythonCommand());
}

} // namespace residua::tests
