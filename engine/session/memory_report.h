// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/runtime/failure.h"
#include "kernels/cuda_kernels.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <cstdint>
#include <string>

namespace residua::engine {

/// A line that says what the project is predicted to need where that is more than the device has free; else empty.
[[nodiscard]] std::string memoryWarning(const projects::Project& project, const std::string& device);

/// What a person reads about a failure of the engine's libraries; out of memory comes with predicted and available
/// figures.
[[nodiscard]] Error describe(const Failure& failure, const projects::Project& project, const std::string& device);

/// What to say of the custom kernels of `table` if calls have moved one element at a time since it had counted `before`
/// of them (CudaKernels::singleElementCalls); empty if none have, and without a table.
[[nodiscard]] std::string slowKernelNote(const kernels::CudaKernels* table, std::uint64_t before);

} // namespace residua::engine
