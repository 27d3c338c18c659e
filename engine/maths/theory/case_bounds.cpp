// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/maths/theory/case_bounds.h"
#include "engine/maths/theory/shortcut_bounds.h"
#include "projects/base/text.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace residua::engine::theory {

namespace {

// The tolerance for products of doubles that should be 0 or 1.
constexpr double kRounding = 1e-9;

std::string shapeText(const DenseMatrix& a)
{
    return "[" + std::to_string(a.rows()) + ", " + std::to_string(a.cols()) + "]";
}

Status checkOne(const std::string& name, const DenseMatrix& a, std::int64_t rows, std::int64_t columns)
{
    if (a.rows() != rows || a.cols() != columns) {
        return Error{name, "got " + shapeText(a) + ", expected [" + std::to_string(rows) + ", " +
                               std::to_string(columns) + "]"};
    }
    if (!a.allFinite()) {
        return Error{name, "got a value that is not finite, expected finite numbers"};
    }
    return Done{};
}

Status checkShapes(const LinearCase& start)
{
    const std::int64_t d = start.x.rows();
    const std::int64_t n = start.x.cols();
    if (d < 1 || n < 1) {
        return Error{"X", "got " + shapeText(start.x) + ", expected at least one row and one column"};
    }
    for (const auto& [name, matrix] : {std::pair{"X", &start.x}, std::pair{"Y", &start.y}}) {
        RESIDUA_TRY(checkOne(name, *matrix, d, n));
    }
    for (std::size_t k = 0; k < start.weights.size(); ++k) {
        RESIDUA_TRY(checkOne("W_" + std::to_string(k + 1), start.weights[k], d, d));
    }
    return Done{};
}

Premise enoughLayers(std::size_t layers)
{
    return {"K ≥ 3", layers >= 3, "K = " + std::to_string(layers)};
}

Premise whitened(const DenseMatrix& x)
{
    const DenseMatrix departure = x * x.transpose() - DenseMatrix::Identity(x.rows(), x.rows());
    const double largest = departure.cwiseAbs().maxCoeff();
    return {"X X^T = I", largest <= kRounding, "largest departure " + numberText(largest, 6)};
}

/// Returns ½(‖Y‖² − ‖A‖²), for whitened X and A = Y X^T.
double residualLoss(const DenseMatrix& y, const DenseMatrix& a)
{
    const double lost = (y.squaredNorm() - a.squaredNorm()) / 2;
    return std::max(0.0, lost);
}

bool standsAlone(const DenseMatrix& a, std::int64_t i, double tolerance)
{
    for (std::int64_t j = 0; j < a.cols(); ++j) {
        if (j != i && (std::abs(a(i, j)) > tolerance || std::abs(a(j, i)) > tolerance)) {
            return false;
        }
    }
    return true;
}

/// Returns a_i(0) if coordinate i has the properties that the proof of B.1 requires of coordinate d; else 0.
double slowStart(const LinearCase& start, const DenseMatrix& target, std::int64_t i)
{
    const double tolerance = kRounding * std::max(1.0, target.norm());
    bool fits = std::abs(target(i, i)) <= tolerance && standsAlone(target, i, tolerance);
    for (const DenseMatrix& weight : start.weights) {
        fits = fits && standsAlone(weight, i, 0);
    }
    const double w = 1 + start.weights.front()(i, i);
    const double u = start.weights.back()(i, i);
    fits = fits && u > 0 && u <= w && w <= 1;
    double product = w;
    for (std::size_t k = 1; k < start.weights.size(); ++k) {
        fits = fits && start.weights[k](i, i) == u;
        product *= u;
    }
    return fits ? product : 0;
}

bool allMet(const std::vector<Premise>& premises)
{
    return std::ranges::all_of(premises, &Premise::met);
}

} // namespace

bool SlowBound::holds() const
{
    return allMet(premises);
}

double SlowBound::atTime(double time) const
{
    double sum = residual;
    for (const double start : starts) {
        const auto bound = slowLossBound(layers, start, time);
        sum += bound ? *bound : 0;
    }
    return sum;
}

double SlowBound::atStep(std::int64_t step, double learningRate) const
{
    double sum = residual;
    for (const double start : starts) {
        const auto bound = slowLossBoundAtStep(layers, start, step, learningRate);
        sum += bound ? *bound : 0;
    }
    return sum;
}

Result<SlowBound> slowBound(const LinearCase& start)
{
    RESIDUA_TRY(checkShapes(start));
    SlowBound bound;
    bound.layers = std::int64_t(start.weights.size());
    bound.premises = {enoughLayers(start.weights.size()), whitened(start.x)};
    const bool sound = bound.holds();
    const DenseMatrix target = start.y * start.x.transpose();
    for (std::int64_t i = 0; sound && i < target.rows(); ++i) {
        if (const double a = slowStart(start, target, i); a > 0) {
            bound.starts.push_back(a);
        }
    }
    bound.residual = bound.premises.back().met ? residualLoss(start.y, target) : 0;
    bound.premises.push_back({"a coordinate of its own with target 0 and 0 < W_2 = … = W_K ≤ 1 + W_1 ≤ 1",
                              !bound.starts.empty(),
                              std::to_string(bound.starts.size()) + " of " + std::to_string(target.rows())});
    return bound;
}

bool FastBound::holds() const
{
    return allMet(premises);
}

double FastBound::atTime(double time) const
{
    const auto bound = fastLossBound(removableLoss, lambda, time);
    return holds() && bound ? residual + *bound : std::numeric_limits<double>::infinity();
}

double FastBound::atStep(std::int64_t step, double learningRate) const
{
    return atTime(learningRate * double(step));
}

Result<FastBound> fastBound(const LinearCase& start)
{
    RESIDUA_TRY(checkShapes(start));
    FastBound bound;
    bound.premises = {enoughLayers(start.weights.size()), whitened(start.x)};
    const bool sound = bound.holds();
    Premise small{"every ‖W_k(0)‖_F ≤ δ(λ) for some λ in (0, 1)", false, "not looked at: a premise before it fails"};
    if (sound) {
        const DenseMatrix target = start.y * start.x.transpose();
        DenseMatrix output = DenseMatrix::Identity(start.x.rows(), start.x.rows());
        double largest = 0;
        for (std::size_t k = 0; k < start.weights.size(); ++k) {
            if (k + 1 == start.weights.size()) {
                output += DenseMatrix::Identity(start.x.rows(), start.x.rows()); // the shortcut 0:K−1
            }
            output = start.weights[k] * output;
            largest = std::max(largest, start.weights[k].norm());
        }
        output -= target;
        bound.removableLoss = output.squaredNorm() / 2;
        bound.residual = residualLoss(start.y, target);
        const auto lambda = smallestLambda(std::int64_t(start.weights.size()), bound.removableLoss, largest);
        small.met = lambda.ok();
        small.got = lambda ? "largest norm " + numberText(largest, 6) + ", λ = " + numberText(*lambda, 6)
                           : lambda.error().message;
        bound.lambda = lambda ? *lambda : 1;
    }
    bound.premises.push_back(std::move(small));
    return bound;
}

} // namespace residua::engine::theory
