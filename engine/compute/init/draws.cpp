// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/init/init_plan.h"

#include "projects/base/random.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>

#include <array>

namespace residua::engine {
namespace {

constexpr std::int64_t kGrain = 4096;

/// Fills four elements at a time from the counters 0, 1, …; `make` converts four words to four numbers.
template <class Make>
at::Tensor fill(at::IntArrayRef shape, const Philox& random, const Make& make)
{
    at::Tensor result = at::empty(shape, at::kDouble);
    double* const values = result.mutable_data_ptr<double>();
    const std::int64_t count = result.numel();
    at::parallel_for(0, (count + 3) / 4, kGrain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            double four[4];
            make(random.at(static_cast<std::uint64_t>(i)), four);
            for (std::int64_t k = 0; k < 4 && 4 * i + k < count; ++k) {
                values[4 * i + k] = four[k];
            }
        }
    });
    return result;
}

} // namespace

at::Tensor drawNormal(at::IntArrayRef shape, const Philox& random)
{
    return fill(shape, random, [](const std::array<std::uint32_t, 4>& bits, double* out) {
        for (std::size_t pair = 0; pair < 2; ++pair) {
            const auto [one, other] = gaussianPair(uniformInside(bits[2 * pair]), uniformInside(bits[2 * pair + 1]));
            out[2 * pair] = one;
            out[2 * pair + 1] = other;
        }
    });
}

at::Tensor drawSymmetric(at::IntArrayRef shape, const Philox& random)
{
    return fill(shape, random, [](const std::array<std::uint32_t, 4>& bits, double* out) {
        for (std::size_t k = 0; k < 4; ++k) {
            out[k] = 2.0 * uniformInside(bits[k]) - 1.0;
        }
    });
}

} // namespace residua::engine
