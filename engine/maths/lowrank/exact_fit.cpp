// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/maths/lowrank/exact_fit.h"

#include "engine/maths/theory/dense_matrix.h"
#include "projects/base/random.h"

#include <cmath>
#include <deque>
#include <limits>
#include <optional>

namespace residua::engine::lowrank {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Relative to the full function: a sum over so many rows cannot be more accurate.
constexpr double kNothingLeft = 1e-15;

/// Decides whether a search can still get below the best result of the others. It cannot if its distance above that
/// result is more than kHope times its decrease over the last kLook iterations. This search ends above the best
/// result, so the result found is never above the start of any search.
class Hope {
public:
    explicit Hope(std::optional<double> best) : m_best(best) {}
    [[nodiscard]] bool has(double value)
    {
        m_past.push_back(value);
        if (!m_best || m_past.size() <= kLook) {
            return true;
        }
        const double fall = m_past[m_past.size() - 1 - kLook] - value;
        return value - *m_best <= kHope * fall;
    }

private:
    static constexpr std::size_t kLook = 10;
    static constexpr double kHope = 5;
    std::optional<double> m_best;
    std::vector<double> m_past;
};

VectorXd joined(const Factors& factors)
{
    VectorXd at(factors.left.size() + factors.right.size());
    at << factors.left.reshaped(), factors.right.reshaped();
    return at;
}

Factors parted(const VectorXd& at, Index out, Index rank)
{
    const Index cut = out * rank;
    return {at.head(cut).reshaped(out, rank), at.tail(at.size() - cut).reshaped(rank, (at.size() - cut) / rank)};
}

} // namespace

ExactFit::ExactFit(const MatrixXd& rows, Nonlinearity follows)
    : m_rows(rows), m_error(follows, rows.rowwise().squaredNorm()), m_fullFunction(m_error.fullFunction())
{
}

double ExactFit::operator()(const VectorXd& at, VectorXd& gradient, Index rank) const
{
    const Index out = m_rows.rows();
    const Index directions = m_rows.cols();
    const Index cut = out * rank;
    const Eigen::Map<const MatrixXd> left(at.data(), out, rank);
    const Eigen::Map<const MatrixXd> right(at.data() + cut, rank, directions);
    // With G = right·rightᵀ and P = rows·rightᵀ, the rows' squares and products need no [out, directions] matrix.
    const MatrixXd gram = right * right.transpose();
    const MatrixXd shared = m_rows * right.transpose();
    const MatrixXd spread = left * gram;
    const GaussianError::Rows rows =
        m_error(left.cwiseProduct(spread).rowwise().sum(), left.cwiseProduct(shared).rowwise().sum());
    Eigen::Map<MatrixXd> byLeft(gradient.data(), out, rank);
    Eigen::Map<MatrixXd> byRight(gradient.data() + cut, rank, directions);
    byLeft.noalias() = rows.byOwn.asDiagonal() * spread + rows.byFull.asDiagonal() * shared;
    const MatrixXd ownLeft = rows.byOwn.asDiagonal() * left;
    const MatrixXd fullLeft = rows.byFull.asDiagonal() * left;
    byRight.noalias() = (left.transpose() * ownLeft) * right;
    byRight.noalias() += fullLeft.transpose() * m_rows;
    return rows.error.sum();
}

Result<Searched> ExactFit::search(const std::vector<NamedStart>& starts, const LowRankWatch& watch) const
{
    LbfgsOptions options;
    options.enough = kNothingLeft * m_fullFunction;
    std::optional<LbfgsResult> best;
    std::string from;
    Index rank = 0;
    for (std::size_t k = 0; k < starts.size(); ++k) {
        rank = starts[k].factors.left.cols();
        Hope hope(best ? std::optional(best->value) : std::nullopt);
        const auto goOn = [&](int iteration, double value) {
            if (watch.progress) {
                const double within = double(iteration) / options.iterations;
                watch.progress({(double(k) + within) / double(starts.size()), value / m_fullFunction});
            }
            return !watch.stop.stop_requested() && hope.has(value);
        };
        if (watch.stop.stop_requested()) {
            return stoppedFit();
        }
        const auto objective = [&](const VectorXd& at, VectorXd& gradient) { return (*this)(at, gradient, rank); };
        LbfgsResult found = minimise(objective, joined(starts[k].factors), options, goOn);
        if (watch.stop.stop_requested()) {
            return stoppedFit();
        }
        if (!best || found.value < best->value) {
            best = std::move(found);
            from = starts[k].name;
        }
        if (best->value <= options.enough) {
            break;
        }
    }
    Searched searched{parted(best->at, m_rows.rows(), rank), best->converged, ""};
    searched.note = "from the " + from + " start, " + std::to_string(best->iterations) + " iterations" +
                    (best->converged ? "" : ", not yet standing still");
    return searched;
}

