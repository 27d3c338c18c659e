// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "visualizers/plot/series.h"

#include <QSize>
#include <QString>

#include <functional>

class QCustomPlot;
class QPixmap;

namespace residua::visualizers {

/// Returns the current plot with twice the pixels, without parts that only a screen needs. GUI thread.
[[nodiscard]] QPixmap pictureOf(QCustomPlot& plot);

/// The part of an export after the drawing: encodes and writes the file, which is complete or absent. Any thread.
/// Returns an error if the file cannot be written.
using ExportWork = std::function<Status()>;

/// Draws the plot with size `shape` for a PNG (twice the pixels), SVG or PDF, or uses `numbers` for a CSV. The path's
/// suffix selects the format. GUI thread. Returns an error for another suffix.
[[nodiscard]] Result<ExportWork> exportWork(QCustomPlot& plot, const std::function<CsvText()>& numbers,
                                            const QString& path, QSize shape);

} // namespace residua::visualizers
