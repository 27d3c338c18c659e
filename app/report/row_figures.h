// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/report/svg_plot.h"
#include "engine/results/run_reader.h"

#include <vector>

namespace residua::report {

/// Returns a run's recorded numbers of its layers, or of the degrees of its target, as curves over the steps
/// (row_curves.h). Includes as many columns as a page has colours, evenly spaced, with the first and the last.
[[nodiscard]] std::vector<PlotSpec> rowFigures(const engine::RunReader& run);

/// The recorded error of every degree of a Boolean polynomial, from degree 1, over the steps; without names. Empty
/// where none is recorded.
[[nodiscard]] std::vector<Curve> degreeErrors(const engine::RunReader& run);

} // namespace residua::report
