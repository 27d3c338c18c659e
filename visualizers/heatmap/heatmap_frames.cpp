// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/heatmap/heatmap_frames.h"

#include "engine/runs/results/coefficients.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace residua::visualizers {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

} // namespace

std::size_t bytesOf(const engine::Matrix& matrix)
{
    return matrix.values.size() * sizeof(matrix.values.front());
}

std::size_t HeatmapFrames::indexAt(const Frames& frames, std::int64_t step)
{
    const auto after = std::upper_bound(frames.begin(), frames.end(), step,
                                        [](std::int64_t value, const auto& frame) { return value < frame->step; });
    return after == frames.begin() ? 0 : static_cast<std::size_t>(after - frames.begin()) - 1;
}

std::shared_ptr<const engine::Matrix> HeatmapFrames::frameAt(const Frames& frames, std::int64_t step)
{
    return frames.empty() ? nullptr : frames[indexAt(frames, step)];
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

void HeatmapFrames::appendCompared(std::vector<engine::Matrix> matrices)
{
    for (engine::Matrix& matrix : matrices) {
        Frames& frames = m_other[matrix.name];
        cut(frames, matrix.step);
        frames.push_back(std::make_shared<const engine::Matrix>(std::move(matrix)));
    }
    for (std::size_t before = 0; comparedBytes() > m_byteLimit && comparedBytes() != before;) {
        before = comparedBytes();
        for (auto& [name, frames] : m_other) {
            thinOut(frames);
        }
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
    // Another shape is another network, so earlier frames cannot be compared.
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
    if (bytes() > m_byteLimit) {
        thinOut();
    }
}

std::size_t HeatmapFrames::bytes() const
{
    std::size_t sum = 0;
    for (const auto& [name, series] : m_series) { // the frames of a matrix have one shape
        sum += series.frames.empty() ? 0 : series.frames.size() * bytesOf(*series.frames.front());
    }
    return sum;
}

std::size_t HeatmapFrames::comparedBytes() const
{
    std::size_t sum = 0;
    for (const auto& [name, frames] : m_other) {
        for (const auto& frame : frames) {
            sum += bytesOf(*frame);
        }
    }
    return sum;
}

/// The ranges of the colours stay, so that they do not change.
void HeatmapFrames::thinOut()
{
    for (auto& [name, series] : m_series) {
        thinOut(series.frames);
    }
}

void HeatmapFrames::thinOut(Frames& frames) const
{
    const std::shared_ptr<const engine::Matrix> pinned = frameAt(frames, m_pinned);
    Frames kept;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        if (i % 2 == 0 || i + 1 == frames.size() || frames[i] == pinned) {
            kept.push_back(frames[i]);
        }
    }
    frames = std::move(kept);
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

std::vector<double> HeatmapFrames::cells(const engine::MatrixName& name, std::size_t index, CellValue value) const
{
    const engine::Matrix& matrix = frame(name, index);
    std::vector<double> cells(matrix.values.begin(), matrix.values.end());
    if (value == CellValue::LogOfRowMax) {
        const engine::Matrix logs = engine::logOfRowMaximum(matrix);
        std::ranges::copy(logs.values, cells.begin());
    } else if (value != CellValue::Weight) {
        const engine::Matrix* less = reference(matrix, value);
        // A shortcut that did not exist at the start begins at 0.
        const bool begins = value == CellValue::SinceStart && matrix.name.isOfShortcuts();
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const double before = less ? less->values[i] : kNone;
            cells[i] -= begins && std::isnan(before) ? 0 : before;
        }
    }
    return cells;
}

HeatmapFrames::Shown HeatmapFrames::shown(const engine::MatrixName& name, std::size_t index, CellValue value) const
{
    Shown shown{frame(name, index), scale(name, value), value};
    const std::vector<double> numbers = cells(name, index, value);
    shown.matrix.values.assign(numbers.begin(), numbers.end());
    return shown;
}

std::vector<HeatmapFrames::Shown>
HeatmapFrames::shownAt(std::int64_t step, const std::function<CellValue(const std::string& kind)>& valueOf) const
{
    std::vector<Shown> all;
    for (const auto& [name, series] : m_series) {
        const CellValue value = valueOf(name.kind);
        const bool hasLogs = name.kind == engine::matrix::kMix || name.kind == engine::matrix::kFeature;
        const bool has = name.kind == engine::matrix::kActive ? false : value != CellValue::LogOfRowMax || hasLogs;
        all.push_back(shown(name, indexAt(series.frames, step), has ? value : CellValue::Weight));
    }
    return all;
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

projects::FiniteRange HeatmapFrames::rangeOfKind(const std::string& kind, CellValue value) const
{
    projects::FiniteRange ofPorts;
    for (const auto& [name, series] : m_series) {
        const auto range = series.ranges.find(value);
        if (name.kind == kind && range != series.ranges.end()) {
            ofPorts.add(range->second);
        }
    }
    return ofPorts;
}

/// The first frames of a single feature are those of the first checkpoint, not of the start.
bool HeatmapFrames::startApart(const std::string& kind) const
{
    const engine::MatrixName name(kind);
    const std::optional<double> centre = name.isOfShortcuts() ? scale(name).centre : std::nullopt;
    return centre && kind != engine::matrix::kFeature && std::ranges::any_of(m_series, [&](const auto& item) {
               return item.first.kind == kind && !engine::isEverywhere(*item.second.frames.front(), *centre);
           });
}

projects::WeightScale HeatmapFrames::scale(const engine::MatrixName& name, CellValue value) const
{
    const projects::FiniteRange range = rangeOfKind(name.kind, value);
    if (value == CellValue::Weight) {
        return projects::weightScale(m_wiring ? &*m_wiring : nullptr, name.quantity(), range);
    }
    if (value == CellValue::LogOfRowMax) {
        return {{}, range.low < 0 ? -projects::magnitudeScale(-range.low).high : -1, 0};
    }
    return range.empty() ? projects::differenceScale(-1, 1) : projects::differenceScale(range.low, range.high);
}

projects::WeightScale commonScale(const std::vector<projects::WeightScale>& scales)
{
    projects::WeightScale common = scales.front();
    bool oneCentre = true;
    for (const projects::WeightScale& scale : scales) {
        common.low = std::min(common.low, scale.low);
        common.high = std::max(common.high, scale.high);
        oneCentre = oneCentre && scale.centre == common.centre;
    }
    if (!oneCentre) {
        common.centre = common.low < 0 ? std::optional(0.0) : std::nullopt;
    }
    if (common.centre) {
        const double reach = std::max(common.high - *common.centre, *common.centre - common.low);
        common.low = *common.centre - reach;
        common.high = *common.centre + reach;
    }
    return common;
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
