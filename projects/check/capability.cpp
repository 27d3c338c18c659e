// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/check/validate.h"

#include "projects/check/problems.h"

#include <string>

namespace residua::projects {

std::vector<Problem> unsupported(const Project& project)
{
    Problems problems(project);
    const auto check = [&problems](bool isMissing, const char* path, const std::string& what) {
        if (isMissing) {
            problems.error(path, what + " cannot be trained yet");
        }
    };
    const auto* const mix = std::get_if<DepthMix>(&project.stack().topology.wiring);
    check(mix && !isPlainResidual(*mix) && mixedModules(*mix, project.network.depth()) > kMostMixedLayers,
          "/network/stack", "a mix over more than " + std::to_string(kMostMixedLayers) + " layers");
    const auto* const gate = std::get_if<BranchGate>(&project.stack().topology.wiring);
    check(gate && gate->gate == BranchGateKind::ValueResidual && project.training.activations == Activations::Recompute,
          "/training/activations",
          "a value residual, whose layers share their values, with activations computed again");
    return problems.take();
}

} // namespace residua::projects
