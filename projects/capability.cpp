// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/capability.h"

#include "projects/problems.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace residua::projects {
namespace {

/// The mixing kernels read at most 512 entries.
constexpr std::int64_t kMostMixedLayers = 511;

class Missing {
public:
    void when(bool condition, const std::string& path, const std::string& place, const std::string& what)
    {
        if (condition) {
            m_problems.error(path, place, what + " cannot be trained yet");
        }
    }
    std::vector<Problem> take() { return m_problems.take(); }

private:
    Problems m_problems;
};

void checkMix(const DepthMix& mix, std::int64_t depth, Missing& missing)
{
    const std::string path = "/topology/wiring";
    const bool besideBranch = mix.feeds == MixFeeds::ResidualBesideBranch;
    missing.when(mix.ports != MixPorts::Input, path + "/ports", "topology · ports",
                 "a topology with mixes of their own for q, k and v");
    missing.when(mix.weight != WeightKind::Fixed && mix.weight != WeightKind::Scalar, path + "/weight",
                 "topology · weight", "a topology whose weights are per feature, per token or by attention");
    missing.when(mix.gate.kind != GateKind::None, path + "/gate", "topology · gate", "a gated topology");
    missing.when(std::holds_alternative<FirstAndLast>(mix.sources), path + "/sources", "topology · sources",
                 "a topology of first and last entries");
    missing.when(std::holds_alternative<Dilated>(mix.sources), path + "/sources", "topology · sources",
                 "a dilated topology");
    missing.when((mix.entry == StackEntry::Full) != besideBranch, path + "/entry", "topology · entry",
                 besideBranch ? "a residual made of branch entries" : "a layer input made of full outputs");
    missing.when(besideBranch && mix.sites != MixSites::Mhsa, path + "/sites", "topology · sites",
                 "a topology that bridges FFN inputs");
    missing.when(mix.tsallis.weight > 0, path + "/tsallis", "topology · Tsallis weight", "the Tsallis regulariser");
    missing.when(mix.blockLayers > 1, path + "/block_layers", "topology · layers per entry",
                 "a topology whose layers share entries");
    missing.when(depth > kMostMixedLayers, "/network/stack", "network · stack", "a stack of more than 511 layers");
}

void checkTopology(const Project& project, Missing& missing)
{
    const Wiring& wiring = project.topology.wiring;
    if (const auto* const mix = std::get_if<DepthMix>(&wiring)) {
        checkMix(*mix, project.network.depth(), missing);
    }
    missing.when(std::holds_alternative<MultiStream>(wiring), "/topology", "topology",
                 "a network of several residual streams");
    missing.when(std::holds_alternative<BranchGate>(wiring), "/topology", "topology",
                 "a gate on the residual or the branch");
    missing.when(std::holds_alternative<Concatenation>(wiring), "/topology", "topology",
                 "a network that concatenates its entries");
}

void checkGraph(const Graph& graph, const std::string& path, const std::string& place, Missing& missing)
{
    constexpr std::array<std::string_view, 4> kKinds{"conv1d", "conv2d", "patchify", "flatten"};
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const Node& node = graph.nodes[i];
        const std::string nodePath = path + "/nodes/" + std::to_string(i);
        const std::string nodePlace = place + " · node " + node.name;
        const auto share = node.params.find("share");
        missing.when(std::ranges::find(kKinds, node.kind) != kKinds.end(), nodePath, nodePlace,
                     "a node of kind " + node.kind);
        missing.when(share != node.params.end() && share->second != ParamValue(std::string()),
                     nodePath + "/params/share", nodePlace, "a norm that shares its weights");
    }
}

} // namespace

std::vector<Problem> unsupported(const Project& project)
{
    Missing missing;
    checkGraph(project.network.stem, "/network/stem", "stem", missing);
    for (std::size_t i = 0; i < project.network.blocks.size(); ++i) {
        const Block& block = project.network.blocks[i];
        checkGraph(block.graph, "/network/blocks/" + std::to_string(i) + "/graph", "block " + block.name, missing);
    }
    checkGraph(project.network.head, "/network/head", "head", missing);
    checkTopology(project, missing);
    missing.when(project.initialisation.lowRank != LowRankMethod::Baseline, "/initialisation/low_rank",
                 "initialisation · low rank", "a low-rank initialisation other than the baseline");
    missing.when(!project.stages.stages.empty() || project.stages.fullModelSteps > 0, "/schedule", "schedule",
                 "a network in stages");
    return missing.take();
}

} // namespace residua::projects
