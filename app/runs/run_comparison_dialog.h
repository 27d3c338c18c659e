// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/records/run_comparison.h"
#include "resources/colours.h"

#include <QDialog>

#include <cstddef>
#include <string>
#include <vector>

namespace residua::visualizers {
class ShownRuns;
}

namespace residua::app {

/// The colours of the first and the second run, as counted by curveColour().
struct RunColours {
    std::size_t first = 0;
    std::size_t second = 1;
};
/// Returns the colours that the runs have in the plots; of a run that has none, one that the other does not have.
[[nodiscard]] RunColours coloursOf(const RunComparison& comparison, const visualizers::ShownRuns& shown);

/// Shows a comparison: both loss curves, and tables of results, losses by step, document and coefficients. Not modal.
class RunComparisonDialog : public QDialog {
    Q_OBJECT
public:
    RunComparisonDialog(const RunComparison& comparison, const RunColours& colours, resources::Theme theme,
                        QWidget* parent = nullptr);

signals:
    /// Emitted to show both runs side by side.
    void sidesRequested(const std::vector<std::string>& directories);
};

} // namespace residua::app
