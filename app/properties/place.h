// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/commands/selection.h"
#include "projects/model/places.h"
#include "projects/model/project.h"

#include <QString>

#include <string>
#include <variant>
#include <vector>

namespace residua::app {

/// The parts of a document that have a row of their own at the outline's top.
enum class Section { Data, Network, Topology, Schedule, Initialisation, Training, Seeds, Runs };
/// Its key in project.json, "data"; "runs", which are in no document.
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
/// Layers 1..depth.
struct LayersPlace {
    std::vector<std::int64_t> layers;
    bool operator==(const LayersPlace&) const = default;
};
struct ShortcutsPlace {
    std::vector<projects::Shortcut> shortcuts;
    bool operator==(const ShortcutsPlace&) const = default;
};
/// The project as a whole.
struct ProjectPlace {
    bool operator==(const ProjectPlace&) const = default;
};

/// What the outline, the canvas and the problems point at, and what the inspector shows.
using Place = std::variant<ProjectPlace, SectionPlace, GraphPlace, NodePlace, LayersPlace, ShortcutsPlace>;

/// Whether the place is in the project: an edit may have removed it.
[[nodiscard]] bool exists(const projects::Project& project, const Place& place);
/// The place's name for people: "Layer 3", "Shortcut 0:2", "up · Linear".
[[nodiscard]] QString titleOf(const projects::Project& project, const Place& place);
/// What the place is, in a few words that stand under its title.
[[nodiscard]] QString subtitleOf(const projects::Project& project, const Place& place);

/// The JSON pointer to a node; empty for one that is not there.
[[nodiscard]] std::string pointerOf(const projects::Project& project, const NodePlace& place);

/// The place of a JSON pointer into project.json; the nearest place around it where it has none of its own.
[[nodiscard]] Place placeOfPointer(const projects::Project& project, const std::string& pointer);

/// The place that a selection stands for. Shortcuts go before layers: they are what a person looks at closest.
[[nodiscard]] Place placeOfSelection(const projects::Project& project, const projects::Selection& selection);
/// The part of a place that the depth canvas can mark.
[[nodiscard]] projects::Selection selectionOfPlace(const projects::Project& project, const Place& place);

} // namespace residua::app
