// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/transfer/prune.h"

#include "projects/base/mapped.h"
#include "projects/base/text.h"
#include "projects/check/validate.h"
#include "projects/depth/depth_names.h"
#include "projects/depth/depth_plan.h"
#include "projects/depth/visit_shortcuts.h"
#include "projects/edit/edit.h"
#include "projects/layers/layer_edits.h"
#include "projects/nodes/alteration.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace residua::projects {
namespace {

constexpr const char* kPrune = "prune";
constexpr std::string_view kLayerWord = "layer";
constexpr std::size_t kMostQuoted = 40; ///< characters of a part that an error repeats
constexpr std::string_view kForms = "expected shortcuts such as 2:7, 3:* or *:5, or layers such as layer 4";

template <class T>
void sortUnique(std::vector<T>& values)
{
    std::ranges::sort(values);
    const auto again = std::ranges::unique(values);
    values.erase(again.begin(), again.end());
}

std::string_view trimmed(std::string_view text)
{
    const std::size_t first = text.find_first_not_of(' ');
    return first == std::string_view::npos ? std::string_view()
                                           : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// Returns the shortcuts that have weights if each has one, sorted.
Result<std::vector<Shortcut>> weighedShortcuts(const Project& project)
{
    const std::int64_t layers = project.network.depth();
    const Wiring opened = RESIDUA_TRY(withTerms(project.stack().topology.wiring, layers));
    const auto* const mix = std::get_if<DepthMix>(&opened);
    if (mix == nullptr) {
        return Error{kPrune, "the wiring " + project.stack().topology.preset +
                                 " has no shortcuts with weights of their own; expected layers such as layer 4"};
    }
    std::vector<Shortcut> shortcuts;
    const std::int64_t modules = mixedModules(*mix, layers);
    for (std::int64_t target = 1; target <= lastReader(*mix, modules); ++target) {
        for (const std::int64_t source : readerOf(*mix, target, modules).sources) {
            shortcuts.push_back({source, target});
        }
    }
    return shortcuts;
}

/// True if the text is one end of a shortcut: "*" for any, "out", or begins as a number.
bool isEnd(std::string_view text)
{
    return text == "*" || text == "out" ||
           numberFrom<std::int64_t>(text.substr(0, text.find_first_not_of("0123456789"))).has_value();
}

/// Returns those of the shortcuts that lead from `source` to `target`, as shortcutsFrom() of visit_shortcuts.h names
/// them, or "*" for any. "2:*" is each shortcut out of a visit of 2.
std::vector<Shortcut> named(std::string_view source, std::string_view target, const Project& project,
                            const std::vector<Shortcut>& there)
{
    const Wiring opened = *withTerms(project.stack().topology.wiring, project.network.depth());
    const auto& mix = std::get<DepthMix>(opened);
    const std::vector<std::int64_t> sources = modulesFrom(source, project.stack(), mix);
    const std::vector<std::int64_t> targets = modulesFrom(target, project.stack(), mix);
    const auto isOutOf = [&](const Shortcut& each) {
        return source == "*" || (target == "*" ? std::ranges::binary_search(sources, each.source)
                                               : sourceFrom(source, project.stack(), mix, each.target) == each.source);
    };
    std::vector<Shortcut> found;
    std::ranges::copy_if(there, std::back_inserter(found), [&](const Shortcut& each) {
        return (target == "*" || std::ranges::binary_search(targets, each.target)) && isOutOf(each);
    });
    return found;
}

Error notThere(const std::string& part, const Project& project, const std::vector<Shortcut>& there)
{
    const std::string target = part.substr(part.find(':') + 1);
    const std::vector<Shortcut> near = target == "*" ? std::vector<Shortcut>() : named("*", target, project, there);
    std::string expected = near.empty() ? "its shortcuts are " : "into " + target + " there are ";
    const std::vector<Shortcut>& listed = near.empty() ? there : near;
    constexpr std::size_t kFew = 12;
    const std::vector<Shortcut> few(listed.begin(),
                                    listed.begin() + static_cast<std::ptrdiff_t>(std::min(kFew, listed.size())));
    expected += joinedText(few, ", ", [&](const Shortcut& each) { return shortcutName(project, each); });
    return {kPrune, "the wiring has no shortcut " + part + "; " +
                        (there.empty() ? "it has none" : expected + (listed.size() > kFew ? ", ..." : ""))};
}

Status checkLayer(const Project& project, std::int64_t layer)
{
    const std::int64_t depth = project.network.depth();
    return layer >= 1 && layer <= depth ? Status(Done{})
                                        : Error{kPrune, "the network has no layer " + std::to_string(layer) +
                                                            "; its layers are 1 to " + std::to_string(depth)};
}

Status addPart(std::string_view part, const Project& project, Pruning& pruning)
{
    const std::string quoted = "\"" + std::string(part.substr(0, kMostQuoted)) + "\"";
    if (part.starts_with(kLayerWord)) {
        const auto layer = numberFrom<std::int64_t>(trimmed(part.substr(kLayerWord.size())));
        if (!layer) {
            return Error{kPrune, "got " + quoted + ", " + std::string(kForms)};
        }
        pruning.layers.push_back(*layer);
        return checkLayer(project, *layer);
    }
    const std::size_t colon = part.find(':');
    if (colon == std::string_view::npos || !isEnd(part.substr(0, colon)) || !isEnd(part.substr(colon + 1))) {
        return Error{kPrune, "got " + quoted + ", " + std::string(kForms)};
    }
    const std::vector<Shortcut> there = RESIDUA_TRY(weighedShortcuts(project));
    const std::vector<Shortcut> found = named(part.substr(0, colon), part.substr(colon + 1), project, there);
    pruning.shortcuts.insert(pruning.shortcuts.end(), found.begin(), found.end());
    return found.empty() ? notThere(std::string(part), project, there) : Status(Done{});
}

/// Gives the shortcuts of a mix the state Pruned.
Status pruneShortcutsOf(Project& project, const std::vector<Shortcut>& shortcuts)
{
    const std::vector<Shortcut> there = RESIDUA_TRY(weighedShortcuts(project));
    for (const Shortcut& shortcut : shortcuts) {
        if (!std::ranges::binary_search(there, shortcut)) {
            return notThere(shortcutName(project, shortcut), project, there);
        }
    }
    if (there.size() == shortcuts.size()) {
        return Error{kPrune, "every shortcut of the wiring would be left out; expected one that stays"};
    }
    project.stack().topology.wiring = *withTerms(project.stack().topology.wiring, project.network.depth());
    auto& mix = std::get<DepthMix>(project.stack().topology.wiring);
    for (const Shortcut& shortcut : shortcuts) {
        mix.states[shortcut] = ShortcutState::Pruned;
    }
    return Done{};
}

/// Returns every visit of the layers, sorted.
std::vector<std::int64_t> withAllVisits(const Stack& stack, const std::vector<std::int64_t>& layers)
{
    std::vector<std::int64_t> all;
    for (const std::int64_t layer : layers) {
        const std::vector<std::int64_t> visits = stack.visitsOf(stack.visitAt(layer).layer);
        all.insert(all.end(), visits.begin(), visits.end());
    }
    sortUnique(all);
    return all;
}

Status removeLayersOf(PrunedProject& made, const std::vector<std::int64_t>& layers)
{
    for (const std::int64_t layer : layers) {
        RESIDUA_TRY(checkLayer(made.project, layer));
    }
    const std::vector<std::int64_t> removed = withAllVisits(made.project.stack(), layers);
    if (std::ssize(removed) >= made.project.network.depth()) {
        return Error{kPrune, "every layer of the network would be left out; expected one that stays"};
    }
    Document document{made.project, {}};
    const auto edit = removeLayersEdit(document, {layers.begin(), layers.end()});
    RESIDUA_TRY(edit ? applyEdit(document, *edit) : Status(Done{}));
    made.project = std::move(document.project);
    std::erase_if(made.layers, [&](std::int64_t layer) { return std::ranges::binary_search(removed, layer); });
    return Done{};
}

/// Returns the shortcuts of `before` that `after`, which lacks these layers, has pruned.
Result<std::vector<Shortcut>> shortcutsPruned(const Project& before, const Project& after,
                                              const std::vector<std::int64_t>& layers)
{
    const Result<std::vector<Shortcut>> there = weighedShortcuts(before);
    const auto* const wanted = std::get_if<DepthMix>(&after.stack().topology.wiring);
    if (!there || wanted == nullptr) {
        return std::vector<Shortcut>();
    }
    PrunedProject marked{before, {}};
    marked.project.stack().topology.wiring = *withTerms(before.stack().topology.wiring, before.network.depth());
    auto& states = std::get<DepthMix>(marked.project.stack().topology.wiring).states;
    for (std::size_t i = 0; i < there->size(); ++i) {
        states[(*there)[i]] = ShortcutState::frozenAt(static_cast<double>(i)); // its place, whatever its new name
    }
    RESIDUA_TRY(layers.empty() ? Status(Done{}) : removeLayersOf(marked, layers));
    std::vector<Shortcut> shortcuts;
    for (const auto& [shortcut, state] : std::get<DepthMix>(marked.project.stack().topology.wiring).states) {
        if (state == ShortcutState::Frozen && hasState(*wanted, shortcut, ShortcutState::Pruned)) {
            shortcuts.push_back((*there)[static_cast<std::size_t>(state.number)]);
        }
    }
    sortUnique(shortcuts);
    return shortcuts;
}

} // namespace

bool isSameNetwork(const Network& one, const Network& other)
{
    const auto comparable = [](Network network) {
        network.stack().schedule = {};
        network.stack().topology.preset.clear();
        return network;
    };
    return comparable(one) == comparable(other);
}

Result<Pruning> pruningBetween(const Project& before, const Project& after, const std::vector<std::int64_t>& layers)
{
    Pruning parts;
    for (std::int64_t layer = 1; layer <= before.network.depth(); ++layer) {
        if (std::ranges::find(layers, layer) == layers.end()) {
            parts.layers.push_back(layer);
        }
    }
    parts.shortcuts = RESIDUA_TRY(shortcutsPruned(before, after, parts.layers));
    const PrunedProject made = RESIDUA_TRY(pruned(before, parts));
    if (!isSameNetwork(made.project.network, after.network)) {
        return Error{kPrune,
                     "the network differs in more than the parts that were left out (" + textOf(parts, before) + ")"};
    }
    return parts;
}

Result<Pruning> pruningFrom(std::string_view text, const Project& project)
{
    Pruning pruning;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        RESIDUA_TRY(addPart(trimmed(text.substr(begin, end - begin)), project, pruning));
        begin = end + 1;
    }
    sortUnique(pruning.shortcuts);
    sortUnique(pruning.layers);
    return pruning;
}

