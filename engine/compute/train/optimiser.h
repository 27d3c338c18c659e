// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/network/network.h"
#include "engine/compute/ranks/parameter_shares.h"
#include "engine/compute/runtime/rounded_weights.h"
#include "engine/compute/train/tensor_io.h"
#include "engine/compute/train/updates.h"
#include "projects/base/result.h"
#include "projects/model/training_plan.h"

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace residua::engine {

/// A slice of a parameter that a step does not change, including its moments.
struct HeldSlice {
    std::size_t parameter = 0; ///< the parameter's index
    std::int64_t dimension = 0;
    std::int64_t begin = 0;
    std::int64_t length = 0;
};

/// Updates the parameters of a network from their gradients by the plan's rule for each. A step does not wait for the
/// device: clipping and the check for gradients that are not finite happen there. (GaLore waits when it chooses a
/// projection.) Engine thread.
class Optimiser {
public:
    /// `parameters` must outlive it. With `shares`, which may be null, it keeps and updates this rank's share alone,
    /// and receives the other values; all ranks then call step() and state(). With the parameters' `rounded` copies,
    /// which may be null, a kernel writes these too.
    Optimiser(const projects::TrainingPlan& plan, std::vector<NamedParameter>& parameters,
              std::unique_ptr<ParameterShares> shares = nullptr, std::shared_ptr<RoundedWeights> rounded = nullptr);

    /// Updates the parameters once from their gradients, after clipping. A parameter without a gradient is skipped and
    /// keeps its states. Held elements keep their values, whatever their decay and moments. If the norm is not finite,
    /// nothing is updated. Slices in `untouched` keep their values and moments; the states of their parameters must
    /// have the parameters' shapes. Returns the global norm before clipping, a scalar on the device.
    at::Tensor step(double rate, std::span<const HeldSlice> untouched = {});
    void clearGradients();
    /// Copies the states of the parameter at index `from` to the one at `to`; zeros if the algorithms differ.
    void copyMoments(std::size_t from, std::size_t to);
    void clearMoments(std::size_t of);

    /// Returns the states, named "<parameter>.<state>". With shares, also completes the values of the parameters.
    [[nodiscard]] HostTensors state() const;
    /// Returns the shares, or null.
    [[nodiscard]] ParameterShares* shares() const { return m_shares.get(); }
    /// True if the algorithms keep any state.
    [[nodiscard]] bool keepsStates() const;
    /// Loads the result of state(). If nothing is stored, as in checkpoints of imported weights, resets the state to
    /// that before the first step.
    [[nodiscard]] Status load(const TensorFiles& stored);
    /// Reads the stored states of the parameter `name` into those of the one at index `of`.
    [[nodiscard]] Status loadMoments(std::size_t of, const TensorFiles& stored, const std::string& name);
    /// Reads them by `take`, which copies some of a state's elements into one of the parameter's shape, or returns why
    /// they do not fit. Resets the states if the algorithm has any that is neither of that shape nor a number.
    using TakeElements = std::function<Status(const at::Tensor& from, const at::Tensor& to)>;
    [[nodiscard]] Status takeMoments(std::size_t of, const TensorFiles& stored, const std::string& name,
                                     const TakeElements& take);

private:
    /// The parameters of one rule.
    struct Group {
        projects::UpdateRule rule;
        std::vector<std::size_t> parameters; ///< their indices
    };

    [[nodiscard]] UpdateGroup gathered(const Group& group) const;
    /// Removes the members that other ranks update.
    void keepOwn(UpdateGroup& group) const;
    /// Updates the groups by LibTorch's operators.
    void updateByTensors(const std::vector<UpdateGroup>& groups,
                         const std::function<const UpdateStep&(const UpdateGroup&)>& stepOf,
                         std::span<const HeldSlice> untouched);
    /// Updates a group under AdamW by the CUDA kernel, which does not write held elements and untouched slices. Returns
    /// false, without an effect, if the algorithm is another one or the device has no kernel.
    [[nodiscard]] bool updatedByKernel(const UpdateGroup& group, const UpdateStep& step,
                                       std::span<const HeldSlice> untouched);
    /// Returns the held elements of a parameter in its shape; undefined if it has none.
    [[nodiscard]] at::Tensor maskOf(std::size_t index);
    /// Returns a copy of each parameter that has held elements.
    [[nodiscard]] std::vector<at::Tensor> heldValues() const;
    void restoreHeld(const std::vector<at::Tensor>& values);
    /// Returns the slices as views of the parameters and of their states.
    [[nodiscard]] std::vector<at::Tensor> viewsOf(std::span<const HeldSlice> slices) const;

    double m_clipNorm = 0;
    bool m_roundsTo16 = false;
    std::vector<NamedParameter>& m_parameters;
    std::unique_ptr<ParameterShares> m_shares; ///< null: each rank updates all parameters
    std::shared_ptr<RoundedWeights> m_rounded; ///< null: no copies
    std::vector<ParameterStates> m_states;     ///< of each parameter; those of other ranks have no memory
    std::vector<Group> m_groups;               ///< those without decay before those with it
    std::map<std::size_t, at::Tensor> m_masks;
};

} // namespace residua::engine
