// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/sets/vector_dataset.h"

#include "projects/base/random.h"

#include <algorithm>

namespace residua::engine {

VectorDataset::VectorDataset(std::int64_t inputs, std::int64_t outputs, std::array<VectorTable, kSplits> tables)
    : m_inputs(inputs), m_outputs(outputs), m_tables(std::move(tables))
{
}

void VectorDataset::prepare(Batch& batch, std::int64_t count) const
{
    batch.batch = count;
    batch.time = 0;
    batch.values<double>(0).resize(static_cast<std::size_t>(count * m_inputs));
    batch.values<double>(1).resize(static_cast<std::size_t>(count * m_outputs));
}

void VectorDataset::copyRow(Batch& batch, std::int64_t to, const VectorTable& table, std::int64_t from) const
{
    std::copy_n(table.inputs.begin() + from * m_inputs, m_inputs, batch.values<double>(0).begin() + to * m_inputs);
    std::copy_n(table.outputs.begin() + from * m_outputs, m_outputs, batch.values<double>(1).begin() + to * m_outputs);
}

Status VectorDataset::fill(Batch& batch, Split split, std::int64_t seed, std::int64_t index, std::int64_t count) const
{
    prepare(batch, count);
    const VectorTable& rows = table(split);
    for (std::int64_t row = 0; row < count; ++row) {
        copyRow(batch, row, rows, shuffledRow(index * count + row, rows.rows, split, seed));
    }
    return Done{};
}

Status VectorDataset::fillSequential(Batch& batch, Split split, std::int64_t index, std::int64_t count) const
{
    const VectorTable& rows = table(split);
    const std::int64_t first = index * count;
    prepare(batch, std::clamp<std::int64_t>(rows.rows - first, 0, count));
    for (std::int64_t row = 0; row < batch.batch; ++row) {
        copyRow(batch, row, rows, first + row);
    }
    return Done{};
}

void VectorDataset::fillAll(Batch& batch, Split split) const
{
    const VectorTable& rows = table(split);
    batch.batch = rows.rows;
    batch.time = 0;
    batch.fields = {rows.inputs, rows.outputs};
}

} // namespace residua::engine
