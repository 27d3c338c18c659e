// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/scenes/geometry.h"
#include "projects/depth/mix_port.h"
#include "projects/model/project.h"
#include "projects/model/topology.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace residua::editor {

/// The state of a cell's shortcut.
enum class MatrixCell : std::uint8_t {
    Outside, ///< no shortcut is possible: i ≥ j, a shared entry that is not yet written, no final mix
    Empty,   ///< a shortcut could be added
    Summed,  ///< read without a weight of its own: in the sum of the middle (first and last k), in the running sum, or
             ///< as the newest entry that the reader passes through
    Fixed,
    Learned,
    Frozen,
    Pruned,
};
/// True if the layer reads the entry with a weight of its own.
[[nodiscard]] bool isRead(MatrixCell cell);

/// The topology as a grid without a window. Rows are targets j, from 1 at the top to the final output at the bottom;
/// columns are sources i, from 0 at the left. Units are logical pixels at zoom 1; (0, 0) is the top left cell's corner.
class MatrixScene {
public:
    static constexpr float kCell = 30;
    static constexpr float kFinalGap = 8;          ///< separates the final output's row
    static constexpr std::int64_t kDeepest = 2048; ///< layers; a deeper stack has too many cells to store

    void rebuild(const projects::Project& project);

    /// A number that changes with every rebuild.
    [[nodiscard]] std::uint64_t revision() const { return m_revision; }
    /// Returns the reason why there is no grid, and advice; empty if there is a grid.
    [[nodiscard]] const std::string& note() const { return m_note; }
    /// Returns K: the layers, or their halves (modulesOf).
    [[nodiscard]] std::int64_t depth() const { return m_depth; }
    /// Returns the number of rows: depth, plus 1 if the final output has a mix, or 0 without a grid.
    [[nodiscard]] std::int64_t size() const { return m_size; }
    /// Returns the number of columns, one per entry: as many as rows, or fewer if modules share entries.
    [[nodiscard]] std::int64_t columns() const { return m_columns; }
    [[nodiscard]] const std::vector<projects::MixPort>& ports() const { return m_ports; }

    [[nodiscard]] MatrixCell cell(const projects::Shortcut& shortcut) const;
    /// True if there is a MatrixCell::Summed.
    [[nodiscard]] bool hasSummed() const { return m_hasSummed; }
    [[nodiscard]] Rect rectOf(const projects::Shortcut& shortcut) const;
    [[nodiscard]] Rect bounds() const;
    /// Returns the cell at a point, if it has or could have a shortcut.
    [[nodiscard]] std::optional<projects::Shortcut> hitTest(Point point) const;
    /// Returns the cells that a straight stroke passes, in order. A fast pointer skips none.
    [[nodiscard]] std::vector<projects::Shortcut> stroke(Point from, Point to) const;
    /// The rows or columns in a range of coordinates; first > last if empty.
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
    [[nodiscard]] std::size_t indexOf(const projects::Shortcut& shortcut) const ///< of a shortcut inside
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
    bool m_hasSummed = false;
    std::string m_note;
};

} // namespace residua::editor
