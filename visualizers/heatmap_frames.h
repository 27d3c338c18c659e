// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace residua::visualizers {

/// What a cell shows.
enum class CellValue {
    Weight,
    SinceStart,  ///< less the first frame's
    LogOfRowMax, ///< log(p / the row's largest p): ANCRe figure 6 (methods.md 2)
};

/// Recorded matrices by name and step, without a window.
class HeatmapFrames {
public:
    struct Range {
        double low = 0;
        double high = 1;
    };

    /// Keeps steps ascending: a frame takes the place of those at or after its step.
    void append(const engine::Matrix& matrix);
    void clear() { m_series.clear(); }

    [[nodiscard]] std::vector<std::string> names() const;
    [[nodiscard]] std::size_t count(const std::string& name) const;
    [[nodiscard]] const engine::Matrix& frame(const std::string& name, std::size_t index) const;
    /// Row-major cells of a frame; NaN where there is no shortcut.
    [[nodiscard]] std::vector<double> cells(const std::string& name, std::size_t index, CellValue value) const;
    /// Smallest and largest cell over all frames, so that colours hold still while scrubbing.
    [[nodiscard]] Range range(const std::string& name, CellValue value) const;

private:
    struct Series {
        std::vector<engine::Matrix> frames;
        std::map<CellValue, Range> ranges; ///< grows with the frames
    };

    void widen(Series& series, const std::string& name, std::size_t index);

    std::map<std::string, Series> m_series;
};

} // namespace residua::visualizers
