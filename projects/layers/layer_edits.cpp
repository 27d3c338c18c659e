// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/layers/layer_edits.h"

#include "projects/base/free_name.h"
#include "projects/depth/depth_names.h"
#include "projects/layers/shortcut_edits.h"
#include "projects/library/presets.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

namespace residua::projects {
namespace {

/// Returns the new number of a layer or module; nullopt if it is removed.
using Renumber = std::function<std::optional<std::int64_t>(std::int64_t)>;

std::vector<StackSegment> stackOf(const std::vector<std::string>& blocks)
{
    std::vector<StackSegment> stack;
    for (const std::string& block : blocks) {
        if (!stack.empty() && stack.back().block == block) {
            ++stack.back().repeat;
        } else {
            stack.push_back({block, 1});
        }
    }
    return stack;
}

/// True if the shortcut's source is on the stack when its target reads. An invalid document may have others, whose
/// numbers are used as modules.
bool isThere(const DepthMix& mix, const Shortcut& shortcut)
{
    return shortcut.source >= 0 && shortcut.source <= newestEntryBefore(mix, shortcut.target);
}

/// Returns the new modules of a shortcut as {module, target}. If several modules share its source, the newest one that
/// is kept.
std::optional<Shortcut> movedModules(const DepthMix& mix, const Shortcut& shortcut, const Renumber& to)
{
    std::int64_t module = isThere(mix, shortcut) ? lastModuleIn(mix, shortcut) : shortcut.source;
    std::optional<std::int64_t> source = to(module);
    while (!source && isThere(mix, shortcut) && stackEntryOf(mix, module - 1) == shortcut.source && module > 1) {
        source = to(--module);
    }
    const std::optional<std::int64_t> target = to(shortcut.target);
    return source && target ? std::optional(Shortcut{*source, *target}) : std::nullopt;
}

std::optional<Shortcut> moved(const DepthMix& mix, const Shortcut& shortcut, const Renumber& to)
{
    std::optional<Shortcut> ends = movedModules(mix, shortcut, to);
    if (ends && isThere(mix, shortcut)) {
        ends->source = stackEntryOf(mix, ends->source);
    }
    return ends;
}

void renumber(DepthMix& mix, const Renumber& to)
{
    if (auto* sources = std::get_if<ExplicitSources>(&mix.sources)) {
        std::vector<Shortcut> kept;
        for (const Shortcut& shortcut : sources->shortcuts) {
            if (const auto other = moved(mix, shortcut, to)) {
                kept.push_back(*other);
            }
        }
        sources->shortcuts = std::move(kept);
    }
    std::map<Shortcut, ShortcutState> states;
    for (const auto& [shortcut, state] : mix.states) {
        if (const auto other = moved(mix, shortcut, to)) {
            states.emplace(*other, state);
        }
    }
    mix.states = std::move(states);
}

// Gives a source to a layer that is new or has lost all its sources.
void giveSources(DepthMix& mix, const std::set<std::int64_t>& targets)
{
    auto* sources = std::get_if<ExplicitSources>(&mix.sources);
    if (sources == nullptr || mix.feeds == MixFeeds::ResidualBesideBranch) {
        return; // the output of the layer before feeds it
    }
    auto& list = sources->shortcuts;
    for (const std::int64_t target : targets) {
        if (std::none_of(list.begin(), list.end(), [target](const Shortcut& s) { return s.target == target; })) {
            list.push_back({newestEntryBefore(mix, target), target});
        }
    }
}

void sortSources(DepthMix& mix)
{
    if (auto* sources = std::get_if<ExplicitSources>(&mix.sources)) {
        auto& list = sources->shortcuts;
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
    }
}

/// Adds the edits that renumbered layers require in addition to the stack. `depth` is the new number of layers.
void addRenumbering(std::vector<Edit>& edits, const Document& document, DepthMix* mix, const Renumber& layerTo,
                    std::int64_t depth)
{
    const Project& project = document.project;
    if (mix != nullptr) {
        sortSources(*mix);
        if (*mix != std::get<DepthMix>(project.stack().topology.wiring)) {
            edits.emplace_back(SetTopology{{project.stack().topology.preset, *mix}});
        }
    }
    std::vector<LayerGroup> groups;
    for (LayerGroup group : document.layout.groups) {
        std::optional<std::int64_t> first;
        std::optional<std::int64_t> last;
        const std::int64_t end = std::min(group.last, project.network.depth()); // a file may contain any number
        for (std::int64_t layer = std::max<std::int64_t>(group.first, 1); layer <= end; ++layer) {
            if (const auto to = layerTo(layer)) {
                first = first.value_or(*to);
                last = *to;
            }
        }
        if (first) {
            groups.push_back({std::move(group.name), *first, *last});
        }
    }
    if (groups != document.layout.groups) {
        edits.emplace_back(SetLayerGroups{std::move(groups)});
    }
    StageSchedule schedule = project.stack().schedule;
    for (Stage& stage : schedule.stages) {
        std::vector<std::int64_t> always;
        for (const std::int64_t layer : stage.always) {
            if (const auto to = layerTo(layer)) {
                always.push_back(*to);
            }
        }
        stage.always = std::move(always);
        // A stage cannot train more layers than exist. `always` contains only existing layers.
        stage.averageLength = std::min(stage.averageLength, static_cast<double>(std::max<std::int64_t>(depth, 1)));
    }
    if (schedule != project.stack().schedule) {
        edits.emplace_back(SetSchedule{std::move(schedule)});
    }
}

std::optional<DepthMix> mixOf(const Project& project)
{
    const auto* mix = std::get_if<DepthMix>(&project.stack().topology.wiring);
    return mix == nullptr ? std::nullopt : std::optional(*mix);
}

/// Maps the fragment's blocks to blocks of `network`, existing or new. Adds edits for the new ones to `edits`.
std::map<std::string, std::string> adoptBlocks(const Network& network, const StackFragment& fragment,
                                               std::vector<Edit>& edits)
{
    std::map<std::string, std::string> names;
    Network grown = network;
    for (Block block : fragment.blocks) {
        const auto same = std::find_if(network.blocks.begin(), network.blocks.end(), [&block](const auto& each) {
            return each.graph == block.graph && each.preset == block.preset;
        });
        if (same != network.blocks.end()) {
            names[block.name] = same->name;
            continue;
        }
        const std::string name = freeBlockName(grown, block.name);
        names[block.name] = name;
        block.name = name;
        grown.blocks.push_back(block);
        edits.emplace_back(PutBlock{std::move(block)});
    }
    return names;
}

std::string counted(const std::string& verb, std::size_t layers)
{
    return layers == 1 ? verb + " a layer" : verb + " " + std::to_string(layers) + " layers";
}

} // namespace

std::vector<std::string> blocksOfLayers(const std::vector<StackSegment>& stack)
{
    std::vector<std::string> blocks;
    for (const StackSegment& segment : stack) {
        blocks.insert(blocks.end(), static_cast<std::size_t>(std::max<std::int64_t>(segment.repeat, 0)), segment.block);
    }
    return blocks;
}

SetStack stackWith(const Network& network, const std::vector<std::int64_t>& layers, const std::string& block)
{
    std::vector<std::string> blocks = blocksOfLayers(network.stack().segments);
    for (const std::int64_t layer : layers) {
        blocks.at(static_cast<std::size_t>(layer - 1)) = block;
    }
    return {stackOf(blocks)};
}

std::vector<Edit> removeUnused(const Network& network, const std::vector<StackSegment>& stack)
{
    std::vector<Edit> edits;
    for (const Block& block : network.blocks) {
        const auto& presets = blockPresets();
        const auto preset = std::ranges::find(presets, block.preset, &BlockPreset::name);
        const bool isPreset = preset != presets.end() && preset->graph == block.graph;
        if (isPreset && isUsed(network.stack().segments, block.name) && !isUsed(stack, block.name)) {
            edits.emplace_back(RemoveBlock{block.name});
        }
    }
    return edits;
}

std::string freeBlockName(const Network& network, const std::string& name)
{
    return freeName(name, [&network](const std::string& taken) { return network.findBlock(taken) != nullptr; });
}

StackFragment fragmentOf(const Project& project, const std::set<std::int64_t>& layers,
                         const std::set<Shortcut>& shortcuts)
{
    StackFragment fragment;
    const auto mix = mixOf(project);
    std::vector<DrawnShortcut> drawn;
    if (mix) {
        drawn = drawnShortcuts(*mix, modulesOf(project));
    }
    const std::vector<std::string> blocks = blocksOfLayers(project.stack().segments);
    const std::int64_t each = modulesPerLayer(project);
    std::map<std::int64_t, std::int64_t> newNumber; // of modules
    std::vector<std::string> taken;
    for (const std::int64_t layer : layers) {
        if (layer < 1 || layer > static_cast<std::int64_t>(blocks.size())) {
            continue;
        }
        taken.push_back(blocks[static_cast<std::size_t>(layer - 1)]);
        const std::int64_t by = (static_cast<std::int64_t>(taken.size()) - layer) * each;
        for (std::int64_t module = firstModule(layer, each); module <= lastModule(layer, each); ++module) {
            newNumber[module] = module + by;
        }
        const bool known = std::any_of(fragment.blocks.begin(), fragment.blocks.end(),
                                       [&](const auto& block) { return block.name == taken.back(); });
        if (const Block* block = project.network.findBlock(taken.back()); block != nullptr && !known) {
            fragment.blocks.push_back(*block);
        }
    }
    fragment.stack = stackOf(taken);
    const auto to = [&](std::int64_t module) -> std::optional<std::int64_t> {
        if (taken.empty()) {
            return module;
        }
        const auto found = newNumber.find(module);
        return found == newNumber.end() ? std::nullopt : std::optional(found->second);
    };
    for (const DrawnShortcut& found : drawn) {
        if (found.kind == ShortcutKind::Pruned || (taken.empty() && !shortcuts.contains(found.shortcut))) {
            continue;
        }
        const auto kept = movedModules(*mix, found.shortcut, to);
        if (!kept) {
            continue;
        }
        fragment.shortcuts.push_back(*kept);
        if (const auto state = mix->states.find(found.shortcut); state != mix->states.end()) {
            fragment.states[*kept] = state->second;
        }
    }
    return fragment;
}

Edit insertLayersEdit(const Document& document, std::int64_t after, const StackFragment& fragment)
{
    const Project& project = document.project;
    std::vector<std::string> added = blocksOfLayers(fragment.stack);
    EditGroup group{counted("Insert", added.size()), {}};
    const auto names = adoptBlocks(project.network, fragment, group.edits);
    for (std::string& block : added) {
        if (const auto name = names.find(block); name != names.end()) {
            block = name->second;
        }
    }
    std::vector<std::string> blocks = blocksOfLayers(project.stack().segments);
    after = std::clamp<std::int64_t>(after, 0, static_cast<std::int64_t>(blocks.size()));
    blocks.insert(blocks.begin() + static_cast<std::ptrdiff_t>(after), added.begin(), added.end());
    group.edits.emplace_back(SetStack{stackOf(blocks)});

    const auto count = static_cast<std::int64_t>(added.size());
    const std::int64_t each = modulesPerLayer(project);
    std::optional<DepthMix> mix = mixOf(project);
    if (mix) {
        const std::int64_t head = modulesOf(project) + 1;
        renumber(*mix, [=](std::int64_t m) {
            const bool moves =
                m > lastModule(after, each) && m <= head; // a target beyond the head is invalid and stays unchanged
            return std::optional(moves ? m + count * each : m);
        });
        auto* sources = std::get_if<ExplicitSources>(&mix->sources);
        std::set<std::int64_t> targets;
        for (std::int64_t module = firstModule(after + 1, each); module <= lastModule(after + count, each); ++module) {
            targets.insert(module);
        }
        const std::int64_t by = lastModule(after, each);
        for (const Shortcut& shortcut : fragment.shortcuts) {
            const Shortcut here{stackEntryOf(*mix, shortcut.source + by), shortcut.target + by};
            if (sources != nullptr && targets.contains(here.target)) {
                sources->shortcuts.push_back(here);
            }
            if (const auto state = fragment.states.find(shortcut); state != fragment.states.end()) {
                mix->states[here] = state->second;
            }
        }
        giveSources(*mix, targets);
    }
    // A number that no layer can have stays unchanged.
    constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
    const Renumber layerTo = [=](std::int64_t layer) {
        return std::optional(layer <= after || layer > kLargest - count ? layer : layer + count);
    };
    addRenumbering(group.edits, document, mix ? &*mix : nullptr, layerTo, static_cast<std::int64_t>(blocks.size()));
    return group;
}

std::optional<Edit> removeLayersEdit(const Document& document, const std::set<std::int64_t>& layers)
{
    const Project& project = document.project;
    const std::vector<std::string> blocks = blocksOfLayers(project.stack().segments);
    std::vector<std::string> kept;
    std::vector<std::int64_t> removed;
    std::map<std::int64_t, std::int64_t> newNumber;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const auto layer = static_cast<std::int64_t>(i) + 1;
        if (!layers.contains(layer)) {
            kept.push_back(blocks[i]);
            newNumber[layer] = static_cast<std::int64_t>(kept.size());
        } else {
            removed.push_back(layer);
        }
    }
    if (kept.size() == blocks.size()) {
        return std::nullopt;
    }
    EditGroup group{counted("Remove", removed.size()), {}};
    group.edits.emplace_back(SetStack{stackOf(kept), std::move(removed)});
    const Renumber layerTo = [&newNumber](std::int64_t layer) -> std::optional<std::int64_t> {
        const auto found = newNumber.find(layer);
        return found == newNumber.end() ? std::nullopt : std::optional(found->second);
    };
    std::optional<DepthMix> mix = mixOf(project);
    if (mix) {
        const std::int64_t each = modulesPerLayer(project);
        const std::int64_t head = modulesOf(project) + 1;
        std::set<std::int64_t> readers; // readers that had a source before
        const Renumber moduleTo = [&](std::int64_t module) -> std::optional<std::int64_t> {
            if (module == 0 || module == head) {
                return module == 0 ? 0 : lastModule(static_cast<std::int64_t>(kept.size()), each) + 1;
            }
            if (module > head) {
                return std::nullopt;
            }
            const std::int64_t from = layerOf(module, each);
            const auto layer = layerTo(from);
            return layer ? std::optional(module + (*layer - from) * each) : std::nullopt;
        };
        if (const auto* sources = std::get_if<ExplicitSources>(&mix->sources)) {
            for (const Shortcut& shortcut : sources->shortcuts) {
                if (const auto target = moduleTo(shortcut.target)) {
                    readers.insert(*target);
                }
            }
        }
        renumber(*mix, moduleTo);
        giveSources(*mix, readers);
    }
    addRenumbering(group.edits, document, mix ? &*mix : nullptr, layerTo, static_cast<std::int64_t>(kept.size()));
    return group;
}

