// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/layers/shortcut_cost.h"

#include "projects/base/text.h"
#include "projects/cost/cost.h"
#include "projects/depth/depth_names.h"
#include "projects/nodes/example_schema.h"

#include <cmath>
#include <cstdlib>
#include <utility>
#include <variant>

namespace residua::projects {
namespace {

/// Formats the change with its sign and unit.
std::string inUnits(double value, const std::string& unit, Prefixes prefixes = Prefixes::Decimal)
{
    constexpr int kDigits = 4;
    const auto [number, prefix] = prefixed(value, prefixes, kDigits);
    return (std::signbit(number) ? "" : "+") + numberText(number, kDigits) + " " + std::string(prefix) + unit;
}

std::vector<std::string> figuresOf(const Cost& cost, const Project& project)
{
    const bool one = std::abs(cost.parameters) == 1;
    return {inUnits(static_cast<double>(cost.parameters), one                      ? "parameter"
                                                          : cost.parameters < 1000 ? "parameters"
                                                                                   : " parameters"),
            inUnits(cost.forwardFlops, std::string("FLOP per ") + unitWord(project.data)),
            inUnits(cost.activationBytes, "B of activations", Prefixes::Binary)};
}

} // namespace

CostLines costLines(const Project& project, const std::optional<SoundProject>& sound, const Shortcut& shortcut)
{
    if (!sound) {
        const auto* mix = std::get_if<DepthMix>(&project.stack().topology.wiring);
        const bool possible = mix != nullptr && shortcut.target <= lastReader(*mix, modulesOf(project));
        return {{"its cost is not known: the network has errors"}, possible};
    }
    const auto cost = costOfShortcut(*sound, shortcut);
    return cost ? CostLines{figuresOf(*cost, project), true} : CostLines{{cost.error().message}, false};
}

ShortcutCheck checkShortcut(const Project& project, const std::optional<SoundProject>& sound, const Shortcut& shortcut)
{
    if (shortcut.source >= shortcut.target) {
        return {};
    }
    const auto* const mix = std::get_if<DepthMix>(&project.stack().topology.wiring);
    // If the wiring has no shortcuts, costLines() gives the error.
    const Adding adding = mix != nullptr ? addingOf(*mix, shortcut, modulesOf(project)) : Adding::New;
    if (adding == Adding::Back || adding == Adding::Nothing) {
        return {adding == Adding::Back, adding};
    }
    CostLines cost = costLines(project, sound, shortcut);
    return {cost.possible, adding, std::move(cost.lines)};
}

std::string costOfChange(const Project& before, const Project& after)
{
    const auto old = costOf(before);
    const auto now = costOf(after);
    if (!old || !now) {
        return {};
    }
    Cost added;
    added.parameters = now->total.parameters - old->total.parameters;
    added.forwardFlops = now->total.forwardFlops - old->total.forwardFlops;
    added.activationBytes = now->total.activationBytes - old->total.activationBytes;
    return joinedText(figuresOf(added, after));
}

} // namespace residua::projects
