// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/commands/typing.h"

#include "projects/base/text.h"
#include "projects/depth/depth_names.h"
#include "projects/depth/visit_shortcuts.h"
#include "projects/graphs/node_places.h"
#include "projects/layers/layer_edits.h"
#include "projects/layers/shortcut_cost.h"
#include "projects/layers/shortcut_edits.h"
#include "projects/library/presets.h"
#include "projects/library/schedule_presets.h"
#include "projects/model/graph.h"
#include "projects/transfer/retrofit.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace residua::projects {
namespace {

constexpr std::string_view kGroup = "group ";
constexpr std::string_view kVisits = "visits ";
constexpr std::int64_t kMostAtOnce = 512; ///< layers of one typed line

std::string_view trimmed(std::string_view text)
{
    const auto first = text.find_first_not_of(" \t");
    return first == std::string_view::npos ? std::string_view{}
                                           : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Converts "3:7, 0:2", separated by comma, space or +, to the form of shortcutsFrom().
std::string joined(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        const bool separates = c == ',' || c == ';' || c == ' ';
        if (!separates) {
            out += c;
        } else if (!out.empty() && out.back() != '+') {
            out += '+';
        }
    }
    while (!out.empty() && out.back() == '+') {
        out.pop_back();
    }
    return out;
}

Typed refused(std::string why)
{
    Typed typed;
    typed.answer.message = std::move(why);
    return typed;
}

Typed typedShortcuts(const Document& document, std::string_view text)
{
    const Project& project = document.project;
    const auto* mix = std::get_if<DepthMix>(&project.stack().topology.wiring);
    if (mix == nullptr) {
        return refused("“" + project.stack().topology.preset +
                       "” wires depth without shortcuts: type a wiring such as ancre");
    }
    const std::int64_t modules = modulesOf(project);
    const auto shortcuts = shortcutsFrom(joined(text), project.stack(), *mix);
    if (!shortcuts) {
        return refused(shortcuts.error().message);
    }
    std::vector<Shortcut> missing;
    std::size_t weights = 0;
    for (const Shortcut& shortcut : *shortcuts) {
        const Adding adding = addingOf(*mix, shortcut, modules);
        if (adding != Adding::Nothing) {
            missing.push_back(shortcut);
        }
        weights += adding == Adding::Weight ? 1 : 0;
    }
    if (missing.empty()) {
        return refused(shortcuts->size() == 1 ? "is there already" : "are all there already");
    }
    Typed typed;
    auto edit = addEdit(project, missing);
    Document trial = document;
    if (const auto done = applyEdit(trial, *edit); !done) {
        return refused(done.error().message);
    }
    typed.answer.valid = true;
    typed.answer.message = weights == missing.size() ? "gives " + countText(weights, "shortcut") + " a learned weight"
                                                     : "adds " + countText(missing.size(), "shortcut");
    if (const std::string cost = costOfChange(project, trial.project); !cost.empty()) {
        typed.answer.message += ": " + cost;
    }
    typed.change = DocumentChange{*std::move(edit), Selection{.shortcuts = {missing.begin(), missing.end()}}};
    return typed;
}

Typed typedTopology(const Document& document, const TopologyPreset& preset)
{
    const std::vector<TopologyPreset> presets = topologyChoices(document.project.network);
    const auto now = presetIndexOf(document.project, presets);
    if (now && presets[*now].name == preset.name && document.project.stack().topology.wiring == preset.wiring) {
        return refused("is how the stack is wired already");
    }
    Typed typed;
    Rewiring made = wireAs(document.project, preset);
    typed.answer.valid = true;
    typed.answer.message = "wires the stack as " + preset.title + ": " + preset.summary;
    for (const std::string& note : made.notes) {
        typed.answer.message += "; " + note;
    }
    typed.change = DocumentChange{std::move(made.edit), Selection{}};
    return typed;
}

/// Returns the project's block or the preset with this name.
std::optional<Block> blockNamed(const Project& project, const std::string& name)
{
    const Block* const block = project.network.findBlock(name);
    return block != nullptr ? std::optional(*block) : presetBlock(name);
}

Typed typedLayers(const Document& document, const Selection& selection, std::int64_t count, const Block& block)
{
    if (count < 1 || count > kMostAtOnce) {
        return refused("expected 1 to " + std::to_string(kMostAtOnce) + " layers");
    }
    const std::int64_t depth = document.project.network.depth();
    const std::int64_t after = selection.layers.empty() ? depth : std::min(*selection.layers.rbegin(), depth);
    Typed typed;
    DocumentChange change{insertLayersEdit(document, after, {{block}, {{block.name, count}}, {}, {}}), Selection{}};
    typed.answer.valid = true;
    typed.answer.message =
        "inserts " + countText(static_cast<std::size_t>(count), "layer") + " of " + block.name +
        (after == depth ? " at the end" : " behind layer " + layerName(document.project.stack(), after));
    Document trial = document;
    if (const auto done = applyEdit(trial, change.edit); !done) {
        return refused(done.error().message);
    }
    const std::int64_t stored = document.project.stack().visitAt(after).layer;
    for (std::int64_t layer = stored + 1; layer <= stored + count; ++layer) { // in a loop at every visit
        const std::vector<std::int64_t> numbers = trial.project.stack().visitsOf(layer);
        change.selection->layers.insert(numbers.begin(), numbers.end());
    }
    typed.change = std::move(change);
    return typed;
}

Typed typedGroup(const Document& document, const Selection& selection, std::string_view name)
{
    Typed typed;
    if (auto edit = groupEdit(document, selection.layers, std::string(trimmed(name)))) {
        typed.change = DocumentChange{*std::move(edit)};
    }
    typed.answer.valid = typed.change.has_value();
    typed.answer.message = typed.change               ? "names the selected layers"
                           : selection.layers.empty() ? "select layers first"
                                                      : "type a name for the selected layers";
    return typed;
}

Typed typedVisits(const Document& document, const Selection& selection, std::string_view number)
{
    const std::string_view digits = trimmed(number);
    std::int64_t visits = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), visits);
    if (error != std::errc() || end != digits.data() + digits.size()) {
        return refused(selection.layers.empty() ? "select layers first"
                                                : "type how often the selected layers are visited, such as visits 4");
    }
    auto change = visitLayers(document, selection, visits);
    if (!change) {
        return refused(change.error().message);
    }
    Document after = document;
    if (const auto done = applyEdit(after, change->edit); !done) {
        return refused(done.error().message);
    }
    const Stack& stack = after.project.stack();
    Typed typed;
    typed.answer.valid = true;
    typed.answer.message = "visits the selected layers " + std::to_string(visits) +
                           " times with the same weights: " + groupedText(stack.stored()) + " stored, " +
                           groupedText(stack.depth()) + " executed layers";
    typed.change = *std::move(change);
    return typed;
}

