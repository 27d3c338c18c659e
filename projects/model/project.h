// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/data_source.h"
#include "projects/model/graph.h"
#include "projects/model/graph_ref.h"
#include "projects/model/sweep.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace residua::projects {

/// The schema that this program writes. Older files are migrated on load (json.h).
inline constexpr int kSchemaVersion = 6;

/// The document: everything that determines what is trained, and the sweeps, as plain comparable values. All views read
/// it; only edits (edit.h) change it.
struct Project {
    std::string name = "Untitled";
    std::string description;
    DataSource data;
    Network network;
    Initialisation initialisation;
    TrainingPlan training;
    Seeds seeds;
    std::vector<Sweep> sweeps; ///< do not affect the training of this document

    [[nodiscard]] Stack& stack() { return network.stack(); }
    [[nodiscard]] const Stack& stack() const { return network.stack(); }

    bool operator==(const Project&) const = default;
};

/// Position on a canvas, in canvas units.
struct Position {
    double x = 0;
    double y = 0;
    bool operator==(const Position&) const = default;
};

/// A named range of layers, shown as a bracket on the depth canvas. Layers first..last, counted from 1.
struct LayerGroup {
    std::string name;
    std::int64_t first = 1;
    std::int64_t last = 1;
    bool operator==(const LayerGroup&) const = default;
};

/// The visual layout of the network. It never affects the meaning.
struct Layout {
    std::map<GraphRef, std::map<NodeId, Position>> positions; ///< positions of nodes, by graph and node
    std::vector<LayerGroup> groups;
    bool operator==(const Layout&) const = default;
};

} // namespace residua::projects
