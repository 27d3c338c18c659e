// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/graph/fusion.h"
#include "engine/graph/init_plan.h"
#include "engine/graph/operator.h"
#include "engine/ops/fused.h"
#include "projects/model/graph.h"
#include "projects/model/places.h"
#include "projects/model/training_plan.h"
#include "projects/nodes/shape.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace residua::engine {

/// What a graph is compiled with.
struct GraphSetting {
    projects::GraphRef ref; ///< for the places of errors
    std::string prefix;     ///< of parameter names: "stem.", "layers.3.", "head."
    const projects::Sizes& sizes;
    projects::Shape entering; ///< of every input port
    InitPlan& plan;
    RotaryTables& rotaryTables;
    projects::NodeId tiedNode{}; ///< the node that uses `tied` as its weight, where that is defined
    at::Tensor tied;
};

/// A graph as a list of steps over numbered slots, made once; running it looks nothing up and frees each value after
/// its last reader.
class GraphProgram {
public:
    [[nodiscard]] static Result<GraphProgram> compile(const projects::Graph& graph, const GraphSetting& setting);

    /// Names of the graph's input ports, in the order in which run takes them.
    [[nodiscard]] const std::vector<std::string>& inputPorts() const { return m_inputPorts; }
    /// The value at the output port. One tensor per input port. The program must outlive the backward of it.
    /// `activations` says whether what the backward needs of the graph's inside is kept, or computed again from the
    /// inputs. Gradients have the same bits either way: those of an input's readers are summed before they meet what
    /// else reads that tensor.
    [[nodiscard]] at::Tensor run(std::span<const at::Tensor> inputs, const Pass& pass,
                                 projects::Activations activations = projects::Activations::Keep);
    /// Its operators, in the order in which they run.
    [[nodiscard]] std::vector<Operator*> operators() const;
    /// What arrives at the output port.
    [[nodiscard]] const projects::Shape& outputShape() const { return m_outputShape; }

private:
    friend class GraphCompiler;
    [[nodiscard]] at::Tensor runSteps(std::span<const at::Tensor> inputs, const Pass& pass);

    std::vector<std::string> m_inputPorts; ///< slot i holds port i
    std::vector<ProgramStep> m_steps;
    std::size_t m_output = 0;
    std::vector<at::Tensor> m_slots;
    projects::Shape m_outputShape;
    std::vector<at::Tensor> m_parameters; ///< those that its nodes made
};

} // namespace residua::engine
