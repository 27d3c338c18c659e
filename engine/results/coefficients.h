// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "projects/base/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// The learned mixing weights of runs, read and compared. Blocking; any thread.

/// Mixing weights with every feature of them: value(j, i, f) is values[((j − 1) · columns + i) · features + f]; NaN
/// where there is no shortcut. Names, rows and columns as those of Matrix.
struct CoefficientTensor {
    MatrixName name;
    std::int64_t step = 0;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t features = 1; ///< 1: each weighs all features alike
    std::vector<float> values;

    [[nodiscard]] Matrix mean() const;
    /// The standard deviation over the features, named "spread" in place of "mix".
    [[nodiscard]] Matrix spread() const;
    /// Precondition: 0 ≤ feature < features.
    [[nodiscard]] Matrix feature(std::int64_t feature) const;
};

/// What a checkpoint holds: "mix" and "coefficient" of every port. An error where there is no intact checkpoint
/// (without a step: none at all), and for wirings without learned coefficients: weights made for each token, streams
/// and gates are known by what their runs have recorded alone. Also of one that does not fit the run's project, and
/// where the matrices of all features would have more than 2^30 numbers.
[[nodiscard]] Result<std::vector<CoefficientTensor>> checkpointCoefficients(const std::filesystem::path& run,
                                                                            std::optional<std::int64_t> step);

/// The matrices of a run at a step, by default the last: as recorded, or where that step is not, from its checkpoint;
/// of one feature from a checkpoint. By kind ("mix", "coefficient", "spread"), then port (q, k, v, residual, final).
[[nodiscard]] Result<std::vector<Matrix>> coefficientsAt(const std::filesystem::path& run,
                                                         std::optional<std::int64_t> step,
                                                         std::optional<std::int64_t> feature = std::nullopt);
/// "mix" of one feature at every checkpoint of the run beyond step `after`, ascending. Errors as
/// checkpointCoefficients, and where there is no such feature, or no checkpoint at all.
[[nodiscard]] Result<std::vector<Matrix>> featureHistory(const std::filesystem::path& run, std::int64_t feature,
                                                         std::int64_t after = -1);
/// How the run began: what was recorded first.
[[nodiscard]] Result<std::vector<Matrix>> firstCoefficients(const std::filesystem::path& run);

/// a − b; cells that one of them lacks are NaN. An error where the shapes differ.
[[nodiscard]] Result<Matrix> difference(const Matrix& a, const Matrix& b);
/// Whether every number of the matrix is `value`, but for rounding. NaN, where there is no shortcut, does not count.
[[nodiscard]] bool isEverywhere(const Matrix& matrix, double value);
/// log(p_ij / max_i p_ij) of each row (ANCRe figure 6); NaN where p_ij is not positive.
[[nodiscard]] Matrix logOfRowMaximum(const Matrix& matrix);

/// A line per shortcut: matrix, step, target, source, value.
[[nodiscard]] std::string coefficientsCsv(const std::vector<Matrix>& matrices);
/// Writes `path` (writeOutput). By its ending: .csv as above;
/// .safetensors a tensor [rows, columns] per matrix and [rows, columns, features] under "<name>.features" per tensor.
[[nodiscard]] Status exportCoefficients(const std::filesystem::path& path, const std::vector<Matrix>& matrices,
                                        const std::vector<CoefficientTensor>& tensors);

} // namespace residua::engine
