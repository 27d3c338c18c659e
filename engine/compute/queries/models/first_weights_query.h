// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/network/network.h"
#include "engine/compute/queries/base/staged_query.h"
#include "engine/compute/queries/models/weight_reading.h"
#include "engine/compute/train/tensor_io.h"
#include "engine/runs/store/checkpoint.h"
#include "engine/runs/store/run_writer.h"
#include "projects/base/result.h"

#include <cstdint>
#include <optional>

namespace residua::engine {

/// Writes a network's weights as the checkpoint of step 0 of a new run, with an empty optimiser state, one tensor at a
/// time. The destructor removes the files unless end() was called. Engine thread.
class FirstCheckpoint {
public:
    /// `network` must outlive this and must not change.
    FirstCheckpoint(RunWriter writer, CompiledNetwork& network);
    FirstCheckpoint(const FirstCheckpoint&) = delete;
    FirstCheckpoint& operator=(const FirstCheckpoint&) = delete;

    [[nodiscard]] Status begin();
    [[nodiscard]] bool atEnd() const { return m_checkpoint->atEnd(); }
    /// Writes one tensor; does nothing at the end.
    [[nodiscard]] Status writeNext();
    /// Moves the checkpoint to its place and flushes the writer. The run's status is then Stopped, so that it can be
    /// resumed.
    [[nodiscard]] Status end();
    /// Returns the fraction of the tensors that is written; nullopt between updates.
    [[nodiscard]] std::optional<double> takeShare() { return m_news.take(m_written, m_tensors.stored().size()); }

private:
    RunWriter m_writer;
    HostTensors m_tensors;
    HostTensors m_none; ///< of the optimiser: Optimiser::load then starts afresh
    std::optional<CheckpointWriter> m_checkpoint;
    std::uint64_t m_written = 0;
    ShareNews m_news;
};

/// Returns the progress of weights that are read and then written as such a checkpoint; reading counts as half. nullopt
/// between updates.
[[nodiscard]] std::optional<double> shareOf(std::optional<WeightReading>& reading,
                                            std::optional<FirstCheckpoint>& writing);

/// A staged query that reads weights from elsewhere and writes them as the first checkpoint of a run. `Own` must reset
/// m_writing in its destructor if the writing uses its members.
template <class Own, class Request, class Ready>
class FirstWeightsQuery : public StagedQuery<Own, Request, Ready> {
    using Base = StagedQuery<Own, Request, Ready>;

public:
    using Base::Base;

    std::optional<Event> takeNews() final
    {
        const std::optional<double> share = shareOf(m_reading, m_writing);
        return share ? std::optional<Event>(QueryProgress{this->tag(), *share}) : std::nullopt;
    }

protected:
    using typename Base::Stage;

    Status readTensor() { return m_reading->readNext(); }
    Status writeTensor() { return m_writing->writeNext(); }

    std::optional<WeightReading> m_reading;   ///< refers to the files, which `Own` keeps
    std::optional<FirstCheckpoint> m_writing; ///< set while an incomplete run exists

private:
    [[nodiscard]] bool hasMore(Stage stage) const final
    {
        const Stage reading = &FirstWeightsQuery::readTensor;
        const Stage writing = &FirstWeightsQuery::writeTensor;
        return (stage == reading && !m_reading->atEnd()) || (stage == writing && !m_writing->atEnd());
    }
};

} // namespace residua::engine
