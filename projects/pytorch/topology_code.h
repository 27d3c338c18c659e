// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/depth/depth_plan.h"
#include "projects/depth/shared_mix.h"
#include "projects/model/parameter_name.h"
#include "projects/model/project.h"
#include "projects/pytorch/helper_code.h"
#include "projects/pytorch/python_text.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace residua::projects {

/// Private to pytorch: the wiring as the class Topology, whose forward(x, layers) runs the stack.

/// The options of a topology's class.
struct TopologySetting {
    const Project& project;
    std::int64_t layers = 0;  ///< L of the document
    std::int64_t present = 0; ///< number of first layers that are exported; the others do not exist yet
    HelperCode& helpers;
    bool leavesOut = false;                ///< true if some of the exported layers are visits that a pass does not make
    std::vector<std::int64_t> visits = {}; ///< number of visits that a pass makes, of each loop

    [[nodiscard]] bool lacksLayers() const { return present < layers; }
    [[nodiscard]] std::int64_t width() const { return project.stack().width; }
    /// Returns the number of layers with weights of the wiring.
    [[nodiscard]] std::int64_t rowLayers() const { return rowStackOf(project.stack()).depth(); }
    /// True if visits share weights of the wiring, whose rows the constant ROWS has by module.
    [[nodiscard]] bool sharesRows() const { return rowLayers() < layers && !sharesMix(); }
    /// True if visits share the weights of a mix (shared_mix.h). ROWS then has the row of each weight, or of attention
    /// over depth that of each mix.
    [[nodiscard]] bool sharesMix() const { return projects::sharesMix(project.stack()); }
    /// True if a loop changes the residual between its visits.
    [[nodiscard]] bool changesState() const
    {
        return std::ranges::any_of(project.stack().loops, residua::projects::changesState);
    }
};

struct TopologyCode {
    PythonText text; ///< constants and the class
    /// The code's name of each parameter of the topology: "topology.3.gate.weight" → "topology.gates.2.weight".
    std::map<std::string, std::string> names;
    bool regularises = false; ///< true if it has a method regulariser()

    /// Begins the constructor.
    void beginInit();
    /// Names the parameters of the topology, and adds each as an attribute of the same name unless it is in a module
    /// list. A start is an expression of `starts` unless that is empty, else its number or its draw.
    void parameters(const TopologySetting& setting, const std::map<std::string, std::string>& starts = {});
    /// Names the parameters of the loops, and adds a module for each loop that changes the residual.
    void loops(const TopologySetting& setting);
};

[[nodiscard]] TopologyCode codeOf(const TopologySetting& setting);

/// Return the code of each kind of wiring.
[[nodiscard]] TopologyCode codeOf(const TopologySetting& setting, const DepthMix& mix);
[[nodiscard]] TopologyCode codeOf(const TopologySetting& setting, const MultiStream& streams);
[[nodiscard]] TopologyCode codeOf(const TopologySetting& setting, const BranchGate& gate);
[[nodiscard]] TopologyCode codeOf(const TopologySetting& setting, const Concatenation& concatenation);

/// Returns the code of a mix that is a running sum: x + f_1(x) + f_2(x + f_1(x)) + …, with the learned shortcuts, if
/// any.
[[nodiscard]] TopologyCode codeOfSum(const TopologySetting& setting, const DepthMix& mix);

/// Writes the input as the first entry, and zeros as the entries that layers in the export do not make.
[[nodiscard]] std::string startOfStack(std::int64_t present, std::int64_t entries);
/// Returns the shortcut as "(0, 2)".
[[nodiscard]] std::string pairText(const Shortcut& shortcut);

/// Describes a mix with its equation, as paragraphs.
[[nodiscard]] std::vector<std::string> wordsOf(const DepthMix& mix, const DepthPlan& plan);

/// Writes the first lines of the class: the name of the wiring and its equation.
void beginTopology(const TopologySetting& setting, PythonText& text, const std::vector<std::string>& words);
/// Returns a number as Python text.
[[nodiscard]] inline std::string written(std::int64_t number)
{
    return std::to_string(number);
}
/// Writes the begin of a visit in the loop over the modules j, with the residual x, and `changed` after it. Writes
/// nothing if no loop changes the residual.
void beginVisit(const TopologySetting& setting, PythonText& text, const std::string& changed = {});
/// Writes the end of a visit.
void endVisit(const TopologySetting& setting, PythonText& text, const std::string& changed = {});
/// Writes "def forward(self, x, layers):" and the input of the first module. Leaves the depth at that of its body.
void beginForward(const TopologySetting& setting, PythonText& text);

} // namespace residua::projects
