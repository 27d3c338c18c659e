// SPDX-License-Identifier: GPL-3.0-or-later
// Where a bench runs: its memory, its kernels and its clock.
#pragma once

#include "kernels/depth_mix.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace residua::tests {

class BenchDevice {
public:
    virtual ~BenchDevice() = default;
    [[nodiscard]] virtual std::string name() const = 0;
    /// Memory with small finite numbers in every data type; freed with the device.
    virtual void* allocate(std::size_t bytes) = 0;
    virtual void release() = 0;
    virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
    virtual kernels::Status run(const kernels::MixForward& mix) = 0;
    virtual kernels::Status run(const kernels::MixWeightGrad& mix) = 0;
    virtual kernels::Status run(const kernels::MixGather& mix) = 0;
    virtual std::size_t workspace(const kernels::MixWeightGrad& mix) = 0;
    /// Seconds that `work` takes, waiting for the device.
    virtual double seconds(const std::function<void()>& work) = 0;
};

[[nodiscard]] std::unique_ptr<BenchDevice> cpuDevice(int threads);
/// Null, with the reason, when there is none.
[[nodiscard]] std::unique_ptr<BenchDevice> cudaDevice(std::string& why);

} // namespace residua::tests
