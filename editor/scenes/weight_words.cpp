// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/scenes/weight_words.h"

#include "editor/scenes/words.h"
#include "projects/base/text.h"
#include "projects/depth/depth_names.h"

#include <cmath>

namespace residua::editor {

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
