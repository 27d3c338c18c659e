// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "engine/graph/pass.h"
#include "projects/model/project.h"
#include "projects/schedule/kept_parts.h"

#include <cstdint>
#include <vector>

namespace residua::engine {

/// What the document's schedule leaves out of a pass: layers, heads and MLP parts (RaPTr, algorithm 1 and appendix J;
/// PLD, algorithm 1; stochastic depth). The draw is a function of the pass's random streams and step alone: every
/// micro-batch of a step, a resumed run and every process of a group draw the same. In evaluation the whole network
/// runs; of one that grows, as much as there was after the pass's step. Engine thread.
class LayerDropping {
public:
    explicit LayerDropping(const projects::Project& project);

    /// What the pass does with each layer: as many as the network has, or none where the schedule trains all.
    [[nodiscard]] std::vector<LayerUse> draw(const Pass& pass) const;

private:
    [[nodiscard]] std::vector<LayerUse> wholeNetwork(const projects::KeepShares& shares) const;
    void drawLayers(std::vector<LayerUse>& layers, const projects::KeepShares& shares, const Philox& random) const;
    /// The factor of each branch that runs; of a growing network the top layer has no gap above it.
    void scale(std::vector<LayerUse>& layers, const projects::KeepShares& shares) const;
    /// How far what the stage has added is open before step `step`: from 0 at its first.
    [[nodiscard]] double openingOf(const projects::StageSpan& span, std::int64_t step) const;
    [[nodiscard]] projects::StageSpan stageBefore(const projects::StageSpan& span) const;
    void openNew(std::vector<LayerUse>& layers, const projects::StageSpan& span, std::int64_t step) const;
    void setParts(std::vector<LayerUse>& layers, const projects::KeepShares& shares, const projects::StageSpan& span,
                  std::int64_t step, const RandomStreams& random) const;

    projects::StageSchedule m_schedule;
    std::int64_t m_depth;
    std::int64_t m_steps;
    std::vector<projects::StageSpan> m_spans; ///< empty: the schedule trains all
};

/// "active" (values.h, Matrix): for each layer the share of it that counts, 0 where its branch does not.
[[nodiscard]] Matrix activeLayers(const std::vector<LayerUse>& layers, std::int64_t step);

} // namespace residua::engine
