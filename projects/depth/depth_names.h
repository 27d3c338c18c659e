// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/depth/mix_port.h"
#include "projects/model/project.h"
#include "projects/model/topology.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Names of the parts of a topology for people: modules, shortcuts and mix ports.
namespace residua::projects {

/// Returns the ports of a layer that have separate mixes; Input if there are no mixes.
[[nodiscard]] std::vector<MixPort> portsOf(const Topology& topology);

/// The part of its layer that a module covers.
enum class LayerPart { Whole, Attention, Ffn };
/// Returns the layer of a module if each layer has `perLayer` modules (modulesPerLayer), or 0 for the stack's input.
[[nodiscard]] std::int64_t layerOf(std::int64_t module, std::int64_t perLayer);
/// Return the first and the last module of a layer.
[[nodiscard]] std::int64_t firstModule(std::int64_t layer, std::int64_t perLayer);
[[nodiscard]] std::int64_t lastModule(std::int64_t layer, std::int64_t perLayer);
[[nodiscard]] LayerPart partOf(std::int64_t module, std::int64_t perLayer);

/// Returns the name of an executed layer: "3", or in a loop "3@2" for the second visit to stored layer 3.
[[nodiscard]] std::string layerName(const Stack& stack, std::int64_t layer);
/// Returns the number of the executed layer whose layerName() is `name`; nullopt if no layer has it.
[[nodiscard]] std::optional<std::int64_t> layerNamed(const Stack& stack, std::string_view name);

/// Returns K, the number of modules that i and j of i:j count: the layers, or both halves of each (mixedModules).
[[nodiscard]] std::int64_t modulesOf(const Project& project);
/// Returns the number of modules per layer: 1, or 2 if both halves of a layer are modules.
[[nodiscard]] std::int64_t modulesPerLayer(const Project& project);
/// Returns "0" for the stack's input, layerName() for a layer, with "a" and "f" for its attention and FFN if both are
/// modules, and "out" for the final output.
[[nodiscard]] std::string moduleName(const Project& project, std::int64_t module);
/// Returns the name of the module in stack entry `entry`. If modules share entries, the first and last module that
/// exist, such as "1–2".
[[nodiscard]] std::string entryName(const Project& project, std::int64_t entry);
/// True if the numbers i:j identify the ends as the canvases name them. If not, moduleName() and entryName() are
/// clearer.
[[nodiscard]] bool numbersNameModules(const Project& project);
/// The executed layers that a wiring is for: their number, and their names in messages.
struct ExecutedLayers {
    std::int64_t count;
    const Stack* stack = nullptr; ///< of the layers; without it, numbers are their names

    ExecutedLayers(std::int64_t layers) : count(layers) {}
    ExecutedLayers(const Stack& layers) : count(layers.depth()), stack(&layers) {}
    /// Returns "3", or in a loop "3@2".
    [[nodiscard]] std::string nameOf(std::int64_t layer) const;
};

/// Returns the name of the reader `target` for messages: "layer 3", "layer 3a" by moduleName(), or "the final output".
[[nodiscard]] std::string readerName(const DepthMix& mix, const ExecutedLayers& layers, std::int64_t target);

/// Formats the shortcut as "3:7".
[[nodiscard]] std::string nameOf(const Shortcut& shortcut);

} // namespace residua::projects
