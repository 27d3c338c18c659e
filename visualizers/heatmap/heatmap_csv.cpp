// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/heatmap/heatmap_frames.h"

#include "visualizers/heatmap/distance_plot.h"

#include <cmath>

namespace residua::visualizers {
namespace {

constexpr int kCellDigits = 9; // exact for a float

/// Returns the name of a column of such values; empty for the recorded numbers, whose name is that of their matrix.
QString columnOf(CellValue value)
{
    switch (value) {
    case CellValue::Weight:
        break;
    case CellValue::SinceStart:
        return QStringLiteral("change_since_start");
    case CellValue::SincePinned:
        return QStringLiteral("change_since_pinned");
    case CellValue::AgainstRun:
        return QStringLiteral("difference");
    case CellValue::LogOfRowMax:
        return QStringLiteral("log_of_row_max");
    }
    return {};
}

QString headOf(const HeatmapSource& source)
{
    const QString value = columnOf(source.value);
    if (source.table == HeatmapTable::Distances) {
        const QString suffix = value.isEmpty() ? QString() : QLatin1Char('_') + value;
        return QStringLiteral("distance,count,median%1,percentile90%1").arg(suffix);
    }
    if (source.series.kind == engine::matrix::kRollout) {
        return QStringLiteral("column,row,") + (value.isEmpty() ? QStringLiteral("value") : value);
    }
    const bool ofOutputs = source.series.isOfOutputs();
    const QString recorded = ofOutputs ? QStringLiteral("count") : QStringLiteral("value");
    return (ofOutputs ? QStringLiteral("predicted,true,") : QStringLiteral("source,target,")) +
           (value.isEmpty() ? recorded : value);
}

void writeCells(QTextStream& out, const QString& lead, const engine::Matrix& matrix)
{
    const std::int64_t firstRow = matrix.name.isOfOutputs() ? 0 : 1; // classes count from 0, targets from 1
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
        for (std::int64_t column = 0; column < matrix.columns; ++column) {
            if (const float cell = matrix.at(row, column); !std::isnan(cell)) {
                out << lead << matrix.step << ',' << column << ',' << row + firstRow << ',' << cell << '\n';
            }
        }
    }
}

void writeDistances(QTextStream& out, const QString& lead, const engine::Matrix& matrix)
{
    for (const DistanceWeights& each : weightsByDistance(matrix)) {
        out << lead << matrix.step << ',' << each.distance << ',' << each.count << ',' << each.median << ','
            << each.high << '\n';
    }
}

} // namespace

CsvText heatmapCsv(const HeatmapFrames& frames, const HeatmapSource& source)
{
    return [frames, source](QTextStream& out) {
        const bool cells = source.table == HeatmapTable::Cells;
        const QString lead = csvQuoted(source.run) + QLatin1Char(',') + source.port + QLatin1Char(',');
        out.setRealNumberPrecision(kCellDigits);
        out << "run,port,step," << headOf(source) << '\n';
        for (std::size_t i = 0; i < frames.count(source.series); ++i) {
            const engine::Matrix matrix = frames.shown(source.series, i, source.value).matrix;
            cells ? writeCells(out, lead, matrix) : writeDistances(out, lead, matrix);
        }
    };
}

} // namespace residua::visualizers
