// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/depth/depth_names.h"

#include "projects/model/text_forms.h"

namespace residua::projects {
namespace {

/// The name of a layer's module, where each layer has so many.
std::string moduleName(std::int64_t module, std::int64_t perLayer)
{
    if (module == 0 || perLayer == 1) {
        return std::to_string(module);
    }
    return std::to_string((module + 1) / 2) + (module % 2 == 1 ? "a" : "f");
}

} // namespace

std::vector<MixPort> portsOf(const Topology& topology)
{
    const auto* const mix = std::get_if<DepthMix>(&topology.wiring);
    return portsOf(mix ? mix->ports : MixPorts::Input);
}

std::int64_t modulesPerLayer(const Project& project)
{
    return modulesIn(project.topology.wiring, 1);
}

std::int64_t modulesOf(const Project& project)
{
    return project.network.depth() * modulesPerLayer(project);
}

std::string moduleName(const Project& project, std::int64_t module)
{
    return module == modulesOf(project) + 1 ? "out" : moduleName(module, modulesPerLayer(project));
}

std::string readerName(const DepthMix& mix, std::int64_t layers, std::int64_t target)
{
    return target > mixedModules(mix, layers) ? "the final output"
                                              : "layer " + moduleName(target, mixedModules(mix, 1));
}

std::string nameOf(const Shortcut& shortcut)
{
    return textOf(shortcut);
}

} // namespace residua::projects
