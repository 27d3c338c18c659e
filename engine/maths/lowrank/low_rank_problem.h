// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/training_plan.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

/// Replaces one weight by two factors that keep the layer's function close ("Nonlinear Initialization Methods for
/// Low-Rank Neural Networks"). Pure functions of their arguments: any thread, no state, doubles inside. One call uses
/// one thread, and equal problems give equal bits.
///
/// A weight is [out, in], as in a linear node: the layer computes σ(weight·x) for x in R^in. The paper writes σ(xᵀW)
/// with W in R^{d×m}: d is `in`, m is `out`, and W is the transposed weight. Its column W_i is row i of the weight, its
/// U is the transposed `right`, and its V is `left`.
namespace residua::engine {

/// The activation after the weight. Silu for a gate's weight under SwiGLU; Identity if no known activation follows.
enum class Nonlinearity { Identity, Relu, Silu, Gelu };

/// Baseline: the drawn factors, see LowRankProblem::drawnLeft. Spectral: definition 2.1, with the singular values'
/// roots on each side; optimal in ‖·‖_F. Lfai: algorithm 1, Adam on samples, from the drawn factors. LfaiWs: algorithm
/// 2, Adam from the spectral start. ReluSvd: theorem 3.3, the best choice of singular directions under a ReLU, whatever
/// activation follows. Exact: L-BFGS on the expectation itself, without samples, from several starts.
using projects::LowRankMethod;

/// Returns identity, relu, silu or gelu.
[[nodiscard]] std::string_view nameOf(Nonlinearity follows);

/// The schedule of Adam in algorithms 1 and 2; the defaults are the paper's (4.1.2).
struct LfaiCourse {
    double learningRate = 5e-3;
    std::int64_t batch = 512;
    std::int64_t stepsPerEpoch = 128;
    /// The maximum; the fit ends earlier if an epoch hardly changes the error.
    std::int64_t epochs = projects::kLfaiEpochs;
};

struct LowRankProblem {
    std::int64_t out = 0;
    std::int64_t in = 0;
    std::vector<double> weight; ///< [out, in], row-major
    std::int64_t rank = 0;      ///< 1 … min(out, in)
    /// k of a convolution whose factors read one side of a kernel k × k each: `out` is C_out·k, `in` is C_in·k. The
    /// patch x has the rows x_1 … x_k in R^in, and output o is σ(Σ_i weight_{o·k+i}·x_i). 1: a linear layer.
    std::int64_t kernel = 1;
    Nonlinearity follows = Nonlinearity::Identity;
    /// E[x·xᵀ] of the layer's inputs, [in, in], row-major, symmetric and positive semidefinite; empty: the identity.
    /// Inputs are taken as Gaussian with mean 0 and this covariance, so for real inputs it is the matrix of second
    /// moments.
    std::vector<double> covariance;
    std::uint64_t seed = 0;
    /// The draw of the factors by the network's own law, [out, rank] and [rank, in], for Baseline and Lfai. If both are
    /// empty: the paper's law, N(0, 1/inputs) truncated at two standard deviations, with each factor's own number of
    /// inputs.
    std::vector<double> drawnLeft;
    std::vector<double> drawnRight;
    LfaiCourse lfai;
};

/// Returns the size of a problem, for comparison with others.
[[nodiscard]] inline double workOf(const LowRankProblem& problem)
{
    return double(problem.out) * double(problem.in) * double(problem.rank);
}

/// The errors of the factored layer against the full one. Expectations are over the problem's Gaussian, in closed form
/// or, for Silu and Gelu, by quadrature; never by samples.
struct LowRankMeasures {
    double functionError = 0;         ///< R(Y) = E‖σ(left·right·x) − σ(weight·x)‖²
    double fullFunction = 0;          ///< E‖σ(weight·x)‖²
    double relativeFunctionError = 0; ///< the ratio of the two; 0 if both are 0
    double weightError = 0;           ///< ‖left·right − weight‖_F²
    /// The correlation of the two layers' values before σ, averaged over the outputs; rows of zeros in the weight are
    /// skipped. With identity covariance: the cosine of the rows. 1 if all rows are zero.
    double meanCorrelation = 0;
    /// Theorem 3.5 without its division by d: a lower bound on how far R of the spectral start is above the optimum,
    /// ½‖w ⊙ (√h(ρ_SVD) − ρ_SVD)‖². Proved for Relu only; nullopt under other activations.
    std::optional<double> spectralGapBound;
    double seconds = 0; ///< the duration of the fit; the only value that differs between equal fits
};

struct LowRankFit {
    std::vector<double> left;  ///< [out, rank], row-major
    std::vector<double> right; ///< [rank, in], row-major; left·right approximates the weight
    LowRankMeasures measures;
    /// False if a search ended before it converged: at Adam's last epoch, or at the maximum number of iterations.
    bool converged = true;
    /// A remark for the user, one or two sentences: the winning start, no convergence, the spectral start was kept,
    /// enumerated or greedy. May be empty.
    std::string note;
};

struct LowRankProgress {
    double fraction = 0; ///< of the maximum work, 0 to 1
    double error = 0;    ///< the relative function error so far; for Lfai, of a sample
};
/// Progress and cancellation of a fit. `progress` is called on the fitting thread and may be empty. A requested stop
/// ends the fit within one iteration, with the error stoppedFit().
struct LowRankWatch {
    std::function<void(const LowRankProgress&)> progress;
    std::stop_token stop;
};
[[nodiscard]] Error stoppedFit();

/// Calls `run` with each index below works.size(), on `threads` threads (at least 1). The calling thread is one of
/// them. Starts the largest work first, because a large fit that starts last would keep the other threads waiting.
/// Uses the threads that can be created. `run` must not throw (guardedFit).
void runOnThreads(std::span<const double> works, int threads, const std::function<void(std::size_t index)>& run);

/// Returns the Result of fit(), or an error if it throws: an exception, as for too little memory, would end the program
/// from a thread.
template <class Fit>
[[nodiscard]] auto guardedFit(const Fit& fit) -> decltype(fit())
{
    try {
        return fit();
    } catch (const std::exception& failure) {
        return Error{"", std::string("the fit failed: ") + failure.what()};
    }
}

} // namespace residua::engine
