// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <c10/core/Device.h>

#include <functional>
#include <string>

namespace residua::tests {

/// Traces `steps` calls of `step` after an untraced one, and writes the trace to `path` in Chrome's format. Prints the
/// 25 kernels (on the CPU: operators) with the most time, their launches, and the share of the time in which the device
/// was idle. `step` may leave work enqueued.
void traceSteps(c10::Device device, int steps, const std::string& path, const std::function<void()>& step);

} // namespace residua::tests
