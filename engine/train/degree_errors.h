// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "engine/data/boolean_polynomial.h"
#include "engine/data/dataset.h"
#include "engine/network/network.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace residua::engine {

/// Measures how well each degree of a Boolean polynomial is learned: Σ(c − ĉ)²/Σc² over its terms, with ĉ =
/// E[F(x)·χ_S(x)] (RaPTr, section 3). Engine thread.
class DegreeErrors {
public:
    /// Returns nullopt unless the project's data are such a polynomial with valid parameters.
    [[nodiscard]] static std::optional<DegreeErrors> of(const projects::Project& project);

    /// Returns matrix::kDegreeErrors of the whole network (of a growing network, as grown so far) on the first batches
    /// of the validation split; nullopt if that is empty. Estimates the expectation of c − ĉ by the mean of (f*(x) −
    /// F(x))·χ_S(x), and its square without the bias of a finite sample, so that an error near 0 may come out negative.
    [[nodiscard]] Result<std::optional<Matrix>> measure(CompiledNetwork& network, const Dataset& dataset,
                                                        const projects::TrainingPlan& plan, c10::Device device,
                                                        std::int64_t step) const;

private:
    explicit DegreeErrors(std::vector<Monomial> terms) : m_terms(std::move(terms)) {}

    std::vector<Monomial> m_terms;
};

} // namespace residua::engine