/// Returns the completions: texts that begin with the typed text first, then those that contain it.
std::vector<TypedAnswer::Completion> completionsFor(const Document& document, const std::string& text)
{
    std::vector<TypedAnswer::Completion> all{{"i:i+2", "every shortcut over two layers"},
                                             {"0:L", "from the stack's input to the last layer"}};
    for (const auto& preset : topologyChoices(document.project.network)) {
        all.push_back({preset.name, preset.title + ", a wiring"});
    }
    for (const Block& block : document.project.network.blocks) {
        all.push_back({block.name, "a layer of this block"});
    }
    for (const BlockPreset& preset : blockPresets()) {
        if (document.project.network.findBlock(preset.name) == nullptr) {
            all.push_back({preset.name, preset.title + ", a layer"});
        }
    }
    all.push_back({std::string(kGroup), "name the selected layers"});
    all.push_back({std::string(kVisits), "visit the selected layers several times, such as visits 4"});
    const auto rank = [&text](const TypedAnswer::Completion& each) {
        const auto at = lower(each.text).find(text);
        return at == 0 ? 0 : at != std::string::npos || lower(each.detail).find(text) != std::string::npos ? 1 : 2;
    };
    std::erase_if(all, [&](const auto& each) { return rank(each) == 2 || each.text == text; });
    std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    return all;
}

Typed understood(const Document& document, const Selection& selection, std::string_view text)
{
    if (text.empty()) {
        return refused("type shortcuts (3:7, i:i+2), a wiring (ancre), layers (4 mlp), group and a name, or visits and "
                       "a number");
    }
    const std::string small = lower(text);
    if (small.starts_with(kGroup)) {
        return typedGroup(document, selection, text.substr(kGroup.size()));
    }
    if ((small + " ").starts_with(kVisits)) {
        return typedVisits(document, selection, text.substr(std::min(kVisits.size(), text.size())));
    }
    for (const auto& preset : topologyChoices(document.project.network)) {
        if (lower(preset.name) == small || lower(preset.title) == small) {
            return typedTopology(document, preset);
        }
    }
    std::int64_t count = 1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    const bool counts = error == std::errc() && end != text.data() + text.size() && (*end == ' ' || *end == '*');
    const std::string name(counts ? trimmed({end + 1, text.data() + text.size()}) : text);
    if (const auto block = blockNamed(document.project, name)) {
        return typedLayers(document, selection, counts ? count : 1, *block);
    }
    const bool shortcuts = text.find(':') != std::string_view::npos || small == "cascaded";
    return shortcuts ? typedShortcuts(document, text)
                     : refused("expected shortcuts such as 3:7 or i:i+2, a wiring, or a block");
}

} // namespace

Typed typed(const Document& document, const Selection& selection, std::string_view text)
{
    Typed result = understood(document, selection, trimmed(text));
    result.answer.completions = completionsFor(document, lower(trimmed(text)));
    return result;
}

Typed typedNode(const Document& document, std::string_view text, const NodeSpot& spot, const GraphView& seen)
{
    Typed result;
    const std::vector<NodeOffer> offers = offersFor(text);
    for (const NodeOffer& offer : offers) {
        result.answer.completions.push_back({offer.title, offer.summary});
    }
    if (!offers.empty()) {
        if (auto change = addNode(document, offers.front(), spot, seen)) {
            result.change = *std::move(change);
        }
    }
    result.answer.valid = result.change.has_value();
    result.answer.message = result.answer.valid ? "Enter adds " + offers.front().title
                                                : "no kind of node is called so; a formula makes an expression node";
    return result;
}

} // namespace residua::projects
