// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/maths/theory/shortcut_bounds.h"

#include "projects/base/text.h"

#include <cmath>
#include <numbers>

namespace residua::engine::theory {

namespace {

Status checkLayers(std::int64_t layers)
{
    if (layers < 3) {
        return Error{"layers K", "got " + std::to_string(layers) + ", expected 3 or more"};
    }
    return Done{};
}

Status checkAtLeastZero(const char* what, double value)
{
    if (!(value >= 0 && std::isfinite(value))) {
        return Error{what, "got " + numberText(value, 6) + ", expected a finite number, 0 or more"};
    }
    return Done{};
}

Status checkSlow(std::int64_t layers, double start)
{
    RESIDUA_TRY(checkLayers(layers));
    if (!(start > 0 && start <= 1)) {
        return Error{"start a(0)", "got " + numberText(start, 6) + ", expected above 0 and at most 1"};
    }
    return Done{};
}

/// Returns m of a' ≥ −K·a^(1+m), from w^2·u^2(K−2) = a^m·w^(2/(K−1)) and w ≤ 1.
double slowExponent(std::int64_t layers)
{
    return 2.0 * double(layers - 2) / double(layers - 1);
}

/// The parts of log δ. δ itself leaves the range of a double for losses of a few hundred.
struct StartBudget {
    double rootBeta = 0; ///< √β = (λ/2)^(1/(K−1))
    double byStart = 0;  ///< √(2βL(0))/(1 − λ)², from ‖W_K(0)‖
    double byDrift = 0;  ///< √(2π)L(0)/(2(1 − λ)³), from the distance that W_K can move
    [[nodiscard]] double logDelta() const { return std::log(rootBeta) - byStart - byDrift; }
};

StartBudget startBudget(std::int64_t layers, double loss, double lambda)
{
    const double left = 1 - lambda;
    const double rootBeta = std::pow(lambda / 2, 1 / double(layers - 1));
    return {rootBeta, std::sqrt(2 * loss) * rootBeta / (left * left),
            std::sqrt(2 * std::numbers::pi) * loss / (2 * left * left * left)};
}

/// Returns λ·d(log δ)/dλ. It decreases in λ, so δ has one maximum.
double logDeltaSlope(std::int64_t layers, double loss, double lambda)
{
    const StartBudget budget = startBudget(layers, loss, lambda);
    const double own = 1 / double(layers - 1);
    const double ratio = lambda / (1 - lambda);
    return own - budget.byStart * (own + 2 * ratio) - budget.byDrift * 3 * ratio;
}

/// Returns the last λ in (0, end) for which `rising` holds; it is true below and false above.
template <class Rising>
double bisect(double end, Rising rising)
{
    // Enough to reach λ = 10^−60 from 1: small starts of deep networks need λ far below one rounding error.
    constexpr int kHalvings = 200;
    double low = 0;
    double high = end;
    for (int k = 0; k < kHalvings; ++k) {
        const double middle = low + (high - low) / 2;
        (rising(middle) ? low : high) = middle;
    }
    return high;
}

} // namespace

Result<double> slowLossBound(std::int64_t layers, double start, double time)
{
    RESIDUA_TRY(checkSlow(layers, start));
    RESIDUA_TRY(checkAtLeastZero("time t", time));
    const double m = slowExponent(layers);
    const double a = start * std::pow(1 + double(layers) * m * std::pow(start, m) * time, -1 / m);
    return a * a / 2;
}

// A step multiplies w by 1 − ηu^2(K−1) and u by 1 − ηw²u^2(K−2). Therefore u ≤ w ≤ 1 is preserved, and a loses at most
// the fraction ηK·a^m ≤ q. By convexity in that fraction, a^−m grows in a step by at most ((1 − q)^−m −
// 1)·a^−m·(ηK·a^m/q).
Result<double> slowLossBoundAtStep(std::int64_t layers, double start, std::int64_t step, double learningRate)
{
    RESIDUA_TRY(checkSlow(layers, start));
    if (step < 0) {
        return Error{"step", "got " + std::to_string(step) + ", expected 0 or more"};
    }
    const double m = slowExponent(layers);
    const double share = learningRate * double(layers) * std::pow(start, m);
    if (!(learningRate > 0 && share < 1)) {
        return Error{"learning rate η", "got " + numberText(learningRate, 6) + ", expected above 0 and below " +
                                            numberText(learningRate / share, 6) +
                                            ", where one step may pass the minimum"};
    }
    const double stretch = std::expm1(-m * std::log1p(-share)) / (m * share);
    return slowLossBound(layers, start, stretch * learningRate * double(step));
}

Result<double> fastLossBound(double initialLoss, double lambda, double time)
{
    RESIDUA_TRY(checkAtLeastZero("loss L(0)", initialLoss));
    if (!(lambda >= 0 && lambda < 1)) {
        return Error{"λ", "got " + numberText(lambda, 6) + ", expected 0 or more and below 1"};
    }
    RESIDUA_TRY(checkAtLeastZero("time t", time));
    return initialLoss * std::exp(-2 * (1 - lambda) * (1 - lambda) * time);
}

Result<double> largestStart(std::int64_t layers, double initialLoss, double lambda)
{
    RESIDUA_TRY(checkLayers(layers));
    RESIDUA_TRY(checkAtLeastZero("loss L(0)", initialLoss));
    if (!(lambda > 0 && lambda < 1)) {
        return Error{"λ", "got " + numberText(lambda, 6) + ", expected above 0 and below 1"};
    }
    return std::exp(startBudget(layers, initialLoss, lambda).logDelta());
}

Result<double> smallestLambda(std::int64_t layers, double initialLoss, double largestNorm)
{
    RESIDUA_TRY(checkLayers(layers));
    RESIDUA_TRY(checkAtLeastZero("loss L(0)", initialLoss));
    RESIDUA_TRY(checkAtLeastZero("largest ‖W_k(0)‖_F", largestNorm));
    constexpr double kBelowOne = 1 - 1e-12;
    const double peak =
        bisect(kBelowOne, [&](double lambda) { return logDeltaSlope(layers, initialLoss, lambda) > 0; });
    const double logNorm = std::log(largestNorm);
    const double logLargest = startBudget(layers, initialLoss, peak).logDelta();
    if (logNorm > logLargest) {
        return Error{"start", "the largest ‖W_k(0)‖_F is " + numberText(largestNorm, 6) +
                                  ", and with L(0) = " + numberText(initialLoss, 6) + " no λ admits more than e^" +
                                  numberText(logLargest, 6) + " = " + numberText(std::exp(logLargest), 6)};
    }
    return bisect(peak, [&](double lambda) { return startBudget(layers, initialLoss, lambda).logDelta() < logNorm; });
}

} // namespace residua::engine::theory
