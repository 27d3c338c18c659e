// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace residua::projects {

/// Each algorithm has a template States with the values that it keeps for a parameter between steps, initially zero: T
/// is the declaration of a state or its tensor. map() returns the results of `make` for each.

/// Calls `make` with the value, if there is one.
template <class T, class Make>
[[nodiscard]] auto mapState(const std::optional<T>& value, const Make& make)
{
    return value ? std::optional(make(*value)) : std::nullopt;
}

/// Adam with decoupled weight decay.
struct AdamW {
    double beta1 = 0.9;
    double beta2 = 0.98;
    double epsilon = 1e-8;
    double weightDecay = 0.1;
    bool operator==(const AdamW&) const = default;

    template <class T>
    struct States {
        T mean;
        T square;
        T step;
        template <class Make>
        auto map(const Make& make) const
        {
            return States<std::invoke_result_t<Make, T>>{make(mean), make(square), make(step)};
        }
    };
};
struct Sgd {
    double momentum = 0.0;
    double weightDecay = 0.0;
    bool operator==(const Sgd&) const = default;

    template <class T>
    struct States {
        std::optional<T> momentum;
        template <class Make>
        auto map(const Make& make) const
        {
            return States<std::invoke_result_t<Make, T>>{mapState(momentum, make)};
        }
    };
};
/// Adafactor without momentum, by the rules of T5X.
struct Adafactor {
    double decayExponent = 0.8;      ///< c of β₂ = 1 − t⁻ᶜ
    double epsilon = 1e-30;          ///< ε₁, added to the squared gradient
    double leastScale = 1e-3;        ///< ε₂, the lower bound of a weight's root mean square
    double clipThreshold = 1.0;      ///< d, the maximum root mean square of an update
    std::int64_t factoredFrom = 128; ///< squares are factored if the tensor's second-largest side is at least this
    double weightDecay = 0.0;        ///< not scaled by the learning rate
    bool operator==(const Adafactor&) const = default;

    template <class T>
    struct States {
        std::optional<T> square; ///< if the squares are not factored
        std::optional<T> row;    ///< with the column, if they are
        std::optional<T> column;
        T step;
        template <class Make>
        auto map(const Make& make) const
        {
            return States<std::invoke_result_t<Make, T>>{mapState(square, make), mapState(row, make),
                                                         mapState(column, make), make(step)};
        }
    };
};
/// The side or sides of a gradient [m, n] that GaLore projects.
enum class GaloreSide {
    Shorter, ///< right if m ≥ n, else left
    Longer,
    Left,
    Right,
    Both,
};
/// Adam on low-rank projections of the gradients of hidden matrices; the Adam of the package galore-torch on the rest.
struct Galore {
    double beta1 = 0.9;
    double beta2 = 0.999;
    double epsilon = 1e-6;
    double weightDecay = 0.0;
    std::int64_t rank = 128;
    std::int64_t gap = 200; ///< updates until the projection is chosen again
    double scale = 0.25;    ///< factor of the update after it is projected back
    GaloreSide side = GaloreSide::Shorter;
    bool operator==(const Galore&) const = default;

    template <class T>
    struct States {
        T mean; ///< of the projected gradient
        T square;
        T step;
        std::optional<T> left;  ///< the projection P [m, r]
        std::optional<T> right; ///< the projection Q [r, n]
        template <class Make>
        auto map(const Make& make) const
        {
            return States<std::invoke_result_t<Make, T>>{make(mean), make(square), make(step), mapState(left, make),
                                                         mapState(right, make)};
        }
    };
};
/// The factor on Muon's rate for a weight [m, n].
enum class MuonScaling {
    Original,  ///< √max(1, m/n) (Jordan)
    Moonlight, ///< 0.2·√max(m, n), which makes updates as large as AdamW's
};
/// Orthogonalised momentum for hidden matrices, AdamW for the rest.
struct Muon {
    double momentum = 0.95;
    bool nesterov = true;
    std::int64_t iterations = 5; ///< of Newton and Schulz
    MuonScaling scaling = MuonScaling::Original;
    double weightDecay = 0.0;
    AdamW rest{.beta1 = 0.9, .beta2 = 0.95, .epsilon = 1e-10, .weightDecay = 0.0};
    double restRate = 0.015; ///< learning rate of the rest as a share of the plan's
    bool operator==(const Muon&) const = default;

    template <class T>
    struct States {
        T momentum;
        template <class Make>
        auto map(const Make& make) const
        {
            return States<std::invoke_result_t<Make, T>>{make(momentum)};
        }
    };
};
struct Lion {
    double beta1 = 0.9;
    double beta2 = 0.99;
    double weightDecay = 0.0;
    bool operator==(const Lion&) const = default;

    template <class T>
    struct States {
        T momentum;
        template <class Make>
        auto map(const Make& make) const
        {
            return States<std::invoke_result_t<Make, T>>{make(momentum)};
        }
    };
};
using Optimiser = std::variant<AdamW, Sgd, Adafactor, Galore, Muon, Lion>;

