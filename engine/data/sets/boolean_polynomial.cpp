// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/sets/boolean_polynomial.h"

#include "projects/base/random.h"

#include <algorithm>
#include <set>

namespace residua::engine {
namespace {

constexpr std::int64_t kHeldOut = projects::kHeldOutPolynomials;

/// The training table serves evaluation only; training draws are unlimited.
std::array<std::int64_t, kSplits> heldOutRows(const projects::DataSource& data)
{
    return {kHeldOut, data.validationFraction > 0 ? kHeldOut : 0, data.testFraction > 0 ? kHeldOut : 0};
}

/// Draws `degree` of `variables` by Floyd's method; all subsets are equally likely.
std::vector<std::int64_t> randomSubset(std::int64_t degree, std::int64_t variables, RandomStream& random)
{
    std::set<std::int64_t> subset;
    for (std::int64_t last = variables - degree; last < variables; ++last) {
        const std::int64_t pick = random.below(last + 1);
        subset.insert(subset.contains(pick) ? last : pick);
    }
    return {subset.begin(), subset.end()};
}

/// Writes x [dim] and its target.
void writeSample(const std::vector<Monomial>& terms, RandomStream random, std::span<double> x, double& y)
{
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        bits = i % 64 == 0 ? random.bits() : bits >> 1;
        x[i] = (bits & 1) != 0 ? 1.0 : -1.0;
    }
    y = 0;
    for (const Monomial& term : terms) {
        y += term.coefficient * term.basis(x);
    }
}

VectorTable drawTable(const std::vector<Monomial>& terms, std::int64_t dim, std::int64_t rows, std::int64_t seed,
                      std::size_t split)
{
    VectorTable table{rows, std::vector<double>(static_cast<std::size_t>(rows * dim)),
                      std::vector<double>(static_cast<std::size_t>(rows))};
    for (std::size_t row = 0; row < table.outputs.size(); ++row) {
        const std::uint64_t key = drawBits(static_cast<std::uint64_t>(seed), streamOf(Stream::Inputs, split), row);
        const auto width = static_cast<std::size_t>(dim);
        writeSample(terms, {key, 0}, std::span(table.inputs).subspan(row * width, width), table.outputs[row]);
    }
    return table;
}

} // namespace

double Monomial::basis(std::span<const double> x) const
{
    double product = 1;
    for (const std::int64_t variable : variables) {
        product *= x[static_cast<std::size_t>(variable)];
    }
    return product;
}

DataOutline outlineOf(const projects::BooleanPolynomial& source, const projects::DataSource& data)
{
    DataOutline outline{projects::ExampleSchema::vectors(source.dim, 1), heldOutRows(data)};
    outline.sizes[static_cast<std::size_t>(Split::Train)] = kEndless;
    return outline;
}

std::vector<Monomial> polynomialTerms(const projects::BooleanPolynomial& source, std::int64_t seed)
{
    RandomStream random(static_cast<std::uint64_t>(seed), streamOf(Stream::Monomials));
    std::vector<Monomial> terms;
    for (std::int64_t degree = 1; degree <= source.degree; ++degree) {
        std::set<std::vector<std::int64_t>> subsets;
        while (static_cast<std::int64_t>(subsets.size()) < source.termsPerDegree) {
            subsets.insert(randomSubset(degree, source.variables, random));
        }
        for (const auto& subset : subsets) {
            terms.push_back({subset, random.gaussian()});
        }
    }
    return terms;
}

BooleanPolynomialDataset::BooleanPolynomialDataset(std::int64_t inputs, std::array<VectorTable, kSplits> tables,
                                                   std::vector<Monomial> terms)
    : VectorDataset(inputs, 1, std::move(tables)), m_terms(std::move(terms))
{
}

std::unique_ptr<Dataset> BooleanPolynomialDataset::create(const projects::BooleanPolynomial& source,
                                                          const projects::DataSource& data, std::int64_t seed)
{
    std::vector<Monomial> terms = polynomialTerms(source, seed);
    const std::array<std::int64_t, kSplits> rows = heldOutRows(data);
    std::array<VectorTable, kSplits> tables;
    for (std::size_t split = 0; split < tables.size(); ++split) {
        tables[split] = drawTable(terms, source.dim, rows[split], seed, split);
    }
    return std::unique_ptr<Dataset>(new BooleanPolynomialDataset(source.dim, std::move(tables), std::move(terms)));
}

std::int64_t BooleanPolynomialDataset::size(Split split) const
{
    return split == Split::Train ? kEndless : VectorDataset::size(split);
}

Status BooleanPolynomialDataset::fill(Batch& batch, Split split, std::int64_t seed, std::int64_t index,
                                      std::int64_t count) const
{
    if (split != Split::Train) {
        return VectorDataset::fill(batch, split, seed, index, count);
    }
    prepare(batch, count);
    const auto width = static_cast<std::size_t>(schema().input().shape.features());
    for (std::int64_t row = 0; row < count; ++row) {
        const auto draw = static_cast<std::uint64_t>(index * count + row);
        const std::uint64_t key = drawBits(static_cast<std::uint64_t>(seed), streamOf(Stream::Order), draw);
        const auto at = static_cast<std::size_t>(row);
        const auto x = std::span(batch.values<double>(0)).subspan(at * width, width);
        writeSample(m_terms, {key, 0}, x, batch.values<double>(1)[at]);
    }
    return Done{};
}

} // namespace residua::engine
