// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/ops/mix_kernels.h"

#include "projects/check/validate.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/core/DeviceGuard.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstddef>

namespace residua::engine {
namespace {

using kernels::GateInput;
using kernels::GateKind;
using kernels::WeightKind;

static_assert(projects::kMostMixedLayers + 1 == kernels::kMaxSources, "entries of a mix, the stack's input among them");

const void* dataOf(const at::Tensor& tensor)
{
    return tensor.defined() ? tensor.const_data_ptr() : nullptr;
}

void* mutableDataOf(const at::Tensor& tensor)
{
    return tensor.defined() ? tensor.mutable_data_ptr() : nullptr;
}

bool hasKernels(const Compute& compute)
{
    return compute.device.is_cpu() || compute.cuda != nullptr;
}

/// Returns the number of tokens of a tensor [..., d].
std::int64_t tokensOf(const at::Tensor& tensor)
{
    return tensor.numel() / tensor.size(-1);
}

/// The call in the kernels' form, with the host array of pointers that it needs.
class StackView {
public:
    explicit StackView(const MixCall& call)
    {
        TORCH_CHECK(!call.sources.empty(), "a mix needs a source");
        m_pointers.reserve(call.sources.size());
        for (const at::Tensor& source : call.sources) {
            m_pointers.push_back(dataOf(source));
        }
        const at::Tensor& first = call.sources.front();
        m_stack.dataType = kernelType(first.scalar_type());
        m_stack.tokens = tokensOf(first);
        m_stack.width = first.size(-1);
        m_stack.sources = static_cast<std::int32_t>(call.sources.size());
        m_stack.outputs = call.outputs;
        m_stack.source = m_pointers.data();
        m_stack.weightKind = call.weights.weightKind;
        m_stack.gateKind = call.weights.gateKind;
        m_stack.gateInput = call.weights.gateInput;
        m_stack.reluGradAtZero = call.weights.reluGradAtZero;
        m_stack.weights = dataOf(call.weights.weights);
        m_stack.tokenWeights = dataOf(call.weights.tokenWeights);
        m_stack.gateVectors = dataOf(call.weights.gateVectors);
    }
    StackView(const StackView&) = delete;
    StackView& operator=(const StackView&) = delete;

