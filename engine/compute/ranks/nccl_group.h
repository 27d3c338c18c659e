// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Apart from rank_group.h, because only code for GPUs opens NCCL.

#include "engine/compute/ranks/rank_group.h"
#include "projects/base/result.h"

#include <memory>
#include <string>

namespace residua::engine {

/// The functions of NVIDIA's NCCL that are used, from a library that is opened at run time.
struct Nccl;
/// The name of the library that LibTorch's CUDA part is linked with. It is in the process once that part is loaded.
inline constexpr const char* kNcclLibrary = "libnccl.so.2";
/// Opens the library, which is never closed. The error says why it cannot be used and how to install it.
[[nodiscard]] Result<std::shared_ptr<const Nccl>> openNccl(const std::string& library = kNcclLibrary);

/// Waits for all `count` ranks. `host` carries the identity of the group from rank 0 to the others. The group exchanges
/// memory of the current device: a call enqueues an exchange in `stream`, a CUDA stream, and returns. Throws
/// std::runtime_error with NCCL's text.
[[nodiscard]] std::unique_ptr<RankGroup> joinNccl(std::shared_ptr<const Nccl> nccl, int rank, int count,
                                                  RankGroup& host, void* stream);

} // namespace residua::engine
