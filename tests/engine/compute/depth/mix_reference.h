// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/network/network.h"
#include "projects/model/project.h"

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace residua::tests {

/// Vectors of 6 features through `depth` small blocks with the ports that a topology preset feeds apart, and
/// without: tanh(Aq)·(Bk) + Cv + Dr, where r is the residual port, q where there is none; one matrix and one port where
/// all are one.
[[nodiscard]] projects::Project portedVectors(const std::string& topology, std::int64_t depth);
/// Vectors of 6 features through blocks a + f(x + a) with a = Ax, f = W relu(Ux).
[[nodiscard]] projects::Project halvedVectors(projects::MixSites sites, std::int64_t depth);

/// Returns the outputs of those networks, written out in double precision from the papers' equations; differentiable.
/// Reads the parameters by name, and nothing of the engine's path or of the document's lists of sources. `factors`, one
/// a layer where there are any, multiply the branches of layers that run whole.
[[nodiscard]] at::Tensor referenceOutput(const projects::Project& project, engine::CompiledNetwork& network,
                                         const at::Tensor& input, const std::vector<double>& factors = {});

/// The topology's parameters by the papers' formulas.
[[nodiscard]] std::int64_t referenceParameters(const std::string& topology, std::int64_t depth, std::int64_t width);

} // namespace residua::tests
