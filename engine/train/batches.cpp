// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/train/batches.h"

#include <ATen/ops/from_blob.h>

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

DeviceBatch upload(Batch& batch, const ExampleSchema& schema, c10::Device device, at::ScalarType real)
{
    if (schema.hasTime()) {
        return {view(batch.tokens, batch.batch, batch.time).to(device, true),
                view(batch.targets, batch.batch, batch.time).to(device, true)};
    }
    const at::TensorOptions options = at::TensorOptions().device(device).dtype(real);
    return {view(batch.inputs, batch.batch, schema.input().shape.features()).to(options, true),
            view(batch.outputs, batch.batch, schema.target().shape.features()).to(options, true)};
}

std::int64_t unitsIn(const Batch& batch, const ExampleSchema& schema)
{
    return schema.units(batch.batch, batch.time);
}

} // namespace residua::engine
