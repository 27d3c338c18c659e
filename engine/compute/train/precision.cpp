// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/train/tensor_io.h"

#include <ATen/Context.h>

#include <mutex>

namespace residua::engine {

at::ScalarType parameterType(projects::Precision precision)
{
    return precision == projects::Precision::Fp64 ? at::kDouble : at::kFloat;
}

void applyDeterminism(projects::Determinism determinism)
{
    const bool deterministic = determinism == projects::Determinism::Deterministic;
    at::Context& context = at::globalContext();
    context.setDeterministicAlgorithms(deterministic, false);
    // Filling every new tensor with NaN is a debugging aid that costs a pass over memory.
    context.setDeterministicFillUninitializedMemory(false);
    context.setDeterministicCuDNN(deterministic);
    context.setBenchmarkCuDNN(!deterministic);
    context.setSDPUseCuDNN(!deterministic);
}

void seedGenerators(c10::Device device, std::uint64_t seed)
{
    const auto restart = [seed](c10::Device of) {
        at::Generator generator = at::globalContext().defaultGenerator(of);
        const std::scoped_lock lock(generator.mutex());
        generator.set_current_seed(seed);
    };
    restart(device);
    if (!device.is_cpu()) {
        restart(c10::Device(c10::DeviceType::CPU)); // the host draws which layers run
    }
}

} // namespace residua::engine
