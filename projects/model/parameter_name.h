// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace residua::projects {

/// What the names of the parameters of stem, head and topology begin with; those of a layer: layerPrefix().
inline constexpr const char* kStemPrefix = "stem.";
inline constexpr const char* kHeadPrefix = "head.";
inline constexpr const char* kTopologyPrefix = "topology.";

/// The topology's parameters that are named outside the code that makes them.
inline constexpr const char* kTopologyCoefficient = "topology.coefficient"; ///< of a mix, and of learned shortcuts
inline constexpr const char* kTopologyGate = "topology.gate";               ///< of a mix
inline constexpr const char* kTopologyAlpha = "topology.alpha";             ///< of ReZero
inline constexpr const char* kTopologyFactor = "topology.factor";           ///< α and β of LAUREL
inline constexpr const char* kTopologyValues = "topology.values";           ///< λ of value residuals
inline constexpr const char* kTopologyRead = "topology.read";               ///< of several streams
inline constexpr const char* kTopologyCarry = "topology.carry";             ///< of several streams
inline constexpr const char* kTopologyWrite = "topology.write";             ///< of several streams

/// The part of a network that a parameter is of.
enum class NetworkPart {
    Stem,
    Layers,
    Head,
    Topology,
    Other, ///< of no network of ours
};

/// The name of a network's parameter taken apart. Its view is of the text that it was read from.
struct ParameterName {
    NetworkPart part = NetworkPart::Other;
    std::int64_t layer = 0; ///< of the layers, from 1; 0: of none, or its number is part of `rest`
    std::string_view rest;  ///< "attention.q.weight"; of no part the whole name

    /// What `rest` begins with, the node whose parameter it is: "attention".
    [[nodiscard]] std::string_view node() const { return rest.substr(0, rest.find('.')); }
    bool operator==(const ParameterName&) const = default;
};

/// Reads "layers.3.attention.q.weight", or the beginning of such a name. A layer that is no number from 1 on is part of
/// `rest`.
[[nodiscard]] ParameterName parameterNameFrom(std::string_view text);
/// The same as text, the one form in which files, errors and figures have it.
[[nodiscard]] std::string textOf(const ParameterName& name);

/// What the names of a layer's parameters begin with: "layers.3.".
[[nodiscard]] std::string layerPrefix(std::int64_t layer);
/// A parameter of the topology: "topology.3.gate.weight" of its layer or reader 3, "topology.norm" of all.
[[nodiscard]] std::string topologyParameter(std::int64_t number, std::string_view rest);
[[nodiscard]] std::string topologyParameter(std::string_view rest);

/// What stands before the last dot, whose parameter it is: "layers.3.up" of "layers.3.up.weight"; empty without a dot.
[[nodiscard]] std::string_view ownerOf(std::string_view name);
/// What stands after the last dot: "weight" of "layers.3.up.weight".
[[nodiscard]] std::string_view lastOf(std::string_view name);
/// The parameter `last` of the same owner: "layers.3.up.bias" beside "layers.3.up.weight".
[[nodiscard]] std::string siblingOf(std::string_view name, std::string_view last);

} // namespace residua::projects
