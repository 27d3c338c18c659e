// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QTextStream>

#include <functional>

namespace residua::visualizers {

/// Writes the numbers behind a plot, a header line first. It owns what it writes, so that a thread can do so while the
/// plot goes on.
using CsvText = std::function<void(QTextStream&)>;

/// The text as a field of CSV, in quotes, whatever it holds.
[[nodiscard]] inline QString csvQuoted(QString text)
{
    return QLatin1Char('"') + text.replace(QLatin1Char('"'), QStringLiteral("\"\"")) + QLatin1Char('"');
}

} // namespace residua::visualizers
