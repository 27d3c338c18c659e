// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/depth/loop_rule.h"

#include "engine/compute/ops/fused.h"
#include "projects/depth/depth_parameters.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/sigmoid.h>

namespace residua::engine {
namespace {

std::vector<projects::WiringParameter> parametersOfLoops(const projects::Stack& stack)
{
    std::vector<projects::WiringParameter> parameters;
    projects::visitLoopParameters(
        stack, [&](projects::WiringParameter&& parameter) { parameters.push_back(std::move(parameter)); });
    return parameters;
}

} // namespace

LoopRule::LoopRule(const projects::Stack& stack, InitPlan& plan) : m_compute(plan.compute())
{
    const WiringTensors tensors(parametersOfLoops(stack), plan);
    for (std::size_t i = 0; i < stack.loops.size(); ++i) {
        const auto of = [&](const char* rest) { return tensors[projects::loopParameter(i, rest)]; };
        m_loops.push_back({stack.loops[i],
                           of("injection.weight"),
                           of("embedding"),
                           of("gate"),
                           {kernels::NormKind::rms, of("norm.weight"), {}, 1e-6}});
    }
}

at::Tensor LoopRule::begin(const projects::LoopVisit& at, const at::Tensor& h, const at::Tensor& e) const
{
    const Parts& parts = m_loops[at.loop];
    at::Tensor residual = h;
    switch (parts.loop.injection) {
    case projects::LoopInjection::None:
        break;
    case projects::LoopInjection::Add:
        residual = at.visit > 1 ? h + e : h;
        break;
    case projects::LoopInjection::Linear:
        residual = linear(m_compute, at::cat({h, e}, -1), parts.injection).to(h.scalar_type());
        break;
    }
    return parts.embedding.defined() ? residual + parts.embedding.select(0, at.visit - 1).to(h.scalar_type())
                                     : residual;
}

at::Tensor LoopRule::end(const projects::LoopVisit& at, const at::Tensor& h, const at::Tensor& begin, bool ran) const
{
    const Parts& parts = m_loops[at.loop];
    at::Tensor residual = h;
    if (ran && parts.gate.defined()) {
        const at::Tensor share = at::sigmoid(parts.gate.select(0, at.visit - 1)).to(h.scalar_type());
        residual = begin + share * (h - begin);
    }
    const bool norms = parts.loop.norm == projects::LoopNorm::Exit ? at.visit == parts.loop.visits
                                                                   : ran && parts.loop.norm != projects::LoopNorm::None;
    return norms ? normalised(parts.norm, residual, residual.scalar_type()) : residual;
}

} // namespace residua::engine
