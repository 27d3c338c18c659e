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

/// True if a loop of the stack, whose wiring is a mix and not the plain sum, shares its weights over its visits, and
/// neededToShare() is empty.
[[nodiscard]] bool sharesMix(const Stack& stack);
/// True if the shared weights belong to distances; else to listed shortcuts.
[[nodiscard]] bool sharesByDistance(const DepthMix& mix);
/// True if the visits share rows of "topology.coefficient".
[[nodiscard]] bool sharesCoefficients(const Stack& stack);
/// Returns what the mix of the stack would need so that visits can share its weights, as "expected …"; empty if they
/// can. Listed shortcuts need to be at every visit (VisitedModules::everyVisit).
[[nodiscard]] std::string neededToShare(const Stack& stack);
/// Returns the stack with another number of visits of a loop. Listed shortcuts move with their visits, and those at
/// every visit are at every visit again (moveShortcuts).
[[nodiscard]] Stack withVisits(Stack stack, std::size_t loop, std::int64_t visits);

/// Returns what lets a run's weights serve another number of visits, for messages: "; …" with the options to type.
/// Empty without loops.
[[nodiscard]] std::string curesOfVisits(const Stack& stack);

/// A row of "topology.coefficient" that visits share.
struct SharedTerm {
    std::int64_t target = 1; ///< the reader among those of rowStackOf()
    int output = 0;          ///< the mix of the reader
    /// If weights belong to distances, d ≥ 1 is the d-th newest entry, 0 the stack's input and −1 the summed middle.
    /// Otherwise the module among those of rowStackOf(), or 0 for the stack's input.
    std::int64_t source = 1;
    double start = 0;
    auto operator<=>(const SharedTerm&) const = default;
};
/// Returns the rows of "topology.coefficient" in their order: for each reader and mix the input and the summed middle,
/// if the sources have them, and the last k entries, or its listed sources. Empty if the mix has no coefficients.
[[nodiscard]] std::vector<SharedTerm> sharedTerms(const Stack& stack);
/// Returns the row of each of learnedTerms() among sharedTerms(); of attention over depth, the row of each mix of each
/// reader among those of the parameters "query" and "norm". Precondition: sharesMix() of a valid stack.
[[nodiscard]] std::vector<std::int64_t> sharedRows(const Stack& stack);
/// Returns the coefficients of planOf() of the stack: `stored` as in "topology.coefficient", by sharedRows() if visits
/// share them, then withLearned(). nullopt if the counts differ.
[[nodiscard]] std::optional<MixNumbers> coefficientsOf(const Stack& stack, const DepthPlan& plan, MixNumbers stored);

} // namespace residua::projects
