// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/network/network.h"
#include "engine/train/optimiser.h"
#include "projects/model/project.h"
#include "projects/schedule/stage_schedule.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// Where one stage of training ends and the next begins.
struct StageBorder {
    std::int64_t step = 0; ///< the last step before it; 0: the run begins with the stage
    projects::StageSpan before;
    projects::StageSpan after;
    std::string name; ///< of what begins
};

/// The course that a project's schedule takes, and what it does to weights and gradients. Engine thread.
class StageCourse {
public:
    explicit StageCourse(const projects::Project& project);

    /// The border that lies between the steps that are done and the next. A curve has none.
    [[nodiscard]] std::optional<StageBorder> after(std::int64_t stepsDone) const;

    /// Whether the step trains a part that it draws: neither the whole network, nor one that grows.
    [[nodiscard]] bool drawsAt(std::int64_t step) const;

    /// Whether the network has more layers, heads or MLP parts after the border than before it.
    [[nodiscard]] bool growsAt(const StageBorder& border) const;

    /// Makes the layers that begin at the border of a growing network, their parameters and their moments in place.
    /// What has become of them, and of heads and MLP parts that begin, in words; empty where nothing has.
    std::string grow(const StageBorder& border, CompiledNetwork& network, Optimiser& optimiser) const;

    /// Gives the weights of what the pass has left out a gradient of zero, where the schedule says so: the parameters
    /// of layers that it did not run, and those of the topology that nothing read for it. Layers that do not exist yet
    /// have none.
    void fillAbsent(const Pass& pass, std::vector<NamedParameter>& parameters);

    /// The slices that a step leaves as they are, of heads and MLP parts that the pass has left out: where the schedule
    /// says so of absent weights, and of a network that grows, since they do not exist yet. Elsewhere a slice has the
    /// gradient of zero that its whole parameter gives it.
    [[nodiscard]] std::vector<HeldSlice> untouched(const Pass& pass,
                                                   const std::vector<NamedParameter>& parameters) const;

    /// Whether what is new at a border should leave the network's function as it was: it writes nothing at first, or
    /// opens over a warm-up.
    [[nodiscard]] bool meansToKeep() const;

private:
    [[nodiscard]] std::string toldOfParts(const StageBorder& border) const;

    projects::StageSchedule m_schedule;
    std::int64_t m_depth;
    std::vector<projects::StageSpan> m_spans;
    at::Tensor m_zeros; ///< shared by all absent gradients
};

} // namespace residua::engine
