// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/train/adamw_kernel.h"

#include "engine/compute/runtime/compute.h"

#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstddef>
#include <limits>

namespace residua::engine {
namespace {

/// Adds the pieces of the member that lie between its untouched slices.
void addPieces(const AdamWMember& member, std::int32_t tensor, std::vector<kernels::AdamWPiece>& pieces)
{
    const auto elementBytes = static_cast<std::int64_t>(member.parameter.itemsize());
    const auto at = [](const at::Tensor& whole, std::int64_t offset, std::int64_t bytes) {
        return static_cast<std::byte*>(whole.mutable_data_ptr()) + offset * bytes;
    };
    const auto add = [&](std::int64_t offset, std::int64_t rows, std::int64_t run, std::int64_t stride) {
        if (rows > 0 && run > 0) {
            pieces.push_back(
                {.tensor = tensor,
                 .rows = rows,
                 .run = run,
                 .stride = stride,
                 .parameter = at(member.parameter, offset, elementBytes),
                 .gradient = static_cast<const std::byte*>(member.gradient.const_data_ptr()) + offset * elementBytes,
                 .mean = at(member.mean, offset, elementBytes),
                 .square = at(member.square, offset, elementBytes),
                 .held = member.held.defined() ? at(member.held, offset, 1) : nullptr,
                 .rounded = member.rounded.defined() ? at(member.rounded, offset, 2) : nullptr});
        }
    };
    if (member.untouched.empty()) {
        add(0, 1, member.parameter.numel(), 0);
        return;
    }
    std::vector<HeldSlice> slices = member.untouched;
    std::ranges::sort(slices, {}, &HeldSlice::begin);
    const std::int64_t dimension = slices.front().dimension;
    const at::IntArrayRef sizes = member.parameter.sizes();
    const std::int64_t inner = c10::multiply_integers(sizes.begin() + dimension + 1, sizes.end());
    const std::int64_t stride = sizes[static_cast<std::size_t>(dimension)] * inner;
    const std::int64_t rows = c10::multiply_integers(sizes.begin(), sizes.begin() + dimension);
    std::int64_t begin = 0;
    for (const HeldSlice& slice : slices) {
        TORCH_CHECK(slice.dimension == dimension, "untouched slices of a parameter have one dimension");
        add(begin * inner, rows, (slice.begin - begin) * inner, stride);
        begin = slice.begin + slice.length;
    }
    add(begin * inner, rows, stride - begin * inner, stride);
}

} // namespace

bool fitsAdamWKernel(const std::vector<AdamWMember>& members)
{
    return std::ranges::all_of(members, [&](const AdamWMember& member) {
        const at::ScalarType type = members.front().parameter.scalar_type();
        const auto fits = [&](const at::Tensor& tensor) {
            return tensor.is_contiguous() && tensor.scalar_type() == type &&
                   tensor.numel() == member.parameter.numel() && tensor.device() == member.parameter.device();
        };
        return (type == at::kFloat || type == at::kDouble) && fits(member.parameter) && fits(member.gradient) &&
               fits(member.mean) && fits(member.square) &&
               member.parameter.numel() <= std::numeric_limits<std::int32_t>::max();
    });
}

void updateByKernel(const kernels::CudaKernels& table, void* stream, const projects::AdamW& plan,
                    const std::vector<AdamWMember>& members, const UpdateStep& step)
{
    std::vector<kernels::AdamWTensor> tensors;
    std::vector<kernels::AdamWPiece> pieces;
    for (const AdamWMember& member : members) {
        addPieces(member, static_cast<std::int32_t>(tensors.size()), pieces);
        tensors.push_back({member.updates.mutable_data_ptr(), member.decay});
    }
    kernels::AdamW adamw;
    adamw.dataType = kernelType(members.front().parameter.scalar_type());
    adamw.tensors = static_cast<std::int32_t>(tensors.size());
    adamw.tensor = tensors.data();
    adamw.pieces = static_cast<std::int32_t>(pieces.size());
    adamw.piece = pieces.data();
    adamw.rate = step.rate;
    adamw.beta1 = plan.beta1;
    adamw.beta2 = plan.beta2;
    adamw.epsilon = plan.epsilon;
    adamw.scale = step.scale.defined() ? step.scale.const_data_ptr() : nullptr;
    adamw.skip = step.skip.const_data_ptr();
    adamw.workspaceBytes = kernels::adamwWorkspace(adamw);
    // The allocator gives the memory away again in the order of the stream.
    const at::Tensor workspace = at::empty({static_cast<std::int64_t>(adamw.workspaceBytes)},
                                           members.front().parameter.options().dtype(at::kByte).requires_grad(false));
    adamw.workspace = workspace.mutable_data_ptr();
    checkKernel(table.adamw(adamw, stream), "adamw", &table);
}

} // namespace residua::engine
