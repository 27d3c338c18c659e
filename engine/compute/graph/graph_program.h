// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/graph/fusion.h"
#include "engine/compute/graph/operator.h"
#include "engine/compute/init/init_plan.h"
#include "engine/compute/ops/fused.h"
#include "projects/depth/visit_adapters.h"
#include "projects/model/graph.h"
#include "projects/model/training_plan.h"
#include "projects/nodes/ffn_site.h"
#include "projects/nodes/shape.h"

#include <ATen/TensorOperators.h>

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace residua::engine {

/// The settings for compiling a graph.
struct GraphSetting {
    projects::GraphRef ref; ///< named in errors
    std::string prefix;     ///< of parameter names: "stem.", "layers.3.", "head."
    const projects::Sizes& sizes;
    projects::Shape entering; ///< the shape of every input port except:
    /// The input ports that Pass::inputs feeds, by name: those of the examples' conditions and masks.
    std::map<std::string, projects::Shape> fedByPass;
    /// The nodes that write to the residual (projects::residualWriters). Empty for a stem or a head; for one half of a
    /// block, those of the whole block.
    std::set<projects::NodeId> residualWriters;
    /// The ends of the halves of a block that is one program (LayerUse::attention).
    std::optional<projects::HalfEnds> halves = {};
    /// The nodes whose outputs are multiplied by the layer's factor inside the graph; empty if the whole branch is
    /// multiplied.
    std::set<projects::NodeId> scaled = {};
    double startFactor = 1;                ///< of the matrices' start, but those of queries and keys (PostNormFactors)
    double depth = 0;                      ///< of a layer: 0 is the first stored one, 1 the last one
    projects::VisitAdapters adapters = {}; ///< what a visit adds to the weights
    InitPlan& plan;
    RotaryTables& rotaryTables;
    projects::NodeId tiedNode{}; ///< the node with the weight `tied`, if that is defined
    at::Tensor tied;
};

/// The residual x + branch before the sum is computed, so that the norm that reads it computes it in its own pass.
struct Residual {
    at::Tensor x;      ///< undefined if the value is absent
    at::Tensor branch; ///< undefined if nothing is added to x

    [[nodiscard]] at::Tensor sum() const { return branch.defined() ? x + branch : x; }
};

/// A graph as a list of steps over numbered slots. It is made once; running it needs no lookups and frees each value
/// after its last reader.
class GraphProgram {
public:
    [[nodiscard]] static Result<GraphProgram> compile(const projects::Graph& graph, const GraphSetting& setting);

    /// Returns the names of the input ports, in the order of run's inputs.
    [[nodiscard]] const std::vector<std::string>& inputPorts() const { return m_inputPorts; }
    /// Returns the names of the output ports, in the order of runAll's results: that of ResolvedGraph::outputPorts.
    [[nodiscard]] const std::vector<std::string>& outputPorts() const { return m_outputPorts; }
    /// Returns the values at the output ports. `inputs` has one tensor per input port; ports that the pass feeds must
    /// be in Pass::inputs. The program must outlive the backward. `activations` says whether inner values are kept for
    /// the backward or recomputed from the inputs. Both give the same bits: the gradients of an input's readers inside
    /// are summed before those of outside readers are added. `layer` is the pass's use of the graph's layer.
    [[nodiscard]] std::vector<at::Tensor> runAll(std::span<const at::Tensor> inputs, const Pass& pass,
                                                 projects::Activations activations = projects::Activations::Keep,
                                                 const LayerUse& layer = {});
    /// Returns the first output only.
    [[nodiscard]] at::Tensor run(std::span<const at::Tensor> inputs, const Pass& pass,
                                 projects::Activations activations = projects::Activations::Keep,
                                 const LayerUse& layer = {})
    {
        return runAll(inputs, pass, activations, layer).front();
    }
    /// True if the program has one input port. Only such a program has the functions below.
    [[nodiscard]] bool takesResidual() const { return m_sumsInput; }
    /// As runAll(), of a sum.
    [[nodiscard]] std::vector<at::Tensor> runAll(const Residual& input, const Pass& pass,
                                                 projects::Activations activations = projects::Activations::Keep,
                                                 const LayerUse& layer = {});
    /// Returns the input plus the first output. The halves of a block are added one after the other, (input + a) + f.
    /// If `branch` is not null, sets it to the first output, a + f.
    [[nodiscard]] Residual runOnResidual(const Residual& input, const Pass& pass, projects::Activations activations,
                                         const LayerUse& layer, at::Tensor* branch);
    /// Returns the operators in execution order.
    [[nodiscard]] std::vector<Operator*> operators() const;
    /// True if the program multiplies its nodes by the layer's factor itself (GraphSetting::scaled).
    [[nodiscard]] bool scalesInside() const { return m_scalesInside; }
    /// Returns the shape at the first output port.
    [[nodiscard]] const projects::Shape& outputShape() const { return m_outputShape; }

private:
    friend class GraphCompiler;
    /// The results of a run: the slots of all outputs, or the two terms of the residual, with the branch if wanted.
    enum class Results { Outputs, Residual, ResidualAndBranch };

    /// Returns the slots of the results.
    [[nodiscard]] std::vector<std::size_t> slotsOf(Results results) const;
    [[nodiscard]] std::vector<at::Tensor> runOn(std::vector<at::Tensor> inputs, const Pass& pass,
                                                projects::Activations activations, const LayerUse& layer,
                                                Results results = Results::Outputs);
    [[nodiscard]] std::vector<at::Tensor> runOnSum(const Residual& input, const Pass& pass,
                                                   projects::Activations activations, const LayerUse& layer,
                                                   Results results);
    [[nodiscard]] std::vector<at::Tensor> runSteps(std::span<const at::Tensor> inputs, const Pass& pass,
                                                   const LayerUse& layer, Results results);

    static constexpr auto kNoSlot = static_cast<std::size_t>(-1);

    /// True if slots 0 and 1 hold the terms of the only input port, and the first step adds them. Otherwise slot i
    /// holds port i.
    bool m_sumsInput = false;
    std::vector<std::string> m_inputPorts;
    std::vector<std::string> m_fedByPass; ///< the ports of the slots after those
    std::vector<ProgramStep> m_steps;
    std::vector<std::string> m_outputPorts;
    std::vector<std::size_t> m_outputs; ///< the slots of the output ports
    projects::Shape m_outputShape;      ///< of the first output
    std::vector<at::Tensor> m_slots;
    bool m_scalesInside = false;
    std::size_t m_attention = kNoSlot; ///< the slots of GraphSetting::halves
    std::size_t m_feedForward = kNoSlot;
    std::size_t m_base = kNoSlot; ///< the slots of the residual's terms
    std::size_t m_last = kNoSlot;
    std::size_t m_branchSum = kNoSlot;    ///< the slot of a + f, if the terms are input + a and f
    std::vector<at::Tensor> m_parameters; ///< the parameters that its nodes declared
};

} // namespace residua::engine
