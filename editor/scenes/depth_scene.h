// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/scenes/depth_lanes.h"
#include "editor/scenes/folds.h"
#include "editor/scenes/geometry.h"
#include "projects/layers/shortcut_edits.h"
#include "projects/model/places.h"
#include "projects/model/project.h"
#include "projects/model/topology.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace residua::editor {

/// A box of the row: the stem (layer 0), an executed layer of the stack, the head (L + 1), half of a layer if both
/// halves have mixes (ANCRe over MHSA and FFN), a folded range of layers, or all visits to a layer of a folded loop.
struct LayerBox {
    std::int64_t layer = 0;     ///< in a folded loop the first visit
    std::int64_t lastLayer = 0; ///< differs from `layer` only for a folded range
    std::int64_t module = 0;    ///< its number in i:j: 0 the stem, 1..K, K + 1 the head
    std::int64_t lastModule = 0;
    std::string title;
    std::string subtitle;     ///< the block's name, or a description of the box
    projects::GraphRef graph; ///< opened by a double click
    std::int64_t inside = 0;  ///< number of shortcuts between layers of a folded range
    bool joinsNext = false;   ///< true for the first half of a layer
    Rect rect;
    std::int64_t visits = 1; ///< the number of visits that the box represents
    std::int64_t apart = 1;  ///< executed layers from one of these visits to the next

    [[nodiscard]] bool folded() const { return lastLayer > layer; }
    [[nodiscard]] std::vector<std::int64_t> layers() const; ///< the executed layers that the box represents
    [[nodiscard]] bool holdsOneOf(const std::set<std::int64_t>& layers) const;
};

/// One or more shortcuts above the row, from the source's top to the target's. If an end is folded, the arc represents
/// all shortcuts between the same two boxes.
struct Arc : ArcShape {
    projects::Shortcut shortcut; ///< the first of its shortcuts
    projects::ShortcutKind kind = projects::ShortcutKind::Learned;
    std::uint32_t firstMember = 0; ///< index in DepthScene::members()
    std::uint32_t count = 1;
    std::size_t from = 0; ///< index in DepthScene::boxes() of the box with the last module of its source
    std::size_t to = 0;   ///< index of the target's box
};

/// A named range of layers below the row.
struct GroupBracket {
    projects::LayerGroup group;
    Rect rect; ///< its upper edge is the line
};

/// A loop below the row.
struct LoopBracket {
    std::size_t loop = 0;   ///< index in Stack::loops
    std::int64_t first = 1; ///< its executed layers
    std::int64_t last = 1;
    std::string visits;        ///< "×4", or "×1–8" if a step draws the number
    bool folded = false;       ///< then only the first visit is drawn, with an arrow from its end back to its beginning
    Rect rect;                 ///< its upper edge is the line
    std::vector<float> begins; ///< left edges of the second and later visits, if they are drawn one after the other
};

/// The thing under a point.
struct Hit {
    enum class Kind {
        Nothing,
        Layer,
        Handle,
        Fold, ///< the "×N" of a folded box
        Group,
        Loop,
        Shortcut,
    };
    Kind kind = Kind::Nothing;
    std::int64_t module = 0; ///< the first module of the box
    projects::Shortcut shortcut;
    std::size_t group = 0; ///< index in brackets() or loops()
};

/// The depth canvas without a window: positions and hit tests. Units are logical pixels at zoom 1; y grows downwards
/// and 0 is the top edge of the row of boxes, so that an arc never crosses a box.
class DepthScene {
public:
    static constexpr float kBoxWidth = 96;
    static constexpr float kHalfWidth = 72; ///< of half a layer
    static constexpr float kBoxHeight = 60;
    static constexpr float kGap = 36;                 ///< between boxes
    static constexpr float kPitch = kBoxWidth + kGap; ///< between the left edges of whole boxes
    static constexpr float kHandleRadius = 6;

    /// `folds` are the ranges drawn folded; disjoint, ascending, and each within one of foldableRuns() or a whole loop.
    void rebuild(const projects::Project& project, const std::vector<projects::LayerGroup>& groups = {},
                 const std::vector<LayerRun>& folds = {});

    /// Scales the height of every arc, so that a long row uses a tall canvas. Boxes do not move.
    void setRise(float rise);
    /// Returns the rise with which the highest arc best fills a space of `height` above the row.
    [[nodiscard]] float riseWithin(float height) const;
    /// Returns the rise with which the whole scene, shown with width `width`, best fills `height`.
    [[nodiscard]] float riseFor(float width, float height) const;

