// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/depth/layer_dropping.h"
#include "engine/compute/depth/layer_wiring.h"
#include "engine/compute/graph/graph_program.h"
#include "engine/compute/graph/pass.h"
#include "engine/compute/init/init_plan.h"
#include "engine/compute/network/diffusion_loss.h"
#include "engine/compute/network/objectives.h"
#include "projects/model/project.h"
#include "projects/nodes/example_schema.h"
#include "projects/nodes/towers.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace residua::engine {

struct DeviceBatch;

/// A compiled tower of a document: stem → stack → head. Each graph runs in topological order, and a LayerWiring
/// connects the layers. Engine thread.
class CompiledTower {
public:
    /// Compiles the first tower of `view` (projects::viewOf), and declares its parameters in `plan`. `scope` is the
    /// beginning of their names: "teacher.", or empty. A tower with the weights of another one declares none; `scope`
    /// is then that of the other one, which must be compiled before.
    [[nodiscard]] static Result<std::unique_ptr<CompiledTower>> compile(const projects::Project& view,
                                                                        const projects::ExampleSchema& examples,
                                                                        const std::string& scope, InitPlan& plan,
                                                                        RotaryTables& rotaryTables);

    [[nodiscard]] const projects::Network& network() const { return m_network; }
    [[nodiscard]] const ObjectiveEntry& objective() const { return *m_objective; }
    /// Returns what the objective reads of a batch, which must outlive it.
    [[nodiscard]] LossInputs lossInputs(const DeviceBatch& batch) const;
    [[nodiscard]] const std::vector<std::string>& outputPorts() const { return m_head->outputPorts(); }
    /// Returns the indices in outputPorts() of the ports of further labels. The other ones are values.
    [[nodiscard]] const std::vector<std::size_t>& labels() const { return m_labels; }
    /// Returns the names of the values at the stem's further output ports, "encoder.time".
    [[nodiscard]] const std::vector<std::string>& stemValues() const { return m_stemValues; }
    /// Returns the indices in InitPlan::all() of its parameters: [first, end).
    [[nodiscard]] std::pair<std::size_t, std::size_t> parameters() const { return m_parameters; }
    /// True if an operator leaves out elements in training, or a loop starts as noise.
    [[nodiscard]] bool drops() const { return m_drops; }
    /// True if training leaves out layers or parts of them, or draws visits.
    [[nodiscard]] bool drawsLayers() const;

    /// Returns the use of each layer that the document defines for the pass; empty if all run.
    [[nodiscard]] std::vector<LayerUse> layersOf(const Pass& pass) const { return m_dropping->draw(pass); }
    /// Changes the pass as its alteration says.
    void alter(Pass& pass) const;
    /// Returns the output of the stem, and adds its values to the inputs of the pass.
    [[nodiscard]] at::Tensor stem(const at::Tensor& input, Pass& pass);
    /// Returns the output of the stack: [batch, time, d] or [batch, d]. The pass must define the use of the layers;
    /// gets the values of the stem. Unless `exits` is null, it gets the residual at each of exits().
    [[nodiscard]] Residual states(const at::Tensor& input, Pass& pass, std::vector<at::Tensor>* exits = nullptr);
    /// Returns the exits that losses or the exit gate read.
    [[nodiscard]] const std::vector<projects::UsedExit>& exits() const { return m_exits; }
    /// Returns the logarithms of the probabilities that each visit of the loop with an exit gate is the last one
    /// [..., visits], in at least single precision, from the residual at exits(). Undefined without such a loop.
    [[nodiscard]] at::Tensor logExitShares(const std::vector<at::Tensor>& exits) const;
    /// Returns the head's outputs in the order of its ports, the tower's output first.
    [[nodiscard]] std::vector<at::Tensor> outputs(const Residual& states, const Pass& pass);
    [[nodiscard]] bool hasRegularisers() const { return !m_regularisers.empty(); }
    /// Returns the regularisers of a pass, which must define the use of the layers.
    [[nodiscard]] std::vector<at::Tensor> regularisers(const Pass& pass) const;

    /// Takes the pass for the last one of training.
    void noteTraining(const Pass& pass) { m_lastLayers = pass.layers; }
    /// As CompiledNetwork::coefficients.
    [[nodiscard]] std::vector<Matrix> coefficients(std::int64_t step);

private:
    friend class TowerCompiler;
    CompiledTower(const projects::Project& view, const projects::ExampleSchema& examples, const Compute& compute);

    projects::Network m_network;
    c10::ScalarType m_parameterType;
    bool m_takesTokens;
    const ObjectiveEntry* m_objective;
    double m_smoothing;                         ///< of labels, in training and evaluation alike
    std::unique_ptr<DiffusionLoss> m_diffusion; ///< null unless the objective diffuses
    std::vector<Regulariser> m_regularisers;
    std::optional<GraphProgram> m_stem;
    std::vector<std::string> m_stemValues;
    std::vector<std::size_t> m_labels;
    std::optional<LayerDropping> m_dropping;
    std::unique_ptr<LayerWiring> m_wiring;
    std::vector<projects::UsedExit> m_exits;
    std::optional<GraphProgram> m_head;
    std::pair<std::size_t, std::size_t> m_parameters;
    bool m_drops = false;
    std::vector<LayerUse> m_lastLayers; ///< of the last training pass; empty if it ran all
};

} // namespace residua::engine
