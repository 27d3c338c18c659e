// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "projects/base/result.h"
#include "projects/diff/diff.h"

#include <cstdint>
#include <string>
#include <vector>

namespace residua::app {

/// A coefficient that two runs have in common.
struct CoefficientChange {
    engine::MatrixName matrix;
    std::int64_t source = 0;
    std::int64_t target = 0;
    float first = 0;
    float second = 0;
};

/// What two runs differ in.
struct RunComparison {
    engine::RunInfo first;
    engine::RunInfo second;
    std::vector<projects::Change> changes;       ///< of the project, the wiring's first
    std::vector<CoefficientChange> coefficients; ///< of the last recorded matrices, the largest difference first
    std::vector<engine::StepRecord> firstSteps;  ///< training losses, ascending
    std::vector<engine::StepRecord> secondSteps;
};

/// The training losses of both at one step.
struct LossPair {
    std::int64_t step = 0;
    double first = 0;
    double second = 0;
    bool operator==(const LossPair&) const = default;
};
/// At `count` steps at most, evenly spread over those that both have recorded, the first and the last among them.
[[nodiscard]] std::vector<LossPair> lossesBeside(const RunComparison& comparison, std::size_t count);

/// Blocking; any thread.
[[nodiscard]] Result<RunComparison> compareRuns(const std::string& first, const std::string& second);

} // namespace residua::app
