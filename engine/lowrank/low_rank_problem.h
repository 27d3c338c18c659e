// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/training_plan.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

/// Two factors in the place of one weight, chosen so that the layer's function stays near ("Nonlinear Initialization
/// Methods for Low-Rank Neural Networks"). Pure functions of their arguments: any thread, no state, doubles inside; one
/// call uses one thread, and the same problem gives the same bits.
///
/// A weight is [out, in], as a linear node keeps it: the layer computes σ(weight·x), x in R^in. The paper writes
/// σ(xᵀW) with W in R^{d×m}: d is `in`, m is `out`, W is the transposed weight, a column W_i of it is row i of the
/// weight, its U is the transposed `right` and its V is `left`.
namespace residua::engine {

/// What follows the weight. A gate's weight under SwiGLU is followed by Silu; where nothing known follows, Identity.
enum class Nonlinearity { Identity, Relu, Silu, Gelu };

/// Baseline: the drawn factors as they are, see LowRankProblem::drawnLeft. Spectral: definition 2.1, the singular
/// values' roots on each side; the best in ‖·‖_F. Lfai: algorithm 1, Adam on samples, from the drawn factors. LfaiWs:
/// algorithm 2, the same from the spectral start. ReluSvd: theorem 3.3, the best choice of singular directions under a
/// ReLU, whatever really follows. Exact: L-BFGS on the expectation itself, without samples, from several starts.
using projects::LowRankMethod;

/// identity, relu, silu, gelu.
[[nodiscard]] std::string_view nameOf(Nonlinearity follows);

/// Adam's course in algorithms 1 and 2; the defaults are the paper's (4.1.2).
struct LfaiCourse {
    double learningRate = 5e-3;
    std::int64_t batch = 512;
    std::int64_t stepsPerEpoch = 128;
    std::int64_t epochs = projects::kLfaiEpochs; ///< at most: an epoch that no longer changes the error is the last
};

struct LowRankProblem {
    std::int64_t out = 0;
    std::int64_t in = 0;
    std::vector<double> weight; ///< [out, in], row-major
    std::int64_t rank = 0;      ///< 1 … min(out, in)
    Nonlinearity follows = Nonlinearity::Identity;
    /// E[x·xᵀ] of the layer's inputs, [in, in], row-major, symmetric and not negative; empty: the identity. The inputs
    /// are taken as Gaussian with mean 0 and this covariance, so of real inputs it is the matrix of second moments.
    std::vector<double> covariance;
    std::uint64_t seed = 0;
    /// The draw of the factors by the network's own law, [out, rank] and [rank, in], for Baseline and Lfai. Both empty:
    /// the paper's law, N(0, 1/inputs) cut at two standard deviations, for each factor by its own count of inputs.
    std::vector<double> drawnLeft;
    std::vector<double> drawnRight;
    LfaiCourse lfai;
};

/// How far the factored layer is from the full one. Expectations are over the problem's Gaussian, in closed form or,
/// for Silu and Gelu, by quadrature; never by samples.
struct LowRankMeasures {
    double functionError = 0;         ///< R(Y) = E‖σ(left·right·x) − σ(weight·x)‖²
    double fullFunction = 0;          ///< E‖σ(weight·x)‖²
    double relativeFunctionError = 0; ///< the former over the latter; 0 where both are 0
    double weightError = 0;           ///< ‖left·right − weight‖_F²
    /// Mean over the outputs of the correlation of the two layers' values before σ; rows of the weight that are zero
    /// are left out. For a covariance of the identity: the cosine of the rows. 1 where all are zero.
    double meanCorrelation = 0;
    /// Theorem 3.5 without its division by d: at least so much R is left by the spectral start above the optimum,
    /// ½‖w ⊙ (√h(ρ_SVD) − ρ_SVD)‖². It is proved for Relu alone: nullopt under anything else.
    std::optional<double> spectralGapBound;
    double seconds = 0; ///< what the fit took; the one number here that differs from time to time
};

struct LowRankFit {
    std::vector<double> left;  ///< [out, rank], row-major
    std::vector<double> right; ///< [rank, in], row-major; left·right stands for the weight
    LowRankMeasures measures;
    /// False where a search ended before it stood still: Adam's last epoch, or the largest number of iterations.
    bool converged = true;
    /// A sentence or two for the user where something is to be said: which start won, that it did not converge, that
    /// the spectral start was kept, enumerated or greedy. May be empty.
    std::string note;
};

struct LowRankProgress {
    double fraction = 0; ///< of the work that is the most there can be, 0 … 1
    double error = 0;    ///< the relative function error reached; of a sample for Lfai
};
/// How a fit is watched. `progress` is called on the fitting thread and may be empty. A requested stop ends the fit
/// within one iteration, with the error stoppedFit().
struct LowRankWatch {
    std::function<void(const LowRankProgress&)> progress;
    std::stop_token stop;
};
[[nodiscard]] Error stoppedFit();

} // namespace residua::engine
