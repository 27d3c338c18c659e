// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/heatmap/heatmap_frames.h"

#include "visualizers/heatmap/distance_plot.h"

#include <cmath>

namespace residua::visualizers {
namespace {

constexpr int kCellDigits = 9; // exact for a float

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
        out << "run,port,step,"
            << (!cells                        ? "distance,count,median,percentile90"
                : source.series.isOfOutputs() ? "predicted,true,count"
                                              : "source,target,value")
            << '\n';
        for (std::size_t i = 0; i < frames.count(source.series); ++i) {
            const engine::Matrix matrix = frames.shown(source.series, i, source.value).matrix;
            cells ? writeCells(out, lead, matrix) : writeDistances(out, lead, matrix);
        }
    };
}

} // namespace residua::visualizers
