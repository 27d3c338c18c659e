// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QTextStream>

#include <functional>

namespace residua::visualizers {

/// Writes the numbers of a plot with a header line. It owns its data, so that another thread can run it while the plot
/// changes.
using CsvText = std::function<void(QTextStream&)>;

/// Returns the text as a quoted CSV field.
[[nodiscard]] inline QString csvQuoted(QString text)
{
    return QLatin1Char('"') + text.replace(QLatin1Char('"'), QStringLiteral("\"\"")) + QLatin1Char('"');
}

} // namespace residua::visualizers