std::optional<Edit> groupEdit(const Document& document, const std::set<std::int64_t>& layers, const std::string& name)
{
    const std::int64_t depth = document.project.network.depth();
    const auto from = layers.lower_bound(1);
    const auto beyond = layers.upper_bound(depth);
    if (from == layers.end() || from == beyond || name.empty()) {
        return std::nullopt;
    }
    const LayerGroup group{name, *from, *std::prev(beyond)};
    std::vector<LayerGroup> groups = document.layout.groups;
    std::erase_if(groups, [&](const auto& g) { return g.first == group.first && g.last == group.last; });
    groups.push_back(group);
    return EditGroup{"Group layers as “" + name + "”", {SetLayerGroups{std::move(groups)}}};
}

Result<Edit> changeGroupEdit(std::vector<LayerGroup> groups, std::size_t at, LayerGroup changed)
{
    if (changed.name.empty()) {
        return Error{"groups", "a group has no name, expected one"};
    }
    const std::string title = "Change group “" + groups.at(at).name + "”";
    groups.at(at) = std::move(changed);
    return Edit{EditGroup{title, {SetLayerGroups{std::move(groups)}}}};
}

std::optional<Edit> ungroupEdit(const Document& document, const std::set<std::int64_t>& layers)
{
    std::vector<LayerGroup> groups = document.layout.groups;
    const auto taken = std::erase_if(groups, [&layers](const LayerGroup& group) {
        const auto first = layers.lower_bound(group.first);
        return first != layers.end() && *first <= group.last;
    });
    if (taken == 0) {
        return std::nullopt;
    }
    return EditGroup{"Ungroup layers", {SetLayerGroups{std::move(groups)}}};
}

} // namespace residua::projects
