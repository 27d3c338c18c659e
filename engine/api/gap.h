// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/training_plan.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// How far weights in two factors are from the full ones ("Nonlinear Initialization Methods for Low-Rank Neural
/// Networks"): plain values, any thread.
namespace residua::engine {

/// A line of the gap: a weight that is held in factors, u [out, rank] and v [rank, in], or the features ω of an
/// attention, which stand for its softmax.
///
/// Of features the fields mean something else. `out` is the number of features of all key-value heads, `rank` that of
/// one head, `in` a head's width. Methods: one that searches (lfai, lfai-ws, exact) is the fit of appendix B, any other
/// the features as they were drawn or, for a run, learned. GapFit, with P the attention matrices of the softmax and P̂
/// those of the features, on held-out sequences: functionError is Σ‖P − P̂‖_F², fullFunction Σ‖P‖_F², weightError the
/// squared distance by which the fit has moved ω, and meanCorrelation the correlation of P with P̂, averaged over the
/// heads.
struct GapWeight {
    enum class Subject { Weight, Features };

    std::string name; ///< of the whole weight: "layers.1.up.weight"
    std::int64_t out = 0;
    std::int64_t in = 0;
    std::int64_t rank = 0;
    std::string activation = {}; ///< of a weight, the σ that all its readers apply: "relu"; empty where none is known
    Subject subject = Subject::Weight;

    [[nodiscard]] bool isOfFeatures() const { return subject == Subject::Features; }
    /// What follows, in one word for tables and files: the activation, "identity" where none is known, "softmax" of
    /// features.
    [[nodiscard]] std::string follows() const;
    /// Sets subject and activation to those of which follows() gives `word`.
    void setFollows(const std::string& word);
    bool operator==(const GapWeight&) const = default;
};

/// What one method leaves of one weight. Expectations are over Gaussian inputs x, in closed form or by quadrature.
struct GapFit {
    enum class State { Pending, Fitted, Failed };
    State state = State::Pending;
    double functionError = 0;   ///< E‖σ(u·v·x) − σ(W·x)‖²
    double fullFunction = 0;    ///< E‖σ(W·x)‖²
    double weightError = 0;     ///< ‖u·v − W‖_F²
    double meanCorrelation = 0; ///< over the outputs, of their values before σ
    /// How far the spectral start's functionError is above the least possible one, at least (theorem 3.5); known under
    /// a ReLU alone.
    std::optional<double> spectralGapBound;
    double seconds = 0; ///< that the fit took when it was made
    bool converged = true;
    std::string note; ///< what is to be said of the fit, or why it failed; may be empty

    /// functionError over fullFunction; 0 where both are.
    [[nodiscard]] double relativeError() const { return fullFunction > 0 ? functionError / fullFunction : 0; }
    /// The bound over fullFunction.
    [[nodiscard]] std::optional<double> relativeBound() const;
    bool operator==(const GapFit&) const = default;
};

/// The fits of a network's weights, each weight by each method.
struct Gap {
    std::vector<GapWeight> weights; ///< in the network's order
    std::vector<projects::LowRankMethod> methods;
    std::vector<GapFit> fits; ///< [weight·methods + method]
    /// By method: ‖f(x) − F(x)‖² / ‖F(x)‖², the outputs f of the network with all these weights in factors and F of the
    /// same with the full ones, on a batch of held data. nullopt: not known, or not yet.
    std::vector<std::optional<double>> outputs;
    /// What x is: standard normal, or normal with the second moments of what each weight reads of the data.
    projects::LowRankInputs inputs = projects::LowRankInputs::Gaussian;
    std::int64_t step = 0;          ///< of the checkpoint that the weights are from; 0: as they are drawn
    std::vector<std::string> notes; ///< what a person should know

    [[nodiscard]] const GapFit& fit(std::size_t weight, std::size_t method) const
    {
        return fits[weight * methods.size() + method];
    }
    [[nodiscard]] GapFit& fit(std::size_t weight, std::size_t method) { return fits[weight * methods.size() + method]; }
    /// Fits that are no longer pending.
    [[nodiscard]] std::size_t done() const;
    bool operator==(const Gap&) const = default;
};

} // namespace residua::engine
