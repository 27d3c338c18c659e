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

/// The number that is shown if each feature or token has a weight of its own.
enum class LiveMeasure {
    Mean,    ///< their mean, or the weight itself if it is shared
    Spread,  ///< their standard deviation
    Feature, ///< the weight of a single feature
};

/// Live values, valid during the call: one port's mixing weights row-major [target − 1, source], NaN where there is no
/// shortcut, and the share of each layer that the current step runs. Either may be empty.
struct LiveValues {
    projects::MixPort port = projects::MixPort::Input;
    std::span<const float> mix;
    std::string title = {}; ///< name of the numbers if they are not weights: "change since step 0"
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::span<const float> active; ///< [layers]: the share that the step runs, 0: left out; empty: unchanged
    std::int64_t step = 0;
    LiveMeasure measure = LiveMeasure::Mean;
    std::int64_t feature = 0; ///< the feature of these weights, for LiveMeasure::Feature
};

/// Returns the colour of a weight: from the map of magnitudes, or from that of signed values about the scale's centre.
[[nodiscard]] resources::Rgb weightColour(const projects::WeightScale& scale, double weight, resources::Theme theme);

struct WeightGrid {
    std::vector<float> mix; ///< row-major [target − 1, source]; NaN: no shortcut
    std::int64_t rows = 0;
    std::int64_t columns = 0;

    [[nodiscard]] std::optional<float> of(const projects::Shortcut& shortcut) const;
};

/// The weights of one port, looked up once for a frame's many shortcuts. Valid until the weights change.
struct PortWeights {
    const WeightGrid* own = nullptr;
    const WeightGrid* final = nullptr; ///< the final output has a single mix, whatever the port

    [[nodiscard]] std::optional<float> of(const projects::Shortcut& shortcut) const;
};

/// The effect of a shortcut: the rise of the loss without it, on held-out batches.
struct LiveEffect {
    double rise = 0;
    double error = 0; ///< the standard error over batches; NaN of one batch
};

/// The live weights that are drawn, as a copy of the engine's numbers. There is one grid for each port with a mix and
/// each measure. All ports of a measure share a scale, so that they can be compared.
class LiveWeights {
public:
    /// Replaces the grid of one port, and the scale of its measure.
    void take(const LiveValues& live, const projects::WeightScale& scale);
    void clear();
    /// Returns a copy with each weight as its share of its row and port, |w| / Σ|w|, which shows the strongest weights
    /// of rows with small or large weights. Spreads and single features are unchanged.
    [[nodiscard]] LiveWeights rowShares() const;
    /// True if this is a result of rowShares().
    [[nodiscard]] bool areShares() const { return m_shares; }
    /// Sets the measured effects of shortcuts, at the step of their checkpoint. clear() removes them.
    void setEffects(std::map<projects::Shortcut, LiveEffect> effects, std::int64_t step);
    /// Returns the effect of a shortcut; null if it is not known.
    [[nodiscard]] const LiveEffect* effect(const projects::Shortcut& shortcut) const;
    [[nodiscard]] bool hasEffects() const { return !m_effects.empty(); }
    [[nodiscard]] std::int64_t effectStep() const { return m_effectStep; }
    /// Returns a copy with the effects in the place of the weights of every port. Spreads and single features are
    /// unchanged.
    [[nodiscard]] LiveWeights byEffect() const;
    /// True if this is a result of byEffect().
    [[nodiscard]] bool areEffects() const { return m_areEffects; }
    /// Returns the name of the numbers if they are not weights; else empty.
    [[nodiscard]] const std::string& title(LiveMeasure measure = LiveMeasure::Mean) const { return of(measure).title; }
    /// Sets the reason why no weights are drawn, for the canvas. clear() and take() reset it.
    void setAbsence(std::string why);
    [[nodiscard]] const std::string& absence() const { return m_absence; }
    /// Returns a number that changes with every change of the weights.
    [[nodiscard]] std::uint64_t revision() const { return m_revision; }

    [[nodiscard]] bool empty() const { return !has(LiveMeasure::Mean); }
    [[nodiscard]] bool has(LiveMeasure measure) const { return !of(measure).grids.empty(); }
    [[nodiscard]] std::int64_t step(LiveMeasure measure = LiveMeasure::Mean) const { return of(measure).step; }
    /// Returns the feature that LiveMeasure::Feature shows.
    [[nodiscard]] std::int64_t feature() const { return m_feature; }
    [[nodiscard]] const projects::WeightScale& scale(LiveMeasure measure = LiveMeasure::Mean) const
    {
        return of(measure).scale;
    }
    /// Returns the share of the layer that the step runs: 1 all, 0 nothing, else of its heads or MLP parts.
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
    bool m_areEffects = false;
    std::map<projects::Shortcut, LiveEffect> m_effects;
    std::int64_t m_effectStep = 0;
    std::string m_absence;
};

} // namespace residua::editor
