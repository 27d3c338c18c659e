// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/shortcuts/weight_legend.h"

#include "editor/canvas/paint_tools.h"
#include "editor/scenes/words.h"
#include "projects/base/text.h"
#include "resources/axis.h"

#include <string>

namespace residua::editor {

namespace {

constexpr int kEndDigits = 7; ///< as many as an end of a scale has, so that the ends enclose the values

} // namespace

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

} // namespace residua::editor
