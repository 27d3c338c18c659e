// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/project.h"
#include "projects/model/topology.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// Parts of a network that are to be left out.
struct Pruning {
    std::vector<Shortcut> shortcuts; ///< of a DepthMix; sorted and unique
    /// From 1; sorted and unique. A layer of a loop is left out with all its visits.
    std::vector<std::int64_t> layers;

    [[nodiscard]] bool empty() const { return shortcuts.empty() && layers.empty(); }
    bool operator==(const Pruning&) const = default;
};

/// Parses parts separated by commas: "2:7" is a shortcut, "3:*" is every shortcut out of entry 3, "*:5" every shortcut
/// into module 5, "layer 4" a layer. In a stack with loops, ends of shortcuts are those of visit_shortcuts.h. The
/// error's place is "prune". Returns an error for a part that the network lacks and for a wildcard that matches
/// nothing.
[[nodiscard]] Result<Pruning> pruningFrom(std::string_view text, const Project& project);
/// Formats parts of `project` as pruningFrom() reads them, without wildcards.
[[nodiscard]] std::string textOf(const Pruning& pruning, const Project& project);

/// A document without some of its parts.
struct PrunedProject {
    Project project;
    std::vector<std::int64_t> layers; ///< old number of each new layer
};
/// Returns the project without the parts. Shortcuts get the state Pruned; a plain running sum becomes a mix of ones
/// first (withTerms). Layers leave the stack, and the shortcuts and the schedule's layers of the others are renumbered.
/// Returns an error if a part is not there, no layer or no shortcut would be left, or the result is not valid, for
/// example because a layer is left without a source.
[[nodiscard]] Result<PrunedProject> pruned(const Project& project, const Pruning& pruning);

/// Returns the parts without which `before` has the network of `after`, whose layer l was layer layers[l − 1]. Ignores
/// the schedule. Returns an error if the networks differ otherwise.
[[nodiscard]] Result<Pruning> pruningBetween(const Project& before, const Project& after,
                                             const std::vector<std::int64_t>& layers);
/// True if both networks have the same layers, parts and wiring. Ignores the schedule, and the preset's name.
[[nodiscard]] bool isSameNetwork(const Network& one, const Network& other);

} // namespace residua::projects
