// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/arc_shape.h"
#include "editor/canvas/folds.h"
#include "editor/canvas/geometry.h"
#include "editor/depth/depth_lanes.h"
#include "projects/layers/shortcut_edits.h"
#include "projects/model/places.h"
#include "projects/model/project.h"
#include "projects/model/topology.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace residua::editor {

/// A box of the row: the stem (layer 0), a layer of the stack, the head (L + 1), a half of a layer where both halves
/// read mixes of their own (ANCRe over MHSA and FFN), or a folded run of layers.
struct LayerBox {
    std::int64_t layer = 0;
    std::int64_t lastLayer = 0; ///< `layer`, but for a folded run
    std::int64_t module = 0;    ///< what i:j numbers it: 0 the stem, 1..K, K + 1 the head
    std::int64_t lastModule = 0;
    std::string title;
    std::string subtitle;     ///< the block's name, or what the box is
    projects::GraphRef graph; ///< what a double click opens
    std::int64_t inside = 0;  ///< shortcuts from and to layers of a folded run
    bool joinsNext = false;   ///< the first half of a layer
    Rect rect;

    [[nodiscard]] bool folded() const { return lastLayer > layer; }
};

/// Shortcuts above the row: leaves the source's top, enters the target's. One shortcut, or where an end is folded all
/// those between the same two boxes.
struct Arc : ArcShape {
    projects::Shortcut shortcut; ///< the first of them
    projects::ShortcutKind kind = projects::ShortcutKind::Learned;
    std::uint32_t firstMember = 0; ///< in DepthScene::members()
    std::uint32_t count = 1;
    std::size_t from = 0; ///< the box that it leaves, in DepthScene::boxes(): of the last module that its source holds
    std::size_t to = 0;   ///< the box that it enters
};

/// A named run of layers below the row.
struct GroupBracket {
    projects::LayerGroup group;
    Rect rect; ///< its line is the upper edge
};

/// What lies under a point.
struct Hit {
    enum class Kind {
        Nothing,
        Layer,
        Handle,
        Fold, ///< the "×N" of a folded box
        Group,
        Shortcut,
    };
    Kind kind = Kind::Nothing;
    std::int64_t module = 0; ///< the first of the box
    projects::Shortcut shortcut;
    std::size_t group = 0; ///< in brackets()
};

/// The depth canvas without a window: places, hit tests. Units are logical pixels at zoom 1; y grows
/// downwards and 0 is the top edge of the row of boxes, so that an arc never crosses a box.
class DepthScene {
public:
    static constexpr float kBoxWidth = 96;
    static constexpr float kHalfWidth = 72; ///< of half a layer
    static constexpr float kBoxHeight = 60;
    static constexpr float kGap = 36;                 ///< between boxes
    static constexpr float kPitch = kBoxWidth + kGap; ///< from one whole box's left edge to the next
    static constexpr float kHandleRadius = 6;

    /// `folds`: runs to draw as one box each; apart, ascending, and each within one of identicalRuns().
    void rebuild(const projects::Project& project, const std::vector<projects::LayerGroup>& groups = {},
                 const std::vector<LayerRun>& folds = {});

    /// Makes every arc so many times as high as it is by itself, so that a long row uses a tall canvas. Boxes stay.
    void setRise(float rise);
    /// The rise at which the highest arc fills a space of `height` above the row best.
    [[nodiscard]] float riseWithin(float height) const;
    /// The rise at which all of it, shown as wide as `width`, fills `height` best.
    [[nodiscard]] float riseFor(float width, float height) const;

    [[nodiscard]] const std::vector<LayerBox>& boxes() const { return m_boxes; }
    [[nodiscard]] const std::vector<Arc>& arcs() const { return m_arcs; } ///< shortest first
    [[nodiscard]] const std::vector<GroupBracket>& brackets() const { return m_brackets; }
    /// The shortcuts of an arc, ascending.
    [[nodiscard]] std::span<const projects::Shortcut> members(const Arc& arc) const;
    [[nodiscard]] std::int64_t layers() const { return m_layers; }
    /// K: what i:j numbers between the stem and the head; the layers, or their halves.
    [[nodiscard]] std::int64_t modules() const { return m_modules; }
    /// Whether layers read the one before them directly (their own wire along the row).
    [[nodiscard]] bool chained() const { return m_chained; }
    /// What is drawn above the row of a wiring that is no mix.
    [[nodiscard]] const DepthLanes& lanes() const { return m_lanes; }
    /// A line below the row that says how depth is wired where the arcs do not show it; else empty.
    [[nodiscard]] const std::string& note() const { return m_note; }
    [[nodiscard]] Rect bounds() const;
    /// How high the arcs reach above the middle of each of `columns` equal stretches of the row, for the minimap.
    [[nodiscard]] std::vector<float> skyline(std::size_t columns) const;

    /// The box that a module is in.
    [[nodiscard]] const LayerBox* box(std::int64_t module) const;
    /// The boxes of a layer: one, or its two halves.
    [[nodiscard]] std::span<const LayerBox> boxesOf(std::int64_t layer) const;
    [[nodiscard]] const Arc* arc(const projects::Shortcut& shortcut) const;
    /// The grip at the right of a box, from which shortcuts are drawn.
    [[nodiscard]] static Point handleOf(const LayerBox& box);
    /// Where a folded box says how many layers it is.
    [[nodiscard]] static Rect foldMarkOf(const LayerBox& box);
    /// `tolerance`: how near an arc counts, in scene units.
    [[nodiscard]] Hit hitTest(Point point, float tolerance) const;
    /// The arc that a drag would draw between the boxes of two modules.
    [[nodiscard]] Arc preview(std::int64_t source, std::int64_t target) const;
    [[nodiscard]] std::vector<projects::Shortcut> shortcutsIn(const Rect& area) const;
    [[nodiscard]] std::vector<std::int64_t> layersIn(const Rect& area) const;

private:
    void addBoxes(const projects::Project& project, const std::vector<LayerRun>& folds);
    void addBox(LayerBox box, float width, float gap);
    void addArcs(const projects::DepthMix& mix);
    void group(const projects::DepthMix& mix, std::vector<projects::DrawnShortcut> drawn);
    void addBrackets(const std::vector<projects::LayerGroup>& groups);
    void place();
    void index();
    [[nodiscard]] std::size_t boxIndex(std::int64_t module) const;
    [[nodiscard]] float heightOf(std::size_t from, std::size_t to) const; ///< of an arc between two boxes
    [[nodiscard]] Hit hitPart(const LayerBox& box, Point point, float tolerance, float most) const;
    [[nodiscard]] Hit hitArc(Point point, float tolerance) const;

    std::vector<LayerBox> m_boxes;
    std::vector<std::uint32_t> m_boxOf; ///< by module
    std::vector<Arc> m_arcs;
    std::vector<projects::Shortcut> m_members; ///< of all arcs, each arc's together
    std::vector<GroupBracket> m_brackets;
    std::vector<std::pair<projects::Shortcut, std::uint32_t>> m_byName; ///< shortcut to place in m_arcs, ascending
    std::vector<std::vector<std::uint32_t>> m_strips; ///< places of the arcs above each stretch of the row
    float m_rise = 1;
    std::int64_t m_layers = 0;
    std::int64_t m_modules = 0;
    bool m_chained = false;
    DepthLanes m_lanes;
    std::string m_note;
};

} // namespace residua::editor
