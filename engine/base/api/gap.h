// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/training_plan.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// The error of factored weights against the full ones ("Nonlinear Initialization Methods for Low-Rank Neural
/// Networks"), as plain values for any thread.
/// Summaries, orders and files of the fits of a network's weights. Any thread.
namespace residua::engine {

/// A weight held in factors u [out, rank] and v [rank, in].
struct GapFactors {
    std::int64_t out = 0;
    std::int64_t in = 0;
    std::int64_t rank = 0;
    std::string activation = {}; ///< the σ that all readers of the weight apply: "relu"; empty if unknown
    bool operator==(const GapFactors&) const = default;
};
/// The features ω [heads, rank, width] that approximate an attention's softmax. A method that searches (lfai, lfai-ws,
/// exact) is the fit of appendix B; any other uses the features as drawn or, for a run, as learned.
struct GapFeatures {
    std::int64_t heads = 0; ///< with keys of their own
    std::int64_t rank = 0;  ///< features of a head
    std::int64_t width = 0; ///< of a head
    bool operator==(const GapFeatures&) const = default;
};

/// A row of the gap.
struct GapWeight {
    std::string name; ///< of the full weight, "layers.1.up.weight", or of the features
    std::variant<GapFactors, GapFeatures> is = {};

    /// The row in tables and files. For features, `out` is their number in all heads, and `in` the width of a head.
    struct Columns {
        std::int64_t out = 0;
        std::int64_t in = 0;
        std::int64_t rank = 0;
        std::string follows; ///< the activation, "identity" if it is unknown, or "softmax" for features
    };
    [[nodiscard]] Columns columns() const;
    [[nodiscard]] static GapWeight from(std::string name, const Columns& columns);
    /// Returns null for features.
    [[nodiscard]] const GapFactors* factors() const { return std::get_if<GapFactors>(&is); }
    bool operator==(const GapWeight&) const = default;
};

/// The errors of one method on one weight. Expectations are over Gaussian inputs x, in closed form or by quadrature.
/// For features, sums over held-out sequences of the attention matrices P by the softmax and P̂ by the features.
struct GapFit {
    enum class State { Pending, Fitted, Failed };
    State state = State::Pending;
    double functionError = 0;   ///< E‖σ(u·v·x) − σ(W·x)‖²; Σ‖P − P̂‖_F²
    double fullFunction = 0;    ///< E‖σ(W·x)‖²; Σ‖P‖_F²
    double weightError = 0;     ///< ‖u·v − W‖_F²; the squared distance that the fit moved ω
    double meanCorrelation = 0; ///< of the outputs before σ, averaged over them; of P and P̂, averaged over the heads
    /// A lower bound on how far the spectral start's functionError is above the least possible one (theorem 3.5). Known
    /// under a ReLU only.
    std::optional<double> spectralGapBound = {};
    double seconds = 0; ///< the time that the fit took
    bool converged = true;
    std::string note = {}; ///< a remark on the fit, or why it failed; may be empty

    /// Returns functionError / fullFunction, or 0 if both are 0.
    [[nodiscard]] double relativeError() const { return fullFunction > 0 ? functionError / fullFunction : 0; }
    /// Returns spectralGapBound / fullFunction.
    [[nodiscard]] std::optional<double> relativeBound() const;
    bool operator==(const GapFit&) const = default;
};

/// The fits of a network's weights: each weight by each method.
struct Gap {
    std::vector<GapWeight> weights; ///< in the network's order
    std::vector<projects::LowRankMethod> methods;
    std::vector<GapFit> fits; ///< [weight·methods + method]
    /// By method: ‖f(x) − F(x)‖² / ‖F(x)‖², where f is the network with all these weights in factors and F the network
    /// with the full ones, on a batch of held-out data. nullopt if unknown or not computed yet.
    std::vector<std::optional<double>> outputs;
    /// The distribution of x: standard normal, or normal with the second moments of each weight's inputs in the data.
    projects::LowRankInputs inputs = projects::LowRankInputs::Gaussian;
    std::int64_t step = 0;          ///< of the checkpoint that holds the weights; 0: the initial weights
    std::vector<std::string> notes; ///< notes for the user

    [[nodiscard]] const GapFit& fit(std::size_t weight, std::size_t method) const
    {
        return fits[weight * methods.size() + method];
    }
    [[nodiscard]] GapFit& fit(std::size_t weight, std::size_t method) { return fits[weight * methods.size() + method]; }
    /// Returns the number of fits that are no longer pending.
    [[nodiscard]] std::size_t done() const;
    bool operator==(const Gap&) const = default;
};

/// The totals of one method over all weights that it was fitted to.
struct GapTotal {
    double relativeError = 0; ///< Σ functionError over Σ fullFunction
    double seconds = 0;
    std::size_t weights = 0;
};
[[nodiscard]] GapTotal totalOf(const Gap& gap, std::size_t method);

enum class GapOrder {
    Layer, ///< the network's order
    Size,  ///< by the number of elements of the full weight, largest first
    Error, ///< by the error of the first method, largest first
};
/// Returns the indices of the weights in this order.
[[nodiscard]] std::vector<std::size_t> ordered(const Gap& gap, GapOrder order);

/// Returns every finished fit as a line, in the order of `weights`.
[[nodiscard]] std::string csvOf(const Gap& gap, const std::vector<std::size_t>& weights);

} // namespace residua::engine
