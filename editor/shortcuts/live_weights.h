// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/depth/mix_port.h"
#include "projects/depth/weight_scale.h"
#include "projects/model/project.h"
#include "resources/colours.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace residua::editor {

/// Which number is shown of weights that each feature or token has of its own.
enum class LiveMeasure {
    Mean,    ///< their mean; the weight itself where all share one
    Spread,  ///< their standard deviation
    Feature, ///< the weight of a single feature
};

/// Live values, viewed for the length of a call: one port's mixing weights row-major [target − 1, source], NaN
/// where there is no shortcut, and what of the layers the current step runs. Either may be empty.
struct LiveValues {
    projects::MixPort port = projects::MixPort::Input;
    std::span<const float> mix;
    std::span<const float> shades = {}; ///< what each is coloured by, as mix; empty: by the weight itself
    std::string title = {};             ///< what the numbers are, if they are no weights: "change since step 0"
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::span<const float> active; ///< [layers]: the share that the step runs, 0: left out; empty: as before
    std::int64_t step = 0;
    LiveMeasure measure = LiveMeasure::Mean;
    std::int64_t feature = 0; ///< whose weights these are, for LiveMeasure::Feature
};

/// Which colour map weights are drawn in: that of magnitudes, or that of signed values about the scale's centre.
[[nodiscard]] resources::Rgb weightColour(const projects::WeightScale& scale, double weight, resources::Theme theme);

struct WeightGrid {
    std::vector<float> mix;    ///< row-major [target − 1, source], NaN: none
    std::vector<float> shades; ///< what each is coloured by; empty: by the weight itself
    std::int64_t rows = 0;
    std::int64_t columns = 0;

    [[nodiscard]] std::optional<float> of(const projects::Shortcut& shortcut) const { return in(mix, shortcut); }
    [[nodiscard]] std::optional<float> shadeOf(const projects::Shortcut& shortcut) const
    {
        return in(shades.empty() ? mix : shades, shortcut);
    }

private:
    [[nodiscard]] std::optional<float> in(const std::vector<float>& numbers, const projects::Shortcut& shortcut) const;
};

/// What one port reads, looked up once for a frame's many shortcuts. Good until the weights change.
struct PortWeights {
    const WeightGrid* own = nullptr;
    const WeightGrid* final = nullptr; ///< the final output has one mix of its own, whichever port is asked for

    [[nodiscard]] std::optional<float> of(const projects::Shortcut& shortcut) const;
    /// What the shortcut is coloured by, on the scale of the weights.
    [[nodiscard]] std::optional<float> shadeOf(const projects::Shortcut& shortcut) const;
};

/// The live weights that are drawn, as a copy of the engine's numbers. One grid for each port that has a
/// mix of its own and each measure, one scale for all ports of a measure, so that they can be compared.
class LiveWeights {
public:
    /// Takes the grid of one port in place of what that port had, and the scale that its measure is drawn in.
    void take(const LiveValues& live, const projects::WeightScale& scale);
    void clear();
    /// The same with each weight's share of what its target reads by that port, |w| / Σ|w|: what stands out in rows
    /// whose weights are small or large altogether. Spreads and single features stay as they are.
    [[nodiscard]] LiveWeights rowShares() const;
    /// Whether it is what rowShares() gives.
    [[nodiscard]] bool areShares() const { return m_shares; }
    /// What the numbers are, if they are no weights; empty if they are.
    [[nodiscard]] const std::string& title(LiveMeasure measure = LiveMeasure::Mean) const { return of(measure).title; }
    /// Whether weights are coloured by how far each is from its own start: then the scale is of these distances.
    [[nodiscard]] bool fromStart(LiveMeasure measure = LiveMeasure::Mean) const;
    /// A number that changes with every change of the weights.
    [[nodiscard]] std::uint64_t revision() const { return m_revision; }

    [[nodiscard]] bool empty() const { return !has(LiveMeasure::Mean); }
    [[nodiscard]] bool has(LiveMeasure measure) const { return !of(measure).grids.empty(); }
    [[nodiscard]] std::int64_t step(LiveMeasure measure = LiveMeasure::Mean) const { return of(measure).step; }
    /// The feature whose weights LiveMeasure::Feature shows.
    [[nodiscard]] std::int64_t feature() const { return m_feature; }
    [[nodiscard]] const projects::WeightScale& scale(LiveMeasure measure = LiveMeasure::Mean) const
    {
        return of(measure).scale;
    }
    /// How much of the layer the step runs: 1 all, 0 nothing, between them a share of its heads or MLP parts.
    [[nodiscard]] double activeShare(std::int64_t layer) const;
    [[nodiscard]] bool isActive(std::int64_t layer) const { return activeShare(layer) > 0; }
    [[nodiscard]] PortWeights port(projects::MixPort port, LiveMeasure measure = LiveMeasure::Mean) const;

private:
    struct Measured {
        std::map<projects::MixPort, WeightGrid> grids;
        std::int64_t step = 0;
        projects::WeightScale scale;
        std::string title;
    };
    [[nodiscard]] const Measured& of(LiveMeasure measure) const
    {
        return m_measured[static_cast<std::size_t>(measure)];
    }
    std::array<Measured, 3> m_measured;
    std::vector<float> m_active;
    std::int64_t m_feature = 0;
    std::uint64_t m_revision = 0;
    bool m_shares = false;
};

} // namespace residua::editor