    [[nodiscard]] const kernels::MixStack& stack() const { return m_stack; }

private:
    std::vector<const void*> m_pointers;
    kernels::MixStack m_stack;
};

at::Tensor tokenArray(const Compute& compute, const MixCall& call, std::int64_t outputs)
{
    const at::Tensor& first = call.sources.front();
    const auto sources = static_cast<std::int64_t>(call.sources.size());
    return at::empty({outputs, sources, tokensOf(first)}, first.options().dtype(compute.parameterType));
}

kernels::MixReader readerOf(const MixReading& reading)
{
    const MixWeights& weights = reading.call->weights;
    kernels::MixReader reader;
    reader.weightKind = weights.weightKind;
    reader.gateKind = weights.gateKind;
    reader.gateInput = weights.gateInput;
    reader.outGrad = dataOf(reading.outGrad);
    const auto row = [&](const at::Tensor& tensor) -> const void* {
        if (!tensor.defined()) {
            return nullptr;
        }
        const std::int64_t at = reading.output * tensor.stride(0) + reading.source * tensor.stride(1);
        return static_cast<const std::byte*>(tensor.const_data_ptr()) +
               at * static_cast<std::int64_t>(tensor.itemsize());
    };
    reader.weight = row(weights.weights);
    if (weights.gateKind == GateKind::token) {
        reader.token = row(weights.tokenWeights);
    } else if (isRelu(weights.gateKind)) {
        reader.token = row(reading.gateLogits);
        reader.gateGrad = row(reading.tokenGrad);
        const std::int64_t at = reading.output * weights.gateVectors.stride(0);
        reader.gateVector = static_cast<const std::byte*>(weights.gateVectors.const_data_ptr()) +
                            at * static_cast<std::int64_t>(weights.gateVectors.itemsize());
    }
    return reader;
}

} // namespace

MixOutputs mixForward(const Compute& compute, const MixCall& call, std::span<const at::Tensor> base)
{
    if (!hasKernels(compute)) {
        return composeMix(compute, call, base);
    }
    const c10::DeviceGuard current(compute.device); // kernels run on the current device
    const StackView view(call);
    kernels::MixForward mix;
    mix.stack = view.stack();
    MixOutputs result;
    for (int o = 0; o < call.outputs; ++o) {
        result.outputs.push_back(at::empty_like(call.sources.front()));
        mix.out[o] = mutableDataOf(result.outputs.back());
        mix.base[o] = base.empty() ? nullptr : dataOf(base[static_cast<std::size_t>(o)]);
    }
    if (isRelu(call.weights.gateKind)) {
        result.gateLogits = tokenArray(compute, call, call.outputs);
        mix.gateLogits = mutableDataOf(result.gateLogits);
        if (call.weights.gateInput == GateInput::normalised) {
            result.rstd = tokenArray(compute, call, 1).squeeze(0);
            mix.rstd = mutableDataOf(result.rstd);
        }
    }
    const kernels::Status status = compute.device.is_cpu()
                                       ? kernels::mixForward(mix, torchThreads())
                                       : compute.cuda->mixForward(mix, currentStream(compute.device));
    checkKernel(status, "mixForward", compute.cuda);
    return result;
}

MixGradients mixWeightGrad(const Compute& compute, const MixCall& call, std::span<const at::Tensor> outGrads,
                           const at::Tensor& gateLogits, const at::Tensor& rstd, WeightGrads wanted)
{
    if (!hasKernels(compute)) {
        return composeMixWeightGrad(compute, call, outGrads, gateLogits, rstd);
    }
    const c10::DeviceGuard current(compute.device); // kernels run on the current device
    const StackView view(call);
    kernels::MixWeightGrad mix;
    mix.stack = view.stack();
    for (int o = 0; o < call.outputs; ++o) {
        mix.outGrad[o] = dataOf(outGrads[static_cast<std::size_t>(o)]);
    }
    mix.gateLogits = dataOf(gateLogits);
    mix.rstd = dataOf(rstd);
    MixGradients result;
    if (call.weights.gateKind != GateKind::none) {
        result.token = tokenArray(compute, call, call.outputs);
        mix.tokenGrad = mutableDataOf(result.token);
    }
    if (wanted == WeightGrads::All && call.weights.weights.defined()) {
        result.weights = at::empty_like(call.weights.weights);
        mix.weightGrad = mutableDataOf(result.weights);
    }
    if (wanted == WeightGrads::All && isRelu(call.weights.gateKind)) {
        result.gateVectors = at::empty_like(call.weights.gateVectors);
        mix.gateVectorGrad = mutableDataOf(result.gateVectors);
    }
    const bool cpu = compute.device.is_cpu();
    mix.workspaceBytes = cpu ? kernels::mixWeightGradWorkspace(mix) : compute.cuda->mixWeightGradWorkspace(mix);
    const at::Tensor workspace =
        at::empty({static_cast<std::int64_t>(mix.workspaceBytes)}, call.sources.front().options().dtype(at::kByte));
    mix.workspace = mutableDataOf(workspace);
    const kernels::Status status = cpu ? kernels::mixWeightGrad(mix, torchThreads())
                                       : compute.cuda->mixWeightGrad(mix, currentStream(compute.device));
    checkKernel(status, "mixWeightGrad", compute.cuda);
    return result;
}

at::Tensor mixGather(const Compute& compute, std::span<const MixReading> readings, at::Tensor own,
                     const at::Tensor& source, const at::Tensor& rstd)
{
    if (!hasKernels(compute)) {
        return composeMixGather(readings, own, source, rstd);
    }
    const c10::DeviceGuard current(compute.device); // kernels run on the current device
    std::vector<kernels::MixReader> readers;
    readers.reserve(readings.size());
    for (const MixReading& reading : readings) {
        readers.push_back(readerOf(reading));
    }
    kernels::MixGather mix;
    mix.dataType = kernelType(source.scalar_type());
    mix.tokens = tokensOf(source);
    mix.width = source.size(-1);
    mix.source = dataOf(source);
    mix.rstd = dataOf(rstd);
    if (own.defined()) {
        own = own.contiguous();
    }
    mix.own = dataOf(own);
    const bool mine = own.defined() && own.use_count() == 1 && own.storage().use_count() == 1;
    at::Tensor result = mine ? own : at::empty_like(source);
    mix.sourceGrad = mutableDataOf(result);
    // A kernel has a limit on readers per call, and q, k and v of one layer count as three; further calls add to the
    // sum.
    constexpr std::size_t kAtOnce = kernels::kMaxReaders;
    for (std::size_t first = 0; first == 0 || first < readers.size(); first += kAtOnce) {
        mix.readers = static_cast<std::int32_t>(std::min(readers.size() - first, kAtOnce));
        mix.reader = readers.data() + first;
        const kernels::Status status = compute.device.is_cpu()
                                           ? kernels::mixGather(mix, torchThreads())
                                           : compute.cuda->mixGather(mix, currentStream(compute.device));
        checkKernel(status, "mixGather", compute.cuda);
        mix.own = mix.sourceGrad;
    }
    return result;
}

} // namespace residua::engine
