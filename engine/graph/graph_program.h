// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/graph/fusion.h"
#include "engine/graph/layer_norms.h"
#include "engine/graph/operator.h"
#include "engine/graph/parameters.h"
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
    Parameters& parameters;
    RotaryTables& rotaryTables;
    /// Whether what the backward needs of the graph's inside is kept, or computed again from the inputs.
    projects::Activations activations = projects::Activations::Keep;
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
    /// Gradients have the same bits whether activations are kept or not: either way those of an input's readers are
    /// summed before they meet what else reads that tensor.
    [[nodiscard]] at::Tensor run(std::span<const at::Tensor> inputs, Mode mode);
    /// Its operators, in the order in which they run.
    [[nodiscard]] std::vector<Operator*> operators() const;
    /// For a graph that a value leaves or enters beside its ports: it cannot be computed again.
    void keepActivations() { m_activations = projects::Activations::Keep; }
    /// Tells `norms` of each run, as a further layer of it.
    void tell(std::shared_ptr<LayerNorms> norms);
    /// What arrives at the output port.
    [[nodiscard]] const projects::Shape& outputShape() const { return m_outputShape; }

private:
    friend class GraphCompiler;
    [[nodiscard]] at::Tensor runGated(std::span<const at::Tensor> inputs, Mode mode);
    [[nodiscard]] at::Tensor runSteps(std::span<const at::Tensor> inputs, Mode mode);

    std::vector<std::string> m_inputPorts; ///< slot i holds port i
    std::vector<ProgramStep> m_steps;
    std::size_t m_output = 0;
    std::vector<at::Tensor> m_slots;
    projects::Shape m_outputShape;
    projects::Activations m_activations = projects::Activations::Keep;
    std::vector<at::Tensor> m_parameters; ///< those that its nodes made
    std::shared_ptr<LayerNorms> m_norms;  ///< may be null
    std::size_t m_layer = 0;              ///< its number there
    std::size_t m_stream = 0;             ///< the port that the residual stream enters
};

} // namespace residua::engine
