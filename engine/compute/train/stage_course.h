// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/network/network.h"
#include "engine/compute/train/optimiser.h"
#include "projects/model/parameter_name.h"
#include "projects/model/project.h"
#include "projects/schedule/stage_schedule.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

/// The border between two stages of training.
struct StageBorder {
    std::int64_t step = 0; ///< the last step before it; 0: the run begins with the stage
    projects::StageSpan before;
    projects::StageSpan after;
    std::string name; ///< of the stage that begins
};

/// Follows the schedule of a tower and applies it to weights and gradients. Engine thread.
class StageCourse {
public:
    /// `view` has the tower in the first place. `scope` is the beginning of its parameters' names.
    explicit StageCourse(const projects::Project& view, std::string scope = {});

    /// Returns the border between the completed steps and the next one, if any. A curve has no borders.
    [[nodiscard]] std::optional<StageBorder> after(std::int64_t stepsDone) const;

    /// True if the step trains a random part of the network. False for the whole network and for a growing one.
    [[nodiscard]] bool drawsAt(std::int64_t step) const;

    /// Returns the number of later steps in the training pass's stage that are expected to run the same layers.
    [[nodiscard]] double expectedRepeats(const Pass& pass) const;

    /// True if the network has more layers, heads or MLP parts after the border than before it.
    [[nodiscard]] bool growsAt(const StageBorder& border) const;

    /// Initialises the layers that a growing network adds at the border, with their parameters and moments in place.
    /// Returns a description of these layers and of new heads and MLP parts; empty if nothing is new.
    std::string grow(const StageBorder& border, CompiledNetwork& network, Optimiser& optimiser) const;

    /// Sets zero gradients for the weights that the pass left out, if the schedule says so. These are the parameters of
    /// layers that did not run, and those of the topology that nothing read as a consequence. Excludes layers that do
    /// not exist yet.
    void fillAbsent(const Pass& pass, std::vector<NamedParameter>& parameters);

    /// Returns the slices of left-out heads and MLP parts that the step must not change: if the schedule says so for
    /// absent weights, and always for a growing network, where they do not exist yet. Other slices get the zero
    /// gradient of their whole parameter.
    [[nodiscard]] std::vector<HeldSlice> untouched(const Pass& pass,
                                                   const std::vector<NamedParameter>& parameters) const;

    /// True if new parts at a border should preserve the network's function: they initially write nothing, or open
    /// during a warm-up.
    [[nodiscard]] bool meansToKeep() const;

private:
    /// The steps that make as many visits of all loops as a pass.
    struct VisitRepeats {
        std::int64_t end = 0;   ///< the last step that may, because rising visits are as many up to it
        double share = 1;       ///< of the steps up to it, because others are drawn
        std::vector<bool> made; ///< for each executed layer: the pass visits it, unless it is left out
    };
    [[nodiscard]] VisitRepeats visitRepeats(const Pass& pass, std::int64_t end) const;
    [[nodiscard]] std::string toldOfParts(const StageBorder& border) const;

    /// Returns the parsed name of a parameter of the tower; Other for those of other towers.
    [[nodiscard]] projects::ParameterName nameOf(std::string_view parameter) const;

    projects::Stack m_stack;
    projects::StageSchedule m_schedule;
    std::int64_t m_depth;
    std::string m_scope;
    std::vector<projects::StageSpan> m_spans;
    at::Tensor m_zeros; ///< shared by all absent gradients
};

} // namespace residua::engine
