// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/graph/graph_program.h"
#include "engine/compute/graph/pass.h"
#include "projects/model/stack.h"
#include "projects/model/training_plan.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace residua::engine {

/// The compiled blocks of a stack as layers 1 to L that a pass executes, grouped into the modules that a wiring
/// connects, and the only way to run them. Applies the pass's settings for each layer (left out, scaled, measured) and
/// recomputes its inside in the backward, for any wiring. By the wiring's sites (projects::MixSites), a module is
/// - Mhsa: a layer;
/// - Both: one half of a layer, its attention a(h) or its FFN f(u);
/// - Ffn: the FFN of a layer and the attention of the next, f(u) + a(u + f(u)); for the last layer, the FFN alone.
class LayerStack {
public:
    /// `programs` are those of the stored layers in order, then those of the further visits to layers with adapters
    /// (Loop::adapterRank) in the order of execution: one per layer, or its two halves unless the wiring's sites are
    /// Mhsa.
    LayerStack(std::vector<GraphProgram> programs, const projects::Stack& stack, projects::Activations activations,
               SumOrder sums);

    /// Returns K, the number of modules.
    [[nodiscard]] std::size_t size() const { return m_modules.size(); }
    [[nodiscard]] std::size_t layers() const { return m_executed.size(); }
    /// Returns the number of layers with weights of the wiring (projects::rowStackOf), and of their modules.
    [[nodiscard]] std::size_t rowLayers() const { return m_rowLayers; }
    [[nodiscard]] std::size_t rows() const { return m_rowLayers * (m_modules.size() / m_executed.size()); }
    /// Returns the stack whose layers these are.
    [[nodiscard]] const projects::Stack& stack() const { return m_stack; }
    [[nodiscard]] const std::vector<std::string>& inputPorts(std::size_t module) const;
    /// True if the pass runs the layer of the module. If the module joins halves of two layers, true if one of them
    /// runs.
    [[nodiscard]] bool runs(std::size_t module, const Pass& pass) const;
    /// False if the steps of the module are to have no gradient.
    [[nodiscard]] bool hasGradient(std::size_t module, const Pass& pass) const;

    /// Returns the input of the first module: the stack's input, or between FFN inputs h + a(h) of the first layer.
    [[nodiscard]] Residual enter(const at::Tensor& input, const Pass& pass);
    /// Returns the scaled branch of a module that runs, without a half that is left out: [..., d]. `inputs` has one
    /// tensor per input port. The stack must outlive the backward.
    [[nodiscard]] at::Tensor run(std::size_t module, std::span<const at::Tensor> inputs, const Pass& pass);
    /// Returns the residual after a module that runs: the residual before, which feeds all ports, plus the branch. Adds
    /// the halves of the branch by the stack's SumOrder; a factor of the whole branch multiplies their sum. Sets
    /// `branch` to run()'s result unless it is null.
    [[nodiscard]] Residual runOnResidual(std::size_t module, const Residual& residual, const Pass& pass,
                                         at::Tensor* branch);
    /// Runs the module with one tensor for all ports.
    [[nodiscard]] at::Tensor runOn(std::size_t module, const at::Tensor& input, const Pass& pass);

    /// Returns the operators of the module in execution order.
    [[nodiscard]] std::vector<Operator*> operators(std::size_t module) const;
    /// Keeps all activations for the backward from now on, instead of recomputing them. Needed by wirings that pass
    /// values into or out of a layer beside its ports, which a recomputation would not see.
    void keepActivations() { m_activations = projects::Activations::Keep; }

private:
    /// An executed layer.
    struct Executed {
        std::size_t layer = 0; ///< that has its programs, from 0: the stored one, or one of a visit with adapters
        std::int64_t visit = 1;
        std::size_t row = 0; ///< the layer with its weights of the wiring, from 0
        double factor = 1;   ///< Loop::scale
    };
    /// The program of an executed layer or of a half; a module has one program or two.
    struct Module {
        std::size_t program = 0; ///< counts the programs of the executed layers
        bool takesNext = false;  ///< true if the module also has the next program
    };

    [[nodiscard]] LayerUse use(std::size_t program, const Pass& pass) const
    {
        const std::size_t index = program / m_programsPerLayer;
        const Executed& executed = m_executed[index];
        LayerUse layer = pass.layer(index);
        layer.index = executed.row;
        layer.visit = executed.visit;
        layer.factor *= executed.factor;
        if (m_programsPerLayer > 1) {
            layer.runs = layer.runs && (program % 2 == 0 ? layer.attention : layer.feedForward);
        }
        return layer;
    }
    /// Returns the branch of a program that runs, measured and scaled.
    [[nodiscard]] at::Tensor runProgram(std::size_t program, std::span<const at::Tensor> inputs, const Pass& pass);
    /// Shows what a program read and its branch to those that measure the pass.
    void show(std::size_t program, const at::Tensor& input, const at::Tensor& branch, const Pass& pass) const;
    /// As runOnResidual(), of a program that runs.
    [[nodiscard]] Residual addProgram(std::size_t program, const Residual& residual, const Pass& pass,
                                      at::Tensor* branch);

    /// Returns the index in m_programs of a program of the executed layers.
    [[nodiscard]] std::size_t indexOf(std::size_t program) const
    {
        return m_executed[program / m_programsPerLayer].layer * m_programsPerLayer + program % m_programsPerLayer;
    }
    [[nodiscard]] const GraphProgram& programAt(std::size_t program) const { return m_programs[indexOf(program)]; }
    [[nodiscard]] std::size_t residualPort(std::size_t program) const { return m_residualPorts[indexOf(program)]; }
    /// Returns the number of programs of the executed layers.
    [[nodiscard]] std::size_t executedPrograms() const { return m_executed.size() * m_programsPerLayer; }

    projects::Stack m_stack;
    std::vector<GraphProgram> m_programs;
    std::vector<Executed> m_executed;
    std::size_t m_rowLayers = 0;
    std::vector<Module> m_modules;
    std::size_t m_firstProgram = 0;           ///< of the first module; programs before it run in enter()
    std::vector<std::size_t> m_residualPorts; ///< for each of m_programs, the port that receives the residual
    std::size_t m_programsPerLayer = 1;
    projects::Activations m_activations;
    SumOrder m_sums;
};

} // namespace residua::engine
