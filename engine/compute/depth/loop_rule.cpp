// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/depth/loop_rule.h"

#include "engine/compute/ops/fused.h"
#include "engine/compute/ops/operators.h"
#include "projects/depth/depth_parameters.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/erfinv.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <numbers>
#include <string>

namespace residua::engine {
namespace {

constexpr double kEpsilon = 1e-6;
constexpr double kNoiseDeviation = 0.6324555320336759; ///< √(2/5)
constexpr double kNoiseEnd = 3;                        ///< in deviations, where the distribution is cut
constexpr int kNoiseBits = 20;                         ///< of a uniform number

/// Returns truncated normal noise [batch, ..., d] of a training step, whose numbers depend on its draws, the example,
/// the place in it and `stream` alone. An evaluation has the same noise for all examples.
at::Tensor noiseLike(const at::Tensor& x, std::uint64_t stream, const Pass& pass)
{
    const at::NoGradGuard noGrad;
    const bool byExample = pass.training() && pass.draws.defined();
    const at::Tensor draws = byExample ? pass.draws : at::zeros({2}, x.options().dtype(at::kLong));
    const at::Tensor half = at::full_like(byExample ? x : x.narrow(0, 0, 1), 0.5, x.options().dtype(at::kFloat));
    at::Tensor uniform = at::full_like(half, std::ldexp(1.0, -kNoiseBits - 1));
    for (int bit = 1; bit <= kNoiseBits; ++bit) { // dropout's masks are the bits
        uniform += dropout(half, 0.5, streamKey(static_cast<std::int64_t>(stream), std::to_string(bit)), draws) *
                   std::ldexp(1.0, -bit);
    }
    const double within = std::erf(kNoiseEnd / std::numbers::sqrt2); // the share of the normal distribution
    const at::Tensor normal = at::erfinv((2 * uniform - 1) * within) * std::numbers::sqrt2;
    return (normal * kNoiseDeviation).to(x.scalar_type()).expand_as(x);
}

std::vector<projects::WiringParameter> parametersOfLoops(const projects::Stack& stack)
{
    std::vector<projects::WiringParameter> parameters;
    projects::visitLoopParameters(
        stack, [&](projects::WiringParameter&& parameter) { parameters.push_back(std::move(parameter)); });
    return parameters;
}

} // namespace

LoopRule::LoopRule(const projects::Stack& stack, InitPlan& plan) : m_compute(plan.compute()), m_width(stack.width)
{
    const WiringTensors tensors(parametersOfLoops(stack), plan);
    for (std::size_t i = 0; i < stack.loops.size(); ++i) {
        const auto of = [&](const char* rest) { return tensors[projects::loopParameter(i, rest)]; };
        m_loops.push_back({stack.loops[i],
                           of("injection.weight"),
                           of("embedding"),
                           of("gate"),
                           {kernels::NormKind::rms, of("norm.weight"), {}, kEpsilon},
                           of("streams.weight"),
                           of("streams.bias"),
                           of("streams.scale"),
                           of("lanes.read"),
                           of("lanes.mix"),
                           of("lanes.write"),
                           of("exit.weight"),
                           of("exit.bias")});
    }
}

void LoopRule::setHeadNorm(const Norm& norm)
{
    for (Parts& parts : m_loops) {
        parts.norm = parts.loop.norm == projects::LoopNorm::Head ? norm : parts.norm;
    }
}

at::Tensor LoopRule::streamsOf(const Parts& parts, const at::Tensor& x) const
{
    return x.size(-1) == m_width
               ? at::cat(std::vector<at::Tensor>(static_cast<std::size_t>(parts.loop.streamCount), x), -1)
               : x;
}

at::Tensor LoopRule::sharesOf(const Parts& parts, std::int64_t visit, const at::Tensor& streams, std::int64_t first,
                              std::int64_t count) const
{
    const std::int64_t n = parts.loop.streamCount;
    const at::Tensor y = streams.to(m_compute.parameterType);
    const at::Tensor z = y * at::rsqrt(y.square().mean(-1, true) + kEpsilon);
    const at::Tensor weight = parts.weight.select(0, visit - 1).narrow(0, first * n, count * n);
    const at::Tensor logits = linear(m_compute, z, weight).to(m_compute.parameterType).unflatten(-1, {count, n}) *
                                  parts.scale.select(0, visit - 1).narrow(0, first, count).unsqueeze(1) +
                              parts.bias.select(0, visit - 1).narrow(0, first * n, count * n).view({count, n});
    return at::sigmoid(logits).to(streams.scalar_type());
}

at::Tensor LoopRule::read(const Parts& parts, std::int64_t visit, const at::Tensor& streams) const
{
    const at::Tensor states = streams.unflatten(-1, {parts.loop.streamCount, m_width});
    const at::Tensor shares = parts.read.defined() ? parts.read.select(0, visit - 1).to(streams.scalar_type())
                                                   : sharesOf(parts, visit, streams, 0, 1).squeeze(-2);
    return (states * shares.unsqueeze(-1)).sum(-2);
}

at::Tensor LoopRule::written(const Parts& parts, std::int64_t visit, const at::Tensor& streams,
                             const at::Tensor& output) const
{
    const at::Tensor states = streams.unflatten(-1, {parts.loop.streamCount, m_width});
    if (parts.mix.defined()) {
        const at::Tensor mix = parts.mix.select(0, visit - 1).to(streams.scalar_type());
        const at::Tensor write = parts.write.select(0, visit - 1).to(streams.scalar_type());
        return (at::matmul(mix, states) + write.unsqueeze(-1) * output.unsqueeze(-2)).flatten(-2);
    }
    const at::Tensor shares = sharesOf(parts, visit, streams, 1, 2).unsqueeze(-1);
    const at::Tensor made =
        parts.embedding.defined() ? output + parts.embedding.select(0, visit - 1).to(output.scalar_type()) : output;
    return (states * shares.select(-3, 1) + 2 * shares.select(-3, 0) * made.unsqueeze(-2)).flatten(-2);
}

at::Tensor LoopRule::stateBefore(const projects::LoopVisit& at, const at::Tensor& h, const Pass& pass) const
{
    return startsAsNoise(at) ? noiseLike(h, streamKey(static_cast<std::int64_t>(at.loop) + 1, "loop.start"), pass) : h;
}

at::Tensor LoopRule::begin(const projects::LoopVisit& at, const at::Tensor& h, const at::Tensor& e) const
{
    const Parts& parts = m_loops[at.loop];
    const bool hasStreams = parts.loop.streams != projects::LoopStreams::None;
    at::Tensor residual = hasStreams ? read(parts, at.visit, streamsOf(parts, h)) : h;
    switch (parts.loop.injection) {
    case projects::LoopInjection::None:
        break;
    case projects::LoopInjection::Add:
        residual = at.visit > 1 || startsAsNoise(at) ? residual + e : residual;
        break;
    case projects::LoopInjection::Linear:
        residual = linear(m_compute, at::cat({residual, e}, -1), parts.injection).to(h.scalar_type());
        break;
    }
    const bool adds = parts.embedding.defined() && parts.loop.streams != projects::LoopStreams::Gated;
    return adds ? residual + parts.embedding.select(0, at.visit - 1).to(h.scalar_type()) : residual;
}

at::Tensor LoopRule::end(const projects::LoopVisit& at, const at::Tensor& h, const at::Tensor& begin,
                         const at::Tensor& streams) const
{
    const Parts& parts = m_loops[at.loop];
    at::Tensor residual = h;
    if (parts.gate.defined()) {
        const at::Tensor share = at::sigmoid(parts.gate.select(0, at.visit - 1)).to(h.scalar_type());
        residual = begin + share * (h - begin);
    }
    if (parts.loop.norm == projects::LoopNorm::Visits) {
        residual = normalised(parts.norm, residual, residual.scalar_type());
    }
    return streams.defined() ? written(parts, at.visit, streamsOf(parts, streams), residual) : residual;
}

at::Tensor LoopRule::exit(const projects::LoopVisit& at, const at::Tensor& h) const
{
    const Parts& parts = m_loops[at.loop];
    at::Tensor residual = h;
    if (parts.loop.streams != projects::LoopStreams::None) {
        const at::Tensor states = streamsOf(parts, h).unflatten(-1, {parts.loop.streamCount, m_width});
        residual = parts.mix.defined() ? states.sum(-2) : states.mean(-2);
    }
    const bool norms = parts.loop.norm == projects::LoopNorm::Exit || parts.loop.norm == projects::LoopNorm::Head;
    return norms ? normalised(parts.norm, residual, residual.scalar_type()) : residual;
}

at::Tensor LoopRule::left(const projects::LoopVisit& at, const at::Tensor& h) const
{
    return isLast(at) ? h : exit(at, h);
}

at::Tensor LoopRule::exitLogit(std::size_t loop, const at::Tensor& state) const
{
    const Parts& parts = m_loops.at(loop);
    const at::Tensor h = state.to(m_compute.parameterType);
    return (h * parts.exitWeight.squeeze(0)).sum(-1) + parts.exitBias;
}

} // namespace residua::engine