std::string textOf(const Pruning& pruning, const Project& project)
{
    auto parts = mapped(pruning.shortcuts, [&](const Shortcut& shortcut) { return shortcutName(project, shortcut); });
    for (const std::int64_t layer : pruning.layers) {
        parts.push_back(std::string(kLayerWord) + " " + std::to_string(layer));
    }
    return joinedText(parts, ", ");
}

Result<PrunedProject> pruned(const Project& project, const Pruning& pruning)
{
    if (pruning.empty()) {
        return Error{kPrune, "names nothing; " + std::string(kForms)};
    }
    Pruning parts = pruning;
    sortUnique(parts.shortcuts);
    sortUnique(parts.layers);
    PrunedProject made{project, std::vector<std::int64_t>(static_cast<std::size_t>(project.network.depth()))};
    std::iota(made.layers.begin(), made.layers.end(), 1);
    const Status without = parts.shortcuts.empty() ? Status(Done{}) : pruneShortcutsOf(made.project, parts.shortcuts);
    RESIDUA_TRY(!without || parts.layers.empty() ? without : removeLayersOf(made, parts.layers));
    for (const Problem& problem : validate(made.project)) {
        if (problem.severity == Severity::Error) {
            return Error{kPrune, "without " + textOf(parts, project) + ": " + problem.text()};
        }
    }
    return made;
}

} // namespace residua::projects
