// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/values.h"
#include "engine/base/machine/preparation.h"
#include "engine/compute/graph/pass.h"
#include "engine/compute/init/init_plan.h"
#include "engine/compute/init/named_parameter.h"
#include "engine/data/sets/dataset.h"
#include "projects/base/result.h"
#include "projects/check/validate.h"
#include "projects/model/project.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// One batch on the device.
struct DeviceBatch {
    at::Tensor input;  ///< int64 or int32 [batch, time] tokens (int64 on the CPU), or real [batch, …]
    at::Tensor target; ///< int64 or int32 tokens [batch, time] or labels [batch], or real [batch, outputs]
    /// The conditions and masks by the names of their fields.
    std::map<std::string, at::Tensor> conditions = {};
    /// A factor on the objective, a scalar: the number of the batch's targets, relative to their mean over the batches
    /// of the step. Undefined: 1.
    at::Tensor weight = {};
    at::Tensor draws = {}; ///< Pass::draws; undefined: those of the pass
};

/// A quantity of a batch: a mean over some of its targets, a scalar on the device.
struct BatchMean {
    std::string name; ///< quantities of one name are added
    at::Tensor mean;
    at::Tensor count = {}; ///< of the targets, a scalar on the device; undefined: every unit of the batch
};
/// All quantities of a batch.
struct BatchQuantities {
    std::vector<BatchMean> means;
    /// The examples of each class (row) by the class with the largest output (column), counted in double on the device;
    /// undefined if the objective has none.
    at::Tensor confusion = {};
};

/// The losses of a group on a batch, scalars on the device.
struct GroupLoss {
    at::Tensor trained; ///< the sum, whose gradient trains; undefined if nothing is trained
    at::Tensor judged;  ///< the objective of the judged tower; undefined unless the group computes it
};

/// Values of towers by name, which groups of losses compute for later ones.
using SharedValues = std::map<std::string, at::Tensor>;

/// A document compiled to modules: its towers (tower.h). One of them is judged (projects::judgingTower). Outputs,
/// layers and alterations are those of the first tower. Each pass carries its settings (pass.h). Engine thread only.
/// LibTorch's exceptions propagate and are caught at the session's boundary.
class CompiledNetwork {
public:
    /// Declares the parameters. Their values are undefined until initialise() or a checkpoint sets them. Errors name
    /// the place in the document. `device` is "cpu" or "cuda:N".
    [[nodiscard]] static Result<std::unique_ptr<CompiledNetwork>> compile(const projects::Project& project,
                                                                          const projects::ExampleSchema& examples,
                                                                          const std::string& device,
                                                                          SumOrder sums = SumOrder::ByHalf);
    /// The towers, by index in the document, that a network is about.
    struct About {
        std::size_t tower = 0;            ///< takes the place of the first one (projects::viewOf)
        std::optional<std::size_t> judge; ///< the judged one; nullopt: projects::judgingTower()
    };
    [[nodiscard]] static Result<std::unique_ptr<CompiledNetwork>> compile(const projects::SoundProject& document,
                                                                          const projects::ExampleSchema& examples,
                                                                          const std::string& device, SumOrder sums,
                                                                          const About& about);
    virtual ~CompiledNetwork() = default;

    /// Initialises the parameters that `wanted` accepts, or all if it is empty, from project.seeds.init. Equal
    /// documents and seeds give equal bits on the same device (init_plan.h). Returns an error if `watch` cancels.
    [[nodiscard]] virtual Status initialise(const PreparationWatch& watch,
                                            const std::function<bool(const std::string& name)>& wanted) = 0;

    /// Returns the plan with the start of each parameter and the factored weights.
    [[nodiscard]] virtual InitPlan& initPlan() = 0;

