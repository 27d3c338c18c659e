// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/dataset.h"
#include "engine/host/preparation.h"
#include "engine/init/weight_inputs.h"
#include "engine/network/network.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <c10/core/Device.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace residua::engine {

/// What the weights and attentions of `network` read in `pass` over the first batch of the training split; sequences of
/// attentions are kept of `attentionLength` tokens. The network is on `device`. An error where the split has no
/// example.
[[nodiscard]] Result<WeightInputs> readInputs(CompiledNetwork& network, const Dataset& dataset,
                                              const projects::TrainingPlan& plan, c10::Device device, Pass pass,
                                              std::int64_t attentionLength);
/// The second moments of what was read, by the parameter's name.
[[nodiscard]] std::map<std::string, at::Tensor> momentsByName(const WeightInputs& inputs,
                                                              const std::vector<NamedParameter>& parameters);

/// Gives the network of `project` what the fits of its factored weights depend on, before it is initialised: the user's
/// cache of fits and, where the document fits to the data (NLRA, remark 4.1), the second moments of what each weight
/// reads in the full-rank network with the same draw, over the first batch of the training split. `watch` is told of no
/// progress; an error where it gives the preparation up.
[[nodiscard]] Status prepareFits(const projects::Project& project, const Dataset& dataset, const std::string& device,
                                 CompiledNetwork& network, const PreparationWatch& watch);

/// The document with every weight of full rank, and its attentions by softmax.
[[nodiscard]] projects::Project fullRank(projects::Project project);

/// The document whose factors and features start as they are drawn: nothing is fitted.
[[nodiscard]] projects::Project unfitted(projects::Project project);

/// How long the sequences are that the features of its attentions are fitted on.
[[nodiscard]] std::int64_t fitLengthOf(const projects::Project& project);

} // namespace residua::engine
