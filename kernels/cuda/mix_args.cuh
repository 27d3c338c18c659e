// SPDX-License-Identifier: GPL-3.0-or-later
// The stack in the form of kernel arguments, and choices that all kernels share.
#pragma once

#include "kernels/cuda/pack.cuh"
#include "kernels/depth_mix.h"

namespace residua::kernels::cuda {

/// MixStack with its pointers by value, to be passed as the kernel's parameter.
struct StackArgs {
    std::int64_t tokens;
    std::int64_t width;
    std::int32_t sources;
    WeightKind weightKind;
    GateKind gateKind;
    GateInput gateInput;
    ReluGradAtZero reluGradAtZero;
    double eps;
    const void* weights;
    const void* tokenWeights;
    const void* gateVectors;
    const void* source[kMaxSources];
};

inline StackArgs argsOf(const MixStack& stack)
{
    StackArgs args{stack.tokens,   stack.width,        stack.sources,        stack.weightKind,
                   stack.gateKind, stack.gateInput,    stack.reluGradAtZero, stack.eps,
                   stack.weights,  stack.tokenWeights, stack.gateVectors,    {}};
    for (std::int32_t s = 0; s < stack.sources; ++s)
        args.source[s] = stack.source[s];
    return args;
}

/// Elements per thread and load if rows are aligned for it; else 1.
inline constexpr int kLanes = 4;
inline constexpr int kThreads = 256;
inline constexpr int kWarps = kThreads / 32;

inline bool aligned(const void* pointer)
{
    return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0;
}

inline bool packable(const MixStack& stack)
{
    bool all = stack.width % kLanes == 0 && aligned(stack.gateVectors) &&
               (stack.weightKind != WeightKind::perFeature || aligned(stack.weights));
    for (std::int32_t s = 0; s < stack.sources; ++s)
        all = all && aligned(stack.source[s]);
    return all;
}

/// Returns the part of the weight that is one number per (token, source): all of it, or the part combined with a
/// per-feature weight.
template <class A>
__device__ inline A tokenCoefficient(GateKind gate, bool perFeature, A a, A token)
{
    switch (gate) {
    case GateKind::none:
        return a;
    case GateKind::token:
        return a + token;
    case GateKind::reluOutside:
        return a + relu(token);
    case GateKind::reluInside:
        return perFeature ? token : relu(a + token);
    }
    return a;
}

template <class A>
__device__ inline A reluGrad(A value, ReluGradAtZero atZero)
{
    return value > 0 || (value == 0 && atZero == ReluGradAtZero::one) ? A(1) : A(0);
}

/// Returns the index of [o, s, 0] in an [O, t, last] array.
__device__ inline std::int64_t rowAt(const StackArgs& stack, int o, std::int32_t s, std::int64_t last)
{
    return (std::int64_t(o) * stack.sources + s) * last;
}

template <class A>
__device__ inline A scalarWeight(const StackArgs& stack, int o, std::int32_t s)
{
    return stack.weightKind == WeightKind::scalar ? static_cast<const A*>(stack.weights)[rowAt(stack, o, s, 1)] : A(0);
}

/// Calls body with the C++ type of the data type.
template <class Body>
Status withType(DataType type, Body body)
{
    switch (type) {
    case DataType::float32:
        return body(float());
    case DataType::bfloat16:
        return body(Bf16());
    case DataType::float64:
        return body(double());
    }
    return Status::badKind;
}

template <int value>
struct Constant {
    static constexpr int kValue = value;
};

/// Calls body with the number of outputs as a constant.
template <class Body>
Status withOutputs(int outputs, Body body)
{
    switch (outputs) {
    case 1:
        return body(Constant<1>());
    case 2:
        return body(Constant<2>());
    case 3:
        return body(Constant<3>());
    default:
        return body(Constant<4>());
    }
}

/// Returns the threads of a block along a row of `packs` packs: a power of two, at most a warp. The rest of the block
/// processes other tokens.
inline unsigned threadsAlong(std::int64_t packs)
{
    unsigned threads = 1;
    while (threads < 32 && threads < packs)
        threads *= 2;
    return threads;
}

} // namespace residua::kernels::cuda
