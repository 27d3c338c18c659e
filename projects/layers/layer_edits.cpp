// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/layers/layer_edits.h"

#include "projects/base/text.h"
#include "projects/depth/depth_names.h"
#include "projects/depth/visit_shortcuts.h"
#include "projects/layers/shortcut_edits.h"
#include "projects/library/presets.h"
#include "projects/nodes/towers.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

namespace residua::projects {
namespace {

/// Returns the new number of a layer or module; nullopt if it is removed.
using Renumber = std::function<std::optional<std::int64_t>(std::int64_t)>;

/// True if the shortcut's source is on the stack when its target reads. An invalid document may have others, whose
/// numbers are used as modules.
bool isThere(const DepthMix& mix, const Shortcut& shortcut)
{
    return shortcut.source >= 0 && shortcut.source <= newestEntryBefore(mix, shortcut.target);
}

/// Returns the new modules of a shortcut as {module, target}. If several modules share its source, the newest one that
/// is kept. Returns nullopt if an end is gone, or if the source would no longer run before the target.
std::optional<Shortcut> movedModules(const DepthMix& mix, const Shortcut& shortcut, const Renumber& to)
{
    std::int64_t module = isThere(mix, shortcut) ? lastModuleIn(mix, shortcut) : shortcut.source;
    std::optional<std::int64_t> source = to(module);
    while (!source && isThere(mix, shortcut) && stackEntryOf(mix, module - 1) == shortcut.source && module > 1) {
        source = to(--module);
    }
    const std::optional<std::int64_t> target = to(shortcut.target);
    const bool follows = source && target && *source >= *target && shortcut.source < shortcut.target;
    return source && target && !follows ? std::optional(Shortcut{*source, *target}) : std::nullopt;
}

std::optional<Shortcut> moved(const DepthMix& mix, const Shortcut& shortcut, const Renumber& to)
{
    std::optional<Shortcut> ends = movedModules(mix, shortcut, to);
    if (ends && isThere(mix, shortcut)) {
        ends->source = stackEntryOf(mix, ends->source);
    }
    return ends;
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

/// Returns the new number of each executed layer, given that of each stored layer. In a stack that does not lose
/// layers, a number beyond the last layer moves with it; else it is removed.
Renumber executedTo(const Stack& before, const Stack& after, const Renumber& storedTo)
{
    return [&before, &after, storedTo, from = before.depth(),
            to = after.depth()](std::int64_t number) -> std::optional<std::int64_t> {
        if (number < 1 || number > from) {
            return to < from ? std::nullopt : std::optional(movedLayer(number, 0, to - from));
        }
        const LayerVisit at = before.visitAt(number);
        const std::optional<std::int64_t> layer = storedTo(at.layer);
        const Loop* const loop = layer ? after.loopOf(*layer) : nullptr;
        return layer && at.visit <= (loop == nullptr ? 1 : loop->visits)
                   ? std::optional(after.numberOf({*layer, at.visit}))
                   : std::nullopt;
    };
}

/// Returns the new number of each module, given that of each layer. A layer has `each` modules. 0 and the final output
/// are kept.
Renumber modulesTo(const Stack& before, const Stack& after, std::int64_t each, const Renumber& layerTo)
{
    return [each, layerTo, head = before.depth() * each + 1,
            newHead = after.depth() * each + 1](std::int64_t module) -> std::optional<std::int64_t> {
        if (module == 0 || module == head) {
            return module == 0 ? 0 : newHead;
        }
        if (module > head) { // invalid: no layer, and no final output
            return newHead < head ? std::nullopt : std::optional(module);
        }
        const std::int64_t from = layerOf(module, each);
        const std::optional<std::int64_t> layer = layerTo(from);
        return layer ? std::optional(module + (*layer - from) * each) : std::nullopt;
    };
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

/// Returns the loops whose layers are all in `storedTo`, with the new numbers of the layers that it has.
std::vector<Loop> wholeLoops(const std::vector<Loop>& loops, const std::map<std::int64_t, std::int64_t>& storedTo)
{
    std::vector<Loop> whole;
    for (Loop loop : loops) {
        const auto first = storedTo.find(loop.first);
        const auto last = storedTo.find(loop.last);
        if (first != storedTo.end() && last != storedTo.end() &&
            last->second - first->second == loop.last - loop.first) {
            loop.first = first->second;
            loop.last = last->second;
            whole.push_back(loop);
        }
    }
    return whole;
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

std::vector<StackSegment> segmentsOf(const std::vector<std::string>& blocks)
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

std::int64_t movedLayer(std::int64_t layer, std::int64_t after, std::int64_t count)
{
    const bool fits = count <= 0 || layer <= std::numeric_limits<std::int64_t>::max() - count;
    return layer > after && fits ? layer + count : layer;
}

SetStack stackWith(const Network& network, const std::vector<std::int64_t>& layers, const std::string& block)
{
    std::vector<std::string> blocks = blocksOfLayers(network.stack().segments);
    for (const std::int64_t layer : layers) {
        blocks.at(static_cast<std::size_t>(network.stack().visitAt(layer).layer - 1)) = block;
    }
    return {segmentsOf(blocks), network.stack().loops};
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
    const Stack& stack = project.stack();
    const auto mix = mixOf(project);
    std::vector<DrawnShortcut> drawn;
    if (mix) {
        drawn = drawnShortcuts(*mix, modulesOf(project));
    }
    const std::vector<std::string> blocks = blocksOfLayers(stack.segments);
    const std::int64_t depth = stack.depth();
    std::map<std::int64_t, std::int64_t> storedTo;
    for (const std::int64_t layer : layers) {
        if (layer >= 1 && layer <= depth) {
            storedTo.emplace(stack.visitAt(layer).layer, 0);
        }
    }
    std::vector<std::string> taken;
    for (auto& [layer, to] : storedTo) {
        taken.push_back(blocks[static_cast<std::size_t>(layer - 1)]);
        to = std::ssize(taken);
        const bool known = std::any_of(fragment.blocks.begin(), fragment.blocks.end(),
                                       [&](const auto& block) { return block.name == taken.back(); });
        if (const Block* block = project.network.findBlock(taken.back()); block != nullptr && !known) {
            fragment.blocks.push_back(*block);
        }
    }
    fragment.stack = segmentsOf(taken);
    fragment.loops = wholeLoops(stack.loops, storedTo);
    Stack part;
    part.segments = fragment.stack;
    part.loops = fragment.loops;
    const std::int64_t each = modulesPerLayer(project);
    const Renumber layerTo = executedTo(stack, part, [&](std::int64_t layer) {
        const auto found = storedTo.find(layer);
        return found == storedTo.end() ? std::nullopt : std::optional(found->second);
    });
    const auto to = [&](std::int64_t module) -> std::optional<std::int64_t> {
        if (taken.empty()) {
            return module;
        }
        const std::int64_t from = layerOf(module, each);
        const std::optional<std::int64_t> layer = from < 1 || from > depth ? std::nullopt : layerTo(from);
        return layer ? std::optional(module + (*layer - from) * each) : std::nullopt;
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

namespace {

/// Returns the executed layers of `after` that no executed layer of `before` becomes.
std::set<std::int64_t> freshLayers(const Stack& before, const Stack& after, const Renumber& storedTo)
{
    std::set<std::int64_t> fresh;
    for (std::int64_t layer = 1; layer <= after.depth(); ++layer) {
        fresh.insert(layer);
    }
    const Renumber layerTo = executedTo(before, after, storedTo);
    for (std::int64_t layer = 1; layer <= before.depth(); ++layer) {
        if (const auto kept = layerTo(layer)) {
            fresh.erase(*kept);
        }
    }
    return fresh;
}

/// Replaces the layers and loops of a stack, and renumbers what refers to them. `storedTo` maps the stored layers; the
/// executed layers of the new stack that come from none are new. `add` may give them shortcuts. Renumbers nothing if
/// the stack has too many layers, because the edit is rejected then.
void restack(EditGroup& group, const Document& document, SetStack set, const Renumber& storedTo,
             const std::function<void(DepthMix&)>& add = {})
{
    const Project& project = document.project;
    Stack after;
    after.segments = set.stack;
    after.loops = set.loops;
    if (after.depth() > kMaxLayers) {
        group.edits.emplace_back(std::move(set));
        return;
    }
    const Renumber layerTo = executedTo(project.stack(), after, storedTo);
    std::optional<DepthMix> mix = mixOf(project);
    if (mix) {
        const std::int64_t each = modulesPerLayer(project);
        const Renumber moduleTo = modulesTo(project.stack(), after, each, layerTo);
        std::set<std::int64_t> readers; // those that had a source before, and the new ones
        if (const auto* sources = std::get_if<ExplicitSources>(&mix->sources)) {
            for (const Shortcut& shortcut : sources->shortcuts) {
                const auto target = moduleTo(shortcut.target);
                const bool isShorter = after.depth() <= project.network.depth();
                if (target && (isShorter || !moved(*mix, shortcut, moduleTo))) {
                    readers.insert(*target);
                }
            }
        }
        for (const std::int64_t layer : freshLayers(project.stack(), after, storedTo)) {
            for (std::int64_t module = firstModule(layer, each); module <= lastModule(layer, each); ++module) {
                readers.insert(module);
            }
        }
        const VisitedModules from = storedModules(project.stack(), each);
        const VisitedModules to = storedModules(after, each);
        const auto numberTo = [&](std::int64_t number) -> std::optional<std::int64_t> {
            if (number == 0 || number == from.last()) {
                return number == 0 ? 0 : to.last();
            }
            const std::int64_t layer = layerOf(number, each);
            const std::optional<std::int64_t> now = storedTo(layer);
            return now ? std::optional(number + (*now - layer) * each) : std::nullopt;
        };
        moveShortcuts(*mix, from, to, numberTo,
                      [&](const Shortcut& shortcut) { return moved(*mix, shortcut, moduleTo); });
        if (add) {
            add(*mix);
        }
        giveSources(*mix, readers);
    }
    group.edits.emplace_back(std::move(set));
    if (std::vector<Loss> losses = renumberedLosses(project, after, layerTo); losses != project.losses) {
        group.edits.emplace_back(SetLosses{std::move(losses)});
    }
    addRenumbering(group.edits, document, mix ? &*mix : nullptr, layerTo, after.depth());
}

Edit editOfLoops(const Document& document, std::vector<Loop> loops, const std::string& title)
{
    const Stack& stack = document.project.stack();
    const Renumber same = [](std::int64_t layer) { return std::optional(layer); };
    EditGroup group{title, {}};
    restack(group, document, {stack.segments, std::move(loops)}, same);
    return group;
}

/// Returns `loops` after `count` layers were inserted behind the stored layer `after`: `inside`, which is one of them
/// or null, has these layers; otherwise their own loops, `added`, join.
std::vector<Loop> loopsAround(const std::vector<Loop>& loops, const Loop* inside, const std::vector<Loop>& added,
                              std::int64_t after, std::int64_t count)
{
    std::vector<Loop> moved = loops;
    for (std::size_t i = 0; i < loops.size(); ++i) {
        moved[i].first = movedLayer(loops[i].first, after, count);
        moved[i].last = movedLayer(loops[i].last, &loops[i] == inside ? 0 : after, count);
    }
    for (Loop loop : inside != nullptr ? std::vector<Loop>() : added) { // loops are not nested
        loop.first = movedLayer(loop.first, 0, after);
        loop.last = movedLayer(loop.last, 0, after);
        moved.push_back(loop);
    }
    std::ranges::sort(moved, {}, &Loop::first);
    return moved;
}

} // namespace

Edit insertLayersEdit(const Document& document, std::int64_t after, const StackFragment& fragment)
{
    const Project& project = document.project;
    const Stack& stack = project.stack();
    std::vector<std::string> added = blocksOfLayers(fragment.stack);
    EditGroup group{counted("Insert", added.size()), {}};
    const auto names = adoptBlocks(project.network, fragment, group.edits);
    for (std::string& block : added) {
        if (const auto name = names.find(block); name != names.end()) {
            block = name->second;
        }
    }
    std::vector<std::string> blocks = blocksOfLayers(stack.segments);
    after = std::clamp<std::int64_t>(after, 0, stack.depth());
    const LayerVisit at = after == 0 ? LayerVisit{0, 1} : stack.visitAt(after);
    blocks.insert(blocks.begin() + at.layer, added.begin(), added.end());
    const auto count = static_cast<std::int64_t>(added.size());

    // Inside a loop, the layers belong to it; after its last visit they do not.
    const Loop* const inside = stack.loopOf(at.layer);
    const bool inLoop = inside != nullptr && (inside->last > at.layer || at.visit < inside->visits);
    Stack grown;
    grown.segments = segmentsOf(blocks);
    grown.loops = loopsAround(stack.loops, inLoop ? inside : nullptr, fragment.loops, at.layer, count);
    const Renumber storedTo = [=](std::int64_t layer) { return std::optional(movedLayer(layer, at.layer, count)); };
    const std::int64_t each = modulesPerLayer(project);
    const auto addShortcuts = [&](DepthMix& mix) {
        auto* const sources = std::get_if<ExplicitSources>(&mix.sources);
        Stack part;
        part.segments = fragment.stack;
        part.loops = inLoop ? std::vector<Loop>() : fragment.loops;
        const std::int64_t visits = inLoop ? inside->visits : 1;
        for (std::int64_t visit = 1; visit <= visits; ++visit) {
            const auto here = [&](std::int64_t module) {
                const std::int64_t number = std::max<std::int64_t>(layerOf(module, each), 1);
                const LayerVisit in = part.visitAt(number);
                const std::int64_t layer = grown.numberOf({in.layer + at.layer, in.visit + visit - 1});
                return module + (layer - number) * each;
            };
            for (const Shortcut& shortcut : fragment.shortcuts) {
                const Shortcut moved{stackEntryOf(mix, here(shortcut.source)), here(shortcut.target)};
                if (sources != nullptr && layerOf(shortcut.target, each) <= part.depth()) {
                    sources->shortcuts.push_back(moved);
                }
                if (const auto state = fragment.states.find(shortcut); state != fragment.states.end()) {
                    mix.states[moved] = state->second;
                }
            }
        }
    };
    restack(group, document, {grown.segments, grown.loops}, storedTo, addShortcuts);
    return group;
}

std::optional<Edit> removeLayersEdit(const Document& document, const std::set<std::int64_t>& layers)
{
    const Stack& stack = document.project.stack();
    const std::int64_t depth = stack.depth();
    std::set<std::int64_t> gone; // stored
    for (const std::int64_t layer : layers) {
        if (layer >= 1 && layer <= depth) {
            gone.insert(stack.visitAt(layer).layer);
        }
    }
    if (gone.empty()) {
        return std::nullopt;
    }
    const std::vector<std::string> blocks = blocksOfLayers(stack.segments);
    std::vector<std::string> kept;
    std::map<std::int64_t, std::int64_t> newNumber;
    for (std::int64_t layer = 1; layer <= std::ssize(blocks); ++layer) {
        if (!gone.contains(layer)) {
            kept.push_back(blocks[static_cast<std::size_t>(layer - 1)]);
            newNumber[layer] = std::ssize(kept);
        }
    }
    std::vector<Loop> loops;
    for (Loop loop : stack.loops) {
        const auto first = newNumber.lower_bound(loop.first);
        const auto past = newNumber.upper_bound(loop.last);
        if (loop.first <= loop.last && first != past) {
            loop.first = first->second;
            loop.last = std::prev(past)->second;
            loops.push_back(loop);
        }
    }
    std::vector<std::int64_t> removed;
    for (std::int64_t layer = 1; layer <= depth; ++layer) {
        if (gone.contains(stack.visitAt(layer).layer)) {
            removed.push_back(layer);
        }
    }
    EditGroup group{counted("Remove", gone.size()), {}};
    restack(group, document, {segmentsOf(kept), std::move(loops), std::move(removed)},
            [&newNumber](std::int64_t layer) -> std::optional<std::int64_t> {
                const auto found = newNumber.find(layer);
                return found == newNumber.end() ? std::nullopt : std::optional(found->second);
            });
    return group;
}

Edit loopsEdit(const Document& document, std::vector<Loop> loops, const std::string& title)
{
    std::ranges::sort(loops, {}, &Loop::first);
    return editOfLoops(document, std::move(loops), title);
}

std::optional<Edit> restackEdit(const Document& document, const Stack& changed, const std::string& title)
{
    const Stack& stack = document.project.stack();
    if (changed.segments == stack.segments) {
        return changed.loops != stack.loops ? std::optional(editOfLoops(document, changed.loops, title)) : std::nullopt;
    }
    if (stack.loops.empty() || changed.loops != stack.loops || changed.segments.size() != stack.segments.size()) {
        return std::nullopt;
    }
    const auto at = std::ranges::mismatch(stack.segments, changed.segments);
    std::vector<StackSegment> repeated = stack.segments;
    const std::int64_t repeat = at.in2->repeat;
    const auto index = static_cast<std::size_t>(at.in1 - stack.segments.begin());
    repeated[index].repeat = repeat;
    return repeated == changed.segments ? std::optional(repeatEdit(document, index, repeat, title)) : std::nullopt;
}

Edit repeatEdit(const Document& document, std::size_t index, std::int64_t repeat, const std::string& title)
{
    const Stack& stack = document.project.stack();
    Stack after;
    after.segments = stack.segments;
    after.segments.at(index).repeat = repeat;
    const auto segment = stack.segments.begin() + static_cast<std::ptrdiff_t>(index);
    const std::int64_t end = layersOf({stack.segments.begin(), segment + 1});
    const std::int64_t more = repeat - segment->repeat;
    const std::int64_t kept = std::min(end, end + more);
    for (Loop loop : stack.loops) {
        loop.first = movedLayer(loop.first, end, more);
        loop.last = loop.last >= end ? movedLayer(loop.last, end - 1, more) : std::min(loop.last, kept);
        if (loop.first <= loop.last) {
            after.loops.push_back(loop);
        }
    }
    const Renumber storedTo = [end, kept, more](std::int64_t layer) {
        return layer <= end && layer > kept ? std::nullopt : std::optional(movedLayer(layer, end, more));
    };
    EditGroup group{title, {}};
    restack(group, document, {after.segments, after.loops}, storedTo);
    return group;
}

} // namespace residua::projects
