// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/values.h"
#include "engine/compute/graph/pass.h"
#include "projects/model/project.h"
#include "projects/schedule/kept_parts.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace residua::engine {

/// Draws the layers, heads and MLP parts that the document's schedule leaves out of a pass (RaPTr, algorithm 1 and
/// appendix J; PLD, algorithm 1; stochastic depth), and the number of visits of each loop (projects::VisitDraw). The
/// draw depends only on the pass's random streams and step, so every micro-batch of a step, a resumed run and every
/// process of a group draw the same. Evaluation runs the whole network; of a growing network, the layers that exist
/// after the pass's step. Engine thread.
class LayerDropping {
public:
    explicit LayerDropping(const projects::Project& project);

    /// Returns the use of each layer in the pass, or an empty vector if all run and have gradients.
    [[nodiscard]] std::vector<LayerUse> draw(const Pass& pass) const;
    /// Makes loops, from 0, make so many visits.
    void setVisits(std::vector<LayerUse>& layers,
                   const std::vector<std::pair<std::size_t, std::int64_t>>& visits) const;

private:
    [[nodiscard]] std::vector<LayerUse> bySchedule(const Pass& pass) const;
    /// Leaves out the visits that the pass does not make, and marks those that have no gradient. Returns for each
    /// executed layer whether the pass visits it. Does not size `layers` if all are visited with a gradient.
    [[nodiscard]] std::vector<bool> limitVisits(std::vector<LayerUse>& layers, const Pass& pass) const;
    [[nodiscard]] std::vector<LayerUse> wholeNetwork(const projects::KeepShares& shares) const;
    void drawLayers(std::vector<LayerUse>& layers, const projects::KeepShares& shares, const Philox& random) const;
    /// Draws whole visits of each loop, and sets the factors of the gaps between those that run.
    void drawVisits(std::vector<LayerUse>& layers, const projects::KeepShares& shares,
                    const RandomStreams& random) const;
    /// Sets the factor of each branch that runs. Gaps count layers that the pass visits but leaves out (`made`).
    /// Networks that grow, and whole visits, get no factors for gaps here.
    void scale(std::vector<LayerUse>& layers, const projects::KeepShares& shares, const std::vector<bool>& made) const;
    /// Returns how far the stage's new layers are open before step `step`, starting from 0 at the stage's first step.
    [[nodiscard]] double openingOf(const projects::StageSpan& span, std::int64_t step) const;
    [[nodiscard]] projects::StageSpan stageBefore(const projects::StageSpan& span) const;
    void openNew(std::vector<LayerUse>& layers, const projects::StageSpan& span, std::int64_t step) const;
    void setParts(std::vector<LayerUse>& layers, const projects::KeepShares& shares, const projects::StageSpan& span,
                  std::int64_t step, const RandomStreams& random) const;

    projects::Stack m_stack;
    projects::StageSchedule m_schedule;
    std::int64_t m_depth;
    std::int64_t m_steps;
    std::vector<projects::StageSpan> m_spans; ///< empty if the schedule trains all
};

/// Returns the kept share of each visit of a sound loop, from 0, whose visits a step keeps as a whole.
[[nodiscard]] std::vector<double> visitShares(const projects::Stack& stack, std::size_t loop,
                                              const projects::KeepShares& shares);
/// Draws the visits of a loop that a step keeps: at least one, each with the probability `shares`, which is the same
/// for all below 1 and at least 1 in sum. If no visit is always kept, a drawn one is, and the others are drawn
/// seldomer.
[[nodiscard]] std::vector<bool> keptVisits(const std::vector<double>& shares, projects::DropSampling sampling,
                                           const Philox& random);
/// Returns the probability that keptVisits() returns `kept`.
[[nodiscard]] double shareOfKept(const std::vector<double>& shares, projects::DropSampling sampling,
                                 const std::vector<bool>& kept);
/// Draws the number of visits of a training step, 1 to Loop::visits; all of them if they rise.
[[nodiscard]] std::int64_t drawnVisits(const projects::Loop& loop, const Philox& random);
/// Returns the share of training steps in which drawnVisits() is `visits`.
[[nodiscard]] double shareOfVisits(const projects::Loop& loop, std::int64_t visits);
/// Returns the number of visits of loop `index` in the pass, of a run of `steps` steps.
[[nodiscard]] std::int64_t visitsIn(const Pass& pass, const projects::Stack& stack, std::size_t index,
                                    std::int64_t steps);

/// Returns "active" (values.h, Matrix): for each layer the fraction that is computed, or 0 if its branch is not used.
[[nodiscard]] Matrix activeLayers(const std::vector<LayerUse>& layers, std::int64_t step);

} // namespace residua::engine
