// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "visualizers/plot/csv_text.h"

#include <QSize>
#include <QString>

#include <functional>

class QCustomPlot;
class QPixmap;

namespace residua::visualizers {

/// Returns the plot as it is, in twice the pixels, without what only a screen needs. GUI thread.
[[nodiscard]] QPixmap pictureOf(QCustomPlot& plot);

/// What is left of an export once the plot is drawn: to encode, and to write the file, which is complete or not there.
/// Any thread. Error: a place that cannot be written.
using ExportWork = std::function<Status()>;

/// Draws the plot as if it were of `shape`, for a PNG (twice the pixels), SVG or PDF, or takes its `numbers` for a CSV;
/// the path's suffix says which. GUI thread. Error: another suffix.
[[nodiscard]] Result<ExportWork> exportWork(QCustomPlot& plot, const std::function<CsvText()>& numbers,
                                            const QString& path, QSize shape);

} // namespace residua::visualizers
