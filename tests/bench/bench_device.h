// SPDX-License-Identifier: GPL-3.0-or-later
// The machine that a bench runs on: its memory, its kernels and its clock.
#pragma once

#include "kernels/depth_mix.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace residua::tests {

/// Errors of the device are thrown as std::runtime_error with its own text.
class BenchDevice {
public:
    virtual ~BenchDevice() = default;
    [[nodiscard]] virtual std::string name() const = 0;
    /// Memory that is freed with the device.
    virtual void* allocate(std::size_t bytes) = 0;
    /// Copies from the host's memory to the device's.
    virtual void write(void* to, const void* from, std::size_t bytes) = 0;
    /// Copies within the device's memory by its runtime.
    virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
    /// Copies by a kernel of this bench. Returns false if the device has none. `bytes` is a multiple of 16.
    virtual bool copyByKernel(void* to, const void* from, std::size_t bytes) = 0;
    virtual kernels::Status run(const kernels::MixForward& mix) = 0;
    virtual kernels::Status run(const kernels::MixWeightGrad& mix) = 0;
    virtual kernels::Status run(const kernels::MixGather& mix) = 0;
    virtual std::size_t workspace(const kernels::MixWeightGrad& mix) = 0;
    /// The device's text for the last Status::deviceFailure; empty if it has none.
    [[nodiscard]] virtual std::string lastError() const = 0;
    /// Seconds that `work` takes on the device's clock. Waits for the device.
    virtual double seconds(const std::function<void()>& work) = 0;
};

[[nodiscard]] std::unique_ptr<BenchDevice> cpuDevice(int threads);
/// Null if there is no GPU that can be used; `why` then gives the reason. The kernels are those of the library that
/// RESIDUA_KERNELS names, or of the build tree.
[[nodiscard]] std::unique_ptr<BenchDevice> cudaDevice(std::string& why);

} // namespace residua::tests
