// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/shortcuts/weight_legend.h"

#include "editor/canvas/paint_tools.h"
#include "editor/canvas/words.h"
#include "projects/base/text.h"
#include "projects/depth/depth_names.h"
#include "resources/axis.h"

#include <cmath>
#include <string>

namespace residua::editor {

namespace {

constexpr int kEndDigits = 7; ///< as many as an end of a scale has, so that the ends enclose the values

} // namespace

std::string nameOfValue(const LiveWeights& weights, LiveMeasure measure)
{
    const std::string& title = weights.title(measure);
    const auto with = [&title](const std::string& quantity) {
        return title.empty() ? quantity : filled(translate("Canvas", "%1, %2"), {quantity, title});
    };
    switch (measure) {
    case LiveMeasure::Spread:
        return with(translate("Canvas", "spread"));
    case LiveMeasure::Feature:
        return with(filled(translate("Canvas", "feature %1's weight"), {std::to_string(weights.feature())}));
    case LiveMeasure::Mean:
        break;
    }
    if (!title.empty()) {
        return title;
    }
    return weights.areEffects()  ? translate("Canvas", "loss rise without it")
           : weights.areShares() ? translate("Canvas", "share of the row")
                                 : translate("Canvas", "mixing weight");
}

std::string textOfValue(const LiveWeights& weights, double value, LiveMeasure measure)
{
    return projects::weightText(value, weights.scale(measure));
}

std::string effectText(const LiveWeights& weights, const projects::Shortcut& shortcut)
{
    constexpr int kDigits = 3;
    const LiveEffect* const effect = weights.effect(shortcut);
    if (effect == nullptr) {
        return {};
    }
    const std::string rise = (effect->rise < 0 ? "" : "+") + numberText(effect->rise, kDigits);
    const std::string step = groupedText(weights.effectStep());
    return std::isnan(effect->error) ? filled(translate("Canvas", "loss %1 without it (step %2)"), {rise, step})
                                     : filled(translate("Canvas", "loss %1 ± %2 without it (step %3)"),
                                              {rise, numberText(effect->error, kDigits), step});
}

void paintLegend(ImDrawList& list, const LiveWeights& weights, resources::Theme theme, float height,
                 LiveMeasure measure, Colours colours)
{
    if (!weights.absence().empty()) {
        const resources::ThemeColours& c = resources::themeColours(theme);
        const float width = textWidth(kTextSize, weights.absence());
        list.AddRectFilled({8, height - 30}, {24 + width, height - 8}, imColour(c.background, 0.85), 5);
        paintText(list, kTextSize, {16, height - 26}, imColour(c.muted), weights.absence());
    }
    if (weights.empty()) {
        return;
    }
    const projects::WeightScale& scale = weights.scale(measure);
    const resources::ThemeColours& c = resources::themeColours(theme);
    constexpr float barWidth = 140;
    constexpr float barHeight = 8;
    constexpr int pieces = 35;
    constexpr float left = 16;
    const float top = height - 40;
    list.AddRectFilled({left - 8, top - 24}, {left + barWidth + 8, height - 8}, imColour(c.background, 0.85), 5);
    paintText(list, kTextSize, {left, top - 18}, imColour(c.text),
              filled(translate("Canvas", "%1 at step %2"),
                     {nameOfValue(weights, measure), groupedText(weights.step(measure))}));
    if (colours == Colours::Ports) {
        paintText(list, kTextSize, {left, top}, imColour(c.muted), translate("Canvas", "colour: the port, above"));
        paintText(list, kTextSize, {left, top + 16}, imColour(c.muted), translate("Canvas", "width: the weight"));
        return;
    }
    for (int i = 0; i < pieces; ++i) {
        const double t = (i + 0.5) / pieces;
        const float x = left + barWidth * static_cast<float>(i) / pieces;
        list.AddRectFilled({x, top}, {x + barWidth / pieces + 0.5F, top + barHeight},
                           imColour(weightColour(scale, scale.low + t * (scale.high - scale.low), theme)));
    }
    const std::string high = resources::shortNumber(scale.high, kEndDigits);
    paintText(list, kTextSize, {left, top + 12}, imColour(c.muted), resources::shortNumber(scale.low, kEndDigits));
    paintText(list, kTextSize, {left + barWidth - textWidth(kTextSize, high), top + 12}, imColour(c.muted), high);
}

std::string titleOf(const projects::Project& project, const projects::Shortcut& shortcut)
{
    const std::string name = nameOf(shortcut);
    return numbersNameModules(project)
               ? name
               : filled(translate("Canvas", "%1  (%2 to %3)"),
                        {name, entryName(project, shortcut.source), moduleName(project, shortcut.target)});
}

std::string frozenText(const projects::Project& project, const projects::Shortcut& shortcut)
{
    using Hold = projects::ShortcutState::Hold;
    const auto& states = std::get<projects::DepthMix>(project.stack().topology.wiring).states;
    const auto state = states.find(shortcut);
    switch (state == states.end() ? Hold::Beginning : state->second.hold) {
    case Hold::Number:
        return filled(translate("Canvas", "frozen at %1"), {numberText(state->second.number, 4)});
    case Hold::Learned:
        return translate("Canvas", "frozen at what a run learned");
    case Hold::Beginning:
        break;
    }
    return translate("Canvas", "frozen");
}

} // namespace residua::editor
