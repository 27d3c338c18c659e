// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/depth_mix.h"

#include <cmath>

namespace residua::kernels {
namespace {

std::int64_t elementBytes(DataType type)
{
    return type == DataType::float64 ? 8 : type == DataType::float32 ? 4 : 2;
}

bool known(DataType type)
{
    return type >= DataType::float32 && type <= DataType::float64;
}
bool known(WeightKind kind)
{
    return kind >= WeightKind::none && kind <= WeightKind::perFeature;
}
bool known(GateKind kind)
{
    return kind >= GateKind::none && kind <= GateKind::reluInside;
}
bool known(GateInput input)
{
    return input == GateInput::raw || input == GateInput::normalised;
}
bool known(ReluGradAtZero grad)
{
    return grad == ReluGradAtZero::one || grad == ReluGradAtZero::zero;
}

bool overlap(const void* a, const void* b, std::int64_t bytes)
{
    const auto first = reinterpret_cast<std::uintptr_t>(a);
    const auto second = reinterpret_cast<std::uintptr_t>(b);
    return a && b && first < second + bytes && second < first + bytes;
}

Status validate(const MixStack& stack)
{
    if (!known(stack.dataType) || !known(stack.weightKind) || !known(stack.gateKind) || !known(stack.gateInput) ||
        !known(stack.reluGradAtZero))
        return Status::badKind;
    if (stack.weightKind == WeightKind::none && stack.gateKind == GateKind::none)
        return Status::badKind;
    if (stack.gateInput == GateInput::normalised && !isRelu(stack.gateKind))
        return Status::badKind;
    if (stack.tokens < 0 || stack.width < 1 || stack.sources < 1 || stack.sources > kMaxSources || stack.outputs < 1 ||
        stack.outputs > kMaxOutputs)
        return Status::badShape;
    if (!stack.source || (stack.weightKind != WeightKind::none && !stack.weights) ||
        (stack.gateKind == GateKind::token && !stack.tokenWeights) || (isRelu(stack.gateKind) && !stack.gateVectors))
        return Status::missingPointer;
    if (stack.gateInput == GateInput::normalised && !(std::isfinite(stack.eps) && stack.eps >= 0))
        return Status::badEpsilon;
    return Status::ok;
}

bool outputOverlaps(const MixForward& mix, int o, std::int64_t bytes)
{
    for (int s = 0; s < mix.stack.sources; ++s)
        if (overlap(mix.out[o], mix.stack.source[s], bytes))
            return true;
    for (int other = 0; other < mix.stack.outputs; ++other) {
        if (other != o && (overlap(mix.out[o], mix.out[other], bytes) || overlap(mix.out[o], mix.base[other], bytes)))
            return true;
    }
    return mix.base[o] != mix.out[o] && overlap(mix.out[o], mix.base[o], bytes);
}

Status validate(const MixReader& reader)
{
    if (!known(reader.weightKind) || !known(reader.gateKind) || !known(reader.gateInput))
        return Status::badKind;
    if (reader.weightKind == WeightKind::none && reader.gateKind == GateKind::none)
        return Status::badKind;
    if (reader.gateInput == GateInput::normalised && !isRelu(reader.gateKind))
        return Status::badKind;
    const bool complete = reader.outGrad && (reader.weightKind == WeightKind::none || reader.weight) &&
                          (reader.gateKind == GateKind::none || reader.token) &&
                          (!isRelu(reader.gateKind) || (reader.gateGrad && reader.gateVector));
    return complete ? Status::ok : Status::missingPointer;
}

} // namespace

const char* describe(Status status)
{
    switch (status) {
    case Status::ok:
        return "ok";
    case Status::badShape:
        return "a size is out of range (tokens >= 0, width >= 1, sources and readers <= 512, outputs 1..4)";
    case Status::missingPointer:
        return "a pointer that the chosen weight and gate kinds need is null";
    case Status::badKind:
        return "an enum value is unknown, or weight, gate and gate input do not go together";
    case Status::badEpsilon:
        return "eps of a normalised input must be finite and not negative";
    case Status::workspaceTooSmall:
        return "the workspace is null or smaller than the workspace function asks for";
    case Status::overlap:
        return "an output overlaps an input that is still being read";
    case Status::deviceFailure:
        return "the CUDA runtime refused the launch";
    }
    return "unknown status";
}

Status validate(const MixForward& mix)
{
    if (const Status status = validate(mix.stack); status != Status::ok)
        return status;
    if (mix.stack.tokens == 0)
        return Status::ok;
    const std::int64_t bytes = mix.stack.tokens * mix.stack.width * elementBytes(mix.stack.dataType);
    for (int o = 0; o < mix.stack.outputs; ++o) {
        if (!mix.out[o])
            return Status::missingPointer;
        if (outputOverlaps(mix, o, bytes))
            return Status::overlap;
    }
    if (isRelu(mix.stack.gateKind) && !mix.gateLogits)
        return Status::missingPointer;
    if (mix.stack.gateInput == GateInput::normalised && !mix.rstd)
        return Status::missingPointer;
    return Status::ok;
}

Status validate(const MixWeightGrad& mix)
{
    if (const Status status = validate(mix.stack); status != Status::ok)
        return status;
    if ((mix.weightGrad && mix.stack.weightKind == WeightKind::none) ||
        (mix.tokenGrad && mix.stack.gateKind == GateKind::none) || (mix.gateVectorGrad && !isRelu(mix.stack.gateKind)))
        return Status::badKind;
    if (mix.stack.tokens == 0)
        return Status::ok;
    for (int o = 0; o < mix.stack.outputs; ++o)
        if (!mix.outGrad[o])
            return Status::missingPointer;
    if (isRelu(mix.stack.gateKind) && !mix.gateLogits)
        return Status::missingPointer;
    if (mix.stack.gateInput == GateInput::normalised && !mix.rstd)
        return Status::missingPointer;
    return Status::ok;
}

Status validate(const MixGather& mix)
{
    if (!known(mix.dataType))
        return Status::badKind;
    if (mix.tokens < 0 || mix.width < 1 || mix.readers < 0 || mix.readers > kMaxReaders)
        return Status::badShape;
    if (mix.tokens == 0)
        return Status::ok;
    if (!mix.sourceGrad || (mix.readers > 0 && !mix.reader))
        return Status::missingPointer;
    const std::int64_t bytes = mix.tokens * mix.width * elementBytes(mix.dataType);
    if (overlap(mix.sourceGrad, mix.source, bytes) ||
        (mix.own != mix.sourceGrad && overlap(mix.sourceGrad, mix.own, bytes)))
        return Status::overlap;
    for (int k = 0; k < mix.readers; ++k) {
        const MixReader& reader = mix.reader[k];
        if (const Status status = validate(reader); status != Status::ok)
            return status;
        if (reader.gateInput == GateInput::normalised && !(mix.source && mix.rstd))
            return Status::missingPointer;
        if (overlap(mix.sourceGrad, reader.outGrad, bytes))
            return Status::overlap;
    }
    return Status::ok;
}

} // namespace residua::kernels
