// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/result.h"

#include <QString>

class QCustomPlot;

namespace residua::visualizers {

/// Writes the plot as it is seen, as PNG (twice the pixels), SVG or PDF, or `csv` as text; the name's suffix says
/// which. The file is complete or not there. Errors: another suffix, a place that cannot be written.
[[nodiscard]] Status exportPlot(QCustomPlot& plot, const QString& csv, const QString& path);

} // namespace residua::visualizers
