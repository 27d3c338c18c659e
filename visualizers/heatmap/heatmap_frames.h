// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/matrix_name.h"
#include "engine/api/values.h"
#include "projects/depth/weight_scale.h"
#include "projects/model/topology.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace residua::visualizers {

/// What a cell shows.
enum class CellValue {
    Weight,
    SinceStart,  ///< less the first frame's
    SincePinned, ///< less the pinned frame's
    AgainstRun,  ///< less what the other run had at that step
    LogOfRowMax, ///< log(p / the row's largest p): ANCRe figure 6
};

/// Recorded matrices by name and step, without a window. A copy shares them, and costs next to nothing.
class HeatmapFrames {
public:
    struct Range {
        double low = 0;
        double high = 1;
    };

    /// Keeps steps ascending: a frame takes the place of those at or after its step.
    void append(const engine::Matrix& matrix);
    /// Forgets every frame; what they are compared with stays.
    void clear();
    /// Forgets the matrices of that kind, of every port.
    void drop(const std::string& kind);
    /// Sets the frame of every matrix that SincePinned compares with: the last at or before `step`. Before the first
    /// call it is the first.
    void pin(std::int64_t step);
    [[nodiscard]] std::int64_t pinned() const { return m_pinned; }
    /// Adds what the run that AgainstRun compares with has recorded, each name ascending by step, as append() takes it.
    void appendCompared(const std::vector<engine::Matrix>& matrices);
    /// Forgets the run to compare with: there is no difference to show then.
    void forgetCompared();

    [[nodiscard]] std::vector<engine::MatrixName> names() const; ///< in their order
    [[nodiscard]] std::size_t count(const engine::MatrixName& name) const;
    [[nodiscard]] const engine::Matrix& frame(const engine::MatrixName& name, std::size_t index) const;
    /// Row-major cells of a frame; NaN where there is no shortcut.
    [[nodiscard]] std::vector<double> cells(const engine::MatrixName& name, std::size_t index, CellValue value) const;
    /// A frame as it is shown.
    struct Shown {
        engine::Matrix matrix;       ///< with what its cells show for its values
        std::vector<float> shades;   ///< what each cell is coloured by
        projects::WeightScale scale; ///< of the shades
        bool fromStart = false;      ///< the shades are how far weights are from their own starts
    };
    [[nodiscard]] Shown shown(const engine::MatrixName& name, std::size_t index, CellValue value) const;
    /// For every matrix the last frame at or before `step`; its first where all are later. A matrix that has no such
    /// value shows its own numbers.
    [[nodiscard]] std::vector<Shown> shownAt(std::int64_t step, CellValue value) const;
    /// Smallest and largest cell over all frames, so that colours hold still while scrubbing.
    [[nodiscard]] Range range(const engine::MatrixName& name, CellValue value) const;
    /// The wiring that the matrices were recorded under; clear() forgets it.
    void setWiring(const projects::Wiring& wiring) { m_wiring = wiring; }
    /// How what the cells of a matrix are coloured by is coloured, the same over all frames and ports.
    [[nodiscard]] projects::WeightScale scale(const engine::MatrixName& name,
                                              CellValue value = CellValue::Weight) const;
    /// Whether the weights of a matrix are coloured by how far each is from its own start: they are signed, and do not
    /// all start at the centre of their scale.
    [[nodiscard]] bool isColouredFromStart(const engine::MatrixName& name) const;

private:
    using Frames = std::vector<std::shared_ptr<const engine::Matrix>>;
    struct Series {
        Frames frames;
        std::map<CellValue, projects::FiniteRange> ranges; ///< grows with the frames
    };

    /// The last frame at or before `step`; the first where all are later. Null: there is none.
    [[nodiscard]] static std::shared_ptr<const engine::Matrix> frameAt(const Frames& frames, std::int64_t step);
    /// Its index. Precondition: there is a frame.
    [[nodiscard]] static std::size_t indexAt(const Frames& frames, std::int64_t step);
    [[nodiscard]] projects::FiniteRange rangeOfKind(const std::string& kind, CellValue value) const;
    /// How the weights of a kind are coloured if they all start at the centre.
    [[nodiscard]] projects::WeightScale plainScale(const engine::MatrixName& name) const;
    /// Removes the frames at or after a step.
    static void cut(Frames& frames, std::int64_t step);
    void widen(Series& series, const engine::MatrixName& name, std::size_t index);
    void widen(Series& series, const engine::MatrixName& name, std::size_t index, CellValue value);
    void rangeAnew(CellValue value);
    /// The matrix that a cell's value is the difference from. Null: there is nothing to compare with.
    [[nodiscard]] const engine::Matrix* reference(const engine::Matrix& matrix, CellValue value) const;

    std::map<engine::MatrixName, Series> m_series;
    std::map<engine::MatrixName, Frames> m_other;
    std::int64_t m_pinned = 0;
    std::optional<projects::Wiring> m_wiring;
};

} // namespace residua::visualizers
