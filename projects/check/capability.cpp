// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/check/validate.h"

#include "projects/check/problems.h"

#include <string>

namespace residua::projects {
namespace {

class Missing {
public:
    explicit Missing(const Project& project) : m_problems(project) {}

    void when(bool condition, const std::string& path, const std::string& what)
    {
        if (condition) {
            m_problems.error(path, what + " cannot be trained yet");
        }
    }
    std::vector<Problem> take() { return m_problems.take(); }

private:
    Problems m_problems;
};

void checkMix(const DepthMix& mix, std::int64_t depth, Missing& missing)
{
    missing.when(!isPlainResidual(mix) && mixedModules(mix, depth) > kMostMixedLayers, "/network/stack",
                 "a mix over more than " + std::to_string(kMostMixedLayers) + " layers");
}

void checkTopology(const Project& project, Missing& missing)
{
    const Wiring& wiring = project.topology.wiring;
    if (const auto* const mix = std::get_if<DepthMix>(&wiring)) {
        checkMix(*mix, project.network.depth(), missing);
    }
}

} // namespace

std::vector<Problem> unsupported(const Project& project)
{
    Missing missing(project);
    checkTopology(project, missing);
    const auto* const gate = std::get_if<BranchGate>(&project.topology.wiring);
    missing.when(
        gate && gate->gate == BranchGateKind::ValueResidual && project.training.activations == Activations::Recompute,
        "/training/activations", "a value residual, whose layers share their values, with activations computed again");
    return missing.take();
}

} // namespace residua::projects
