// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/network/network.h"
#include "engine/train/tensor_io.h"
#include "projects/base/result.h"
#include "projects/model/training_plan.h"

#include <ATen/core/Tensor.h>

#include <array>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace residua::engine {

/// A slice of a parameter that a step leaves as it is, moments included.
struct HeldSlice {
    std::size_t parameter = 0; ///< its index
    std::int64_t dimension = 0;
    std::int64_t begin = 0;
    std::int64_t length = 0;
};

/// Updates the parameters of a network from their gradients. Nothing in a step waits for the device: clipping, and the
/// guard against a gradient that is not finite, are decided there. Engine thread.
class Optimiser {
public:
    virtual ~Optimiser() = default;

    /// Makes the one that the plan names for `parameters`, which must outlive it.
    [[nodiscard]] static std::unique_ptr<Optimiser> make(const projects::TrainingPlan& plan,
                                                         std::vector<NamedParameter>& parameters);

    /// One update with the gradients that are defined, after clipping; a parameter without one is skipped and its
    /// moments stay. Held elements keep their values, whatever their decay and moments. Where the norm is not finite
    /// nothing is updated. Slices that are `untouched` keep their values and moments. Returns the global norm before
    /// clipping: a scalar on the device.
    at::Tensor step(double rate, std::span<const HeldSlice> untouched = {});
    void clearGradients();
    /// Gives the parameter at index `to` the moments of the one at `from`, whose shape it has, or none where that has
    /// none, as before the first step.
    void copyMoments(std::size_t from, std::size_t to);
    void clearMoments(std::size_t of);

    /// Moments under "<parameter>.<moment>".
    [[nodiscard]] HostTensors state() const;
    /// Loads what state() gave. Where nothing is stored, as in checkpoints of imported weights, it is as before the
    /// first step.
    [[nodiscard]] Status load(const TensorFiles& stored);
    /// Reads the stored moments of the parameter `name` into those of the one at index `of`.
    [[nodiscard]] Status loadMoments(std::size_t of, const TensorFiles& stored, const std::string& name);

protected:
    /// A kind of state that every parameter has. `Count` is one number, how often it was updated.
    struct Moment {
        std::string name;
        enum class Shape { AsParameter, Count } shape = Shape::AsParameter;
    };

    Optimiser(double clipNorm, std::vector<NamedParameter>& parameters, std::vector<Moment> kinds);

    /// The parameters of one decay that have a gradient, and their moments: moments[kind][index]. Kept from step to
    /// step, so that its memory is used again.
    struct Group {
        std::vector<at::Tensor> parameters;
        std::vector<at::Tensor> gradients;
        std::vector<std::vector<at::Tensor>> moments;
    };
    /// `scale` ≥ 1 divides the gradients (clipping; undefined: none); `skip` is 1 where nothing must be updated.
    virtual void update(Group& group, Decay decay, double rate, const at::Tensor& scale, const at::Tensor& skip) = 0;

private:
    void gather(Group& group, Decay decay) const;
    /// A copy of each parameter that has held elements.
    [[nodiscard]] std::vector<at::Tensor> heldValues() const;
    void restoreHeld(const std::vector<at::Tensor>& values);
    /// The slices of the parameters, and of those of their moments that have their shape.
    [[nodiscard]] std::vector<at::Tensor> viewsOf(std::span<const HeldSlice> slices) const;

    double m_clipNorm = 0;
    std::vector<NamedParameter>& m_parameters;
    std::vector<Moment> m_kinds;
    std::vector<std::vector<at::Tensor>> m_moments; ///< [parameter][kind]
    std::array<Group, 2> m_groups;                  ///< by decay
    std::vector<at::Tensor> m_gradients;            ///< of all groups
};

} // namespace residua::engine
