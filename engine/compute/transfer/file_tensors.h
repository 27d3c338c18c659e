// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/files/tensor_files.h"
#include "engine/compute/init/named_parameter.h"
#include "engine/compute/train/transfer_plan.h"
#include "projects/base/result.h"
#include "projects/huggingface/known_model.h"

#include <functional>
#include <string>
#include <vector>

namespace residua::engine {

/// Matches `parameters` with a model's files by the table of its architecture; the files' names may lack the
/// architecture's prefix. `named` maps a parameter's name in the table to that in the network; if empty, the names are
/// equal.
[[nodiscard]] TransferReport matchModel(const TensorFiles& files, const projects::KnownModel& model,
                                        const std::function<std::string(const std::string&)>& named,
                                        std::vector<NamedParameter>& parameters);

/// Returns false only if `model` is tied and the files hold a head's weight that differs from the embedding.
[[nodiscard]] Result<bool> tieHolds(const TensorFiles& files, const projects::KnownModel& model);

/// Adds notes about tensors that a file has under two names with different values, about those of heads of other tasks,
/// and about tied tensors that an index names and no file holds. Returns an error for any other tensor that is missing
/// so.
[[nodiscard]] Status checkTwins(const TensorFiles& files, const projects::KnownModel& model,
                                std::vector<std::string>& notes);

/// Returns the steps for all parameters of a model's network. The error describes the files as a whole: missing
/// tensors, unused ones (each with the nearest name), and tensors of another shape than in the network. It names the
/// first few of each kind; `all` gets a line for each. `place` is the folder.
[[nodiscard]] Result<std::vector<TransferStep>> transfersOf(const TensorFiles& files, const projects::KnownModel& model,
                                                            std::vector<NamedParameter>& parameters,
                                                            const std::string& place, std::vector<std::string>& all);

} // namespace residua::engine
