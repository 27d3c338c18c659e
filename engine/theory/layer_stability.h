// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <cstdint>
#include <span>
#include <vector>

namespace residua::engine::theory {

/// What of the shared matrix A is 1. The paper says ‖A‖₂ ≤ 1 and does not say which norm it means.
enum class SharedNorm {
    Frobenius, ///< then the gap falls as the paper's L^−0.4 whatever τ < 1
    Spectral,  ///< then it falls the faster the larger τ is
};

/// What the layers have: lemma 5.4 of RaPTr is of all three.
enum class LinearForm {
    Whole,           ///< (a) y + W·y/‖y‖
    WithoutResidual, ///< (b) W·y/‖y‖
    WithoutNorm,     ///< (c) y + W·y
};

/// The linear residual network with normalisation that RaPTr draws in figure 4: y^(l) = y^(l−1) +
/// W_l·y^(l−1)/‖y^(l−1)‖, W_l = √τ·A + √(1−τ)·G^(l), A shared and G^(l) its own for each layer.
struct NormalisedLinear {
    std::int64_t dimension = 100; ///< d
    std::int64_t inputs = 100;    ///< x, uniform on the unit sphere
    double shared = 0.5;          ///< τ, in [0, 1]
    SharedNorm norm = SharedNorm::Frobenius;
    LinearForm form = LinearForm::Whole;
    std::uint64_t seed = 1;
};

/// Means over the inputs.
struct LinearStability {
    std::vector<double> norms;   ///< ‖y^(l)‖₂ of layers 1..L
    std::vector<double> effects; ///< Ψ_l = ‖F₋ₗ(x) − F(x)‖₂ (definition 5.2)
    double gap = 0;              ///< (1/L)·Σ Ψ_l/‖F(x)‖₂, which bounds the gap of the losses (theorem 5.3)
};
/// Draws a network of `layers` layers and measures it: about layers²/2 products [d, d]·[d, inputs]. G has entries N(0,
/// 1/d), as the paper's proofs do; A is a Gaussian matrix over its norm. The same seed gives a deeper network the same
/// first layers. Errors: a number of layers, features or inputs below 1, τ outside [0, 1].
[[nodiscard]] Result<LinearStability> linearStability(const NormalisedLinear& network, std::int64_t layers);

/// The exponent p of y = a·x^p that fits best in the logarithms; NaN for fewer than two points above 0.
[[nodiscard]] double fittedPower(std::span<const double> x, std::span<const double> y);

} // namespace residua::engine::theory
