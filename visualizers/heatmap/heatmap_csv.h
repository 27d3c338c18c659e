// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "visualizers/heatmap/heatmap_frames.h"
#include "visualizers/plot/csv_text.h"

#include <QString>

namespace residua::visualizers {

enum class HeatmapTable { Cells, Distances };

/// What a heatmap's numbers are of.
struct HeatmapSource {
    QString run;
    QString port;
    engine::MatrixName series;
    CellValue value{};
    HeatmapTable table{};
};

/// The cells of every step as CSV: run, port and step before each cell, or before each distance with its weights'
/// median and 90th percentile.
[[nodiscard]] CsvText heatmapCsv(const HeatmapFrames& frames, const HeatmapSource& source);

} // namespace residua::visualizers
