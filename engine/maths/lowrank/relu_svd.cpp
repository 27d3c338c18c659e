// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/maths/lowrank/low_rank_fit.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace residua::engine::lowrank {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The objective of a choice of directions. `kept` is, for each row, the sum of its squares over the chosen directions.
class ChoiceValue {
public:
    ChoiceValue(const MatrixXd& rows, CorrelationKernel kernel)
        : squares(rows.cwiseAbs2()), m_full(squares.rowwise().sum()), m_kernel(kernel)
    {
    }

    [[nodiscard]] double row(Index i, double kept) const
    {
        if (m_full[i] <= 0) {
            return 0;
        }
        const double root = m_kernel(std::sqrt(std::clamp(kept / m_full[i], 0.0, 1.0)));
        return m_full[i] * root * root;
    }
    [[nodiscard]] double operator()(const VectorXd& kept) const
    {
        double sum = 0;
        for (Index i = 0; i < kept.size(); ++i) {
            sum += row(i, kept[i]);
        }
        return sum;
    }
    /// Returns the derivatives by the rows' kept squares as finite differences, because the kernel is arbitrary.
    [[nodiscard]] VectorXd slopes(const VectorXd& kept) const
    {
        VectorXd result(kept.size());
        for (Index i = 0; i < kept.size(); ++i) {
            const double step = 1e-3 * m_full[i];
            const double low = std::max(0.0, kept[i] - step);
            const double high = std::min(m_full[i], kept[i] + step);
            result[i] = high > low ? (row(i, high) - row(i, low)) / (high - low) : 0;
        }
        return result;
    }

    MatrixXd squares; ///< [out, directions]

private:
    VectorXd m_full;
    CorrelationKernel m_kernel;
};

double subsetCount(Index of, Index take)
{
    double count = 1;
    for (Index i = 1; i <= take; ++i) {
        count *= double(of - take + i) / double(i);
    }
    return count;
}

Result<DirectionChoice> byEnumeration(const ChoiceValue& value, Index rank, const LowRankWatch& watch)
{
    const Index count = value.squares.cols();
    std::vector<Index> chosen(std::size_t(rank), 0);
    std::iota(chosen.begin(), chosen.end(), Index{0});
    // sums[k] holds the kept squares of the first k chosen directions.
    std::vector<VectorXd> sums(std::size_t(rank) + 1, VectorXd::Zero(value.squares.rows()));
    DirectionChoice best{{}, -1, true};
    std::size_t changed = 0;
    while (true) {
        if (watch.stop.stop_requested()) {
            return stoppedFit();
        }
        for (std::size_t k = changed; k < chosen.size(); ++k) {
            sums[k + 1] = sums[k] + value.squares.col(chosen[k]);
        }
        if (const double objective = value(sums.back()); objective > best.objective) {
            best.objective = objective;
            best.directions = chosen;
        }
        // The next subset in lexicographic order: the last index that can grow grows by one, and the later ones follow
        // it directly.
        auto k = Index(chosen.size()) - 1;
        while (k >= 0 && chosen[std::size_t(k)] == count - rank + k) {
            --k;
        }
        if (k < 0) {
            return best;
        }
        changed = std::size_t(k);
        std::iota(chosen.begin() + k, chosen.end(), chosen[changed] + 1);
    }
}

/// Returns the `few` candidates with the largest scores.
std::vector<Index> foremost(std::vector<Index> candidates, const VectorXd& score, std::size_t few)
{
    const std::size_t count = std::min(few, candidates.size());
    std::ranges::stable_sort(candidates, [&](Index a, Index b) { return score[a] > score[b]; });
    candidates.resize(count);
    return candidates;
}

struct Exchange {
    Index out = -1;
    Index in = -1;
    double objective = 0;
};

/// Returns the exchange of a kept direction for another that raises the objective most, among `few` candidates on each
/// side.
Exchange bestExchange(const ChoiceValue& value, const std::vector<bool>& isKept, const VectorXd& kept, double objective,
                      std::size_t few)
{
    std::vector<Index> inside;
    std::vector<Index> outside;
    for (Index j = 0; j < value.squares.cols(); ++j) {
        (isKept[std::size_t(j)] ? inside : outside).push_back(j);
    }
    const VectorXd worth = value.squares.transpose() * value.slopes(kept);
    Exchange best{-1, -1, objective};
    for (const Index in : foremost(std::move(outside), worth, few)) {
        for (const Index out : foremost(inside, -worth, few)) {
            const VectorXd exchanged = kept + value.squares.col(in) - value.squares.col(out);
            if (const double reached = value(exchanged); reached > best.objective * (1 + 1e-13)) {
                best = {out, in, reached};
            }
        }
    }
    return best;
}

Result<DirectionChoice> byExchange(const ChoiceValue& value, Index rank, const LowRankWatch& watch)
{
    const Index count = value.squares.cols();
    std::vector<bool> isKept(std::size_t(count), false);
    std::fill_n(isKept.begin(), rank, true);
    VectorXd kept = value.squares.leftCols(rank).rowwise().sum();
    double objective = value(kept);
    // Tries all pairs if that is quick; otherwise the ones with the most favourable first derivatives.
    const double pairs = double(rank) * double(count - rank) * double(kept.size());
    const std::size_t few = pairs <= 1e6 ? std::size_t(count) : 8;
    for (Index round = 0; round < 4 * rank; ++round) {
        if (watch.stop.stop_requested()) {
            return stoppedFit();
        }
        const Exchange exchange = bestExchange(value, isKept, kept, objective, few);
        if (exchange.in < 0) {
            break;
        }
        isKept[std::size_t(exchange.in)] = true;
        isKept[std::size_t(exchange.out)] = false;
        kept += value.squares.col(exchange.in) - value.squares.col(exchange.out);
        objective = exchange.objective;
    }
    DirectionChoice choice{{}, objective, false};
    for (Index j = 0; j < count; ++j) {
        if (isKept[std::size_t(j)]) {
            choice.directions.push_back(j);
        }
    }
    return choice;
}

} // namespace

Result<DirectionChoice> chooseDirections(const MatrixXd& rows, Index rank, CorrelationKernel kernel,
                                         const LowRankWatch& watch, double mostKernelValues)
{
    const ChoiceValue value(rows, kernel);
    if (subsetCount(rows.cols(), rank) * double(rows.rows()) <= mostKernelValues) {
        return byEnumeration(value, rank, watch);
    }
    return byExchange(value, rank, watch);
}

Factors scaledProjection(const MatrixXd& rows, const std::vector<Index>& directions, CorrelationKernel kernel)
{
    const auto rank = Index(directions.size());
    Factors factors{MatrixXd(rows.rows(), rank), MatrixXd::Zero(rank, rows.cols())};
    for (Index k = 0; k < rank; ++k) {
        factors.left.col(k) = rows.col(directions[std::size_t(k)]);
        factors.right(k, directions[std::size_t(k)]) = 1;
    }
    for (Index i = 0; i < rows.rows(); ++i) {
        const double full = rows.row(i).norm();
        const double kept = factors.left.row(i).norm();
        if (kept > 0) {
            factors.left.row(i) *= full * kernel(std::min(1.0, kept / full)) / kept;
        } else {
            factors.left(i, 0) = full * kernel(0);
        }
    }
    return factors;
}

} // namespace residua::engine::lowrank
