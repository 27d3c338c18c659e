// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/graph/graph_program.h"
#include "engine/graph/pass.h"
#include "projects/model/training_plan.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace residua::engine {

/// The compiled blocks of layers 1..L, and the one way to run them: what a pass says of a layer (left out, scaled,
/// measured) and whether its inside is computed again in the backward is done here, whatever the wiring between them.
/// Where the topology splits layers, each half is a part of its own: parts 2(l − 1) and 2(l − 1) + 1 of layer l.
class LayerStack {
public:
    /// `programs` of all parts in order, `partsPerLayer` of each layer.
    LayerStack(std::vector<GraphProgram> programs, std::size_t partsPerLayer, projects::Activations activations);

    /// Parts: layers, or their halves.
    [[nodiscard]] std::size_t size() const { return m_programs.size(); }
    [[nodiscard]] const std::vector<std::string>& inputPorts(std::size_t part) const;
    /// Whether the pass runs the part's layer.
    [[nodiscard]] bool runs(std::size_t part, const Pass& pass) const;

    /// The branch of a part that runs, scaled as the pass says: [..., d]. One tensor per input port. The stack must
    /// outlive the backward of it.
    [[nodiscard]] at::Tensor run(std::size_t part, std::span<const at::Tensor> inputs, const Pass& pass);
    /// The same with one tensor for all ports.
    [[nodiscard]] at::Tensor runOn(std::size_t part, const at::Tensor& input, const Pass& pass);

    /// Of the part, in the order in which they run.
    [[nodiscard]] std::vector<Operator*> operators(std::size_t part) const;
    /// For layers that a value leaves or enters beside their ports: they cannot be computed again.
    void keepActivations() { m_activations = projects::Activations::Keep; }

private:
    [[nodiscard]] at::Tensor runGraph(std::size_t part, std::span<const at::Tensor> inputs, const Pass& pass);
    [[nodiscard]] LayerUse use(std::size_t part, const Pass& pass) const { return pass.layer(part / m_partsPerLayer); }

    std::vector<GraphProgram> m_programs;
    std::vector<std::size_t> m_residualPorts; ///< of each part: the port that the residual enters
    std::size_t m_partsPerLayer = 1;
    projects::Activations m_activations;
};

} // namespace residua::engine
