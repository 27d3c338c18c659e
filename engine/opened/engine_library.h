// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/opened/session_table.h"

namespace residua::engine {

/// Opens libresidua_engine.so where it lies beside the program, or where RESIDUA_ENGINE says, and LibTorch with it:
/// once for the process, which keeps it. An error says what was looked for, why it does not do, and the way on. Takes
/// some 0.5 s, in which no other thread can open a library; any thread.
[[nodiscard]] const Result<const SessionTable*>& openEngine();

} // namespace residua::engine
