// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/machine/preparation.h"
#include "engine/compute/init/weight_inputs.h"
#include "engine/compute/network/network.h"
#include "engine/data/sets/dataset.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <c10/core/Device.h>

#include <cstdint>
#include <string>

namespace residua::engine {

/// Returns the inputs of the weights and attentions of `network` in `pass` over the first batch of the project's
/// training split. The network must be on `device`. Returns an error if the split is empty.
[[nodiscard]] Result<FitInputs> readInputs(CompiledNetwork& network, const Dataset& dataset,
                                           const projects::Project& project, c10::Device device, Pass pass);

/// Sets what the fits of the network's factored weights depend on; must be called before it is initialised. This is the
/// user's cache of fits and, if the document fits to the data (NLRA, remark 4.1), the second moments of each weight's
/// inputs. They are measured in the full-rank network with the same draw, on the first batch of the training split.
/// Reports no progress to `watch`; returns an error if it cancels.
[[nodiscard]] Status prepareFits(const projects::Project& project, const Dataset& dataset, const std::string& device,
                                 CompiledNetwork& network, const PreparationWatch& watch);

/// Returns the document with all weights of full rank and all attentions by softmax.
[[nodiscard]] projects::Project fullRank(projects::Project project);

/// Returns the document with factors and features that start as drawn, without fits.
[[nodiscard]] projects::Project unfitted(projects::Project project);

/// Returns the length in tokens of the sequences on which attentions' features are fitted.
[[nodiscard]] std::int64_t fitLengthOf(const projects::Project& project);

} // namespace residua::engine
