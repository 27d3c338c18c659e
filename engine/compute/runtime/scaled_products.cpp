// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/runtime/scaled_products.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/_scaled_mm.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/exp2.h>
#include <ATen/ops/floor.h>
#include <ATen/ops/log2.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/reciprocal.h>
#include <c10/core/TensorImpl.h>

#include <limits>
#include <utility>

namespace residua::engine {
namespace {

constexpr std::int64_t kMultiple = 16; ///< of the sizes, in LibTorch's product on a GPU

/// A matrix in float8, and the number that its values are to be multiplied by: [].
struct ScaledMatrix {
    at::Tensor values;
    at::Tensor scale;
};

/// Holds the rows of noteLargest() for as long as the tensor exists.
struct LargestNote final : c10::BackendMeta {
    LargestNote(at::Tensor of, std::uint32_t at) : rows(std::move(of)), version(at) {}
    at::Tensor rows;
    std::uint32_t version; ///< of the tensor whose rows they are
};

/// Returns what noteLargest() keeps with `x`, or an undefined tensor.
at::Tensor notedLargest(const at::Tensor& x)
{
    const auto* const note = dynamic_cast<const LargestNote*>(x.unsafeGetTensorImpl()->get_backend_meta());
    return note != nullptr && note->version == x._version() ? note->rows : at::Tensor();
}

/// Returns the largest magnitude in `x`: [], in float.
at::Tensor largestIn(const at::Tensor& x)
{
    if (const at::Tensor noted = notedLargest(x); noted.defined()) {
        return at::amax(noted);
    }
    const auto [least, most] = at::aminmax(x);
    return at::maximum(-least, most).to(at::kFloat);
}

double largestOf(at::ScalarType type)
{
    return type == kEightBitValue ? static_cast<double>(std::numeric_limits<c10::Float8_e4m3fn>::max())
                                  : static_cast<double>(std::numeric_limits<c10::Float8_e5m2>::max());
}

/// Reads `x` twice, or once if its largest magnitudes are noted, and does not wait for the device. Products with a
/// power of two are exact in bfloat16, so that values are rounded once.
ScaledMatrix scaled(const at::Tensor& given, at::ScalarType type)
{
    const at::Tensor x = given.contiguous();
    const at::Tensor largest = largestIn(given).clamp_min(std::numeric_limits<float>::min());
    const at::Tensor factor = at::exp2(at::floor(at::log2(largestOf(type) / largest)).clamp_max(126));
    at::Tensor values = at::empty(x.sizes(), x.options().dtype(type));
    at::mul_out(values, x, factor);
    return {values, at::reciprocal(factor)};
}

} // namespace

void noteLargest(const at::Tensor& x, const at::Tensor& largest)
{
    x.unsafeGetTensorImpl()->set_backend_meta(
        c10::make_intrusive<LargestNote>(largest, static_cast<std::uint32_t>(x._version())));
}

at::Tensor reshaped(const at::Tensor& x, at::IntArrayRef shape)
{
    const at::Tensor result = x.reshape(shape);
    if (const at::Tensor largest = notedLargest(x); largest.defined()) {
        noteLargest(result, largest);
    }
    return result;
}

bool multipliesInEightBits(const at::Tensor& a, const at::Tensor& b)
{
    return a.scalar_type() == at::kBFloat16 && b.scalar_type() == at::kBFloat16 && a.numel() > 0 &&
           b.size(0) % kMultiple == 0 && b.size(1) % kMultiple == 0;
}

at::Tensor scaledProduct(const at::Tensor& a, at::ScalarType type, const at::Tensor& b)
{
    const ScaledMatrix left = scaled(a, type);
    const ScaledMatrix right = scaled(b, kEightBitValue);
    if (!a.is_cpu()) {
        return at::_scaled_mm(left.values, right.values.t(), left.scale, right.scale, {}, {}, at::kBFloat16);
    }
    const at::Tensor sums = at::mm(left.values.to(at::kFloat), right.values.to(at::kFloat).t());
    return (sums * (left.scale * right.scale)).to(at::kBFloat16);
}

} // namespace residua::engine
