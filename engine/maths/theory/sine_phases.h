// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <array>
#include <cstdint>
#include <vector>

/// The training that RaPTr's theorem I.1 describes, by exact population gradients.
namespace residua::engine::theory {

/// One sine neuron. Its other weights start at 0 and have gradient 0 at every step, whatever the dimension d.
struct SineNeuron {
    double w1 = 0; ///< of x_1
    double w2 = 0; ///< of x_2
    double bias = 0;
};

/// y1 = p0 + sin(⟨w_1, x⟩ + b_1), y2 = y1 + sin(⟨w_2, x⟩ + y1 + b_2) (equation 4).
struct SineNetwork {
    double p0 = 0;
    SineNeuron first;
    SineNeuron second;
};

/// Absolute errors of the output's coefficients of 1, x_1 and x_1·x_2. The target is √3/2 + √3/2·x_1 − x_1·x_2.
struct DegreeErrors {
    double time = 0; ///< η·steps since the start of all phases
    std::array<double, 3> errors{};
};

/// One phase, which ends when its error is at most `expected`, or when its time is over.
struct Phase {
    bool reached = false;
    std::int64_t steps = 0;
    double least = 0; ///< the least error at any step, as a maximum over x
};

struct SinePhases {
    Phase bias;            ///< |p0 − √3/2| (lemma I.3)
    Phase first;           ///< |p0 + sin(⟨w, x⟩ + b) − √3/2 − √3/2·x_1| of either layer alone (lemma I.4)
    Phase second;          ///< |y2 − y1 + x_1·x_2| (lemma I.5); not run unless the first phase ended
    Phase loss;            ///< the second phase until the loss of the whole network is at most η
    double singleLoss = 0; ///< of one layer alone at the end of the first phase, equation 7
    SineNetwork network;   ///< at the end
    std::vector<DegreeErrors> course; ///< of the trained part, at a few hundred steps
};

/// A single layer of any weights leaves at least this loss for this target (theorem I.2): the squared distance of
/// (√3/2, −1) from |α| + |β| ≤ 1.
inline constexpr double kSingleLayerLoss = 0.375;

/// The rates that sinePhases() takes.
inline constexpr double kLeastSineRate = 2e-4;
inline constexpr double kMostSineRate = 0.5;

/// Trains the three phases with rate η until each has an error of at most η; the bias phase until `biasError`. As in
/// the proofs, a step subtracts η times half the gradient, p0 is fixed after its phase, and both layers share the
/// first phase's result, because each has the same gradients. Returns an error for a rate outside
/// [kLeastSineRate, kMostSineRate] or a biasError that is not positive. Takes at most seconds.
[[nodiscard]] Result<SinePhases> sinePhases(double rate, double biasError);

} // namespace residua::engine::theory
