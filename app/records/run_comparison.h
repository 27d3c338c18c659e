// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/values.h"
#include "projects/base/result.h"
#include "projects/diff/diff.h"

#include <cstdint>
#include <string>
#include <vector>

namespace residua::app {

/// A coefficient that both runs have.
struct CoefficientChange {
    engine::MatrixName matrix;
    std::int64_t source = 0;
    std::int64_t target = 0;
    float first = 0;
    float second = 0;
};

/// The differences between two runs.
struct RunComparison {
    engine::RunInfo first;
    engine::RunInfo second;
    std::vector<projects::Change> changes;       ///< of the project; those of the wiring first
    std::vector<CoefficientChange> coefficients; ///< of the last recorded matrices, the largest difference first
    std::vector<engine::StepRecord> firstSteps;  ///< training losses, ascending
    std::vector<engine::StepRecord> secondSteps;
};

/// The training losses of both runs at one step.
struct LossPair {
    std::int64_t step = 0;
    double first = 0;
    double second = 0;
    bool operator==(const LossPair&) const = default;
};
/// Returns pairs at `count` steps at most, evenly spaced over the common steps and including the first and last.
[[nodiscard]] std::vector<LossPair> lossesBeside(const RunComparison& comparison, std::size_t count);

/// Blocks; any thread.
[[nodiscard]] Result<RunComparison> compareRuns(const std::string& first, const std::string& second);

} // namespace residua::app
