// SPDX-License-Identifier: GPL-3.0-or-later
// The functions in this library's table; their contracts are those of CudaKernels.
#pragma once

#include "kernels/cuda_kernels.h"

namespace residua::kernels::cuda {

Status mixForward(const MixForward& mix, void* stream);
Status mixWeightGrad(const MixWeightGrad& mix, void* stream);
Status mixGather(const MixGather& mix, void* stream);
std::size_t mixWeightGradWorkspace(const MixWeightGrad& mix);
Status normForward(const NormForward& norm, void* stream);
Status normBackward(const NormBackward& norm, void* stream);
std::size_t normBackwardWorkspace(const NormBackward& norm);
Status swigluForward(const SwigluForward& swiglu, void* stream);
Status swigluBackward(const SwigluBackward& swiglu, void* stream);
Status rotary(const Rotary& rotary, void* stream);
Status crossEntropy(const CrossEntropy& entropy, void* stream);
Status dropout(const Dropout& dropout, void* stream);
Status adamw(const AdamW& adamw, void* stream);
Status sinkhornForward(const SinkhornForward& sinkhorn, void* stream);
Status sinkhornBackward(const SinkhornBackward& sinkhorn, void* stream);
Status streamsForward(const StreamsForward& streams, void* stream);
Status streamsBackward(const StreamsBackward& streams, void* stream);
std::size_t streamsBackwardWorkspace(const StreamsBackward& streams);

} // namespace residua::kernels::cuda
