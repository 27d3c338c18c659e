// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "visualizers/heatmap/heatmap_frames.h"
#include "visualizers/plot/csv_text.h"

#include <QString>

namespace residua::visualizers {

enum class HeatmapTable { Cells, Distances };

/// The origin of a heatmap's numbers.
struct HeatmapSource {
    QString run;
    QString port;
    engine::MatrixName series;
    CellValue value{};
    HeatmapTable table{};
};

/// Returns the cells of every step as CSV: run, port and step before each cell, or before each distance with the median
/// and 90th percentile of its weights.
[[nodiscard]] CsvText heatmapCsv(const HeatmapFrames& frames, const HeatmapSource& source);

} // namespace residua::visualizers
