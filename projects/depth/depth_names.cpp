// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/depth/depth_names.h"

#include "projects/model/graph.h"

namespace residua::projects {
namespace {

/// Returns the name of a module if each layer has `perLayer` modules and the name `layer`.
std::string moduleName(std::int64_t module, std::int64_t perLayer, const std::string& layer)
{
    if (module == 0 || perLayer == 1) {
        return layer;
    }
    return layer + (partOf(module, perLayer) == LayerPart::Attention ? "a" : "f");
}

} // namespace

std::int64_t layerOf(std::int64_t module, std::int64_t perLayer)
{
    return (module + perLayer - 1) / perLayer;
}

std::int64_t firstModule(std::int64_t layer, std::int64_t perLayer)
{
    return (layer - 1) * perLayer + 1;
}

std::int64_t lastModule(std::int64_t layer, std::int64_t perLayer)
{
    return layer * perLayer;
}

LayerPart partOf(std::int64_t module, std::int64_t perLayer)
{
    return perLayer == 1 ? LayerPart::Whole : module % 2 == 1 ? LayerPart::Attention : LayerPart::Ffn;
}

std::vector<MixPort> portsOf(const Topology& topology)
{
    const auto* const mix = std::get_if<DepthMix>(&topology.wiring);
    return portsOf(mix ? mix->ports : MixPorts::Input);
}

std::string layerName(const Stack& stack, std::int64_t layer)
{
    const LayerVisit at = stack.visitAt(layer);
    return std::to_string(at.layer) + (stack.loopOf(at.layer) ? "@" + std::to_string(at.visit) : "");
}

std::optional<std::int64_t> layerNamed(const Stack& stack, std::string_view name)
{
    const std::size_t at = name.find('@');
    const auto layer = numberFrom<std::int64_t>(name.substr(0, at));
    const auto visit = at == std::string_view::npos ? 1 : numberFrom<std::int64_t>(name.substr(at + 1));
    const Loop* const loop = layer ? stack.loopOf(*layer) : nullptr;
    if (!layer || !visit || *layer < 1 || *layer > stack.stored() || *visit < 1 ||
        *visit > (loop == nullptr ? 1 : loop->visits)) {
        return std::nullopt;
    }
    const std::int64_t number = stack.numberOf({*layer, *visit});
    return layerName(stack, number) == name ? std::optional(number) : std::nullopt;
}

std::int64_t modulesPerLayer(const Project& project)
{
    return modulesIn(project.stack().topology.wiring, 1);
}

std::int64_t modulesOf(const Project& project)
{
    return project.network.depth() * modulesPerLayer(project);
}

std::string moduleName(const Project& project, std::int64_t module)
{
    const std::int64_t perLayer = modulesPerLayer(project);
    return module == modulesOf(project) + 1
               ? "out"
               : moduleName(module, perLayer, layerName(project.stack(), layerOf(module, perLayer)));
}

std::string entryName(const Project& project, std::int64_t entry)
{
    const auto* const mix = std::get_if<DepthMix>(&project.stack().topology.wiring);
    const std::int64_t head = modulesOf(project) + 1;
    if (mix == nullptr || entry <= 0 || entry > newestEntryBefore(*mix, head)) {
        return moduleName(project, entry); // an invalid document may refer to an entry that does not exist
    }
    const std::int64_t first = lastModuleIn(*mix, {entry - 1, head}) + 1;
    const std::int64_t last = lastModuleIn(*mix, {entry, head});
    return (first < last ? moduleName(project, first) + "–" : "") + moduleName(project, last);
}

bool numbersNameModules(const Project& project)
{
    const auto* const mix = std::get_if<DepthMix>(&project.stack().topology.wiring);
    return modulesPerLayer(project) == 1 && project.stack().loops.empty() && (mix == nullptr || mix->blockLayers == 1);
}

std::string ExecutedLayers::nameOf(std::int64_t layer) const
{
    return stack != nullptr ? layerName(*stack, layer) : std::to_string(layer);
}

std::string readerName(const DepthMix& mix, const ExecutedLayers& layers, std::int64_t target)
{
    const std::int64_t each = mixedModules(mix, 1);
    return target > mixedModules(mix, layers.count)
               ? "the final output"
               : "layer " + moduleName(target, each, layers.nameOf(layerOf(target, each)));
}

std::string nameOf(const Shortcut& shortcut)
{
    return textOf(shortcut);
}

} // namespace residua::projects
