// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/transfer/weakest.h"

#include "projects/base/mapped.h"
#include "projects/check/validate.h"
#include "projects/cost/cost.h"
#include "projects/nodes/alteration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

namespace residua::projects {
namespace {

constexpr std::array<std::string_view, 3> kNames{"weight", "effect", "flop"}; ///< in the order of WeakBy

/// Returns the FLOP of the forward pass that each shortcut alone costs.
Result<std::vector<double>> flopsOf(const Project& project, const std::vector<ShortcutStrength>& strengths)
{
    Project weighed = project;
    if (const Result<Wiring> wiring = withTerms(project.stack().topology.wiring, project.network.depth())) {
        weighed.stack().topology.wiring = *wiring;
    }
    const SoundProject sound = RESIDUA_TRY(soundProject(std::make_shared<const Project>(std::move(weighed))));
    return mapped(strengths, [&](const ShortcutStrength& strength) {
        return costOfShortcuts(sound, {strength.shortcut}).forwardFlops;
    });
}

/// Returns the strength of each shortcut.
Result<std::vector<double>> measured(const Project& project, const std::vector<ShortcutStrength>& strengths, WeakBy by)
{
    auto values = mapped(strengths, [&](const ShortcutStrength& strength) {
        return by == WeakBy::Weight ? std::abs(strength.weight) : strength.rise;
    });
    if (by == WeakBy::Flop) {
        const std::vector<double> flops = RESIDUA_TRY(flopsOf(project, strengths));
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] /= std::max(flops[i], 1.0);
        }
    }
    return values;
}

} // namespace

std::optional<WeakBy> weakByNamed(std::string_view name)
{
    const auto found = std::ranges::find(kNames, name);
    return found == kNames.end() ? std::nullopt : std::optional(static_cast<WeakBy>(found - kNames.begin()));
}

Result<Pruning> weakest(const Project& project, const std::vector<ShortcutStrength>& strengths, WeakBy by,
                        std::int64_t count)
{
    const std::vector<double> values = RESIDUA_TRY(measured(project, strengths, by));
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < strengths.size(); ++i) {
        if (!std::isnan(values[i])) {
            order.push_back(i);
        }
    }
    if (order.empty()) {
        return Error{"prune", "the " + std::string(by == WeakBy::Weight ? "weight" : "effect") +
                                  " of no shortcut is known; measure it with residua-cli analyze knockout RUN"};
    }
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
        return std::pair(values[a], strengths[a].shortcut) < std::pair(values[b], strengths[b].shortcut);
    });
    Pruning chosen;
    for (const std::size_t i : order) {
        if (std::ssize(chosen.shortcuts) >= count) {
            break;
        }
        Pruning more = chosen;
        more.shortcuts.insert(std::ranges::upper_bound(more.shortcuts, strengths[i].shortcut), strengths[i].shortcut);
        if (pruned(project, more)) {
            chosen = std::move(more);
        }
    }
    if (std::ssize(chosen.shortcuts) < count) {
        return Error{"prune", "only " + std::to_string(chosen.shortcuts.size()) + " of " +
                                  std::to_string(strengths.size()) + " shortcuts can be left out together, got " +
                                  std::to_string(count)};
    }
    return chosen;
}

} // namespace residua::projects
