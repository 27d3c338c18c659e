// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/ops/operators.h"

#include "engine/compute/ops/transformer_kernels.h"
#include "engine/compute/runtime/host_path.h"
#include "projects/base/random.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ge.h>
#include <ATen/ops/log.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/stack.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

namespace residua::engine {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::Variable;
using torch::autograd::variable_list;

constexpr std::int64_t kWord = 0xffffffff;    ///< the bits of a word
constexpr std::int64_t kExamplesAPart = 1024; ///< of a thread

std::uint32_t thresholdOf(double rate)
{
    return static_cast<std::uint32_t>(std::min(std::llround(rate * 0x1p32), static_cast<long long>(kWord)));
}

/// Returns drawnWords() on the host.
at::Tensor drawnOnHost(const at::Tensor& draws, std::uint64_t stream, std::int64_t examples, std::int64_t width)
{
    const auto* const step = static_cast<const std::uint64_t*>(draws.const_data_ptr());
    const Philox random(step[0] ^ stream);
    at::Tensor drawn = at::empty({examples, width}, at::kLong);
    auto* const words = drawn.mutable_data_ptr<std::int64_t>();
    at::parallel_for(0, examples, kExamplesAPart, [&](std::int64_t first, std::int64_t end) {
        for (std::int64_t example = first; example < end; ++example) {
            std::int64_t* const row = words + example * width;
            for (std::int64_t group = 0; group < width; group += kernels::kDropoutGroup) {
                const std::int64_t counters = std::min(kernels::kDropoutCounters, width - group);
                for (std::int64_t i = 0; i < counters; ++i) {
                    const auto counter = group / kernels::kDropoutGroup * kernels::kDropoutCounters + i;
                    const auto four =
                        random.at(static_cast<std::uint64_t>(counter), step[1] + static_cast<std::uint64_t>(example));
                    for (std::size_t word = 0; word < four.size(); ++word) {
                        const std::int64_t at = group + static_cast<std::int64_t>(word) * kernels::kDropoutCounters + i;
                        if (at < width) {
                            row[at] = four[word];
                        }
                    }
                }
            }
        }
    });
    return drawn;
}

/// Returns the draws of [examples, width] elements (kernels/dropout.h), as int64.
at::Tensor drawnWords(const at::Tensor& draws, std::uint64_t stream, std::int64_t examples, std::int64_t width)
{
    if (takesHostPath(draws.device())) {
        return drawnOnHost(draws, stream, examples, width);
    }
    const std::int64_t groups = (width + kernels::kDropoutGroup - 1) / kernels::kDropoutGroup;
    const at::Tensor key = draws[0].bitwise_xor(std::bit_cast<std::int64_t>(stream));
    const at::Tensor counter = at::arange(groups * kernels::kDropoutCounters, draws.options()).unsqueeze(0);
    const at::Tensor example = (at::arange(examples, draws.options()) + draws[1]).unsqueeze(1);
    const auto low = [](const at::Tensor& wide) { return wide.bitwise_and(kWord); };
    const auto high = [](const at::Tensor& wide) { return wide.bitwise_right_shift(32).bitwise_and(kWord); };
    std::array<at::Tensor, 4> x{low(counter), high(counter), low(example), high(example)};
    at::Tensor k0 = low(key);
    at::Tensor k1 = high(key);
    for (int round = 0; round < kernels::kPhiloxRounds; ++round) {
        const at::Tensor a = x[0] * static_cast<std::int64_t>(kernels::kPhiloxFirst); // the upper bit is a sign
        const at::Tensor b = x[2] * static_cast<std::int64_t>(kernels::kPhiloxSecond);
        x = {high(b).bitwise_xor(x[1]).bitwise_xor(k0), low(b), high(a).bitwise_xor(x[3]).bitwise_xor(k1), low(a)};
        k0 = low(k0 + static_cast<std::int64_t>(kernels::kPhiloxKeyFirst));
        k1 = low(k1 + static_cast<std::int64_t>(kernels::kPhiloxKeySecond));
    }
    std::vector<at::Tensor> words;
    for (const at::Tensor& word : x) {
        words.push_back(word.expand({examples, groups * kernels::kDropoutCounters})
                            .view({examples, groups, kernels::kDropoutCounters}));
    }
    return at::stack(words, 2).view({examples, groups * kernels::kDropoutGroup}).narrow(1, 0, width);
}

/// Not differentiable. `x` is contiguous.
at::Tensor dropped(const at::Tensor& x, double rate, std::uint64_t stream, const at::Tensor& draws)
{
    const std::int64_t examples = x.size(0);
    const std::int64_t width = x.numel() / std::max<std::int64_t>(examples, 1);
    const double scale = 1 / (1 - rate);
    if (!hasTransformerKernels(x.device())) {
        const at::Tensor keeps = at::ge(drawnWords(draws, stream, examples, width), std::int64_t{thresholdOf(rate)});
        return x.mul(scale).mul_(keeps.view(x.sizes()));
    }
    at::Tensor out = at::empty_like(x);
    if (x.numel() == 0) {
        return out;
    }
    runKernel(x.device(),
              kernels::Dropout{kernelType(x.scalar_type()), examples, width, x.const_data_ptr(), out.mutable_data_ptr(),
                               static_cast<const std::uint64_t*>(draws.const_data_ptr()), stream, thresholdOf(rate),
                               scale});
    return out;
}

/// Keeps the draws in place of a mask: the gradient is the same function of the output's.
class DropoutFunction : public Function<DropoutFunction> {
public:
    static Variable forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& draws, double rate,
                            std::int64_t stream)
    {
        context->save_for_backward({draws});
        context->saved_data["rate"] = rate;
        context->saved_data["stream"] = stream;
        return dropped(x.contiguous(), rate, std::bit_cast<std::uint64_t>(stream), draws);
    }

    static variable_list backward(AutogradContext* context, const variable_list& grads)
    {
        return {apply(grads[0], context->get_saved_variables()[0], context->saved_data["rate"].toDouble(),
                      context->saved_data["stream"].toInt()),
                Variable(), Variable(), Variable()};
    }
};

} // namespace

at::Tensor normalDraws(std::int64_t examples, std::int64_t width, std::uint64_t stream, const at::Tensor& draws)
{
    const at::NoGradGuard noGrad;
    const at::Tensor words = drawnWords(draws, stream, examples, 2 * width);
    const at::Tensor uniform = (words.to(at::kDouble) + 0.5) * 0x1p-32; // inside (0, 1)
    const at::Tensor radius = at::sqrt(at::log(uniform.narrow(1, 0, width)) * -2);
    return radius * at::cos(uniform.narrow(1, width, width) * (2 * std::numbers::pi));
}

at::Tensor dropout(const at::Tensor& x, double rate, std::uint64_t stream, const at::Tensor& draws)
{
    return rate > 0 ? DropoutFunction::apply(x, draws, rate, std::bit_cast<std::int64_t>(stream)) : x;
}

} // namespace residua::engine
