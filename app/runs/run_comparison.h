// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "projects/diff.h"
#include "projects/result.h"

#include <QDialog>

#include <string>
#include <vector>

namespace residua::app {

/// A coefficient that two runs have in common.
struct CoefficientChange {
    std::string matrix; ///< "mix", "mix/q", …
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
};

/// Blocking; any thread.
[[nodiscard]] Result<RunComparison> compareRuns(const std::string& first, const std::string& second);

/// Shows a comparison as three tables: document, results, coefficients. Not modal.
class RunComparisonDialog : public QDialog {
    Q_OBJECT
public:
    explicit RunComparisonDialog(const RunComparison& comparison, QWidget* parent = nullptr);
};

} // namespace residua::app
