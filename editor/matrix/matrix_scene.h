// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/geometry.h"
#include "projects/depth/mix_port.h"
#include "projects/model/project.h"
#include "projects/model/topology.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace residua::editor {

/// The state of the shortcut of a cell.
enum class MatrixCell : std::uint8_t {
    Outside, ///< no such shortcut can be: i ≥ j, a shared entry not yet written, no final mix
    Empty,   ///< could be added
    Summed,  ///< read without a weight of its own: in the sum of the middle (first and last k), in the running sum, or
             ///< as the newest entry that the reader takes as it is
    Fixed,
    Learned,
    Frozen,
    Pruned,
};
/// Whether the layer reads the entry with a weight of its own.
[[nodiscard]] bool isRead(MatrixCell cell);

/// The topology as a grid without a window: row = target j, from 1 at the top to the final output at the bottom;
/// column = source i, from 0 at the left. Units are logical pixels at zoom 1; (0, 0) is the top left cell's corner.
class MatrixScene {
public:
    static constexpr float kCell = 30;
    static constexpr float kFinalGap = 8;          ///< sets the final output's row apart
    static constexpr std::int64_t kDeepest = 2048; ///< layers; a deeper stack has too many cells to hold

    void rebuild(const projects::Project& project);

    /// A number that changes with every rebuild.
    [[nodiscard]] std::uint64_t revision() const { return m_revision; }
    /// Why there is no grid, and what to do about it; empty where there is one.
    [[nodiscard]] const std::string& note() const { return m_note; }
    /// K: the layers, or their halves (modulesOf).
    [[nodiscard]] std::int64_t depth() const { return m_depth; }
    /// Rows of the grid: depth, one more where the final output reads a mix, or 0 where there is none.
    [[nodiscard]] std::int64_t size() const { return m_size; }
    /// Columns: the entries that there are, as many as rows or fewer where modules share them.
    [[nodiscard]] std::int64_t columns() const { return m_columns; }
    [[nodiscard]] const std::vector<projects::MixPort>& ports() const { return m_ports; }

    [[nodiscard]] MatrixCell cell(const projects::Shortcut& shortcut) const;
    [[nodiscard]] Rect rectOf(const projects::Shortcut& shortcut) const;
    [[nodiscard]] Rect bounds() const;
    /// The cell at a point that holds or could hold a shortcut.
    [[nodiscard]] std::optional<projects::Shortcut> hitTest(Point point) const;
    /// Cells that a straight stroke passes, in its order: a quick pointer leaves none out.
    [[nodiscard]] std::vector<projects::Shortcut> stroke(Point from, Point to) const;
    /// Rows, or columns, that lie in a range of coordinates; first > last where none does.
    struct Range {
        std::int64_t first = 0;
        std::int64_t last = -1;
    };
    [[nodiscard]] Range columnsIn(float left, float right) const;
    [[nodiscard]] Range targetsIn(float top, float bottom) const;

private:
    [[nodiscard]] float topOf(std::int64_t target) const;
    void fill(const projects::DepthMix& mix);
    [[nodiscard]] bool isInside(const projects::Shortcut& shortcut) const;
    [[nodiscard]] std::size_t indexOf(const projects::Shortcut& shortcut) const ///< in m_cells, of one inside
    {
        return static_cast<std::size_t>((shortcut.target - 1) * m_size + shortcut.source);
    }
    void mark(const projects::Shortcut& shortcut, MatrixCell cell);

    std::vector<MatrixCell> m_cells; ///< row-major [target − 1, source]
    std::uint64_t m_revision = 0;
    std::int64_t m_depth = 0;
    std::int64_t m_size = 0;
    std::int64_t m_columns = 0;
    std::vector<projects::MixPort> m_ports;
    std::string m_note;
};

} // namespace residua::editor
