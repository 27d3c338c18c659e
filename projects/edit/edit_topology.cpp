// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/edit/edit_apply.h"

#include "projects/base/text.h"
#include "projects/depth/depth_plan.h"
#include "projects/model/graph.h"
#include "projects/model/topology.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace residua::projects {

namespace {

constexpr const char* kPlace = "topology";

Result<DepthMix*> mixOf(Document& document)
{
    Wiring& wiring = document.project.stack().topology.wiring;
    auto* const mix = std::get_if<DepthMix>(&wiring);
    return mix != nullptr ? Result<DepthMix*>(mix)
                          : Error{kPlace, "has no shortcuts to edit: it is a " + std::string(nameOf(wiring)) +
                                              "; expected a depth_mix"};
}

/// Returns the current sources of a rule as a list; nullopt if the sources are explicit already.
Result<std::optional<ExplicitSources>> ruleListed(const DepthMix& mix, std::int64_t depth)
{
    if (std::holds_alternative<ExplicitSources>(mix.sources)) {
        return std::optional<ExplicitSources>();
    }
    return listedSources(mix, depth).transform([](ExplicitSources listed) { return std::optional(std::move(listed)); });
}

bool isListed(const std::optional<ExplicitSources>& listed, const DepthMix& mix, const Shortcut& shortcut)
{
    const auto& list = (listed ? *listed : std::get<ExplicitSources>(mix.sources)).shortcuts;
    return std::binary_search(list.begin(), list.end(), shortcut);
}

/// Returns the reason why no layer could read `shortcut`; nullopt if one can.
std::optional<Error> unreadable(const DepthMix& mix, const Shortcut& shortcut, std::int64_t depth)
{
    if (shortcut.source < 0 || shortcut.source >= shortcut.target || shortcut.target > depth + 1) {
        return Error{kPlace, "shortcut " + textOf(shortcut) + " is out of range; expected source < target, from 0 to " +
                                 std::to_string(depth + 1) + " (the final output)"};
    }
    if (shortcut.target == depth + 1 && !mix.finalMix) {
        return Error{kPlace, "shortcut " + textOf(shortcut) +
                                 " ends at the final output, which reads no mix of its own; "
                                 "switch the final mix on first"};
    }
    if (const std::int64_t newest = newestEntryBefore(mix, shortcut.target); shortcut.source > newest) {
        return Error{kPlace,
                     "shortcut " + textOf(shortcut) +
                         " starts from an entry that is not there yet: layers share entries; expected source ≤ " +
                         std::to_string(newest)};
    }
    if (!isReadable(mix, shortcut, depth)) {
        return Error{kPlace, "shortcut " + textOf(shortcut) +
                                 (shortcut.target == depth && !mix.lastMix
                                      ? " ends at the last layer, which has no shortcuts; switch the last mix on first"
                                      : " joins the inputs of an attention and an FFN; "
                                        "let shortcuts join any sites first")};
    }
    return std::nullopt;
}

/// Returns the shortcut of the newest entry to the target of `added`, if adding must list it too: a layer that passes
/// the newest entry through must continue to read it. It is listed already if it is pruned.
std::optional<Shortcut> newestBeside(const DepthMix& mix, const Shortcut& added, std::int64_t depth)
{
    const Shortcut newest{newestEntryBefore(mix, added.target), added.target};
    const bool passes = mix.feeds == MixFeeds::LayerInput && passesNewest(mix, added.target, depth);
    return passes && newest != added && isReadable(mix, newest, depth) ? std::optional(newest) : std::nullopt;
}

} // namespace

Status applyTo(Document& document, const AddShortcut& edit)
{
    auto* const mix = RESIDUA_TRY(mixOf(document));
    const std::int64_t depth = mixedModules(*mix, document.project.network.depth());
    if (auto error = unreadable(*mix, edit.shortcut, depth)) {
        return *std::move(error);
    }
    auto listed = RESIDUA_TRY(ruleListed(*mix, depth));
    const auto isPruned = [mix](const Shortcut& shortcut) {
        const auto state = mix->states.find(shortcut);
        return state != mix->states.end() && state->second == ShortcutState::Pruned;
    };
    const bool there = isListed(listed, *mix, edit.shortcut);
    if (there && !isPruned(edit.shortcut)) {
        return Error{kPlace, "shortcut " + textOf(edit.shortcut) + " is there already"};
    }
    std::vector<Shortcut> toRead{edit.shortcut};
    if (const auto newest = there ? std::nullopt : newestBeside(*mix, edit.shortcut, depth)) {
        toRead.push_back(*newest);
    }
    if (listed && !there) {
        mix->sources = *std::move(listed);
    }
    for (const Shortcut& shortcut : toRead) {
        if (!there && !isListed({}, *mix, shortcut)) {
            auto& list = std::get<ExplicitSources>(mix->sources).shortcuts;
            list.insert(std::lower_bound(list.begin(), list.end(), shortcut), shortcut);
        }
        if (isPruned(shortcut)) {
            mix->states.erase(shortcut);
        }
    }
    return Done{};
}

Status applyTo(Document& document, const RemoveShortcut& edit)
{
    auto* const mix = RESIDUA_TRY(mixOf(document));
    const std::int64_t depth = mixedModules(*mix, document.project.network.depth());
    auto listed = RESIDUA_TRY(ruleListed(*mix, depth));
    if (!isListed(listed, *mix, edit.shortcut)) {
        return Error{kPlace, "shortcut " + textOf(edit.shortcut) + " is not there to be removed"};
    }
    if (listed) {
        mix->sources = *std::move(listed);
    }
    auto& list = std::get<ExplicitSources>(mix->sources).shortcuts;
    list.erase(std::lower_bound(list.begin(), list.end(), edit.shortcut));
    mix->states.erase(edit.shortcut);
    return Done{};
}

Status applyTo(Document& document, const SetShortcutState& edit)
{
    auto* const mix = RESIDUA_TRY(mixOf(document));
    if (!shortcutFrom(textOf(edit.shortcut))) {
        return canonical(edit.shortcut, kPlace).error(); // its reader gives the reason why no file can contain it
    }
    if (edit.state && !std::isfinite(edit.state->number)) {
        return Error{kPlace, "cannot freeze shortcut " + textOf(edit.shortcut) + " at " +
                                 numberText(edit.state->number) + ", expected a finite number"};
    }
    if (edit.state) {
        mix->states.insert_or_assign(edit.shortcut, *edit.state);
    } else {
        mix->states.erase(edit.shortcut);
    }
    return Done{};
}

} // namespace residua::projects
