// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/graph/fusion.h"
#include "engine/graph/operator.h"
#include "engine/init/init_plan.h"
#include "engine/ops/fused.h"
#include "projects/model/graph.h"
#include "projects/model/places.h"
#include "projects/model/training_plan.h"
#include "projects/nodes/shape.h"

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace residua::engine {

/// What a graph is compiled with.
struct GraphSetting {
    projects::GraphRef ref; ///< for the places of errors
    std::string prefix;     ///< of parameter names: "stem.", "layers.3.", "head."
    const projects::Sizes& sizes;
    projects::Shape entering; ///< of every input port but these:
    /// Input ports that Pass::inputs feeds, by name. Those of a network have none: no data source has a field for them,
    /// and validation (projects/check) takes no such port.
    std::map<std::string, projects::Shape> fedByPass;
    /// The nodes that write to the residual (projects::residualWriters). None in a stem or a head; of a block that is
    /// cut in two, those of the whole.
    std::set<projects::NodeId> residualWriters;
    /// The nodes of a layer whose outputs the factor of its LayerUse multiplies, where it is not that of all of them.
    std::set<projects::NodeId> scaled = {};
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

    /// Names of the input ports whose values run takes, in its order.
    [[nodiscard]] const std::vector<std::string>& inputPorts() const { return m_inputPorts; }
    /// Names of the output ports, by whose order runAll() gives its values: that of ResolvedGraph::outputPorts.
    [[nodiscard]] const std::vector<std::string>& outputPorts() const { return m_outputPorts; }
    /// The values at the output ports. One tensor per input port; a port that the pass feeds must be among
    /// Pass::inputs. The program must outlive the backward of the values. `activations` says whether what the backward
    /// needs of the graph's inside is kept, or computed again from the inputs. Gradients have the same bits either way:
    /// those of an input's readers are summed before they meet what else reads that tensor. `layer` is what the pass
    /// does with the layer that the graph is of.
    [[nodiscard]] std::vector<at::Tensor> runAll(std::span<const at::Tensor> inputs, const Pass& pass,
                                                 projects::Activations activations = projects::Activations::Keep,
                                                 const LayerUse& layer = {});
    /// The same, where the first output is all that is wanted.
    [[nodiscard]] at::Tensor run(std::span<const at::Tensor> inputs, const Pass& pass,
                                 projects::Activations activations = projects::Activations::Keep,
                                 const LayerUse& layer = {})
    {
        return runAll(inputs, pass, activations, layer).front();
    }
    /// Its operators, in the order in which they run.
    [[nodiscard]] std::vector<Operator*> operators() const;
    /// Whether it multiplies its nodes by the layer's factor itself (GraphSetting::scaled).
    [[nodiscard]] bool scalesInside() const { return m_scalesInside; }
    /// What arrives at the first output port.
    [[nodiscard]] const projects::Shape& outputShape() const { return m_outputShape; }

private:
    friend class GraphCompiler;
    [[nodiscard]] std::vector<at::Tensor> runOn(std::span<const at::Tensor> inputs, const Pass& pass,
                                                projects::Activations activations, const LayerUse& layer);
    [[nodiscard]] std::vector<at::Tensor> runSteps(std::span<const at::Tensor> inputs, const Pass& pass,
                                                   const LayerUse& layer);

    std::vector<std::string> m_inputPorts; ///< slot i holds port i
    std::vector<std::string> m_fedByPass;  ///< the ports of the slots after those
    std::vector<ProgramStep> m_steps;
    std::vector<std::string> m_outputPorts;
    std::vector<std::size_t> m_outputs; ///< the output ports' slots
    projects::Shape m_outputShape;      ///< of the first
    std::vector<at::Tensor> m_slots;
    bool m_scalesInside = false;
    std::vector<at::Tensor> m_parameters; ///< those that its nodes made
};

} // namespace residua::engine
