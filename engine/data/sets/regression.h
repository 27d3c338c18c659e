// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/sets/dataset.h"
#include "engine/maths/theory/dense_matrix.h"
#include "projects/model/data_source.h"

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

/// The factor of a ScaledRotation, whose rotation has determinant +1.
inline constexpr double kRotationScale = 2.0;

/// Returns the true map [dim, dim]: the identity; independent N(0, 1/dim) or N(0, 1) entries; a scaled rotation; or a
/// diagonal from 1 down to 0 in equal steps.
[[nodiscard]] DenseMatrix linearTarget(projects::LinearTarget target, std::int64_t dim, std::int64_t seed);

/// Return the outline of each source's data set, computed without drawing samples.
[[nodiscard]] DataOutline outlineOf(const projects::LinearRegression& source, const projects::DataSource& data);
[[nodiscard]] DataOutline outlineOf(const projects::LowRankRegression& source, const projects::DataSource& data);

/// Y = T X (ANCRe §3). The samples are the columns of X, which is whitened as the paper assumes: X Xᵀ = I if samples ≥
/// dim (orthogonal if they are equal), XᵀX = I otherwise. The features of additional held-out samples are N(0,
/// 1/max(dim, samples)).
[[nodiscard]] std::unique_ptr<Dataset> makeLinearRegression(const projects::LinearRegression& source,
                                                            const projects::DataSource& data, std::int64_t seed);

/// y = A x + b + noise (DeepCrossAttention §4, figure 1): x ~ N(0, I), A = T P with T from linearTarget and P the
/// orthogonal projection onto a random subspace of `rank` dimensions (P = I at rank = dim). Every output has noise·N(0,
/// 1) added.
[[nodiscard]] std::unique_ptr<Dataset> makeLowRankRegression(const projects::LowRankRegression& source,
                                                             const projects::DataSource& data, std::int64_t seed);
/// Returns b [dim] of makeLowRankRegression; zeros without an offset.
[[nodiscard]] std::vector<double> lowRankOffset(const projects::LowRankRegression& source, std::int64_t seed);
/// Returns A [dim, dim] of makeLowRankRegression.
[[nodiscard]] DenseMatrix lowRankTarget(const projects::LowRankRegression& source, std::int64_t seed);

} // namespace residua::engine