Factors randomStart(const MatrixXd& rows, Index rank, std::uint64_t seed)
{
    RandomStream draws(seed, streamOf(Stream::Subspace));
    const MatrixXd drawn = gaussianMatrix<MatrixXd>(rows.cols(), rank, draws);
    const MatrixXd basis = orthogonalTriangular(drawn).q;
    return {rows * basis, basis.transpose()};
}

namespace {

using Eigen::VectorXd;

/// An approximation of the inverse Hessian from steps and the gradient's changes over them.
class Curvature {
public:
    explicit Curvature(int memory) : m_memory(std::size_t(memory)) {}

    void add(VectorXd step, VectorXd change)
    {
        const double product = step.dot(change);
        if (product <= 1e-12 * step.norm() * change.norm()) {
            return; // not convex along this step: the pair would not keep the approximation positive
        }
        m_pairs.push_back({std::move(step), std::move(change), 1 / product});
        if (m_pairs.size() > m_memory) {
            m_pairs.pop_front();
        }
    }
    void forget() { m_pairs.clear(); }
    [[nodiscard]] bool isEmpty() const { return m_pairs.empty(); }

    /// Returns −H·gradient by the two-loop recursion.
    [[nodiscard]] VectorXd descent(const VectorXd& gradient) const
    {
        VectorXd direction = -gradient;
        std::vector<double> taken(m_pairs.size());
        for (std::size_t k = m_pairs.size(); k-- > 0;) {
            taken[k] = m_pairs[k].inverse * m_pairs[k].step.dot(direction);
            direction -= taken[k] * m_pairs[k].change;
        }
        if (!m_pairs.empty()) {
            direction *= 1 / (m_pairs.back().inverse * m_pairs.back().change.squaredNorm());
        }
        for (std::size_t k = 0; k < m_pairs.size(); ++k) {
            const double back = m_pairs[k].inverse * m_pairs[k].change.dot(direction);
            direction += (taken[k] - back) * m_pairs[k].step;
        }
        return direction;
    }

private:
    struct Pair {
        VectorXd step;
        VectorXd change;
        double inverse = 0; ///< 1/(step·change)
    };
    std::size_t m_memory;
    std::deque<Pair> m_pairs;
};

struct Point {
    VectorXd at;
    VectorXd gradient;
    double value = 0;
};

/// Returns a point along `direction` that satisfies the weak Wolfe conditions. If none is found, returns the lowest
/// point tried, or the start if no point is lower.
Point searched(const LbfgsObjective& objective, const Point& from, const VectorXd& direction, double step)
{
    constexpr double kFall = 1e-4;
    constexpr double kFlatter = 0.9;
    const double slope = from.gradient.dot(direction);
    double low = 0;
    double high = std::numeric_limits<double>::infinity();
    Point best = from;
    Point tried;
    tried.gradient.resize(from.at.size());
    for (int attempt = 0; attempt < 40; ++attempt) {
        tried.at = from.at + step * direction;
        tried.value = objective(tried.at, tried.gradient);
        if (!(tried.value <= from.value + kFall * step * slope)) { // also true for NaN
            high = step;
        } else {
            if (tried.value < best.value) {
                best = tried;
            }
            if (tried.gradient.dot(direction) >= kFlatter * slope) {
                return tried;
            }
            low = step;
        }
        step = std::isfinite(high) ? (low + high) / 2 : 2 * low;
    }
    return best;
}

} // namespace

LbfgsResult minimise(const LbfgsObjective& objective, VectorXd start, const LbfgsOptions& options,
                     const LbfgsGoOn& goOn)
{
    Point now{std::move(start), {}, 0};
    now.gradient.resize(now.at.size());
    now.value = objective(now.at, now.gradient);
    Curvature curvature(options.memory);
    std::deque<double> past;
    LbfgsResult result;
    while (result.iterations < options.iterations) {
        if (now.value <= options.enough || now.gradient.isZero(0)) {
            result.converged = true;
            break;
        }
        const bool first = curvature.isEmpty();
        const VectorXd direction = curvature.descent(now.gradient);
        const double step = first ? std::min(1.0, now.value / now.gradient.squaredNorm()) : 1.0;
        Point next = searched(objective, now, direction, step);
        if (!(next.value < now.value)) {
            if (first) {
                result.converged = true; // no step along the gradient lowers the value, so only rounding remains
                break;
            }
            curvature.forget();
            continue;
        }
        curvature.add(next.at - now.at, next.gradient - now.gradient);
        now = std::move(next);
        ++result.iterations;
        past.push_back(now.value);
        if (past.size() > std::size_t(options.patience)) {
            const double fall = past.front() - now.value;
            past.pop_front();
            if (fall <= options.tolerance * std::abs(now.value)) {
                result.converged = true;
                break;
            }
        }
        if (!goOn(result.iterations, now.value)) {
            result.stopped = true;
            break;
        }
    }
    result.at = std::move(now.at);
    result.value = now.value;
    return result;
}

} // namespace residua::engine::lowrank
