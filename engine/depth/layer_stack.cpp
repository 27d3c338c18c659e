// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/depth/layer_stack.h"

#include "engine/depth/layer_magnitudes.h"

#include <ATen/TensorOperators.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <utility>

namespace residua::engine {

LayerStack::LayerStack(std::vector<GraphProgram> programs, std::size_t partsPerLayer, projects::Activations activations)
    : m_programs(std::move(programs)), m_partsPerLayer(partsPerLayer), m_activations(activations)
{
    for (const GraphProgram& program : m_programs) {
        const auto residual = std::ranges::find(program.inputPorts(), "residual");
        const bool named = residual != program.inputPorts().end();
        m_residualPorts.push_back(named ? static_cast<std::size_t>(residual - program.inputPorts().begin()) : 0);
    }
}

const std::vector<std::string>& LayerStack::inputPorts(std::size_t part) const
{
    return m_programs[part].inputPorts();
}

bool LayerStack::runs(std::size_t part, const Pass& pass) const
{
    return use(part, pass).runs;
}

at::Tensor LayerStack::run(std::size_t part, std::span<const at::Tensor> inputs, const Pass& pass)
{
    const LayerUse layer = use(part, pass);
    TORCH_CHECK(layer.runs, "the pass has no layer ", part / m_partsPerLayer + 1);
    const at::Tensor branch = runGraph(part, inputs, pass);
    if (pass.magnitudes != nullptr) {
        pass.magnitudes->saw(part, size(), inputs[m_residualPorts[part]], branch);
    }
    return layer.factor == 1 ? branch : branch * layer.factor;
}

at::Tensor LayerStack::runGraph(std::size_t part, std::span<const at::Tensor> inputs, const Pass& pass)
{
    if (pass.layers.empty()) {
        return m_programs[part].run(inputs, pass, m_activations);
    }
    Pass inside = pass;
    inside.running = part / m_partsPerLayer;
    return m_programs[part].run(inputs, inside, m_activations);
}

at::Tensor LayerStack::runOn(std::size_t part, const at::Tensor& input, const Pass& pass)
{
    const std::vector<at::Tensor> inputs(inputPorts(part).size(), input);
    return run(part, inputs, pass);
}

std::vector<Operator*> LayerStack::operators(std::size_t part) const
{
    return m_programs[part].operators();
}

} // namespace residua::engine
