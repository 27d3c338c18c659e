// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/session/first_checkpoint.h"

#include "engine/runs/checkpoint.h"
#include "engine/train/tensor_io.h"
#include "engine/train/trainer.h"

namespace residua::engine {

Status writeFirstCheckpoint(RunWriter& writer, CompiledNetwork& network)
{
    CheckpointState state;
    state.cursors = Trainer::firstCursors();
    const HostTensors model = hostTensors(network.parameters());
    // An optimiser whose part of the checkpoint is empty begins anew (Optimiser::load).
    if (const Status written = writeCheckpoint(writer.directory(), state, model.stored(), {}, {}); !written) {
        return written;
    }
    if (const Status flushed = writer.flush(); !flushed) {
        return flushed;
    }
    RunInfo info = writer.info();
    info.status = RunStatus::Stopped;
    return writer.update(info);
}

} // namespace residua::engine
