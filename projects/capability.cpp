// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/capability.h"

#include "projects/problems.h"

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
    missing.when(mix.weight == WeightKind::DepthAttention, path + "/weight", "topology · weight",
                 "a topology that attends over its depth");
    missing.when(mix.weight == WeightKind::PerToken, path + "/weight", "topology · weight",
                 "a topology with weights made for each token");
    missing.when(besideBranch && mix.sites != MixSites::Mhsa, path + "/sites", "topology · sites",
                 "a topology that bridges FFN inputs");
    missing.when(mix.separateNorms, path + "/separate_norms", "topology · separate norms",
                 "a norm of its own for each port");
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

} // namespace

std::vector<Problem> unsupported(const Project& project)
{
    Missing missing;
    checkTopology(project, missing);
    missing.when(project.initialisation.lowRank != LowRankMethod::Baseline, "/initialisation/low_rank",
                 "initialisation · low rank", "a low-rank initialisation other than the baseline");
    missing.when(!project.stages.stages.empty() || project.stages.fullModelSteps > 0, "/schedule", "schedule",
                 "a network in stages");
    return missing.take();
}

} // namespace residua::projects
