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

/// A slice of a parameter that a step does not change, including its moments.
struct HeldSlice {
    std::size_t parameter = 0; ///< the parameter's index
    std::int64_t dimension = 0;
    std::int64_t begin = 0;
    std::int64_t length = 0;
};

/// Updates the parameters of a network from their gradients. A step never waits for the device: clipping and the check
/// for gradients that are not finite happen there. Engine thread.
class Optimiser {
public:
    virtual ~Optimiser() = default;

    /// Makes the plan's optimiser for `parameters`, which must outlive it.
    [[nodiscard]] static std::unique_ptr<Optimiser> make(const projects::TrainingPlan& plan,
                                                         std::vector<NamedParameter>& parameters);

    /// Updates the parameters once from their gradients, after clipping. A parameter without a gradient is skipped and
    /// keeps its moments. Held elements keep their values, whatever their decay and moments. If the norm is not finite,
    /// nothing is updated. Slices in `untouched` keep their values and moments. Returns the global norm before
    /// clipping, a scalar on the device.
    at::Tensor step(double rate, std::span<const HeldSlice> untouched = {});
    void clearGradients();
    /// Copies the moments of the parameter at index `from` to the one at `to`, which must have the same shape. If
    /// `from` has none, as before the first step, `to` gets none.
    void copyMoments(std::size_t from, std::size_t to);
    void clearMoments(std::size_t of);

    /// Returns the moments, named "<parameter>.<moment>".
    [[nodiscard]] HostTensors state() const;
    /// Loads the result of state(). If nothing is stored, as in checkpoints of imported weights, resets the state to
    /// that before the first step.
    [[nodiscard]] Status load(const TensorFiles& stored);
    /// Reads the stored moments of the parameter `name` into those of the parameter at index `of`.
    [[nodiscard]] Status loadMoments(std::size_t of, const TensorFiles& stored, const std::string& name);

protected:
    /// A kind of state of every parameter. `Count` is one number: how many updates the parameter has had.
    struct Moment {
        std::string name;
        enum class Shape { AsParameter, Count } shape = Shape::AsParameter;
    };

    Optimiser(double clipNorm, std::vector<NamedParameter>& parameters, std::vector<Moment> kinds);

    /// The parameters of one decay that have a gradient, with their moments: moments[kind][index]. Kept between steps
    /// to reuse its memory.
    struct Group {
        std::vector<std::size_t> indices; ///< of the parameters
        std::vector<at::Tensor> parameters;
        std::vector<at::Tensor> gradients;
        std::vector<std::vector<at::Tensor>> moments;
    };
    /// `scale` ≥ 1 divides the gradients (clipping; undefined: no clipping). `skip` is 1 if nothing may be updated.
    virtual void update(Group& group, Decay decay, double rate, const at::Tensor& scale, const at::Tensor& skip) = 0;
    /// Updates all groups, then restores held elements and the slices in `untouched`.
    virtual void updateAll(double rate, const at::Tensor& scale, const at::Tensor& skip,
                           std::span<const HeldSlice> untouched);

    [[nodiscard]] const std::vector<NamedParameter>& parameters() const { return m_parameters; }
    [[nodiscard]] const Group& groupOf(Decay decay) const { return m_groups[decay == Decay::Yes ? 1 : 0]; }

private:
    void gather(Group& group, Decay decay) const;
    /// Returns a copy of each parameter that has held elements.
    [[nodiscard]] std::vector<at::Tensor> heldValues() const;
    void restoreHeld(const std::vector<at::Tensor>& values);
    /// Returns the slices as views of the parameters and of the moments with the parameter's shape.
    [[nodiscard]] std::vector<at::Tensor> viewsOf(std::span<const HeldSlice> slices) const;

    double m_clipNorm = 0;
    std::vector<NamedParameter>& m_parameters;
    std::vector<Moment> m_kinds;
    std::vector<std::vector<at::Tensor>> m_moments; ///< [parameter][kind]
    std::array<Group, 2> m_groups;                  ///< by decay
    std::vector<at::Tensor> m_gradients;            ///< of all groups
};

} // namespace residua::engine
