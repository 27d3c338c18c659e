// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/depth/depth_plan.h"
#include "projects/model/stack.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Mixes whose weights the visits of a layer share (VisitRows::Layer). A weight then belongs to a reader of rowStackOf()
// and a relative source, so that the number of weights does not depend on the number of visits.
namespace residua::projects {

/// True if a loop of the stack, whose wiring is a mix with weights between layers, shares them over its visits, and
/// neededToShare() is empty.
[[nodiscard]] bool sharesMix(const Stack& stack);
/// Returns what the mix would need so that visits can share its weights, as "expected …"; empty if they can.
[[nodiscard]] std::string neededToShare(const DepthMix& mix);

/// A row of "topology.coefficient" that visits share.
struct SharedTerm {
    std::int64_t target = 1; ///< the reader among those of rowStackOf()
    int output = 0;          ///< the mix of the reader
    std::int64_t source = 1; ///< d ≥ 1: the d-th newest entry; 0: the stack's input; −1: the summed middle
    double start = 0;
    auto operator<=>(const SharedTerm&) const = default;
};
/// Returns the rows of "topology.coefficient" in their order: for each reader and mix the input and the summed middle,
/// if the sources have them, and the last k entries. Empty if the mix has no coefficients.
[[nodiscard]] std::vector<SharedTerm> sharedTerms(const Stack& stack);
/// Returns the row of each term of planOf() among sharedTerms(); of attention over depth, the row of each mix of each
/// reader among those of the parameters "query" and "norm". Precondition: sharesMix() of a valid stack.
[[nodiscard]] std::vector<std::int64_t> sharedRows(const Stack& stack);
/// Returns the coefficients of planOf() of the stack: `stored` as in "topology.coefficient", by sharedRows() if visits
/// share them, then withLearned(). nullopt if the counts differ.
[[nodiscard]] std::optional<MixNumbers> coefficientsOf(const Stack& stack, const DepthPlan& plan, MixNumbers stored);

} // namespace residua::projects
