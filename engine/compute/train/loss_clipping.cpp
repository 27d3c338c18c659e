// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/train/loss_clipping.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_div.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace residua::engine {

LossClipping::LossClipping(double clipNorm, std::vector<NamedParameter>& parameters, std::size_t groups)
    : m_clipNorm(clipNorm), m_parameters(parameters), m_gradients(groups)
{
    clear();
}

void LossClipping::clear()
{
    for (std::vector<at::Tensor>& gradients : m_gradients) {
        gradients.assign(m_parameters.size(), at::Tensor());
    }
}

void LossClipping::exchange(std::size_t group)
{
    for (std::size_t i = 0; i < m_parameters.size(); ++i) {
        std::swap(m_parameters[i].tensor.mutable_grad(), m_gradients[group][i]);
    }
}

void LossClipping::beginMeans(TensorExchange& exchange)
{
    const at::NoGradGuard noGrad;
    std::map<at::ScalarType, std::vector<at::Tensor>> byType;
    for (std::vector<at::Tensor>& gradients : m_gradients) {
        for (at::Tensor& gradient : gradients) {
            if (gradient.defined()) {
                gradient = gradient.clone(at::MemoryFormat::Contiguous); // gradients may share memory
                byType[gradient.scalar_type()].push_back(gradient);
            }
        }
    }
    for (auto& [type, gradients] : byType) {
        exchange.mean(std::move(gradients));
    }
}

void LossClipping::finish()
{
    const at::NoGradGuard noGrad;
    for (std::vector<at::Tensor>& gradients : m_gradients) {
        std::vector<at::Tensor> defined;
        std::ranges::copy_if(gradients, std::back_inserter(defined), &at::Tensor::defined);
        if (!defined.empty()) {
            clip(defined);
        }
        for (std::size_t i = 0; i < gradients.size(); ++i) {
            at::Tensor& sum = m_parameters[i].tensor.mutable_grad();
            if (gradients[i].defined()) {
                sum = sum.defined() ? sum + gradients[i] : gradients[i];
            }
        }
    }
    clear();
}

void LossClipping::clip(const std::vector<at::Tensor>& gradients) const
{
    const at::Tensor norm = at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients)));
    at::_foreach_div_(gradients, norm.div(m_clipNorm).clamp_min(1.0));
}

} // namespace residua::engine
