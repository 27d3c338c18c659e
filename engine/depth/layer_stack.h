// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/graph/graph_program.h"
#include "engine/graph/pass.h"
#include "projects/model/topology.h"
#include "projects/model/training_plan.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace residua::engine {

/// The compiled blocks of layers 1..L as the modules between which a wiring acts, and the one way to run them: what a
/// pass says of a layer (left out, scaled, measured) and whether its inside is computed again in the backward is done
/// here, whatever the wiring between them. By the sites of the wiring (projects::MixSites) a module is
/// - Mhsa: a layer;
/// - Both: one half of a layer, its attention a(h) or its FFN f(u);
/// - Ffn: the FFN of a layer and the attention of the next, f(u) + a(u + f(u)), of the last layer the FFN alone.
class LayerStack {
public:
    /// `programs` in order: one of each layer, or its two halves where the sites are not Mhsa.
    LayerStack(std::vector<GraphProgram> programs, projects::MixSites sites, projects::Activations activations);

    /// K, the number of modules.
    [[nodiscard]] std::size_t size() const { return m_modules.size(); }
    [[nodiscard]] std::size_t layers() const { return m_programs.size() / m_programsPerLayer; }
    [[nodiscard]] const std::vector<std::string>& inputPorts(std::size_t module) const;
    /// Whether the pass runs the layer to which the module belongs; of two layers' halves, whether it runs one of them.
    [[nodiscard]] bool runs(std::size_t module, const Pass& pass) const;

    /// What enters the first module of the stack's input: that, or between FFN inputs h + a(h) of the first layer.
    [[nodiscard]] at::Tensor enter(const at::Tensor& input, const Pass& pass);
    /// The branch of a module that runs, without the half that does not, scaled as the pass says: [..., d]. One tensor
    /// per input port. The stack must outlive the backward of it.
    [[nodiscard]] at::Tensor run(std::size_t module, std::span<const at::Tensor> inputs, const Pass& pass);
    /// The same with one tensor for all ports.
    [[nodiscard]] at::Tensor runOn(std::size_t module, const at::Tensor& input, const Pass& pass);

    /// The operators of the module, in the order in which they run.
    [[nodiscard]] std::vector<Operator*> operators(std::size_t module) const;
    /// From now on the inside of a layer is kept for the backward and never computed again. For wirings that carry
    /// values in or out of a layer beside its ports, which a second computation would not see.
    void keepActivations() { m_activations = projects::Activations::Keep; }

private:
    /// A program computes a layer or a half of one; a module is one program or two.
    struct Module {
        std::size_t program = 0;
        bool takesNext = false; ///< the program after it is of the module too
    };

    [[nodiscard]] LayerUse use(std::size_t program, const Pass& pass) const
    {
        return pass.layer(program / m_programsPerLayer);
    }
    /// The branch of a program that runs, measured and scaled.
    [[nodiscard]] at::Tensor runProgram(std::size_t program, std::span<const at::Tensor> inputs, const Pass& pass);

    std::vector<GraphProgram> m_programs;
    std::vector<Module> m_modules;
    std::size_t m_firstProgram = 0;           ///< of the first module; what is before it runs as the stack is entered
    std::vector<std::size_t> m_residualPorts; ///< of each program: the port that the residual enters
    std::size_t m_programsPerLayer = 1;
    projects::Activations m_activations;
};

} // namespace residua::engine
