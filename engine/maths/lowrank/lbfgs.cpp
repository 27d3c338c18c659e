// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/maths/lowrank/lbfgs.h"

#include <cmath>
#include <deque>
#include <limits>
#include <vector>

namespace residua::engine::lowrank {
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
