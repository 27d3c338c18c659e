// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/network/network.h"
#include "engine/runs/run_writer.h"
#include "projects/base/result.h"

namespace residua::engine {

/// Writes the network's weights as the checkpoint of step 0 of a new run, with an optimiser that begins anew, and what
/// the writer holds so far; the run stands stopped then, so that it can be gone on with.
[[nodiscard]] Status writeFirstCheckpoint(RunWriter& writer, CompiledNetwork& network);

} // namespace residua::engine
