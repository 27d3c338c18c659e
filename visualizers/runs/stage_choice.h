// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "visualizers/runs/shown_runs.h"

#include <string>
#include <vector>

namespace residua::visualizers {

/// The run whose stages a plot shows: the one that the user chose, else the one in front, else the first that has
/// stages. GUI thread.
class StageChoice {
public:
    using Staged = std::vector<const ShownRuns::Run*>; ///< runs that have stages

    /// Chooses the stages of a run by its index; any greater index chooses no stages.
    void choose(const Staged& runs, int index);
    /// Returns to the run in front.
    void forget() { m_run.clear(); }
    /// Null if there is no run, or no stages were chosen.
    [[nodiscard]] const ShownRuns::Run* pick(const Staged& runs, const std::string& front) const;

private:
    std::string m_run; ///< empty if none was chosen
    bool m_none = false;
};

} // namespace residua::visualizers
