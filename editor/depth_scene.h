// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/shortcuts.h"
#include "projects/project.h"
#include "projects/shape.h"
#include "projects/topology.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace residua::editor {

struct Point {
    float x = 0;
    float y = 0;
};
struct Rect {
    float left = 0;
    float top = 0;
    float right = 0;
    float bottom = 0;

    [[nodiscard]] bool contains(Point p) const { return p.x >= left && p.x <= right && p.y >= top && p.y <= bottom; }
    [[nodiscard]] bool overlaps(const Rect& o) const
    {
        return left <= o.right && o.left <= right && top <= o.bottom && o.top <= bottom;
    }
    [[nodiscard]] Point centre() const { return {(left + right) / 2, (top + bottom) / 2}; }
};

/// Layer 0 is the stem, 1..L the stack, L + 1 the head.
struct LayerBox {
    std::int64_t layer = 0;
    std::string title;
    std::string subtitle;     ///< the block's name, or what the stem and head are
    projects::GraphRef graph; ///< what a double click opens
    Rect rect;
};

/// A shortcut above the row: leaves the source's top, enters the target's top, `height` above it.
/// Along t in [0, 1]: x = left + (right − left)·(3t² − 2t³), y = −4·height·t(1 − t).
struct Arc {
    projects::Shortcut shortcut;
    ShortcutKind kind = ShortcutKind::Learned;
    float left = 0;
    float right = 0;
    float height = 0;

    [[nodiscard]] Point at(float t) const;
};

/// What lies under a point.
struct Hit {
    enum class Kind { Nothing, Layer, Handle, Shortcut };
    Kind kind = Kind::Nothing;
    std::int64_t layer = 0;
    projects::Shortcut shortcut;
};

/// The depth canvas without a window: places, hit tests. Units are logical pixels at zoom 1; y grows
/// downwards and 0 is the top edge of the row of boxes, so that an arc never crosses a box.
class DepthScene {
public:
    static constexpr float kBoxWidth = 96;
    static constexpr float kBoxHeight = 60;
    static constexpr float kPitch = 132; ///< from one box's left edge to the next
    static constexpr float kHandleRadius = 6;

    void rebuild(const projects::Project& project);

    [[nodiscard]] const std::vector<LayerBox>& boxes() const { return m_boxes; }
    [[nodiscard]] const std::vector<Arc>& arcs() const { return m_arcs; } ///< shortest first
    [[nodiscard]] std::int64_t depth() const { return m_depth; }
    /// Whether layers read the one before them directly (their own wire along the row).
    [[nodiscard]] bool chained() const { return m_chained; }
    /// What the wiring is when it is not a depth mix, for a line below the row; else empty.
    [[nodiscard]] const std::string& note() const { return m_note; }
    [[nodiscard]] Rect bounds() const;

    [[nodiscard]] const LayerBox* box(std::int64_t layer) const;
    [[nodiscard]] const Arc* arc(const projects::Shortcut& shortcut) const;
    /// The grip at the right of a layer's top edge, from which shortcuts are drawn.
    [[nodiscard]] static Point handleOf(const LayerBox& box);
    /// `tolerance`: how near an arc counts, in scene units.
    [[nodiscard]] Hit hitTest(Point point, float tolerance) const;
    /// The arc that a drag from `source` to `target` would draw.
    [[nodiscard]] static Arc preview(const projects::Shortcut& shortcut);
    [[nodiscard]] std::vector<projects::Shortcut> shortcutsIn(const Rect& area) const;
    [[nodiscard]] std::vector<std::int64_t> layersIn(const Rect& area) const;

private:
    void addBoxes(const projects::Project& project);
    void addArcs(const projects::DepthMix& mix);
    void place();
    void index();
    [[nodiscard]] Hit hitArc(Point point, float tolerance) const;

    std::vector<LayerBox> m_boxes;
    std::vector<Arc> m_arcs;
    std::vector<std::uint32_t> m_byName;              ///< places in m_arcs, ordered by shortcut
    std::vector<std::vector<std::uint32_t>> m_strips; ///< places of the arcs above each run of layers
    std::int64_t m_depth = 0;
    bool m_chained = false;
    std::string m_note;
};

} // namespace residua::editor
