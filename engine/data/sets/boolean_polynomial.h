// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/sets/regression.h"
#include "projects/model/data_source.h"

#include <span>

namespace residua::engine {

/// c · Π x_i over `variables`: one basis polynomial χ_S of the target (RaPTr eq. 2).
struct Monomial {
    std::vector<std::int64_t> variables; ///< S, ascending; its size is the degree
    double coefficient = 0;              ///< c ~ N(0, 1)

    /// Returns χ_S(x) = ±1 for one input [dim].
    [[nodiscard]] double basis(std::span<const double> x) const;
    bool operator==(const Monomial&) const = default;
};

/// Returns the target's terms: `termsPerDegree` distinct ones for each degree from 1, in ascending degree. The error of
/// a learned F at one degree is Σ(c − ĉ)²/Σc² with ĉ = E[F(x)·χ_S(x)] (RaPTr §3). Precondition: checkData() has found
/// no error, so enough terms exist.
[[nodiscard]] std::vector<Monomial> polynomialTerms(const projects::BooleanPolynomial& source, std::int64_t seed);

/// Returns the outline of this source's data set, computed without drawing samples.
[[nodiscard]] DataOutline outlineOf(const projects::BooleanPolynomial& source, const projects::DataSource& data);

/// x ~ U{±1}^dim. Every training sample is new. Validation and test have 4096 fixed samples each, unless their fraction
/// is 0 (RaPTr §3, D.3).
class BooleanPolynomialDataset : public VectorDataset {
public:
    [[nodiscard]] static std::unique_ptr<Dataset> create(const projects::BooleanPolynomial& source,
                                                         const projects::DataSource& data, std::int64_t seed);

    [[nodiscard]] std::int64_t size(Split split) const override;
    [[nodiscard]] Status fill(Batch& batch, Split split, std::int64_t seed, std::int64_t index,
                              std::int64_t count) const override;

private:
    BooleanPolynomialDataset(std::int64_t inputs, std::array<VectorTable, kSplits> tables, std::vector<Monomial> terms);

    std::vector<Monomial> m_terms;
};

} // namespace residua::engine
