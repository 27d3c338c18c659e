// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/optimiser.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace residua::engine {

/// The tensors of an algorithm's states.
template <class Algorithm>
using StateTensors = typename Algorithm::template States<at::Tensor>;

/// The tensors of one of these algorithms' states.
template <class... Algorithms>
std::variant<StateTensors<Algorithms>...> stateTensorsOf(const std::variant<Algorithms...>& algorithm);

/// The optimiser's states of one parameter, which statesOf() declares.
class ParameterStates {
public:
    /// Creates none, for a tensor that no step updates.
    ParameterStates() = default;
    /// Creates states of zeros.
    ParameterStates(const projects::UpdateRule& rule, const projects::TrainedParameter& parameter,
                    const at::TensorOptions& options);

    struct State {
        projects::OptimiserState is;
        at::Tensor tensor;
    };
    [[nodiscard]] const std::vector<State>& all() const { return m_states; }
    /// Returns the states of the rule's algorithm.
    template <class Algorithm>
    [[nodiscard]] const StateTensors<Algorithm>& of(const Algorithm&) const
    {
        return std::get<StateTensors<Algorithm>>(m_tensors);
    }
    void clear();
    /// Copies the values of another parameter's states, or sets zeros if their names or shapes differ.
    void copyFrom(const ParameterStates& other);

private:
    std::vector<State> m_states;
    decltype(stateTensorsOf(projects::Optimiser())) m_tensors; ///< of m_states
};
/// Increments a count on the host. Returns the number of updates, this one included.
[[nodiscard]] double counted(const at::Tensor& step);

/// The parameters of one rule that have a gradient in a step.
struct UpdateGroup {
    struct Member {
        at::Tensor parameter;
        at::Tensor gradient;
        const ParameterStates* states = nullptr;
        std::size_t index = 0; ///< of the parameter in its network
    };

    projects::UpdateRule rule;
    std::vector<Member> members;

    [[nodiscard]] std::vector<at::Tensor> parameters() const;
    [[nodiscard]] std::vector<at::Tensor> gradients() const;
    /// Returns a state of the group's algorithm, which every member must have.
    template <class Algorithm, class State>
    [[nodiscard]] std::vector<at::Tensor> states(const Algorithm& algorithm,
                                                 State StateTensors<Algorithm>::*state) const
    {
        std::vector<at::Tensor> tensors;
        for (const Member& member : members) {
            const State& of = member.states->of(algorithm).*state;
            if constexpr (std::is_same_v<State, at::Tensor>) {
                tensors.push_back(of);
            } else {
                tensors.push_back(of.value());
            }
        }
        return tensors;
    }
    /// Returns the group in parts whose members have one shape and one count on the host. A part has one member, or
    /// parameters of at most `bytes` together.
    [[nodiscard]] std::vector<UpdateGroup> parts(std::int64_t bytes) const;
    /// Increments the counts on the device, as the update of a skipped step does on a GPU.
    void countSkipped() const;
};

/// Tensors of one shape as one, so that an operator on them is one launch.
struct JoinedTensors {
    explicit JoinedTensors(std::vector<at::Tensor> all);

    std::vector<at::Tensor> members;
    at::Tensor values; ///< [members, …]: a view of the only one, or a copy of several
};

/// The step that an update belongs to.
struct UpdateStep {
    double rate = 0;             ///< of the group
    at::Tensor scale;            ///< ≥ 1, divides the gradients; undefined: 1
    at::Tensor skip;             ///< 1 if nothing may change, else 0; always 0 on a processor
    bool roundsTo16 = false;     ///< products of matrices may be in bf16
    std::int64_t joinsBytes = 0; ///< the largest part of a group that has several members

    /// Returns the scaled gradients [members, …] of a part.
    [[nodiscard]] at::Tensor gradientsOf(const UpdateGroup& part) const;
    /// Writes the values [members, …] to the members unless the step is skipped.
    void store(const JoinedTensors& targets, const at::Tensor& values) const;
};

/// Updates the parameters and states of a group by its algorithm: AdamW and SGD all at once, GaLore each by itself, and
/// the others in parts of one shape, so that their launches do not grow with the number of layers. Only GaLore waits
/// for the device, when it chooses a projection.
void update(const projects::AdamW& adamW, const UpdateGroup& group, const UpdateStep& step);
void update(const projects::Sgd& sgd, const UpdateGroup& group, const UpdateStep& step);
void update(const projects::Adafactor& adafactor, const UpdateGroup& group, const UpdateStep& step);
void update(const projects::Galore& galore, const UpdateGroup& group, const UpdateStep& step);
void update(const projects::Muon& muon, const UpdateGroup& group, const UpdateStep& step);
void update(const projects::Lion& lion, const UpdateGroup& group, const UpdateStep& step);

} // namespace residua::engine
