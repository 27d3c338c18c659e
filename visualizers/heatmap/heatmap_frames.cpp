// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/heatmap/heatmap_frames.h"

#include "engine/results/coefficients.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace residua::visualizers {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

} // namespace

std::shared_ptr<const engine::Matrix> HeatmapFrames::frameAt(const Frames& frames, std::int64_t step)
{
    if (frames.empty()) {
        return nullptr;
    }
    const auto after = std::upper_bound(frames.begin(), frames.end(), step,
                                        [](std::int64_t value, const auto& frame) { return value < frame->step; });
    return after == frames.begin() ? frames.front() : *std::prev(after);
}

void HeatmapFrames::clear()
{
    m_series.clear();
    m_pinned = 0;
    m_wiring.reset();
}

void HeatmapFrames::drop(const std::string& kind)
{
    std::erase_if(m_series, [&kind](const auto& series) { return series.first.kind == kind; });
}

void HeatmapFrames::pin(std::int64_t step)
{
    m_pinned = step;
    rangeAnew(CellValue::SincePinned);
}

void HeatmapFrames::appendCompared(const std::vector<engine::Matrix>& matrices)
{
    for (const engine::Matrix& matrix : matrices) {
        Frames& frames = m_other[matrix.name];
        cut(frames, matrix.step);
        frames.push_back(std::make_shared<const engine::Matrix>(matrix));
    }
    rangeAnew(CellValue::AgainstRun);
}

void HeatmapFrames::forgetCompared()
{
    m_other.clear();
    rangeAnew(CellValue::AgainstRun);
}

const engine::Matrix* HeatmapFrames::reference(const engine::Matrix& matrix, CellValue value) const
{
    const engine::Matrix* found = nullptr;
    if (value == CellValue::SinceStart) {
        found = &frame(matrix.name, 0);
    } else if (value == CellValue::SincePinned) {
        found = frameAt(m_series.at(matrix.name).frames, m_pinned).get();
    } else if (const auto other = m_other.find(matrix.name); other != m_other.end()) {
        found = frameAt(other->second, matrix.step).get();
    }
    return found && found->rows == matrix.rows && found->columns == matrix.columns ? found : nullptr;
}

void HeatmapFrames::cut(Frames& frames, std::int64_t step)
{
    const auto from = std::lower_bound(frames.begin(), frames.end(), step,
                                       [](const auto& frame, std::int64_t value) { return frame->step < value; });
    frames.erase(from, frames.end());
}

void HeatmapFrames::append(const engine::Matrix& matrix)
{
    Series& series = m_series[matrix.name];
    auto& frames = series.frames;
    const bool rewritten = !frames.empty() && frames.back()->step >= matrix.step;
    cut(frames, matrix.step);
    // Another shape is another network: what came before has nothing to be compared with.
    if (!frames.empty() && (frames.back()->rows != matrix.rows || frames.back()->columns != matrix.columns)) {
        frames.clear();
    }
    frames.push_back(std::make_shared<const engine::Matrix>(matrix));
    if (rewritten || frames.size() == 1) {
        series.ranges.clear();
        for (std::size_t i = 0; i < frames.size(); ++i) {
            widen(series, matrix.name, i);
        }
    } else {
        widen(series, matrix.name, frames.size() - 1);
    }
}

std::vector<engine::MatrixName> HeatmapFrames::names() const
{
    std::vector<engine::MatrixName> found;
    for (const auto& [name, series] : m_series) {
        found.push_back(name);
    }
    return found;
}

std::size_t HeatmapFrames::count(const engine::MatrixName& name) const
{
    const auto found = m_series.find(name);
    return found == m_series.end() ? 0 : found->second.frames.size();
}

const engine::Matrix& HeatmapFrames::frame(const engine::MatrixName& name, std::size_t index) const
{
    return *m_series.at(name).frames.at(index);
}

std::vector<std::shared_ptr<const engine::Matrix>> HeatmapFrames::at(std::int64_t step) const
{
    std::vector<std::shared_ptr<const engine::Matrix>> frames;
    for (const auto& [name, series] : m_series) {
        if (auto frame = frameAt(series.frames, step)) {
            frames.push_back(std::move(frame));
        }
    }
    return frames;
}

std::vector<double> HeatmapFrames::cells(const engine::MatrixName& name, std::size_t index, CellValue value) const
{
    const engine::Matrix& matrix = frame(name, index);
    std::vector<double> cells(matrix.values.begin(), matrix.values.end());
    if (value == CellValue::LogOfRowMax) {
        const engine::Matrix logs = engine::logOfRowMaximum(matrix);
        std::ranges::copy(logs.values, cells.begin());
    } else if (value != CellValue::Weight) {
        const engine::Matrix* less = reference(matrix, value);
        for (std::size_t i = 0; i < cells.size(); ++i) {
            cells[i] -= less ? less->values[i] : kNone;
        }
    }
    return cells;
}

engine::Matrix HeatmapFrames::shown(const engine::MatrixName& name, std::size_t index, CellValue value) const
{
    engine::Matrix matrix = frame(name, index);
    std::ranges::transform(cells(name, index, value), matrix.values.begin(),
                           [](double cell) { return static_cast<float>(cell); });
    return matrix;
}

HeatmapFrames::Range HeatmapFrames::range(const engine::MatrixName& name, CellValue value) const
{
    const auto series = m_series.find(name);
    if (series == m_series.end()) {
        return {};
    }
    const auto found = series->second.ranges.find(value);
    const bool known = found != series->second.ranges.end() && !found->second.empty();
    return known ? Range{found->second.low, found->second.high} : Range{};
}

projects::WeightScale HeatmapFrames::scale(const engine::MatrixName& name) const
{
    projects::FiniteRange ofPorts;
    for (const auto& [other, series] : m_series) {
        const auto range = series.ranges.find(CellValue::Weight);
        if (other.kind == name.kind && range != series.ranges.end()) {
            ofPorts.add(range->second);
        }
    }
    return projects::weightScale(m_wiring ? &*m_wiring : nullptr, name.quantity(), ofPorts);
}

void HeatmapFrames::rangeAnew(CellValue value)
{
    for (auto& [name, series] : m_series) {
        series.ranges.erase(value);
        for (std::size_t i = 0; i < series.frames.size(); ++i) {
            widen(series, name, i, value);
        }
    }
}

void HeatmapFrames::widen(Series& series, const engine::MatrixName& name, std::size_t index)
{
    for (const CellValue value : {CellValue::Weight, CellValue::SinceStart, CellValue::SincePinned,
                                  CellValue::AgainstRun, CellValue::LogOfRowMax}) {
        widen(series, name, index, value);
    }
}

void HeatmapFrames::widen(Series& series, const engine::MatrixName& name, std::size_t index, CellValue value)
{
    for (const double cell : cells(name, index, value)) {
        series.ranges[value].add(cell);
    }
}

} // namespace residua::visualizers
