// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/report/report.h"
#include "engine/base/api/gap.h"
#include "engine/base/api/values.h"
#include "engine/runs/results/run_groups.h"
#include "projects/model/project.h"
#include "resources/plot.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace residua::report {

/// A run of a comparison.
struct ComparedRun {
    std::string label; ///< name of its directory; then its label among the others (engine::RunGroups)
    engine::RunInfo info;
    projects::Project project;
    std::map<std::string, std::vector<engine::MetricPoint>> metrics = {}; ///< those that rate it, and the seconds
    std::int64_t parameters = 0;
    double flops = 0;                    ///< spent so far
    bool isCostWhole = true;             ///< false if FLOP do not include the training of its initial weights
    std::optional<engine::Gap> gap = {}; ///< of its factors at the start
    std::vector<resources::PlotCurve> degrees = {}; ///< the error of each degree of its target (degreeErrors)

    [[nodiscard]] const std::vector<engine::MetricPoint>& metric(const std::string& name) const;
    [[nodiscard]] const std::vector<engine::MetricPoint>& seconds() const { return metric(engine::metric::kSeconds); }
};

/// The runs that can be read, by their directories' names, and the reasons why others cannot be shown.
struct ComparedRuns {
    std::vector<ComparedRun> runs;
    std::vector<std::string> faults;
};
[[nodiscard]] ComparedRuns readRuns(std::span<const engine::RunInfo> listed);

} // namespace residua::report
