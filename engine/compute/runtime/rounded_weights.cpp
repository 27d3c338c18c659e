// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/runtime/rounded_weights.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

namespace residua::engine {
namespace {

const void* blockOf(const at::Tensor& tensor)
{
    return tensor.storage().unsafeGetStorageImpl();
}

/// Returns the elements of `block` that `tensor` has in its own block.
at::Tensor alike(const at::Tensor& block, const at::Tensor& tensor)
{
    return block.as_strided(tensor.sizes(), tensor.strides(), tensor.storage_offset());
}

} // namespace

void RoundedWeights::add(const at::Tensor& parameter)
{
    m_blocks[blockOf(parameter)].parts.push_back({parameter});
}

at::Tensor RoundedWeights::of(const at::Tensor& weight)
{
    const auto found = m_blocks.find(blockOf(weight));
    if (found == m_blocks.end()) {
        return {};
    }
    const at::NoGradGuard noGrad;
    Block& block = found->second;
    if (!block.copy.defined()) {
        const auto elements = static_cast<std::int64_t>(weight.storage().nbytes() / weight.itemsize());
        block.copy = at::zeros({elements}, at::TensorOptions(weight.device()).dtype(at::kBFloat16));
    }
    block.refresh();
    return alike(block.copy, weight);
}

void RoundedWeights::refresh()
{
    const at::NoGradGuard noGrad;
    for (auto& [address, block] : m_blocks) {
        if (block.copy.defined()) {
            block.refresh();
        }
    }
}

at::Tensor RoundedWeights::copy(const at::Tensor& parameter) const
{
    const auto found = m_blocks.find(blockOf(parameter));
    const bool exists = found != m_blocks.end() && found->second.copy.defined();
    return exists ? alike(found->second.copy, parameter) : at::Tensor();
}

void RoundedWeights::takeCopy(const at::Tensor& parameter)
{
    const at::NoGradGuard noGrad;
    Block& block = m_blocks.at(blockOf(parameter));
    const auto part = std::ranges::find_if(block.parts, [&](const Part& each) {
        return each.parameter.unsafeGetTensorImpl() == parameter.unsafeGetTensorImpl();
    });
    part->parameter.copy_(alike(block.copy, parameter));
    part->version = static_cast<std::int64_t>(parameter._version());
}

void RoundedWeights::Block::refresh()
{
    for (Part& part : parts) {
        const auto version = static_cast<std::int64_t>(part.parameter._version());
        if (part.version != version) {
            alike(copy, part.parameter).copy_(part.parameter);
            part.version = version;
        }
    }
}

void noteWrite(const at::Tensor& tensor)
{
    tensor.unsafeGetTensorImpl()->bump_version();
}

} // namespace residua::engine
