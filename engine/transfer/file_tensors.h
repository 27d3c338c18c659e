// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/files/tensor_files.h"
#include "engine/graph/named_parameter.h"
#include "projects/base/result.h"
#include "projects/huggingface/decoder.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace residua::engine {

/// A tensor of a model's files with the parameters that it holds.
struct TensorTransfer {
    projects::FileTensor tensor;
    std::string name;                   ///< in the files; without the architecture's prefix where they lack it
    std::vector<at::Tensor> parameters; ///< in the order of FileTensor::parameters
    TensorFiles::Tensor stored;
};

/// Which of the tensors that might make a network's parameters are in the files.
struct TensorFit {
    std::vector<TensorTransfer> transfers;
    std::vector<projects::FileTensor> missing;
    /// A tensor that is there and does not fit: "got [2, 3], expected [3, 2]".
    struct Contradiction {
        projects::FileTensor tensor;
        std::string name; ///< in the files
        std::string what;
    };
    std::vector<Contradiction> contradictions;
    std::vector<std::string> unused; ///< tensors of the files that are none of these
};
/// Tensors whose parameters the network lacks count for nothing. `prefix` is what names may lack in the files.
[[nodiscard]] TensorFit fitOf(const TensorFiles& files, std::vector<projects::FileTensor> tensors,
                              std::vector<NamedParameter>& parameters, const std::string& prefix);

/// All that a model's network is made of. An error tells, of the files as a whole: what is missing, what nothing is
/// made of (each with the nearest name), and every tensor with another shape than the network has; the first few of
/// each, and `all` gets a line for every one. `place` is the folder.
[[nodiscard]] Result<std::vector<TensorTransfer>> transfersOf(const TensorFiles& files,
                                                              const projects::Decoder& decoder,
                                                              std::vector<NamedParameter>& parameters,
                                                              const std::string& place, std::vector<std::string>& all);
/// Reads the tensor into its parameters: straight to where it lies, or where its type or layout is another, through
/// memory of its own size.
[[nodiscard]] Status transfer(const TensorFiles& files, const TensorTransfer& transfer);

/// The tensor of these parameters, as the files have it.
[[nodiscard]] at::Tensor packed(const projects::FileTensor& tensor, const std::vector<at::Tensor>& parameters);

} // namespace residua::engine
