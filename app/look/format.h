// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/data_source.h"
#include "projects/nodes/example_schema.h"

#include <QDateTime>
#include <QString>

#include <cstdint>
#include <span>
#include <string_view>

namespace residua::app {

/// 950, "12.3 k", "4.56 M", "1.20 G": three significant digits.
[[nodiscard]] QString formatCount(double value);
/// A difference with its sign, its size written by `format`: "+1.20 k", "−3", "±0".
[[nodiscard]] QString formatChange(double change, QString (*format)(double));
/// "512 B", "1.5 KiB", "2.31 GiB".
[[nodiscard]] QString formatBytes(double bytes);
/// "12 s", "3 min 05 s", "2 h 14 min", "1 d 06 h"; negative or not finite: "—".
[[nodiscard]] QString formatDuration(double seconds);
/// A moment in UTC, ISO 8601, in the user's time: "14:05:09" on the day of `now`, else "3 Nov 14:05", or "3 Nov 2025
/// 14:05" in another year. The text itself where it is no moment.
[[nodiscard]] QString formatMoment(const QString& utc, const QDateTime& now);
/// The shortest text that reads back as the same number: "0.001", "1e-08", "256".
[[nodiscard]] QString formatReal(double value);
/// A loss with `digits` significant digits; "—" where there is none.
[[nodiscard]] QString formatLoss(double loss, int digits = 5);
/// "1,234,567", as on the canvases and in the terminal: groupedText (projects/base/text.h).
[[nodiscard]] QString formatWhole(std::int64_t value);
/// What is counted of the data: "token" or "sample".
[[nodiscard]] QString formatUnit(const projects::DataSource& data);
/// The filters of a file dialog, "Texts (*.txt *.md);;Any file (*)": files with one of these endings, compressed or
/// not, or all.
[[nodiscard]] QString fileFilter(const QString& title, std::span<const std::string_view> endings);
/// The plural of what is counted: "tokens" or "samples".
[[nodiscard]] QString formatUnits(projects::Unit unit);

} // namespace residua::app
