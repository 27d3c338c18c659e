// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/events.h"
#include "projects/base/result.h"
#include "projects/model/project.h"
#include "visualizers/heatmap/heatmap_frames.h"
#include "visualizers/runs/shown_runs.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace residua::app {

/// The known part of a run: the last step of its curves, and of its matrices if they are known.
struct RunMark {
    std::int64_t step = -1;
    std::int64_t matrixStep = -1;
    bool operator==(const RunMark&) const = default;
};

/// Selects the matrices of a run to read. Matrices for heatmaps need far more memory than curves.
enum class Matrices {
    OfCurves, ///< only those that are drawn as curves (engine::isDrawnAsCurves)
    All,      ///< all of them; of those for heatmaps every n-th recorded step, so that they fit into memory
};

/// The curves and matrices of a run beyond `since` from its store; all other parts completely.
struct RunRecord {
    std::string directory;
    std::string name;
    std::vector<std::string> classes; ///< RunInfo::classes
    RunMark since;
    Matrices matrices = Matrices::OfCurves;
    projects::Project project;                 ///< the trained project
    engine::SpentFlops flops;                  ///< of the training; none if the project's shapes are unknown
    engine::Progress numbers;                  ///< its stages are all that have begun
    std::vector<resources::BoundCurve> bounds; ///< on its loss; only for a run that is read from its beginning
    std::int64_t lastCheckpoint = -1;          ///< the step of the last one that was written; -1: none
    std::vector<Error> faults;                 ///< omitted parts of a damaged store

    /// Returns the mark that includes this record.
    [[nodiscard]] RunMark mark() const;
};

/// Blocks; any thread. The matrices for heatmaps need at most about `matrixBytes`.
[[nodiscard]] Result<RunRecord> loadRunRecord(const std::string& directory, Matrices matrices,
                                              const RunMark& since = {},
                                              std::size_t matrixBytes = visualizers::kMostMatrixBytes);

/// Returns the start of the factors of a project's weights; nullopt if all weights have full rank.
[[nodiscard]] std::optional<projects::LowRankMethod> startOfFactors(const projects::Project& project);

} // namespace residua::app
