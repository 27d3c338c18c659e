// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/network/network.h"
#include "engine/queries/models/weight_reading.h"
#include "engine/runs/checkpoint.h"
#include "engine/runs/run_writer.h"
#include "engine/train/tensor_io.h"
#include "projects/base/result.h"

#include <cstdint>
#include <optional>

namespace residua::engine {

/// A network's weights as the checkpoint of step 0 of a new run, with an optimiser that begins anew, written a tensor
/// at a time. What is written of it goes with this value until end(). Engine thread.
class FirstCheckpoint {
public:
    /// `network` outlives it, and stays as it is meanwhile.
    FirstCheckpoint(RunWriter writer, CompiledNetwork& network);
    FirstCheckpoint(const FirstCheckpoint&) = delete;
    FirstCheckpoint& operator=(const FirstCheckpoint&) = delete;

    [[nodiscard]] Status begin();
    [[nodiscard]] bool atEnd() const { return m_checkpoint->atEnd(); }
    /// One tensor; none at the end.
    [[nodiscard]] Status writeNext();
    /// Brings it to its place, and what the writer holds so far; the run stands stopped then, so that it can be gone on
    /// with.
    [[nodiscard]] Status end();
    /// The share of the tensors that is written, now and then.
    [[nodiscard]] std::optional<double> takeShare() { return m_news.take(m_written, m_tensors.stored().size()); }

private:
    RunWriter m_writer;
    HostTensors m_tensors;
    HostTensors m_none; ///< of an optimiser: Optimiser::load begins anew then
    std::optional<CheckpointWriter> m_checkpoint;
    std::uint64_t m_written = 0;
    ShareNews m_news;
};

/// How far weights are that are first read and then written as such a checkpoint: half of it is reading. Now and then.
[[nodiscard]] std::optional<double> shareOf(std::optional<WeightReading>& reading,
                                            std::optional<FirstCheckpoint>& writing);

} // namespace residua::engine
