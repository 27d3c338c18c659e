// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/scenes/words.h"

#include "projects/base/text.h"
#include "projects/base/utf8.h"
#include "projects/depth/depth_names.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <sstream>

namespace residua::editor {

namespace {

std::atomic<Translator> theTranslator = nullptr;

} // namespace

void useTranslator(Translator translator)
{
    theTranslator = translator;
}

std::string translate(const char* context, const char* text)
{
    const Translator translator = theTranslator;
    return translator != nullptr ? translator(context, text) : text;
}

std::string filled(std::string text, std::initializer_list<std::string> values)
{
    // From the last to the first, because a value of %2 may itself contain %1.
    for (auto value = values.end(); value != values.begin();) {
        --value;
        const std::string place = "%" + std::to_string(value - values.begin() + 1);
        if (const auto at = text.find(place); at != std::string::npos) {
            text.replace(at, place.size(), *value);
        }
    }
    return text;
}

std::string elided(const std::string& text, float width, const TextWidth& widthOf)
{
    const auto first = [&text](std::size_t bytes) {
        std::string part = text.substr(0, bytes);
        part.resize(wholeCodePoints(part));
        return part;
    };
    std::size_t wide = 1; // bytes that do not fit, at last
    while (wide < text.size() && widthOf(first(wide)) <= width) {
        wide *= 2;
    }
    if (wide >= text.size() && widthOf(text) <= width) {
        return text;
    }
    std::size_t kept = 0;
    for (wide = std::min(wide, text.size()); kept + 1 < wide;) {
        const std::size_t middle = (kept + wide) / 2;
        (widthOf(first(middle) + "…") <= width ? kept : wide) = middle;
    }
    const std::string shown = first(kept);
    return shown.empty() ? shown : shown + "…";
}

std::vector<std::string> wrapped(const std::string& text, float width, const TextWidth& widthOf)
{
    std::vector<std::string> lines;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        if (!lines.empty() && widthOf(lines.back() + " " + word) <= width) {
            lines.back() += " " + word;
        } else {
            lines.push_back(word);
        }
    }
    return lines;
}

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