    [[nodiscard]] const std::vector<LayerBox>& boxes() const { return m_boxes; }
    [[nodiscard]] const std::vector<Arc>& arcs() const { return m_arcs; } ///< shortest first
    [[nodiscard]] const std::vector<GroupBracket>& brackets() const { return m_brackets; }
    [[nodiscard]] const std::vector<LoopBracket>& loops() const { return m_loops; }
    /// Returns the shortcuts of an arc, ascending.
    [[nodiscard]] std::span<const projects::Shortcut> members(const Arc& arc) const;
    [[nodiscard]] std::int64_t layers() const { return m_layers; }
    /// Returns K, the number of modules between the stem and the head: the layers, or their halves.
    [[nodiscard]] std::int64_t modules() const { return m_modules; }
    /// True if layers read the one before them directly, by a wire along the row.
    [[nodiscard]] bool chained() const { return m_chained; }
    /// Returns the drawing above the row of a wiring that is not a mix.
    [[nodiscard]] const DepthLanes& lanes() const { return m_lanes; }
    /// Returns a line for below the row that describes the wiring if the arcs do not show it; else empty.
    [[nodiscard]] const std::string& note() const { return m_note; }
    [[nodiscard]] Rect bounds() const;
    /// Returns the height of the arcs above the middle of each of `columns` equal parts of the row, for the minimap.
    [[nodiscard]] std::vector<float> skyline(std::size_t columns) const;

    /// Returns the box of a module.
    [[nodiscard]] const LayerBox* box(std::int64_t module) const;
    /// Returns the boxes of a layer: one, or its two halves.
    [[nodiscard]] std::span<const LayerBox> boxesOf(std::int64_t layer) const;
    [[nodiscard]] const Arc* arc(const projects::Shortcut& shortcut) const;
    /// Returns the position of the handle at the right of a box, from which shortcuts are drawn.
    [[nodiscard]] static Point handleOf(const LayerBox& box);
    /// Returns the area of a folded box that shows its number of layers.
    [[nodiscard]] static Rect foldMarkOf(const LayerBox& box);
    /// `tolerance` is the distance at which an arc is hit, in scene units.
    [[nodiscard]] Hit hitTest(Point point, float tolerance) const;
    /// Returns the arc of a drag between the boxes of two modules.
    [[nodiscard]] Arc preview(std::int64_t source, std::int64_t target) const;
    [[nodiscard]] std::vector<projects::Shortcut> shortcutsIn(const Rect& area) const;
    [[nodiscard]] std::vector<std::int64_t> layersIn(const Rect& area) const;

private:
    void addBoxes(const projects::Project& project, const std::vector<LayerRun>& folds);
    void addHalves(LayerBox box);
    void addBox(LayerBox box, float width, float gap);
    void addArcs(const projects::DepthMix& mix);
    void group(const projects::DepthMix& mix, std::vector<projects::DrawnShortcut> drawn);
    [[nodiscard]] Rect below(std::int64_t first, std::int64_t last, std::vector<float>& ends) const;
    void addBrackets(const projects::Stack& stack, const std::vector<projects::LayerGroup>& groups,
                     const std::vector<LayerRun>& folds);
    void place();
    void index();
    [[nodiscard]] std::size_t boxIndex(std::int64_t module) const;
    [[nodiscard]] float heightOf(std::size_t from, std::size_t to) const; ///< of an arc between two boxes
    [[nodiscard]] Hit hitPart(const LayerBox& box, Point point, float tolerance, float most) const;
    [[nodiscard]] Hit hitArc(Point point, float tolerance) const;

    std::vector<LayerBox> m_boxes;
    std::vector<std::uint32_t> m_boxOf; ///< by module
    std::vector<Arc> m_arcs;
    std::vector<projects::Shortcut> m_members; ///< of all arcs; those of one arc are consecutive
    std::vector<GroupBracket> m_brackets;
    std::vector<LoopBracket> m_loops;
    std::vector<std::pair<projects::Shortcut, std::uint32_t>> m_byName; ///< shortcut to index in m_arcs, ascending
    std::vector<std::vector<std::uint32_t>> m_strips; ///< indices of the arcs above each part of the row
    float m_rise = 1;
    std::int64_t m_layers = 0;
    std::int64_t m_modules = 0;
    bool m_chained = false;
    DepthLanes m_lanes;
    std::string m_note;
};

} // namespace residua::editor
