// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/sets/dataset.h"

#include <array>

namespace residua::engine {

/// Examples as rows.
struct VectorTable {
    std::int64_t rows = 0;
    std::vector<double> inputs;  ///< [rows, inputs]
    std::vector<double> outputs; ///< [rows, outputs]
};

/// Vectors with a target, all in memory.
class VectorDataset : public Dataset {
public:
    VectorDataset(std::int64_t inputs, std::int64_t outputs, std::array<VectorTable, kSplits> tables);

    [[nodiscard]] projects::ExampleSchema schema() const override
    {
        return projects::ExampleSchema::vectors(m_inputs, m_outputs);
    }
    [[nodiscard]] std::int64_t size(Split split) const override { return table(split).rows; }
    [[nodiscard]] Status fill(Batch& batch, Split split, std::int64_t seed, std::int64_t index,
                              std::int64_t count) const override;
    [[nodiscard]] Status fillSequential(Batch& batch, Split split, std::int64_t index,
                                        std::int64_t count) const override;
    void fillAll(Batch& batch, Split split) const override;

protected:
    /// Resizes the batch for `count` examples. Field 0 has the inputs, field 1 the outputs, both double.
    void prepare(Batch& batch, std::int64_t count) const;

private:
    [[nodiscard]] const VectorTable& table(Split split) const { return m_tables[static_cast<std::size_t>(split)]; }
    void copyRow(Batch& batch, std::int64_t to, const VectorTable& table, std::int64_t from) const;

    std::int64_t m_inputs; ///< features
    std::int64_t m_outputs;
    std::array<VectorTable, kSplits> m_tables;
};

} // namespace residua::engine
