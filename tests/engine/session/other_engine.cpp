// SPDX-License-Identifier: GPL-3.0-or-later
// A library that is taken for the engine's by all but the build that it says it is of. Its table has no functions.
#include "engine/opened/session_table.h"

extern "C" __attribute__((visibility("default"))) const residua::engine::SessionTable* residuaEngine()
{
    static const residua::engine::SessionTable table{.build = "of another day"};
    return &table;
}
