// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/runtime/host_path.h"

#include <ATen/core/List.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/mm.h>

#include <optional>
#include <string_view>

namespace residua::engine {
namespace {

using Pointwise = at::Tensor(const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&, std::string_view,
                             c10::List<std::optional<at::Scalar>>, std::optional<std::string_view>);
using PointwiseHandle = c10::TypedOperatorHandle<Pointwise>;

/// Below this number of multiplications, creating oneDNN's primitive costs more than it saves.
constexpr std::int64_t kLeastProducts = std::int64_t{1} << 22;

bool processorWantsOneDnn()
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512f") && !__builtin_cpu_is("intel");
#else
    return false;
#endif
}

/// Returns oneDNN's linear layer; nullopt if MKL is as good or LibTorch was built without oneDNN.
const std::optional<PointwiseHandle>& oneDnnLinear()
{
    static const std::optional<PointwiseHandle> handle = []() -> std::optional<PointwiseHandle> {
        const auto found = c10::Dispatcher::singleton().findSchema({"mkldnn::_linear_pointwise", ""});
        return found && processorWantsOneDnn() ? std::optional(found->typed<Pointwise>()) : std::nullopt;
    }();
    return handle;
}

/// On processors other than x86 the program cannot tell and leaves the choice to LibTorch.
bool processorMultipliesBfloat16()
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512bf16");
#else
    return true;
#endif
}

} // namespace

bool multipliesAsFloat(const at::Tensor& x)
{
    static const bool narrow = processorMultipliesBfloat16();
    return !narrow && takesHostPath(x.device()) && x.scalar_type() == at::kBFloat16;
}

at::Tensor product(const at::Tensor& a, const at::Tensor& b)
{
    return multipliesAsFloat(a) ? at::mm(a.to(at::kFloat), b.to(at::kFloat)).to(at::kBFloat16) : at::mm(a, b);
}

at::Tensor timesTransposed(const at::Tensor& x, const at::Tensor& weight, Products products)
{
    if (products == Products::EightBit && multipliesInEightBits(x, weight)) {
        return scaledProduct(x, kEightBitValue, weight);
    }
    const bool fits = x.is_cpu() && x.scalar_type() == at::kFloat && weight.scalar_type() == at::kFloat &&
                      x.size(0) * weight.numel() >= kLeastProducts;
    if (!fits || !oneDnnLinear()) {
        return product(x, weight.t());
    }
    const c10::List<std::optional<at::Scalar>> noScalars;
    return oneDnnLinear()->call(x, weight, std::nullopt, "none", noScalars, std::nullopt);
}

at::Tensor times(const at::Tensor& y, const at::Tensor& weight, Products products)
{
    return products == Products::EightBit && multipliesInEightBits(y, weight)
               ? scaledProduct(y, kEightBitGradient, weight.t())
               : timesTransposed(y, weight.t());
}

at::Tensor weightGradient(const at::Tensor& y, const at::Tensor& x, at::ScalarType type)
{
    if (x.scalar_type() == type) {
        return product(y.t(), x);
    }
    if (multipliesAsFloat(x)) {
        return at::mm(y.t().to(at::kFloat), x.to(at::kFloat)).to(type);
    }
    return x.is_cuda() ? at::mm(y.t(), x, type) : at::mm(y.t(), x).to(type);
}

} // namespace residua::engine
