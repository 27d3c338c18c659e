// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/runtime/cuda_backend.h"
#include "kernels/cuda_kernels.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <cstdint>
#include <string>

namespace residua::engine {

/// Returns a warning, in one line, if the project is predicted to need more memory than the device has free; else
/// empty.
[[nodiscard]] std::string memoryWarning(const projects::Project& project, const std::string& device);

/// Describes a failure of the engine's libraries to the user; for a lack of memory, with predicted and available
/// amounts.
[[nodiscard]] Error describe(const Failure& failure, const projects::Project& project, const std::string& device);

/// Returns a note if the custom kernels of `table` have made calls that move single elements since the counter was
/// `before` (CudaKernels::singleElementCalls); empty if not, and without a table.
[[nodiscard]] std::string slowKernelNote(const kernels::CudaKernels* table, std::uint64_t before);

} // namespace residua::engine
