// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "engine/data/dataset.h"
#include "engine/graph/pass.h"
#include "engine/host/preparation.h"
#include "engine/init/init_plan.h"
#include "engine/init/named_parameter.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace residua::engine {

/// Inputs on the device.
struct DeviceBatch {
    at::Tensor input;  ///< int64 or int32 [batch, time] tokens, or real [batch, inputs]
    at::Tensor target; ///< int64 or int32 [batch, time] (int64 on the CPU), or real [batch, outputs]
};

/// A document compiled to modules: stem → stack → head, each graph run in topological order, the layers connected by a
/// LayerWiring. What a pass is for, its caller says with each (pass.h). Engine thread only. Torch's exceptions pass
/// through and are caught at the session's boundary.
class CompiledNetwork {
public:
    /// Declares the parameters, whose numbers mean nothing until initialise() or a checkpoint gives them. Errors name
    /// the place in the document. `device` is "cpu" or "cuda:N".
    [[nodiscard]] static Result<std::unique_ptr<CompiledNetwork>>
    compile(const projects::Project& project, const projects::ExampleSchema& examples, const std::string& device);
    virtual ~CompiledNetwork() = default;

    /// Starts the parameters that `wanted` names, all where it is empty, from project.seeds.init: the same document and
    /// seed give the same bits on the same device (init_plan.h). An error where `watch` gives it up.
    [[nodiscard]] virtual Status initialise(const PreparationWatch& watch,
                                            const std::function<bool(const std::string& name)>& wanted) = 0;

    /// How its parameters start, and which of its weights are in factors.
    [[nodiscard]] virtual InitPlan& initPlan() = 0;

    /// What leaves the stack, before the head: [batch, time, d] or [batch, d].
    [[nodiscard]] virtual at::Tensor stackOutput(const at::Tensor& input, const Pass& pass) = 0;
    /// The head and the objective on what has left the stack, without regularisers.
    [[nodiscard]] virtual at::Tensor lossOf(const at::Tensor& stackOutput, const at::Tensor& target,
                                            const Pass& pass) = 0;
    /// Head output: logits [batch, time, vocab] or [batch, outputs].
    [[nodiscard]] virtual at::Tensor forward(const at::Tensor& input, const Pass& pass) = 0;
    /// The objective on a batch, a scalar on the device (which one, the document says), plus the
    /// regularisers when training.
    [[nodiscard]] virtual at::Tensor loss(const DeviceBatch& batch, const Pass& pass) = 0;

    /// What the document has the pass do with each layer; empty: it runs all.
    [[nodiscard]] virtual std::vector<LayerUse> layersOf(const Pass& /*pass*/) { return {}; }

    /// Why its GPU computes without our kernels, in one line; empty if it uses them, and on the CPU.
    [[nodiscard]] virtual std::string withoutKernels() const { return {}; }

    [[nodiscard]] virtual std::vector<NamedParameter>& parameters() = 0;
    /// The mixing coefficients now (values.h, Matrix), copied to the host; empty for a topology with fixed weights.
    /// One device synchronisation in all. Where layers are left out, "active" of the last training pass too.
    [[nodiscard]] virtual std::vector<Matrix> coefficients(std::int64_t step) = 0;
};

} // namespace residua::engine
