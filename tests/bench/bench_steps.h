// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/train/trainer.h"

#include <c10/core/Device.h>

#include <cstdint>
#include <vector>

namespace residua::tests {

/// Takes `lead` steps, then `count` steps, and returns the seconds that each of the latter took. On a GPU they are
/// those between events, and the host waits only after the last step. Throws std::runtime_error with the error of a
/// step.
[[nodiscard]] std::vector<double> timedSteps(engine::Trainer& trainer, std::int64_t lead, std::int64_t count);

/// Bytes that tensors on a GPU hold now; 0 for the CPU.
[[nodiscard]] std::int64_t allocatedBytes(c10::Device device);

/// Processor time of all threads in seconds. On a machine that others use too it says more than the clock.
[[nodiscard]] double processorSeconds();

/// The upper median; `values` is not empty.
[[nodiscard]] double medianOf(std::vector<double> values);

} // namespace residua::tests
