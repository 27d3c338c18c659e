// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/values.h"
#include "projects/base/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// The learned mixing weights of runs, read and compared. Blocking; any thread.

/// Mixing weights with all features: value(j, i, f) is values[((j − 1) · columns + i) · features + f]; NaN where there
/// is no shortcut. Names, rows and columns as in Matrix.
struct CoefficientTensor {
    MatrixName name;
    std::int64_t step = 0;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t features = 1; ///< 1: each weight applies to all features
    std::vector<float> values;

    [[nodiscard]] Matrix mean() const;
    /// Returns the standard deviation over the features, named "spread" instead of "mix".
    [[nodiscard]] Matrix spread() const;
    /// Returns one feature. Precondition: 0 ≤ feature < features.
    [[nodiscard]] Matrix feature(std::int64_t feature) const;
};

/// Returns "mix" and "coefficient" of every port from a checkpoint. Returns an error if the checkpoint is missing or
/// damaged (without a step: if no intact one exists) or does not match the run's project, if the matrices of all
/// features would exceed 2^30 numbers, and for wirings without learned coefficients. The weights of such wirings
/// (weights per token, streams, gates) are known only as their runs recorded them.
[[nodiscard]] Result<std::vector<CoefficientTensor>> checkpointCoefficients(const std::filesystem::path& run,
                                                                            std::optional<std::int64_t> step);

/// Returns the matrices of a run at a step, by default the last: the recorded ones, or those of the checkpoint if the
/// step was not recorded. One feature is always read from a checkpoint. Sorted by kind ("mix", "coefficient",
/// "spread"), then port (q, k, v, residual, final).
[[nodiscard]] Result<std::vector<Matrix>> coefficientsAt(const std::filesystem::path& run,
                                                         std::optional<std::int64_t> step,
                                                         std::optional<std::int64_t> feature = std::nullopt);
/// Returns "mix" of one feature at every checkpoint of the run after step `after`, ascending. Errors as
/// checkpointCoefficients, and if the feature or any checkpoint does not exist.
[[nodiscard]] Result<std::vector<Matrix>> featureHistory(const std::filesystem::path& run, std::int64_t feature,
                                                         std::int64_t after = -1);
/// Returns the matrices recorded first.
[[nodiscard]] Result<std::vector<Matrix>> firstCoefficients(const std::filesystem::path& run);

/// Returns a − b; NaN for cells that are NaN in either. Returns an error if the shapes differ.
[[nodiscard]] Result<Matrix> difference(const Matrix& a, const Matrix& b);
/// True if every number of the matrix is `value` up to rounding. Ignores NaN, which marks a missing shortcut.
[[nodiscard]] bool isEverywhere(const Matrix& matrix, double value);
/// Returns log(p_ij / max_i p_ij) of each row (ANCRe figure 6); NaN where p_ij is not positive.
[[nodiscard]] Matrix logOfRowMaximum(const Matrix& matrix);

/// Returns one line per shortcut: matrix, step, target, source, value.
[[nodiscard]] std::string coefficientsCsv(const std::vector<Matrix>& matrices);
/// Writes `path` (writeOutput). The extension decides the format: .csv as coefficientsCsv(); .safetensors with a tensor
/// [rows, columns] per matrix, and [rows, columns, features] named "<name>.features" per tensor.
[[nodiscard]] Status exportCoefficients(const std::filesystem::path& path, const std::vector<Matrix>& matrices,
                                        const std::vector<CoefficientTensor>& tensors);

} // namespace residua::engine
