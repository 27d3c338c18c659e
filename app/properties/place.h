// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/commands/selection.h"
#include "projects/model/places.h"
#include "projects/model/project.h"

#include <QString>

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

namespace residua::app {

/// The parts of a document with a top row in the outline.
enum class Section { Data, Network, Topology, Schedule, Initialisation, Training, Seeds, Runs };
/// Returns the section's key in project.json, "data"; "runs" for runs, which are not in the document.
[[nodiscard]] std::string keyOf(Section section);

struct SectionPlace {
    Section section{};
    bool operator==(const SectionPlace&) const = default;
};
/// The stem, the head or a block.
struct GraphPlace {
    projects::GraphRef graph;
    bool operator==(const GraphPlace&) const = default;
};
struct NodePlace {
    projects::GraphRef graph;
    projects::NodeId node{};
    bool operator==(const NodePlace&) const = default;
};
/// A loop, by its index in Stack::loops.
struct LoopPlace {
    std::size_t loop = 0;
    bool operator==(const LoopPlace&) const = default;
};
/// Executed layers 1..depth.
struct LayersPlace {
    std::vector<std::int64_t> layers;
    bool operator==(const LayersPlace&) const = default;
};
struct ShortcutsPlace {
    std::vector<projects::Shortcut> shortcuts;
    bool operator==(const ShortcutsPlace&) const = default;
};
/// A loss, by its index in Project::losses.
struct LossPlace {
    std::size_t loss = 0;
    bool operator==(const LossPlace&) const = default;
};
/// A tower, by its index in the whole document. It is the shown one while it is chosen.
struct TowerPlace {
    std::size_t tower = 0;
    bool operator==(const TowerPlace&) const = default;
};
/// The project as a whole.
struct ProjectPlace {
    bool operator==(const ProjectPlace&) const = default;
};

/// A place that the outline, the canvas and the problems refer to, and that the inspector shows.
using Place = std::variant<ProjectPlace, SectionPlace, GraphPlace, NodePlace, LoopPlace, LayersPlace, ShortcutsPlace,
                           LossPlace, TowerPlace>;

/// True if the place exists in the project, because an edit may have removed it.
[[nodiscard]] bool exists(const projects::Project& project, const Place& place);
/// Returns the place's name for people: "Layer 3", "Shortcut 0:2", "up · Linear".
[[nodiscard]] QString titleOf(const projects::Project& project, const Place& place);
/// Returns a short description of the place, for a line below its title.
[[nodiscard]] QString subtitleOf(const projects::Project& project, const Place& place);

/// Returns the JSON pointer of a node; empty if it does not exist.
[[nodiscard]] std::string pointerOf(const projects::Project& project, const NodePlace& place);

/// Returns the place of a JSON pointer into project.json, or the nearest place around it.
[[nodiscard]] Place placeOfPointer(const projects::Project& project, const std::string& pointer);

/// Returns the JSON pointer of a loop.
[[nodiscard]] std::string pointerOf(const LoopPlace& place);
/// Returns the JSON pointer of a loss.
[[nodiscard]] std::string pointerOf(const LossPlace& place);

/// Returns a tower's name with the values of other towers that it reads, and whether it is frozen: "encoder.states →
/// decoder". `whole` is the whole document.
[[nodiscard]] QString towerText(const projects::Project& whole, std::size_t tower);

/// Returns the place of a selection. Shortcuts have priority over layers. All layers of a loop are the loop.
[[nodiscard]] Place placeOfSelection(const projects::Project& project, const projects::Selection& selection);
/// Returns the part of a place that the depth canvas can mark.
[[nodiscard]] projects::Selection selectionOfPlace(const projects::Project& project, const Place& place);

} // namespace residua::app
