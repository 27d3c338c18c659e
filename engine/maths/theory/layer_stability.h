// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <cstdint>
#include <span>
#include <vector>

namespace residua::engine::theory {

/// The norm of the shared matrix A that is set to 1. The paper says ‖A‖₂ ≤ 1 without defining the norm.
enum class SharedNorm {
    Frobenius, ///< the gap then falls as the paper's L^−0.4 for every τ < 1
    Spectral,  ///< the gap then falls faster for larger τ
};

/// What a layer computes; lemma 5.4 of RaPTr covers all three.
enum class LinearForm {
    Whole,           ///< (a) y + W·y/‖y‖
    WithoutResidual, ///< (b) W·y/‖y‖
    WithoutNorm,     ///< (c) y + W·y
};

/// The linear residual network with normalisation in RaPTr's figure 4: y^(l) = y^(l−1) + W_l·y^(l−1)/‖y^(l−1)‖ with W_l
/// = √τ·A + √(1−τ)·G^(l), where all layers share A and each has its own G^(l).
struct NormalisedLinear {
    std::int64_t dimension = 100; ///< d
    std::int64_t inputs = 100;    ///< the number of inputs x, uniform on the unit sphere
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
/// Draws a network of `layers` layers and measures it with about layers²/2 products [d, d]·[d, inputs]. G has entries
/// from N(0, 1/d), as in the paper's proofs; A is a Gaussian matrix divided by its norm. With the same seed, a deeper
/// network has the same first layers. Returns an error for a number of layers, features or inputs below 1, or τ outside
/// [0, 1].
[[nodiscard]] Result<LinearStability> linearStability(const NormalisedLinear& network, std::int64_t layers);

/// Returns the exponent p of the y = a·x^p that fits best in the logarithms; NaN for fewer than two positive points.
[[nodiscard]] double fittedPower(std::span<const double> x, std::span<const double> y);

} // namespace residua::engine::theory