/// The declared class of a parameter. Vectors include single numbers, and the features of an attention's kernel.
enum class ParameterClass { Matrix, Table, Vector };
/// The role of a parameter in the network.
enum class ParameterRole {
    Any,       ///< every parameter (for groups)
    Hidden,    ///< a matrix of a layer
    Embedding, ///< a table, or a matrix of the stem
    Head,      ///< a matrix of the head
    Vector,    ///< a gain, a bias, a factor
    Topology,  ///< a parameter of the depth wiring, of any shape
};
/// The parameters of a group that decay.
enum class GroupDecay { AsDeclared, All, None };

/// Parameters that are trained by another algorithm, or at another rate, than the plan's.
struct ParameterGroup {
    std::string names = "*"; ///< pattern of their names; * matches any text
    ParameterRole role = ParameterRole::Any;
    Optimiser optimiser = AdamW{};
    double rateScale = 1.0; ///< learning rate as a share of the plan's
    GroupDecay decay = GroupDecay::AsDeclared;
    bool operator==(const ParameterGroup&) const = default;
};

/// The place of matrices in a parameter.
struct MatrixForm {
    bool stacks = false;   ///< the first dimension counts matrices, such as those of the modules
    std::int64_t rows = 0; ///< the dimension of a matrix's rows; the others are its columns
    bool operator==(const MatrixForm&) const = default;
};

/// The properties of a parameter that decide its rule.
struct TrainedParameter {
    std::string name; ///< "layers.3.attention.q.weight"
    std::vector<std::int64_t> shape;
    ParameterClass is = ParameterClass::Matrix;
    bool decays = true;                              ///< by its declaration
    std::optional<MatrixForm> matrix = std::nullopt; ///< of a parameter of the wiring; nullopt: it holds no matrices
};
[[nodiscard]] ParameterRole parameterRoleOf(const TrainedParameter& parameter);

/// The update rule of one parameter.
struct UpdateRule {
    Optimiser algorithm; ///< for Muon and a parameter that it does not update: its AdamW
    double rateScale = 1.0;
    double weightDecay = 0.0; ///< of this parameter; the algorithm's own is not read
    /// For Muon, and for Adafactor if it stacks: of a parameter of the wiring. Nullopt: the parameter is one matrix,
    /// [rows, …].
    std::optional<MatrixForm> matrix = std::nullopt;
    bool operator==(const UpdateRule&) const = default;
};
/// Returns the rule of the first group that contains the parameter, else that of `optimiser`.
[[nodiscard]] UpdateRule ruleOf(const Optimiser& optimiser, const std::vector<ParameterGroup>& groups,
                                const TrainedParameter& parameter);

/// A tensor that an algorithm keeps for a parameter between steps, initially zero.
struct OptimiserState {
    enum class Kind {
        Elements,    ///< of the parameter's type, on its device
        Count,       ///< the number of updates: a float on the parameter's device
        CountOnHost, ///< the same on the host, readable without waiting for the device
    };
    std::string_view name; ///< in a checkpoint, after the parameter's
    std::vector<std::int64_t> shape;
    Kind kind = Kind::Elements;
};
[[nodiscard]] AdamW::States<OptimiserState> statesOf(const AdamW& algorithm, const TrainedParameter& parameter);
[[nodiscard]] Sgd::States<OptimiserState> statesOf(const Sgd& algorithm, const TrainedParameter& parameter);
[[nodiscard]] Adafactor::States<OptimiserState> statesOf(const Adafactor& algorithm, const TrainedParameter& parameter);
[[nodiscard]] Galore::States<OptimiserState> statesOf(const Galore& algorithm, const TrainedParameter& parameter);
[[nodiscard]] Muon::States<OptimiserState> statesOf(const Muon& algorithm, const TrainedParameter& parameter);
[[nodiscard]] Lion::States<OptimiserState> statesOf(const Lion& algorithm, const TrainedParameter& parameter);
/// Returns the states of the algorithm as a list.
[[nodiscard]] std::vector<OptimiserState> statesOf(const Optimiser& algorithm, const TrainedParameter& parameter);
/// Returns the number of elements of all states except the counts.
[[nodiscard]] double stateElements(const Optimiser& algorithm, const TrainedParameter& parameter);
/// Returns whether every state except counts has the parameter's shape, so that slices of both correspond.
[[nodiscard]] bool keepsShapes(const Optimiser& algorithm);

/// Returns the dimensions over which Adafactor averages the squares of a tensor: its two largest, the larger one first
/// (the later of equals). Empty if the squares are not factored.
[[nodiscard]] std::vector<std::int64_t> factoredDimensions(const Adafactor& algorithm,
                                                           const std::vector<std::int64_t>& shape);
/// Returns whether the text matches the pattern, in which * matches any characters.
[[nodiscard]] bool matchesPattern(std::string_view text, std::string_view pattern);

} // namespace residua::projects
