// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/depth/mix_port.h"
#include "projects/model/project.h"
#include "projects/model/topology.h"

#include <cstdint>
#include <string>
#include <vector>

// What people call the parts of a topology: its modules, its shortcuts and its mix ports.
namespace residua::projects {

/// Ports of a layer that read a mix of their own; Input where there are no mixes.
[[nodiscard]] std::vector<MixPort> portsOf(const Topology& topology);

/// What a module is of its layer.
enum class LayerPart { Whole, Attention, Ffn };
/// The layer of a module, where each layer has so many (modulesPerLayer); 0 for the stack's input.
[[nodiscard]] std::int64_t layerOf(std::int64_t module, std::int64_t perLayer);
/// The modules of a layer: the first to the last.
[[nodiscard]] std::int64_t firstModule(std::int64_t layer, std::int64_t perLayer);
[[nodiscard]] std::int64_t lastModule(std::int64_t layer, std::int64_t perLayer);
[[nodiscard]] LayerPart partOf(std::int64_t module, std::int64_t perLayer);

/// K, what i and j of i:j number from 1: the layers, or both halves of each (mixedModules).
[[nodiscard]] std::int64_t modulesOf(const Project& project);
/// Layers with modules of their own in the order of the stack: 1, or 2 where both halves have one.
[[nodiscard]] std::int64_t modulesPerLayer(const Project& project);
/// "0" for the stack's input, "3" for layer 3, "3a" and "3f" for its attention and its FFN where both are modules,
/// "out" for the final output.
[[nodiscard]] std::string moduleName(const Project& project, std::int64_t module);
/// What stack entry `entry` holds: the name of its module, or where modules share entries "1–2", the first and the last
/// of them that the stack has.
[[nodiscard]] std::string entryName(const Project& project, std::int64_t entry);
/// Whether the numbers i:j name its ends as the canvases do; else moduleName and entryName say more.
[[nodiscard]] bool numbersNameModules(const Project& project);
/// Who reads the mix of that target, as messages say it: "layer 3" or "layer 3a" by moduleName, "the final output".
[[nodiscard]] std::string readerName(const DepthMix& mix, std::int64_t layers, std::int64_t target);

/// "3:7".
[[nodiscard]] std::string nameOf(const Shortcut& shortcut);

} // namespace residua::projects
