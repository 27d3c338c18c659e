// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/matrix_name.h"
#include "engine/base/api/values.h"
#include "projects/depth/weight_scale.h"
#include "projects/model/topology.h"
#include "visualizers/plot/series.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace residua::visualizers {

/// The limit in bytes of the recorded matrices of one run in memory. If a run has more, only every n-th step is loaded,
/// and HeatmapFrames::append() removes frames.
inline constexpr std::size_t kMostMatrixBytes = std::size_t{128} << 20;
/// Returns the number of bytes of a matrix's numbers.
[[nodiscard]] std::size_t bytesOf(const engine::Matrix& matrix);

/// The value in a cell.
enum class CellValue {
    Weight,
    SinceStart,  ///< minus the first frame
    SincePinned, ///< minus the pinned frame
    AgainstRun,  ///< minus the other run's value at that step
    LogOfRowMax, ///< log(p / the row's largest p): ANCRe figure 6
};

/// Recorded matrices by name and step, without a window. Copies share the matrices and are cheap.
class HeatmapFrames {
public:
    struct Range {
        double low = 0;
        double high = 1;
    };

    /// Adds a frame. Replaces the frames at or after its step, so that steps stay ascending. If all frames need more
    /// than the byte limit, every second one of each matrix is removed, except its first, pinned and newest.
    void append(const engine::Matrix& matrix);
    /// Sets the number of bytes that frames may need, those of the run to compare with apart.
    void setByteLimit(std::size_t bytes) { m_byteLimit = bytes; }
    /// Returns the number of bytes of all frames, without those of the run to compare with.
    [[nodiscard]] std::size_t bytes() const;
    /// Returns the number of bytes of the frames of the run to compare with, which have the same limit.
    [[nodiscard]] std::size_t comparedBytes() const;
    /// Removes every frame, but keeps those of the run to compare with.
    void clear();
    /// Removes the matrices of this kind for every port.
    void drop(const std::string& kind);
    /// Sets the frame of every matrix that SincePinned compares with: the last at or before `step`. Initially it is the
    /// first frame.
    void pin(std::int64_t step);
    [[nodiscard]] std::int64_t pinned() const { return m_pinned; }
    /// Adds matrices of the run that AgainstRun compares with, each name ascending by step, as append() requires.
    void appendCompared(std::vector<engine::Matrix> matrices);
    /// Removes the run to compare with. There is then no difference to show.
    void forgetCompared();

    [[nodiscard]] std::vector<engine::MatrixName> names() const; ///< in their order
    [[nodiscard]] std::size_t count(const engine::MatrixName& name) const;
    /// Returns the index of the last frame at or before `step`, or 0 if all are later. Precondition: there is a frame.
    [[nodiscard]] std::size_t indexAt(const engine::MatrixName& name, std::int64_t step) const
    {
        return indexAt(m_series.at(name).frames, step);
    }
    [[nodiscard]] const engine::Matrix& frame(const engine::MatrixName& name, std::size_t index) const;
    /// Returns the row-major cells of a frame; NaN where there is no shortcut.
    [[nodiscard]] std::vector<double> cells(const engine::MatrixName& name, std::size_t index, CellValue value) const;
    /// A frame as it is shown.
    struct Shown {
        engine::Matrix matrix; ///< its values are those of the cells, which also have the colours
        projects::WeightScale scale;
        CellValue value = CellValue::Weight;
    };
    [[nodiscard]] Shown shown(const engine::MatrixName& name, std::size_t index, CellValue value) const;
    /// Returns for every matrix the last frame at or before `step`, or its first if all are later, with the value that
    /// `valueOf` returns for its kind. A matrix without such a value shows its own numbers.
    [[nodiscard]] std::vector<Shown> shownAt(std::int64_t step,
                                             const std::function<CellValue(const std::string& kind)>& valueOf) const;
    /// Returns the smallest and largest cell over all frames, so that colours do not change while scrubbing.
    [[nodiscard]] Range range(const engine::MatrixName& name, CellValue value) const;
    /// Sets the wiring under which the matrices were recorded; clear() resets it.
    void setWiring(const projects::Wiring& wiring) { m_wiring = wiring; }
    /// Returns the colour scale of a matrix, the same for all frames and ports.
    [[nodiscard]] projects::WeightScale scale(const engine::MatrixName& name,
                                              CellValue value = CellValue::Weight) const;
    /// True if the weights of a kind are signed and do not all start at the centre of their scale. Their changes then
    /// show more than their values what was learned.
    [[nodiscard]] bool startApart(const std::string& kind) const;

private:
    using Frames = std::vector<std::shared_ptr<const engine::Matrix>>;
    struct Series {
        Frames frames;
        std::map<CellValue, projects::FiniteRange> ranges; ///< grows with the frames
    };

    /// Returns the last frame at or before `step`, or the first if all are later. Null if there are no frames.
    [[nodiscard]] static std::shared_ptr<const engine::Matrix> frameAt(const Frames& frames, std::int64_t step);
    /// Returns the index of that frame. Precondition: there is a frame.
    [[nodiscard]] static std::size_t indexAt(const Frames& frames, std::int64_t step);
    [[nodiscard]] projects::FiniteRange rangeOfKind(const std::string& kind, CellValue value) const;
    /// Removes the frames at or after a step.
    static void cut(Frames& frames, std::int64_t step);
    void thinOut();
    void thinOut(Frames& frames) const;
    void widen(Series& series, const engine::MatrixName& name, std::size_t index);
    void widen(Series& series, const engine::MatrixName& name, std::size_t index, CellValue value);
    void rangeAnew(CellValue value);
    /// Returns the matrix that a cell's value is the difference from. Null if there is nothing to compare with.
    [[nodiscard]] const engine::Matrix* reference(const engine::Matrix& matrix, CellValue value) const;

    std::map<engine::MatrixName, Series> m_series;
    std::map<engine::MatrixName, Frames> m_other;
    std::int64_t m_pinned = 0;
    std::size_t m_byteLimit = kMostMatrixBytes;
    std::optional<projects::Wiring> m_wiring;
};

/// Returns the scale on which numbers of all these scales can be compared: their union. It is signed about their centre
/// if they have one centre, and otherwise about 0 if some numbers are negative. Precondition: there is a scale.
[[nodiscard]] projects::WeightScale commonScale(const std::vector<projects::WeightScale>& scales);

enum class HeatmapTable { Cells, Distances };

/// The origin of a heatmap's numbers.
struct HeatmapSource {
    QString run;
    QString port;
    engine::MatrixName series;
    CellValue value{};
    HeatmapTable table{};
};

/// Returns the cells of every step as CSV: run, port and step before each cell, or before each distance with the median
/// and 90th percentile of its weights. The columns of values that are not the recorded numbers are named after the
/// value, as in "change_since_start".
[[nodiscard]] CsvText heatmapCsv(const HeatmapFrames& frames, const HeatmapSource& source);

} // namespace residua::visualizers
