// SPDX-License-Identifier: GPL-3.0-or-later
// The forms of mixWeightGrad for some of the shapes and kinds. mix_weight_grad.cu chooses the form of a call.
#pragma once

#include "kernels/depth_mix.h"

namespace residua::kernels::cuda {

struct WeightGradForm {
    /// True if the data type, the shape and the kinds suit the form.
    bool (*takes)(const MixWeightGrad& mix);
    /// Returns the bytes of workspace; requires takes().
    std::size_t (*workspace)(const MixWeightGrad& mix);
    /// True if the tensors are aligned and the current device has enough shared memory; requires takes().
    bool (*fits)(const MixWeightGrad& mix);
    /// Requires fits(), at least one token and the workspace.
    Status (*run)(const MixWeightGrad& mix, void* stream);
};

extern const WeightGradForm kTensorForm; ///< mix_weight_grad_tensor.cu
extern const WeightGradForm kRowForm;    ///< mix_weight_grad_rows.cu

} // namespace residua::kernels::cuda
