// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/files/tensor_files.h"
#include "engine/init/named_parameter.h"
#include "engine/train/transfer_plan.h"
#include "projects/base/result.h"
#include "projects/huggingface/decoder.h"

#include <functional>
#include <string>
#include <vector>

namespace residua::engine {

/// What a model's files have of `parameters` by the table of its architecture, whose names may lack the architecture's
/// prefix there. `named` gives the network's name of a parameter of the table; empty: the same.
[[nodiscard]] TransferReport matchModel(const TensorFiles& files, const projects::Decoder& decoder,
                                        const std::function<std::string(const std::string&)>& named,
                                        std::vector<NamedParameter>& parameters);

/// True unless `decoder` is tied and the files hold a head's weight beside the embedding that differs from it.
[[nodiscard]] Result<bool> tieHolds(const TensorFiles& files, const projects::Decoder& decoder);

/// All that a model's network is made of. An error tells, of the files as a whole: what is missing, what nothing is
/// made of (each with the nearest name), and every tensor with another shape than the network has; the first few of
/// each, and `all` gets a line for every one. `place` is the folder.
[[nodiscard]] Result<std::vector<TransferStep>> transfersOf(const TensorFiles& files, const projects::Decoder& decoder,
                                                            std::vector<NamedParameter>& parameters,
                                                            const std::string& place, std::vector<std::string>& all);

} // namespace residua::engine
