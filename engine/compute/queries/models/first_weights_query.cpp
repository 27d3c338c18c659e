// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/queries/models/first_weights_query.h"

#include "engine/compute/train/trainer.h"

#include <utility>

namespace residua::engine {

FirstCheckpoint::FirstCheckpoint(RunWriter writer, CompiledNetwork& network)
    : m_writer(std::move(writer)), m_tensors(hostTensors(network.parameters()))
{
}

Status FirstCheckpoint::begin()
{
    // Flushes first, so that a run interrupted before its checkpoint still says that its weights are from elsewhere.
    RESIDUA_TRY(m_writer.flush());
    CheckpointState state;
    state.cursors = Trainer::firstCursors();
    CheckpointWriter checkpoint =
        RESIDUA_TRY(CheckpointWriter::begin(m_writer.directory(), state, m_tensors.stored(), m_none.stored()));
    m_checkpoint.emplace(std::move(checkpoint));
    return Done{};
}

Status FirstCheckpoint::writeNext()
{
    ++m_written;
    return m_checkpoint->writeNext();
}

Status FirstCheckpoint::end()
{
    RESIDUA_TRY(m_checkpoint->end({}));
    RESIDUA_TRY(m_writer.flush());
    RunInfo info = m_writer.info();
    info.status = RunStatus::Stopped;
    return m_writer.update(info);
}

std::optional<double> shareOf(std::optional<WeightReading>& reading, std::optional<FirstCheckpoint>& writing)
{
    const std::optional<double> part = writing ? writing->takeShare() : reading ? reading->takeShare() : std::nullopt;
    return part ? std::optional((writing ? 0.5 : 0.0) + *part / 2) : std::nullopt;
}

} // namespace residua::engine
