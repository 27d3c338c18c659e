// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace residua::resources {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kPointsAColumn = 4;

} // namespace

Curve::Cell Curve::none()
{
    return {kInfinity, -kInfinity, 0};
}

Curve::Cell Curve::cellOf(double y)
{
    if (std::isfinite(y)) {
        return {y, y, 0};
    }
    Cell cell = none();
    cell.broken = std::isnan(y) ? kNaN : y > 0 ? kAbove : kBelow;
    return cell;
}

void Curve::join(Cell& cell, const Cell& other)
{
    cell.low = std::min(cell.low, other.low);
    cell.high = std::max(cell.high, other.high);
    cell.broken |= other.broken;
}

void Curve::append(std::span<const double> positions, double y)
{
    if (size() > 0 && positions.front() < m_x.front().back()) {
        truncate(indexOf(positions.front()));
    }
    std::size_t index = size();
    for (std::size_t axis = 0; axis < m_x.size(); ++axis) {
        m_x[axis].push_back(positions[axis]);
    }
    m_y.push_back(y);
    const Cell cell = cellOf(y);
    // A level exists if the level below it has more than one cell.
    for (std::size_t level = 0;; ++level) {
        index /= kFan;
        if (level == m_levels.size()) {
            if (size() <= kFan || (level > 0 && m_levels[level - 1].size() <= kFan)) {
                return;
            }
            m_levels.emplace_back(index + 1, none());
            for (std::size_t below = 0; level > 0 && below < m_levels[level - 1].size(); ++below) {
                join(m_levels[level][below / kFan], m_levels[level - 1][below]);
            }
            for (std::size_t point = 0; level == 0 && point < m_y.size(); ++point) {
                join(m_levels[0][point / kFan], cellOf(m_y[point]));
            }
            continue;
        }
        if (index == m_levels[level].size()) {
            m_levels[level].push_back(none());
        }
        join(m_levels[level][index], cell);
    }
}

void Curve::setAxis(std::size_t axis, double unit)
{
    m_axis = axis;
    m_unit = unit;
}

void Curve::truncate(std::size_t size)
{
    if (size >= m_y.size()) {
        return;
    }
    for (std::vector<double>& positions : m_x) {
        positions.resize(size);
    }
    m_y.resize(size);
    std::size_t cells = size;
    for (std::size_t level = 0; level < m_levels.size(); ++level) {
        const std::size_t below = cells;
        cells = (cells + kFan - 1) / kFan;
        m_levels[level].resize(cells);
        if (cells == 0) {
            continue;
        }
        // The last cell may include points that were removed.
        Cell& last = m_levels[level].back();
        last = none();
        for (std::size_t i = (cells - 1) * kFan; i < below; ++i) {
            join(last, level == 0 ? cellOf(m_y[i]) : m_levels[level - 1][i]);
        }
    }
}

std::size_t Curve::lowerBound(double x) const
{
    return lowerBound(0, size(), x);
}

std::size_t Curve::lowerBound(std::size_t from, std::size_t to, double x) const
{
    const auto begin = m_x[m_axis].begin();
    const auto found =
        std::lower_bound(begin + static_cast<std::ptrdiff_t>(from), begin + static_cast<std::ptrdiff_t>(to), x,
                         [this](double position, double value) { return position * m_unit < value; });
    return static_cast<std::size_t>(found - begin);
}

std::size_t Curve::indexOf(double position) const
{
    const std::vector<double>& first = m_x.front();
    return static_cast<std::size_t>(std::lower_bound(first.begin(), first.end(), position) - first.begin());
}

Curve::Cell Curve::summary(std::size_t from, std::size_t to) const
{
    Cell cell = none();
    const auto add = [&](std::size_t level, std::size_t index) {
        join(cell, level == 0 ? cellOf(m_y[index]) : m_levels[level - 1][index]);
    };
    // Loose ends on this level, whole cells on the next.
    for (std::size_t level = 0; from < to; ++level) {
        const bool top = level == m_levels.size();
        while (from < to && (top || from % kFan != 0)) {
            add(level, from++);
        }
        while (from < to && to % kFan != 0) {
            add(level, --to);
        }
        from /= kFan;
        to /= kFan;
    }
    return cell;
}

Curve::Range Curve::range(std::size_t from, std::size_t to) const
{
    const Cell cell = summary(std::min(from, size()), std::min(to, size()));
    return {cell.low, cell.high};
}

Curve::Sample Curve::sample(std::span<const double> edges) const
{
    Sample sample;
    if (edges.size() < 2 || m_y.empty()) {
        return sample;
    }
    std::size_t from = lowerBound(edges.front());
    std::size_t to = lowerBound(std::nextafter(edges.back(), kInfinity));
    from -= from > 0 ? 1 : 0;
    to += to < size() ? 1 : 0;
    const std::size_t columns = edges.size() - 1;
    if (to - from <= columns * kPointsAColumn) {
        for (std::size_t i = from; i < to; ++i) {
            sample.line.push_back({x(i), std::isfinite(m_y[i]) ? m_y[i] : kNone});
            if (!std::isfinite(m_y[i])) {
                sample.broken.push_back(at(i));
            }
        }
        return sample;
    }
    sample.line.reserve(columns * kPointsAColumn);
    std::size_t begin = from;
    for (std::size_t column = 0; column < columns && begin < to; ++column) {
        const bool last = column + 1 == columns;
        const std::size_t end = last ? to : lowerBound(begin, to, edges[column + 1]);
        if (end == begin) {
            continue;
        }
        const Cell cell = summary(begin, end);
        if (cell.low <= cell.high) {
            // The x of the extremes within the column is below a pixel, but the line must enter and leave it at the
            // right points. The extremes are ordered so that a line that only rises or falls stays monotonic.
            const bool falls = m_y[end - 1] < m_y[begin];
            const std::array<Point, kPointsAColumn> points{{at(begin),
                                                            {x(begin), falls ? cell.high : cell.low},
                                                            {x(end - 1), falls ? cell.low : cell.high},
                                                            at(end - 1)}};
            for (const Point& point : points) {
                const bool repeats = !sample.line.empty() && sample.line.back() == point;
                if (std::isfinite(point.y) && !repeats) {
                    sample.line.push_back(point);
                }
            }
        } else {
            sample.line.push_back({x(begin), kNone});
        }
        const std::array<std::pair<Broken, double>, 3> kinds{
            {{kNaN, kNone}, {kAbove, kInfinity}, {kBelow, -kInfinity}}};
        for (const auto& [bit, value] : kinds) {
            if ((cell.broken & bit) != 0) {
                sample.broken.push_back({x(begin), value});
            }
        }
        begin = end;
    }
    return sample;
}

} // namespace residua::resources
