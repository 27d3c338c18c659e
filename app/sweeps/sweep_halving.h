// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/events.h"
#include "projects/studies/halving.h"
#include "projects/studies/sweep_grid.h"

#include <QObject>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace residua::app {

class RunController;
class RunsModel;

/// A sweep to be trained by successive halving.
struct HalvedSweep {
    std::vector<projects::SweepMember> members;
    projects::Sweep sweep;
    projects::Rungs rungs;
};

/// Trains a sweep by successive halving: one member at a time, each to its next rung, as what the runs have recorded
/// decides. Queued runs come first. A member that is stopped before its rung ends it. GUI thread; the runs are read on
/// another thread.
class SweepHalving : public QObject {
    Q_OBJECT
public:
    /// Both outlive it.
    SweepHalving(RunController& controller, const RunsModel& runs, QObject* parent = nullptr);

    /// Begins, or goes on where the runs of an earlier time were stopped. Replaces a sweep that is being trained.
    void start(HalvedSweep sweep);

signals:
    /// Emitted when no member is left to train, with the number of those that were left out.
    void finished(int leftOut);

private:
    using Turn = std::pair<std::size_t, std::int64_t>; ///< member and the step to stop after
    struct Decision {
        std::optional<Turn> turn;
        std::filesystem::path run; ///< to resume; empty: a new one
        int leftOut = 0;
    };
    void decide();
    void take(const Decision& decision);
    void onEnded(const engine::RunEnded& event);

    RunController& m_controller;
    const RunsModel& m_runs;
    HalvedSweep m_sweep;
    std::map<std::size_t, std::filesystem::path> m_begun; ///< by member; the list of runs may not have them yet
    std::set<Turn> m_tried;
    std::optional<Turn> m_training;
    std::uint64_t m_asked = 0; ///< decisions; older answers are dropped
};

} // namespace residua::app
