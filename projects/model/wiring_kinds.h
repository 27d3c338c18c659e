// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

/// The kinds of mixing weights and of gates, with the properties of each that other code asks for. A new kind is an
/// enumerator and its traits; CONTRIBUTING.md lists the code that computes it.
namespace residua::projects {

/// The weight of a shortcut in a mix.
enum class WeightKind {
    Fixed,          ///< the initial value, never trained
    Scalar,         ///< one learned number per shortcut (GRN-v1, ANCRe)
    PerFeature,     ///< one per shortcut and feature (GRN-v2, GRN-v3)
    DepthAttention, ///< softmax over depth of a learned query with the entries (Attention Residuals)
    PerToken,       ///< by a small MLP of the current layer's input (MUDD)
};

struct WeightTraits {
    std::string_view key; ///< name in the file
    std::string_view title;
    bool isLearned = false;    ///< true if learned numbers, one for each shortcut, can give it any value
    bool isPerFeature = false; ///< true if each feature has a number of its own
    bool isPerToken = false;   ///< true if the network computes it for each token; its learned numbers are then biases
    bool readsNewest = false;  ///< true if it is computed from the newest entry, for all ports together
    /// True if it is a softmax over the entries that are read. These stay in the parameters' precision whatever the
    /// residual's precision is, as in the authors' model of Attention Residuals.
    bool attends = false;
    std::string_view words = {};     ///< description in exported code, without a full stop
    std::string_view departure = {}; ///< the difference from the plain network at the start, whatever MixInit is
    std::string_view growth = {};    ///< why a new layer with a zero branch changes the function; empty: it does not
};

[[nodiscard]] constexpr WeightTraits traitsOf(WeightKind kind)
{
    switch (kind) {
    case WeightKind::Fixed:
        return {.key = "fixed", .title = "fixed", .words = "The c_ij are fixed"};
    case WeightKind::Scalar:
        return {.key = "scalar", .title = "one number", .isLearned = true, .words = "Each c_ij is one learned number"};
    case WeightKind::PerFeature:
        return {.key = "per_feature",
                .title = "per feature",
                .isLearned = true,
                .isPerFeature = true,
                .words = "Each c_ij is a vector with a number for each feature"};
    case WeightKind::DepthAttention:
        return {.key = "depth_attention",
                .title = "attention over depth",
                .isPerToken = true,
                .attends = true,
                .words = "w_ij = softmax over i of <q_j, RMSNorm(e_i) * g_j> / τ for each token",
                .departure = "attention over depth starts as the mean of the entries",
                .growth = "attention over the depth weighs the new entries too"};
    case WeightKind::PerToken:
        return {.key = "per_token",
                .title = "per token",
                .isLearned = true,
                .isPerToken = true,
                .readsNewest = true,
                .words = "The weights of a reader are made for each token from the newest entry x: W2 GELU(W1 "
                         "RMSNorm(x)) + b"};
    }
    return {};
}

enum class BranchGateKind {
    Highway,
    ReZero,
    LaurelRw,
    LaurelLr,
    LaurelPa,
    ValueResidual,
    LaurelRwLr,
    LaurelRwLrPa,
    PostNorm, ///< a norm of the sum of residual and branch
};

/// The cost of a gate for one token of width d, without the sum of residual and branch, LAuReL's maps and factors.
struct GateCost {
    double squares = 0; ///< FLOP in d²
    double widths = 0;  ///< FLOP in d
    double kept = 0;    ///< elements for the backward pass, in d
};

/// The low-rank maps of LAuReL.
enum class LaurelMaps {
    None,
    Residual, ///< LR: of the residual
    Previous, ///< PA: of a mix of previous activations
};

struct GateTraits {
    std::string_view key; ///< name in the file
    std::string_view title;
    /// Mark on a canvas as in the papers: T and 1 − T, α on the branch, β on the residual, A and B of low rank.
    const char* symbol = "";
    int factors = 0; ///< learned factors of a module: 1 on the branch, 2 on branch and residual (LAuReL-RW)
    LaurelMaps maps = LaurelMaps::None;
    GateCost cost = {};
    /// Each is empty if it does not apply. For LAuReL, `factors` and `maps` decide instead.
    std::string_view departure = {}; ///< the difference from the plain network at the start
    std::string_view obstacle = {};  ///< why it is not a sum with weights that do not depend on the input
    std::string_view growth = {};    ///< why a new layer with a zero branch changes the function
};

inline constexpr std::string_view kGatedByInput = "its gates depend on the input";

[[nodiscard]] constexpr GateTraits traitsOf(BranchGateKind kind)
{
    switch (kind) {
    case BranchGateKind::Highway:
        return {.key = "highway",
                .title = "Highway",
                .symbol = "T",
                .cost = {.squares = 2, .widths = 4, .kept = 2},
                .departure = "its gates start between the input and the branch",
                .obstacle = kGatedByInput,
                .growth = "the gate of a new layer lets only a part of its input through"};
    case BranchGateKind::ReZero:
        return {.key = "rezero",
                .title = "ReZero",
                .symbol = "α",
                .factors = 1,
                .departure = "its branches start with a factor of 0"};
    case BranchGateKind::LaurelRw:
        return {.key = "laurel_rw", .title = "LAuReL-RW", .symbol = "α β", .factors = 2};
    case BranchGateKind::LaurelLr:
        return {.key = "laurel_lr", .title = "LAuReL-LR", .symbol = "A B", .maps = LaurelMaps::Residual};
    case BranchGateKind::LaurelPa:
        return {.key = "laurel_pa", .title = "LAuReL-PA", .symbol = "A B", .maps = LaurelMaps::Previous};
    case BranchGateKind::ValueResidual:
        return {.key = "value_residual",
                .title = "value residual",
                .departure = "half of every attention's values start as the first layer's",
                .obstacle = "it mixes values inside the attentions"};
    case BranchGateKind::LaurelRwLr:
        return {.key = "laurel_rw_lr",
                .title = "LAuReL-RW+LR",
                .symbol = "α β  A B",
                .factors = 2,
                .maps = LaurelMaps::Residual};
    case BranchGateKind::LaurelRwLrPa:
        return {.key = "laurel_rw_lr_pa",
                .title = "LAuReL-RW+LR+PA",
                .symbol = "α β  A B",
                .factors = 2,
                .maps = LaurelMaps::Previous};
    case BranchGateKind::PostNorm:
        return {.key = "post_norm",
                .title = "post-norm",
                .symbol = "norm",
                .cost = {.widths = 7, .kept = 1}, // a layer norm
                .departure = "it normalises each sum of residual and branch",
                .obstacle = "it normalises each sum of residual and branch",
                .growth = "the norm after a new layer normalises what it passes on"};
    }
    return {};
}

} // namespace residua::projects
