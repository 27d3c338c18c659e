// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/edit/edit.h"
#include "projects/model/project.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace residua::projects {

// Visits of a loop that become layers of their own (untie), and layers that become visits of a loop (tie). The executed
// layers stay, and with them the wiring, the schedule and the groups.

/// How a layer gets its weights from those that become its visits.
enum class TieBy {
    Average,  ///< the mean of them
    Stepwise, ///< those of one layer: the layers taken are spread evenly from the first to the last
};
/// Layers that become the visits of a loop: Loop::first to Loop::last and, after them, those of the further visits.
struct Tie {
    Loop loop;
    TieBy by = TieBy::Average;
};

/// A document whose loops changed, and the layers that its own are made of.
struct RetiedProject {
    Project project;
    std::vector<std::int64_t> layers;            ///< the old number of each new executed layer
    std::vector<std::vector<std::int64_t>> made; ///< the old stored layers that each new stored one is made of
};

/// Makes every visit of the loop at `loop` a stored layer of its own. A visit keeps its embedding, gate and norm, and
/// the factor of the branches, in a loop of one visit. A loop that draws its visits first gets those of an evaluation.
/// Returns an error if there is no such loop, or if its visits read the loop's input (an injection).
[[nodiscard]] Result<Edit> untieEdit(const Document& document, std::size_t loop);
/// Returns the project without loops of several visits.
[[nodiscard]] Result<RetiedProject> untied(const Project& project);

/// Parses "3:10,4", layers 3 to 10 as 4 visits, followed by "average" or "stepwise", "cycle" or "in_place" and "rank=8"
/// (Loop::adapterRank) in any order, with commas or spaces between. The error's place is "layers".
[[nodiscard]] Result<Tie> tieFrom(std::string_view text);
/// Returns the project with these layers tied. Returns an error if a loop visits one of them, or if layers that become
/// one have different blocks.
[[nodiscard]] Result<RetiedProject> tied(const Project& project, const Tie& tie);
/// The word for untied().
inline constexpr const char* kUntie = "untie";
/// Does what `text` says: kUntie, or a tie as tieFrom() reads it.
[[nodiscard]] Result<RetiedProject> retied(const Project& project, std::string_view text);

/// Returns the stored layers of `before`, ascending, whose executed layers become those of stored layer `layer` of
/// `after`. `layers` has the old number of each new executed layer.
[[nodiscard]] std::vector<std::int64_t> storedSources(const Stack& before, const Stack& after,
                                                      const std::vector<std::int64_t>& layers, std::int64_t layer);

} // namespace residua::projects
