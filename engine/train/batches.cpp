// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/train/batches.h"

#include "engine/runtime/host_path.h"
#include "engine/train/precision.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace residua::engine {
namespace {

/// Returns the values of a field in the batch's examples.
template <class Value>
at::Tensor view(std::vector<Value>& values, const Batch& batch, const projects::ExampleField& field)
{
    std::vector<std::int64_t> sizes = field.shape.dims;
    std::ranges::replace(sizes, projects::kBatch, batch.batch);
    std::ranges::replace(sizes, projects::kTime, batch.time);
    TORCH_CHECK(static_cast<std::int64_t>(values.size()) == c10::multiply_integers(sizes), "a batch holds ",
                values.size(), " values of ", field.name, ", expected ", at::IntArrayRef(sizes));
    return at::from_blob(values.data(), sizes, at::TensorOptions().dtype(c10::CppTypeToScalarType<Value>::value));
}

/// Copies values to a device without waiting, through pinned memory; LibTorch's allocator does not reuse that memory
/// before the copy is done.
at::Tensor sent(const at::Tensor& values, at::ScalarType type, c10::Device device)
{
    const at::Tensor staged =
        at::empty(values.sizes(), at::TensorOptions().dtype(type).pinned_memory(device.is_cuda()));
    staged.copy_(values);
    return staged.to(device, /*non_blocking=*/true);
}

} // namespace

DeviceBatch upload(Batch& batch, const projects::ExampleSchema& schema, c10::Device device, at::ScalarType real)
{
    const auto uploaded = [&](const projects::ExampleField& field, std::vector<std::int64_t>& tokens,
                              std::vector<double>& numbers) {
        const at::Tensor values = field.isTokens() ? view(tokens, batch, field) : view(numbers, batch, field);
        if (takesHostPath(device)) {
            return field.isTokens() ? values : values.to(real);
        }
        return sent(values, field.isTokens() ? at::kInt : real, device);
    };
    TORCH_CHECK(schema.fields.size() == 2, "examples have ", schema.fields.size(), " fields, a batch has room for two");
    return {uploaded(schema.input(), batch.tokens, batch.inputs),
            uploaded(schema.target(), batch.targets, batch.outputs)};
}

std::int64_t unitsIn(const Batch& batch, const projects::ExampleSchema& schema)
{
    return schema.units(batch.batch, batch.time);
}

SplitBatches::SplitBatches(const Dataset& dataset, Split split, const projects::TrainingPlan& plan, c10::Device device,
                           std::int64_t batches)
    : m_dataset(dataset),
      m_plan(plan),
      m_schema(dataset.schema()),
      m_split(split),
      m_device(device),
      m_limit(batches > 0 ? batches : std::numeric_limits<std::int64_t>::max())
{
}

Result<std::optional<DeviceBatch>> SplitBatches::next()
{
    if (m_index >= m_limit) {
        return std::optional<DeviceBatch>();
    }
    if (Status filled = m_dataset.fillSequential(m_batch, m_split, m_index, m_plan.batch); !filled) {
        return filled.error();
    }
    if (m_batch.batch == 0) {
        return std::optional<DeviceBatch>();
    }
    ++m_index;
    return std::optional(upload(m_batch, m_schema, m_device, parameterType(m_plan.precision)));
}

} // namespace residua::engine
