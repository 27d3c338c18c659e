// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/train/batches.h"

#include "engine/compute/runtime/host_path.h"
#include "engine/compute/train/tensor_io.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace residua::engine {
namespace {

/// Returns the values of a field in the batch's examples.
at::Tensor view(FieldValues& held, const Batch& batch, const projects::ExampleField& field)
{
    std::vector<std::int64_t> sizes = field.shape.dims;
    std::ranges::replace(sizes, projects::kBatch, batch.batch);
    std::ranges::replace(sizes, projects::kTime, batch.time);
    return std::visit(
        [&]<class Value>(std::vector<Value>& values) {
            TORCH_CHECK(static_cast<std::int64_t>(values.size()) == c10::multiply_integers(sizes), "a batch holds ",
                        values.size(), " values of ", field.name, ", expected ", at::IntArrayRef(sizes));
            const auto type = c10::CppTypeToScalarType<Value>::value;
            return at::from_blob(values.data(), sizes, at::TensorOptions().dtype(type));
        },
        held);
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
    TORCH_CHECK(schema.fields.size() == batch.fields.size(), "examples have ", schema.fields.size(),
                " fields, the batch has ", batch.fields.size());
    DeviceBatch uploaded;
    for (std::size_t i = 0; i < schema.fields.size(); ++i) {
        const projects::ExampleField& field = schema.fields[i];
        at::Tensor values = view(batch.fields[i], batch, field);
        if (!takesHostPath(device)) {
            values = sent(values, field.isTokens() ? at::kInt : real, device);
        } else if (!field.isTokens()) {
            values = values.to(real);
        }
        switch (field.role) {
        case projects::FieldRole::Input:
            uploaded.input = std::move(values);
            break;
        case projects::FieldRole::Target:
            uploaded.target = std::move(values);
            break;
        default:
            uploaded.conditions.emplace(field.name, std::move(values));
        }
    }
    return uploaded;
}

DeviceBatch firstOf(const DeviceBatch& batch, std::int64_t examples)
{
    const std::int64_t count = std::min(batch.input.size(0), examples);
    DeviceBatch first{batch.input.narrow(0, 0, count), batch.target.narrow(0, 0, count)};
    for (const auto& [name, values] : batch.conditions) {
        first.conditions.emplace(name, values.narrow(0, 0, count));
    }
    return first;
}

void shorten(DeviceBatch& batch, const projects::ExampleSchema& schema, std::int64_t time)
{
    for (const projects::ExampleField& field : schema.fields) {
        at::Tensor& values = field.role == projects::FieldRole::Input    ? batch.input
                             : field.role == projects::FieldRole::Target ? batch.target
                                                                         : batch.conditions.at(field.name);
        const auto found = std::ranges::find(field.shape.dims, projects::kTime);
        if (found != field.shape.dims.end()) {
            const std::int64_t dim = found - field.shape.dims.begin();
            values = values.narrow(dim, 0, std::min(values.size(dim), time)).contiguous();
        }
    }
}

std::int64_t unitsIn(const Batch& batch, const projects::ExampleSchema& schema)
{
    return schema.units(batch.batch, batch.time);
}

std::int64_t targetsIn(const Batch& batch, const projects::ExampleSchema& schema)
{
    const auto target = std::ranges::find(schema.fields, projects::FieldRole::Target, &projects::ExampleField::role);
    const auto& tokens = batch.values<std::int64_t>(static_cast<std::size_t>(target - schema.fields.begin()));
    return std::ssize(tokens) - std::ranges::count(tokens, projects::kIgnoredTarget);
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
    RESIDUA_TRY(m_dataset.fillSequential(m_batch, m_split, m_index, m_plan.batch));
    if (m_batch.batch == 0) {
        return std::optional<DeviceBatch>();
    }
    ++m_index;
    return std::optional(upload(m_batch, m_schema, m_device, parameterType(m_plan.precision)));
}

} // namespace residua::engine
