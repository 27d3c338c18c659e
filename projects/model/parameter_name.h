// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace residua::projects {

/// Prefixes of the parameter names of stem, head and topology. layerPrefix() gives that of a layer.
inline constexpr const char* kStemPrefix = "stem.";
inline constexpr const char* kHeadPrefix = "head.";
inline constexpr const char* kTopologyPrefix = "topology.";

/// Names of topology parameters that other code refers to.
inline constexpr const char* kTopologyCoefficient = "topology.coefficient"; ///< a mix, or learned shortcuts
inline constexpr const char* kTopologyGate = "topology.gate";               ///< the gate of a mix
inline constexpr const char* kTopologyAlpha = "topology.alpha";             ///< ReZero
inline constexpr const char* kTopologyFactor = "topology.factor";           ///< α and β of LAuReL
inline constexpr const char* kTopologyRead = "topology.read";               ///< multi-stream read weights
inline constexpr const char* kTopologyCarry = "topology.carry";             ///< multi-stream mixing weights
inline constexpr const char* kTopologyWrite = "topology.write";             ///< multi-stream write weights

/// The part of a network that a parameter belongs to.
enum class NetworkPart {
    Stem,
    Layers,
    Head,
    Topology,
    Other, ///< not a parameter of this program's networks
};

/// The parts of a parameter name. `rest` is a view of the parsed text.
struct ParameterName {
    NetworkPart part = NetworkPart::Other;
    std::int64_t layer = 0; ///< layer from 1; 0 if the part has no layers or if its number is part of `rest`
    std::string_view rest;  ///< "attention.q.weight"; the whole name for NetworkPart::Other

    /// Returns the first word of `rest`, the node that has the parameter: "attention".
    [[nodiscard]] std::string_view node() const { return rest.substr(0, rest.find('.')); }
    bool operator==(const ParameterName&) const = default;
};

/// Parses "layers.3.attention.q.weight", or the beginning of such a name. A layer that is not a number from 1 on stays
/// part of `rest`.
[[nodiscard]] ParameterName parameterNameFrom(std::string_view text);
/// Formats the name for files, errors and figures; the inverse of parameterNameFrom().
[[nodiscard]] std::string textOf(const ParameterName& name);

/// Returns the name without that of a further tower, whose parameters are Other for parameterNameFrom():
/// "layers.3.up.weight" of "teacher.layers.3.up.weight".
[[nodiscard]] std::string_view withoutTower(std::string_view name);

/// Returns the prefix of a layer's parameter names: "layers.3.".
[[nodiscard]] std::string layerPrefix(std::int64_t layer);
/// Returns the name of a topology parameter: "topology.3.gate.weight" of layer or reader 3, or "topology.norm" without
/// a number.
[[nodiscard]] std::string topologyParameter(std::int64_t number, std::string_view rest);
[[nodiscard]] std::string topologyParameter(std::string_view rest);

/// Returns the text before the last dot: "layers.3.up" of "layers.3.up.weight". Empty if there is no dot.
[[nodiscard]] std::string_view ownerOf(std::string_view name);
/// Returns the text after the last dot: "weight" of "layers.3.up.weight".
[[nodiscard]] std::string_view lastOf(std::string_view name);
/// Returns the name of the parameter `last` with the same owner: "layers.3.up.bias" from "layers.3.up.weight".
[[nodiscard]] std::string siblingOf(std::string_view name, std::string_view last);

} // namespace residua::projects
