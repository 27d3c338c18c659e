// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/report/svg_plot.h"
#include "engine/results/run_reader.h"

#include <vector>

namespace residua::report {

/// What a run has recorded of its layers, or of the degrees of its target, as curves over the steps (row_curves.h): of
/// as many columns as a page has colours, evenly picked, the first and the last among them.
[[nodiscard]] std::vector<PlotSpec> rowFigures(const engine::RunReader& run);

/// The recorded error of every degree of a Boolean polynomial, from degree 1, over the steps; without names. Empty
/// where none is recorded.
[[nodiscard]] std::vector<Curve> degreeErrors(const engine::RunReader& run);

} // namespace residua::report