    /// Returns the output of the stack, before the head: [batch, time, d] or [batch, d].
    [[nodiscard]] virtual at::Tensor stackOutput(const DeviceBatch& batch, const Pass& pass) = 0;
    /// Returns the network of the judged tower.
    [[nodiscard]] virtual const projects::Network& judge() const = 0;
    /// Returns the terms of the judged tower's objective for an output of the first stack, without regularisers.
    [[nodiscard]] virtual std::vector<BatchMean> lossOf(const at::Tensor& stackOutput, const DeviceBatch& batch,
                                                        const Pass& pass) = 0;
    /// Returns the judged tower's output for an output of the first stack: logits [batch, time, vocab] or [batch,
    /// outputs].
    [[nodiscard]] virtual at::Tensor outputOf(const at::Tensor& stackOutput, const DeviceBatch& batch,
                                              const Pass& pass) = 0;
    /// Returns the head's output: logits [batch, time, vocab] or [batch, outputs]. The batch needs no target.
    [[nodiscard]] virtual at::Tensor forward(const DeviceBatch& batch, const Pass& pass) = 0;
    /// Returns the head's output for examples without conditions.
    [[nodiscard]] at::Tensor forward(const at::Tensor& input, const Pass& pass)
    {
        return forward(DeviceBatch{input, {}}, pass);
    }
    /// Returns the values of all towers by name (projects/nodes/towers.h).
    [[nodiscard]] virtual std::map<std::string, at::Tensor> values(const DeviceBatch& batch, const Pass& pass) = 0;
    /// Returns the number of groups of losses that train the same towers, at least 1. A step adds the gradients of
    /// lossOfGroup() for all of them.
    [[nodiscard]] virtual std::size_t lossGroups() const = 0;
    /// Returns the sum of the group's losses on a batch, in training with the regularisers. From this call to that for
    /// another group, only the parameters that the group trains require gradients.
    ///
    /// `shared` is null, or empty for the first group and then the same for all groups of the batch, in their order.
    /// With it, a tower that a group does not train keeps the values that it has from an earlier group. An objective
    /// that is only measured is computed with the first group that needs its tower. The results are the same bits.
    [[nodiscard]] virtual GroupLoss lossOfGroup(std::size_t group, const DeviceBatch& batch, const Pass& pass,
                                                SharedValues* shared) = 0;
    /// Returns the losses of a group alone. The first group has all objectives.
    [[nodiscard]] GroupLoss lossOfGroup(std::size_t group, const DeviceBatch& batch, const Pass& pass)
    {
        return lossOfGroup(group, batch, pass, nullptr);
    }
    /// Returns the trained loss of the first group, which has the towers' objectives.
    [[nodiscard]] at::Tensor loss(const DeviceBatch& batch, const Pass& pass)
    {
        return lossOfGroup(0, batch, pass).trained;
    }

    /// Returns the quantities of a batch: of the judged tower's objective "loss", without regularisers, and those that
    /// its entry has; of other towers "loss of <tower>"; and the further losses by their names.
    [[nodiscard]] virtual BatchQuantities quantities(const DeviceBatch& batch, const Pass& pass) = 0;

    /// Returns the use of each layer of the first tower that the document defines for the pass; empty if all run.
    [[nodiscard]] virtual std::vector<LayerUse> layersOf(const Pass& /*pass*/) { return {}; }
    /// Returns the use of each layer of tower `index` for the pass of the first one.
    [[nodiscard]] virtual std::vector<LayerUse> layersOf(const Pass& pass, std::size_t index) = 0;

    /// Returns true if training leaves out elements, by DeviceBatch::draws.
    [[nodiscard]] virtual bool drops() const = 0;

    /// True if a step may be recorded as a graph by Pass::layers.
    [[nodiscard]] virtual bool isRecordable() const = 0;

    /// Prepares for a training pass: rounds changed weights again, which a recorded computation does not do, and takes
    /// the pass for the last one.
    virtual void noteTraining(const Pass& /*pass*/) {}

    /// Returns why its GPU computes without the custom kernels, in one line; empty if it uses them, and on the CPU.
    [[nodiscard]] virtual std::string withoutKernels() const { return {}; }

    [[nodiscard]] virtual std::vector<NamedParameter>& parameters() = 0;
    /// Returns the current mixing coefficients (values.h, Matrix) on the host; empty for a topology with fixed weights.
    /// If layers are left out, also returns "active" of the last training pass. Synchronises with the device once.
    [[nodiscard]] virtual std::vector<Matrix> coefficients(std::int64_t step) = 0;
};

} // namespace residua::engine
