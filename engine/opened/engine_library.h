// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/opened/session_table.h"

namespace residua::engine {

/// Opens libresidua_engine.so beside the program, or at RESIDUA_ENGINE, and LibTorch with it; the process keeps it
/// open. The error names the path, the cause and a remedy. Takes some 0.5 s, during which no other thread can open a
/// library. Any thread.
[[nodiscard]] const Result<const SessionTable*>& openEngine();

} // namespace residua::engine
