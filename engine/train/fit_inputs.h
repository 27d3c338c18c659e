// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/dataset.h"
#include "engine/network/network.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <string>

namespace residua::engine {

/// Gives the network of `project` what the fits of its factored weights depend on, before it is initialised: the user's
/// cache of fits and, where the document fits to the data (NLRA, remark 4.1), the second moments of what each weight
/// reads in the full-rank network with the same draw, over the first batch of the training split.
[[nodiscard]] Status prepareFits(const projects::Project& project, const Dataset& dataset, const std::string& device,
                                 CompiledNetwork& network);

/// The document with every weight of full rank, and its attentions by softmax.
[[nodiscard]] projects::Project fullRank(projects::Project project);

/// The document whose factors and features start as they are drawn: nothing is fitted.
[[nodiscard]] projects::Project unfitted(projects::Project project);

/// How long the sequences are that the features of its attentions are fitted on.
[[nodiscard]] std::int64_t fitLengthOf(const projects::Project& project);

} // namespace residua::engine
