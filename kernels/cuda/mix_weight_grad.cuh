// SPDX-License-Identifier: GPL-3.0-or-later
// The form of mixWeightGrad for rows of whole 16-byte packs, see mix_weight_grad_rows.cu.
#pragma once

#include "kernels/depth_mix.h"

namespace residua::kernels::cuda {

/// True if the data type, the width and the kinds suit the form.
bool hasRowForm(const MixWeightGrad& mix);

/// Returns the bytes of workspace; requires hasRowForm().
std::size_t rowFormWorkspace(const MixWeightGrad& mix);

/// True if the tensors are aligned and the current device has enough shared memory; requires hasRowForm().
bool rowFormFits(const MixWeightGrad& mix);

/// Requires rowFormFits(), at least one token and the workspace.
Status rowFormWeightGrad(const MixWeightGrad& mix, void* stream);

} // namespace residua::kernels::cuda
