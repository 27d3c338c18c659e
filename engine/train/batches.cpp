// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/train/batches.h"

#include "engine/train/precision.h"

#include <ATen/ops/from_blob.h>

#include <limits>

namespace residua::engine {
namespace {

template <class Value>
at::Tensor view(std::vector<Value>& values, std::int64_t rows, std::int64_t columns)
{
    TORCH_CHECK(static_cast<std::int64_t>(values.size()) == rows * columns, "a batch holds ", values.size(),
                " values, expected ", rows, " x ", columns);
    return at::from_blob(values.data(), {rows, columns},
                         at::TensorOptions().dtype(c10::CppTypeToScalarType<Value>::value));
}

} // namespace

DeviceBatch upload(Batch& batch, const projects::ExampleSchema& schema, c10::Device device, at::ScalarType real)
{
    if (schema.hasTime()) {
        return {view(batch.tokens, batch.batch, batch.time).to(device, true),
                view(batch.targets, batch.batch, batch.time).to(device, true)};
    }
    const at::TensorOptions options = at::TensorOptions().device(device).dtype(real);
    return {view(batch.inputs, batch.batch, schema.input().shape.features()).to(options, true),
            view(batch.outputs, batch.batch, schema.target().shape.features()).to(options, true)};
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
