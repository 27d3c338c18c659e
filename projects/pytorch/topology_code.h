// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/depth/depth_plan.h"
#include "projects/model/parameter_name.h"
#include "projects/model/project.h"
#include "projects/pytorch/helper_code.h"
#include "projects/pytorch/python_text.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// Private to pytorch: the wiring as the class Topology, whose forward(x, layers) runs the stack.

/// What a topology's class is made for.
struct TopologySetting {
    const Project& project;
    std::int64_t layers = 0;  ///< L of the document
    std::int64_t present = 0; ///< the first so many are there; the others had not begun
    HelperCode& helpers;

    [[nodiscard]] bool lacksLayers() const { return present < layers; }
    [[nodiscard]] std::int64_t width() const { return project.network.width; }
};

struct TopologyCode {
    PythonText text; ///< constants and the class
    /// What each of the topology's parameters is called in the code: "topology.3.gate.weight" →
    /// "topology.gates.2.weight".
    std::map<std::string, std::string> names;
    bool regularises = false; ///< it has a method regulariser()

    /// A parameter whose attribute has its name.
    void keepName(std::string_view parameter) { names[topologyParameter(parameter)] = topologyParameter(parameter); }
};

[[nodiscard]] TopologyCode codeOf(const TopologySetting& setting);
/// The arguments of a layer's method: x, or q, k, v and residual where the topology feeds them apart.
[[nodiscard]] std::vector<std::string> layerArguments(const Wiring& wiring);
/// For each input port of a block the one of layerArguments() that it is fed.
[[nodiscard]] std::map<std::string, std::string> layerArgumentOf(const Wiring& wiring);

/// The code of each kind of wiring.
[[nodiscard]] TopologyCode codeOf(const TopologySetting& setting, const DepthMix& mix);
[[nodiscard]] TopologyCode codeOf(const TopologySetting& setting, const MultiStream& streams);
[[nodiscard]] TopologyCode codeOf(const TopologySetting& setting, const BranchGate& gate);
[[nodiscard]] TopologyCode codeOf(const TopologySetting& setting, const Concatenation& concatenation);

/// x + f_1(x) + f_2(x + f_1(x)) + …, with learned shortcuts beside it where there are some.
[[nodiscard]] TopologyCode codeOfSum(const TopologySetting& setting, const DepthMix& mix);
/// What a mix computes, with its equation: paragraphs.
[[nodiscard]] std::vector<std::string> wordsOf(const DepthMix& mix, const DepthPlan& plan);

/// The first lines of the class: what the wiring is called, and what its equation says.
void beginTopology(const TopologySetting& setting, PythonText& text, const std::vector<std::string>& words);
/// "def forward(self, x, layers):" with what enters the first module; the depth is then that of its body.
void beginForward(const TopologySetting& setting, PythonText& text);

} // namespace residua::projects
