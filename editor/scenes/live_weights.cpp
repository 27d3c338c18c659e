// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/scenes/live_weights.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace residua::editor {

resources::Rgb weightColour(const projects::WeightScale& scale, double weight, resources::Theme theme)
{
    if (!scale.centre) {
        return resources::magnitude(scale.strength(weight), theme);
    }
    return resources::diverging(std::copysign(scale.strength(weight), weight - *scale.centre), theme);
}

std::optional<float> WeightGrid::of(const projects::Shortcut& shortcut) const
{
    const std::int64_t row = shortcut.target - 1;
    if (row < 0 || row >= rows || shortcut.source < 0 || shortcut.source >= columns) {
        return std::nullopt;
    }
    const float value = mix[static_cast<std::size_t>(row * columns + shortcut.source)];
    return std::isnan(value) ? std::nullopt : std::optional(value);
}

std::optional<float> PortWeights::of(const projects::Shortcut& shortcut) const
{
    const auto weight = own != nullptr ? own->of(shortcut) : std::nullopt;
    return weight || final == nullptr ? weight : final->of(shortcut);
}

void LiveWeights::clear()
{
    const std::uint64_t revision = m_revision + 1;
    *this = {};
    m_revision = revision;
}

void LiveWeights::take(const LiveValues& live, const projects::WeightScale& scale)
{
    ++m_revision;
    m_absence.clear();
    if (!live.active.empty()) {
        m_active.assign(live.active.begin(), live.active.end());
    }
    const auto cells = static_cast<std::size_t>(std::max<std::int64_t>(live.rows * live.columns, 0));
    if (cells == 0 || live.mix.size() < cells) {
        return; // incomplete
    }
    Measured& measured = m_measured[static_cast<std::size_t>(live.measure)];
    WeightGrid& grid = measured.grids[live.port];
    grid.mix.assign(live.mix.begin(), live.mix.end());
    grid.rows = live.rows;
    grid.columns = live.columns;
    measured.step = live.step;
    if (live.measure == LiveMeasure::Feature) {
        m_feature = live.feature;
    }
    measured.scale = scale;
    measured.title = live.title;
}

void LiveWeights::setAbsence(std::string why)
{
    ++m_revision;
    m_absence = std::move(why);
}

LiveWeights LiveWeights::rowShares() const
{
    LiveWeights shares = *this;
    shares.m_shares = true;
    Measured& measured = shares.m_measured[static_cast<std::size_t>(LiveMeasure::Mean)];
    double largest = 0;
    for (auto& [port, grid] : measured.grids) {
        for (std::int64_t row = 0; row < grid.rows; ++row) {
            const auto cells = std::span(grid.mix).subspan(static_cast<std::size_t>(row * grid.columns),
                                                           static_cast<std::size_t>(grid.columns));
            float sum = 0;
            for (const float weight : cells) {
                sum += std::isnan(weight) ? 0 : std::abs(weight);
            }
            for (float& weight : cells) {
                weight = sum > 0 ? std::abs(weight) / sum : weight * 0; // NaN stays NaN
                largest = std::isnan(weight) ? largest : std::max(largest, double(weight));
            }
        }
    }
    measured.scale = projects::magnitudeScale(largest > 0 ? largest : 1);
    return shares;
}

void LiveWeights::setEffects(std::map<projects::Shortcut, LiveEffect> effects, std::int64_t step)
{
    ++m_revision;
    m_effects = std::move(effects);
    m_effectStep = step;
}

const LiveEffect* LiveWeights::effect(const projects::Shortcut& shortcut) const
{
    const auto found = m_effects.find(shortcut);
    return found == m_effects.end() ? nullptr : &found->second;
}

LiveWeights LiveWeights::byEffect() const
{
    LiveWeights effects = *this;
    effects.m_areEffects = true;
    effects.m_shares = false;
    WeightGrid grid;
    projects::FiniteRange range;
    for (const auto& [shortcut, effect] : m_effects) {
        grid.rows = std::max(grid.rows, shortcut.target);
        grid.columns = std::max(grid.columns, shortcut.source + 1);
        range.add(effect.rise);
    }
    grid.mix.assign(static_cast<std::size_t>(grid.rows * grid.columns), std::nanf(""));
    for (const auto& [shortcut, effect] : m_effects) {
        grid.mix[static_cast<std::size_t>((shortcut.target - 1) * grid.columns + shortcut.source)] =
            static_cast<float>(effect.rise);
    }
    Measured& measured = effects.m_measured[static_cast<std::size_t>(LiveMeasure::Mean)];
    if (measured.grids.empty()) {
        measured.grids[projects::MixPort::Input] = {}; // fixed weights are not recorded
    }
    for (auto& [port, weights] : measured.grids) {
        weights = grid;
    }
    measured.step = m_effectStep;
    measured.title.clear();
    measured.scale = range.empty() ? projects::WeightScale() : projects::differenceScale(range.low, range.high);
    return effects;
}

double LiveWeights::activeShare(std::int64_t layer) const
{
    const auto index = static_cast<std::size_t>(layer - 1);
    const bool known = layer >= 1 && index < m_active.size() && !std::isnan(m_active[index]);
    return known ? std::clamp(static_cast<double>(m_active[index]), 0.0, 1.0) : 1.0;
}

PortWeights LiveWeights::port(projects::MixPort port, LiveMeasure measure) const
{
    const auto& grids = of(measure).grids;
    const auto find = [&grids](projects::MixPort of) {
        const auto grid = grids.find(of);
        return grid == grids.end() ? nullptr : &grid->second;
    };
    return {find(port), find(projects::MixPort::Final)};
}

} // namespace residua::editor
