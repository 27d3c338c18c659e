// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/heatmap_frames.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace residua::visualizers {

void HeatmapFrames::append(const engine::Matrix& matrix)
{
    Series& series = m_series[matrix.name];
    auto& frames = series.frames;
    const auto cut = std::lower_bound(frames.begin(), frames.end(), matrix.step,
                                      [](const engine::Matrix& frame, std::int64_t step) { return frame.step < step; });
    const bool rewritten = cut != frames.end();
    frames.erase(cut, frames.end());
    // Another shape is another network: what came before has nothing to be compared with.
    if (!frames.empty() && (frames.back().rows != matrix.rows || frames.back().columns != matrix.columns)) {
        frames.clear();
    }
    frames.push_back(matrix);
    if (rewritten || frames.size() == 1) {
        series.ranges.clear();
        for (std::size_t i = 0; i < frames.size(); ++i) {
            widen(series, matrix.name, i);
        }
    } else {
        widen(series, matrix.name, frames.size() - 1);
    }
}

std::vector<std::string> HeatmapFrames::names() const
{
    std::vector<std::string> found;
    for (const auto& [name, series] : m_series) {
        found.push_back(name);
    }
    return found;
}

std::size_t HeatmapFrames::count(const std::string& name) const
{
    const auto found = m_series.find(name);
    return found == m_series.end() ? 0 : found->second.frames.size();
}

const engine::Matrix& HeatmapFrames::frame(const std::string& name, std::size_t index) const
{
    return m_series.at(name).frames.at(index);
}

std::vector<double> HeatmapFrames::cells(const std::string& name, std::size_t index, CellValue value) const
{
    const engine::Matrix& matrix = frame(name, index);
    std::vector<double> cells(matrix.values.begin(), matrix.values.end());
    if (value == CellValue::SinceStart) {
        const engine::Matrix& first = frame(name, 0);
        for (std::size_t i = 0; i < cells.size(); ++i) {
            cells[i] -= first.values[i];
        }
    } else if (value == CellValue::LogOfRowMax) {
        for (std::int64_t row = 0; row < matrix.rows; ++row) {
            const auto begin = cells.begin() + row * matrix.columns;
            const auto end = begin + matrix.columns;
            double largest = 0;
            std::for_each(begin, end, [&largest](double cell) { largest = std::fmax(largest, cell); });
            // A weight that is not positive has no logarithm: its cell stays empty.
            std::transform(begin, end, begin, [largest](double cell) {
                return cell > 0 ? std::log(cell / largest) : std::numeric_limits<double>::quiet_NaN();
            });
        }
    }
    return cells;
}

HeatmapFrames::Range HeatmapFrames::range(const std::string& name, CellValue value) const
{
    const auto series = m_series.find(name);
    if (series == m_series.end()) {
        return {};
    }
    const auto found = series->second.ranges.find(value);
    return found == series->second.ranges.end() ? Range{} : found->second;
}

void HeatmapFrames::widen(Series& series, const std::string& name, std::size_t index)
{
    for (const CellValue value : {CellValue::Weight, CellValue::SinceStart, CellValue::LogOfRowMax}) {
        for (const double cell : cells(name, index, value)) {
            if (!std::isfinite(cell)) {
                continue;
            }
            const auto [known, fresh] = series.ranges.try_emplace(value, Range{cell, cell});
            known->second.low = std::min(known->second.low, cell);
            known->second.high = std::max(known->second.high, cell);
        }
    }
}

} // namespace residua::visualizers
