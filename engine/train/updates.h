// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/optimiser.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace residua::engine {

/// The optimiser's states of one parameter, which statesOf() declares.
class ParameterStates {
public:
    /// Creates states of zeros.
    ParameterStates(const projects::UpdateRule& rule, const projects::TrainedParameter& parameter,
                    const at::TensorOptions& options);

    struct State {
        projects::OptimiserState is;
        at::Tensor tensor;
    };
    [[nodiscard]] const std::vector<State>& all() const { return m_states; }
    /// Returns an undefined tensor if the parameter has no such state.
    [[nodiscard]] at::Tensor operator[](std::string_view name) const;
    void clear();
    /// Copies the values of another parameter's states, or sets zeros if their names or shapes differ.
    void copyFrom(const ParameterStates& other);
    /// Increments the count on the host. Returns the number of updates, this one included.
    [[nodiscard]] double countOnHost() const;

private:
    std::vector<State> m_states;
};

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
    [[nodiscard]] std::vector<at::Tensor> states(std::string_view name) const;
    /// Increments the counts on the device, as the update of a skipped step does on a GPU.
    void countSkipped() const;
};

/// The step that an update belongs to.
struct UpdateStep {
    double rate = 0;         ///< of the group
    at::Tensor scale;        ///< ≥ 1, divides the gradients; undefined: 1
    at::Tensor skip;         ///< 1 if nothing may change, else 0; always 0 on a processor
    bool roundsTo16 = false; ///< products of matrices may be in bf16

    [[nodiscard]] at::Tensor gradientOf(const UpdateGroup::Member& member) const;
    /// Writes the value to `target` unless the step is skipped.
    void store(const at::Tensor& target, const at::Tensor& value) const;
};

/// Updates the parameters and states of a group by its algorithm. Only GaLore waits for the device, when it chooses a
/// projection.
void update(const projects::AdamW& adamW, const UpdateGroup& group, const UpdateStep& step);
void update(const projects::Sgd& sgd, const UpdateGroup& group, const UpdateStep& step);
void update(const projects::Adafactor& adafactor, const UpdateGroup& group, const UpdateStep& step);
void update(const projects::Galore& galore, const UpdateGroup& group, const UpdateStep& step);
void update(const projects::Muon& muon, const UpdateGroup& group, const UpdateStep& step);
void update(const projects::Lion& lion, const UpdateGroup& group, const UpdateStep& step);

} // namespace residua::engine
