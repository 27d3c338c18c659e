// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/scenes/depth_scene.h"
#include "editor/scenes/geometry.h"
#include "projects/model/project.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace residua::editor {

/// A stack beside the shown one, drawn small, with each loop as its first visit.
struct SmallStack {
    std::size_t tower = 0;     ///< index in the whole document
    projects::Project project; ///< has this tower alone
    DepthScene scene;
    bool isJoined = false; ///< true if its stem is the joint to the stack before it in its row
    Point at = {};         ///< place of the scene's origin
    float scale = 1;       ///< of the scene's units
    Rect area = {};

    [[nodiscard]] Rect placed(const Rect& inScene) const;
};

/// A thing that the pointer can be over, apart from the shown stack.
struct TowerSpot {
    enum class Kind { Nothing, Stack, Joint, Wire };
    Kind kind = Kind::Nothing;
    std::size_t index = 0; ///< of a tower in the whole document, or in TowerRows::wires()
    bool operator==(const TowerSpot&) const = default;
};

/// A value of a tower that another tower reads, or that a loss compares with another value.
struct ValueWire {
    std::size_t from = 0;       ///< tower that has it
    std::int64_t fromLayer = 0; ///< after which it is; 0: the stem, depth + 1: the head
    std::size_t to = 0;         ///< tower that reads it, or that has the compared value
    std::int64_t toLayer = 0;   ///< the first one that reads it
    bool isOfLoss = false;
    std::string text;
    std::vector<Point> path = {};
};

/// Towers in one line. A tower whose input is a value of the last one of a row continues that row.
struct TowerRow {
    std::vector<std::size_t> towers; ///< indices in the whole document
    std::string name;
    Rect area = {};
    float middle = 0; ///< height of the middle of its boxes
};

/// The towers of a document as rows around the shown stack, in the order in which they run. Units and origin are those
/// of the shown stack's DepthScene. Empty for a document with one tower.
class TowerRows {
public:
    /// Reads the document, given as the view of tower `shown`; nullopt leaves the rows empty. Keeps the scenes of
    /// unchanged stacks.
    void rebuild(const projects::Project& view, std::optional<std::size_t> shown);
    /// Places everything around the shown stack.
    void place(const DepthScene& shown);

    [[nodiscard]] bool empty() const { return m_rows.empty(); }
    [[nodiscard]] const std::vector<TowerRow>& rows() const { return m_rows; }
    [[nodiscard]] std::size_t shownRow() const { return m_shownRow; }
    [[nodiscard]] const std::vector<SmallStack>& stacks() const { return m_stacks; }
    [[nodiscard]] const std::vector<ValueWire>& wires() const { return m_wires; }
    /// Returns the area of all rows, with the shown stack.
    [[nodiscard]] const Rect& bounds() const { return m_bounds; }
    /// Returns the area of a stack or joint; nullopt for other things and those of the shown stack.
    [[nodiscard]] std::optional<Rect> areaOf(const TowerSpot& spot) const;
    [[nodiscard]] TowerSpot hitTest(Point point, float tolerance) const;
    /// Returns the line that describes a thing; empty for nothing.
    [[nodiscard]] std::string describe(const TowerSpot& spot) const;

private:
    void chain(const projects::Project& whole);
    void addWires(const projects::Project& whole);
    float layOut(TowerRow& row, const DepthScene& shown, float pixel);
    void move(TowerRow& row, Point by);
    void placeWires(const DepthScene& shown, float gap);

    std::vector<TowerRow> m_rows;
    std::size_t m_shownRow = 0;
    std::vector<SmallStack> m_stacks;
    std::vector<ValueWire> m_wires;
    Rect m_bounds;
};

} // namespace residua::editor
