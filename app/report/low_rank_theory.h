// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/sets/project_bounds.h"
#include "engine/maths/theory/low_rank_model.h"
#include "projects/model/project.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace residua::report {

/// A low-rank linear model as in DeepCrossAttention §4.
struct LowRankModel {
    std::int64_t dimension = 0;
    std::int64_t rank = 0;                                  ///< r*, collective
    std::int64_t layers = 0;                                ///< T
    std::optional<engine::theory::TargetSpectrum> spectrum; ///< of the target minus the identity
    std::string withoutSpectrum;                            ///< the reason why `spectrum` is missing
    std::optional<engine::LowRankTask> task;                ///< set if the target itself is known
    engine::theory::Statement statement = engine::theory::Statement::Proved;
};

/// Errors are those of engine::lowRankTask(). Takes cubic time in the dimension.
[[nodiscard]] Result<LowRankModel> lowRankModelOf(const projects::Project& project);

/// A model of these numbers, with no target of its own. `kappa` is λ_min/λ_max of the target minus the identity.
[[nodiscard]] LowRankModel lowRankModelOf(std::int64_t dimension, std::int64_t rank, std::int64_t layers, double kappa,
                                          double lambdaMax);

/// One number for each kind of network; NaN if missing.
struct TheoryRow {
    std::string name;        ///< for people, with the theorem's number
    std::string key;         ///< for programs
    double plainChain = NAN; ///< the layers without any shortcut
    double resNet = NAN;
    double v1 = NAN;
    double v2 = NAN;
    double v3 = NAN;

    /// In the order of kTheoryColumns.
    [[nodiscard]] std::array<double, 5> values() const { return {plainChain, resNet, v1, v2, v3}; }
};
inline constexpr std::array<const char*, 5> kTheoryColumns{"no shortcuts", "ResNet", "GRN-v1", "GRN-v2", "GRN-v3"};

/// The theorems' results for a model: excess risk, thresholds 4.1 to 4.3, gains G1 to G3, proposition 4.4, model sizes.
struct TheoryTable {
    std::string about; ///< the model in one line
    std::vector<TheoryRow> rows;
    std::vector<std::string> notes; ///< missing results, with the reasons
};
[[nodiscard]] TheoryTable theoryTable(const LowRankModel& model);

/// Returns figure 5, left: lower bounds of the gains at the collective ranks 1 to d − 1. Errors: no spectrum, or d < 2.
[[nodiscard]] Result<std::vector<engine::theory::PerGrn>> gainCurves(const LowRankModel& model);

inline constexpr std::int64_t kComplexityParts = 100;
/// Returns figure 5, right: lower bounds of the gains at κ = 1/kComplexityParts, 2/kComplexityParts, …, 1, with the
/// model's λ_max and r*. Errors: no spectrum, d < 2, or r* outside 1 to d − 1.
[[nodiscard]] Result<std::vector<engine::theory::PerGrn>> gainsByComplexity(const LowRankModel& model);

} // namespace residua::report
