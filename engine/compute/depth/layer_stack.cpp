// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/depth/layer_stack.h"

#include "engine/compute/depth/layer_magnitudes.h"
#include "projects/depth/mix_port.h"

#include <ATen/TensorOperators.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace residua::engine {

LayerStack::LayerStack(std::vector<GraphProgram> programs, projects::MixSites sites, projects::Activations activations)
    : m_programs(std::move(programs)),
      m_firstProgram(sites == projects::MixSites::Ffn ? 1 : 0),
      m_programsPerLayer(sites == projects::MixSites::Mhsa ? 1 : 2),
      m_activations(activations)
{
    for (const GraphProgram& program : m_programs) {
        m_residualPorts.push_back(projects::residualPort(program.inputPorts()));
    }
    const bool joins = sites == projects::MixSites::Ffn;
    for (std::size_t program = m_firstProgram; program < m_programs.size(); program += joins ? 2 : 1) {
        m_modules.push_back({program, joins && program + 1 < m_programs.size()});
    }
}

const std::vector<std::string>& LayerStack::inputPorts(std::size_t module) const
{
    return m_programs[m_modules[module].program].inputPorts();
}

bool LayerStack::runs(std::size_t module, const Pass& pass) const
{
    const auto& [program, takesNext] = m_modules[module];
    return use(program, pass).runs || (takesNext && use(program + 1, pass).runs);
}

at::Tensor LayerStack::enter(const at::Tensor& input, const Pass& pass)
{
    return m_firstProgram == 0 || !use(0, pass).runs ? input : input + runProgram(0, {&input, 1}, pass);
}

at::Tensor LayerStack::run(std::size_t module, std::span<const at::Tensor> inputs, const Pass& pass)
{
    const auto& [program, takesNext] = m_modules[module];
    if (!takesNext) {
        return runProgram(program, inputs, pass);
    }
    const at::Tensor& u = inputs[m_residualPorts[program]];
    if (!use(program, pass).runs) {
        return runProgram(program + 1, {&u, 1}, pass);
    }
    const at::Tensor f = runProgram(program, inputs, pass);
    if (!use(program + 1, pass).runs) {
        return f;
    }
    const at::Tensor next = u + f;
    return f + runProgram(program + 1, {&next, 1}, pass);
}

at::Tensor LayerStack::runProgram(std::size_t program, std::span<const at::Tensor> inputs, const Pass& pass)
{
    const LayerUse layer = use(program, pass);
    TORCH_CHECK(layer.runs, "the pass has no layer ", program / m_programsPerLayer + 1);
    const at::Tensor branch = m_programs[program].run(inputs, pass, m_activations, layer);
    if (pass.magnitudes != nullptr) {
        pass.magnitudes->saw(program, m_programs.size(), inputs[m_residualPorts[program]], branch);
    }
    return layer.factor == 1 || m_programs[program].scalesInside() ? branch : branch * layer.factor;
}

at::Tensor LayerStack::runOn(std::size_t module, const at::Tensor& input, const Pass& pass)
{
    const std::vector<at::Tensor> inputs(inputPorts(module).size(), input);
    return run(module, inputs, pass);
}

std::vector<Operator*> LayerStack::operators(std::size_t module) const
{
    const auto& [program, takesNext] = m_modules[module];
    std::vector<Operator*> result = m_programs[program].operators();
    if (takesNext) {
        std::ranges::copy(m_programs[program + 1].operators(), std::back_inserter(result));
    }
    return result;
}

} // namespace residua::engine
