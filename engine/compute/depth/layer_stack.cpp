// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/depth/layer_stack.h"

#include "engine/compute/depth/layer_magnitudes.h"
#include "projects/depth/mix_port.h"
#include "projects/depth/visit_adapters.h"

#include <ATen/TensorOperators.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace residua::engine {

LayerStack::LayerStack(std::vector<GraphProgram> programs, const projects::Stack& stack,
                       projects::Activations activations, SumOrder sums)
    : m_stack(stack), m_programs(std::move(programs)), m_activations(activations), m_sums(sums)
{
    const projects::MixSites sites = projects::sitesOf(stack.topology.wiring);
    m_firstProgram = sites == projects::MixSites::Ffn ? 1 : 0;
    m_programsPerLayer = sites == projects::MixSites::Mhsa ? 1 : 2;
    m_rowLayers = static_cast<std::size_t>(projects::rowStackOf(stack).depth());
    const std::vector<std::int64_t> rows = projects::rowLayersOf(stack);
    auto further = static_cast<std::size_t>(stack.stored());
    for (const projects::LayerVisit& at : projects::executionOf(stack)) {
        const projects::Loop* const loop = stack.loopOf(at.layer);
        const bool isOwn = at.visit > 1 && projects::adaptersAt(stack, at).rank > 0;
        m_executed.push_back({isOwn ? further++ : static_cast<std::size_t>(at.layer - 1), at.visit,
                              static_cast<std::size_t>(rows[m_executed.size()] - 1),
                              loop == nullptr ? 1 : loop->scale});
    }
    for (const GraphProgram& program : m_programs) {
        m_residualPorts.push_back(projects::residualPort(program.inputPorts()));
    }
    const bool joins = sites == projects::MixSites::Ffn;
    for (std::size_t program = m_firstProgram; program < executedPrograms(); program += joins ? 2 : 1) {
        m_modules.push_back({program, joins && program + 1 < executedPrograms()});
    }
}

const std::vector<std::string>& LayerStack::inputPorts(std::size_t module) const
{
    return programAt(m_modules[module].program).inputPorts();
}

bool LayerStack::runs(std::size_t module, const Pass& pass) const
{
    const auto& [program, takesNext] = m_modules[module];
    return use(program, pass).runs || (takesNext && use(program + 1, pass).runs);
}

bool LayerStack::hasGradient(std::size_t module, const Pass& pass) const
{
    const auto& [program, takesNext] = m_modules[module];
    return use(program, pass).gradient || (takesNext && use(program + 1, pass).gradient);
}

Residual LayerStack::enter(const at::Tensor& input, const Pass& pass)
{
    const Residual entering{input, {}};
    return m_firstProgram == 0 || !use(0, pass).runs ? entering : addProgram(0, entering, pass, nullptr);
}

at::Tensor LayerStack::run(std::size_t module, std::span<const at::Tensor> inputs, const Pass& pass)
{
    const auto& [program, takesNext] = m_modules[module];
    if (!takesNext) {
        return runProgram(program, inputs, pass);
    }
    const at::Tensor& u = inputs[residualPort(program)];
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

Residual LayerStack::runOnResidual(std::size_t module, const Residual& residual, const Pass& pass, at::Tensor* branch)
{
    const auto& [program, takesNext] = m_modules[module];
    if (m_sums == SumOrder::ByBranch) {
        const at::Tensor x = residual.sum();
        const at::Tensor whole = runOn(module, x, pass);
        if (branch != nullptr) {
            *branch = whole;
        }
        return {x, whole};
    }
    if (!takesNext) {
        return addProgram(program, residual, pass, branch);
    }
    Residual sum = residual;
    at::Tensor f;
    at::Tensor a;
    if (use(program, pass).runs) {
        sum = addProgram(program, sum, pass, branch != nullptr ? &f : nullptr);
    }
    if (use(program + 1, pass).runs) {
        sum = addProgram(program + 1, sum, pass, branch != nullptr ? &a : nullptr);
    }
    if (branch != nullptr) {
        *branch = f.defined() && a.defined() ? f + a : (f.defined() ? f : a);
    }
    return sum;
}

Residual LayerStack::addProgram(std::size_t program, const Residual& residual, const Pass& pass, at::Tensor* branch)
{
    const LayerUse layer = use(program, pass);
    GraphProgram& compiled = m_programs[indexOf(program)];
    at::Tensor whole;
    if (!compiled.takesResidual() || (layer.factor != 1 && !compiled.scalesInside())) {
        const at::Tensor x = residual.sum();
        whole = runProgram(program, std::vector<at::Tensor>(compiled.inputPorts().size(), x), pass);
        if (branch != nullptr) {
            *branch = whole;
        }
        return {x, whole};
    }
    const bool isMeasured = pass.magnitudes != nullptr || pass.visits != nullptr;
    const Residual entering = isMeasured ? Residual{residual.sum(), {}} : residual;
    Residual sum = compiled.runOnResidual(entering, pass, m_activations, layer,
                                          isMeasured || branch != nullptr ? &whole : nullptr);
    if (isMeasured) {
        show(program, entering.x, whole, pass);
    }
    if (branch != nullptr) {
        *branch = whole;
    }
    return sum;
}

at::Tensor LayerStack::runProgram(std::size_t program, std::span<const at::Tensor> inputs, const Pass& pass)
{
    const LayerUse layer = use(program, pass);
    TORCH_CHECK(layer.runs, "the pass has no layer ", program / m_programsPerLayer + 1);
    GraphProgram& compiled = m_programs[indexOf(program)];
    const at::Tensor branch = compiled.run(inputs, pass, m_activations, layer);
    show(program, inputs[residualPort(program)], branch, pass);
    return layer.factor == 1 || compiled.scalesInside() ? branch : branch * layer.factor;
}

void LayerStack::show(std::size_t program, const at::Tensor& input, const at::Tensor& branch, const Pass& pass) const
{
    if (pass.magnitudes != nullptr) {
        pass.magnitudes->saw(program, executedPrograms(), input, branch);
    }
    if (pass.visits != nullptr && pass.visits->branch) {
        pass.visits->branch(static_cast<std::int64_t>(program / m_programsPerLayer) + 1, branch);
    }
}

at::Tensor LayerStack::runOn(std::size_t module, const at::Tensor& input, const Pass& pass)
{
    const std::vector<at::Tensor> inputs(inputPorts(module).size(), input);
    return run(module, inputs, pass);
}

std::vector<Operator*> LayerStack::operators(std::size_t module) const
{
    const auto& [program, takesNext] = m_modules[module];
    std::vector<Operator*> result = programAt(program).operators();
    if (takesNext) {
        std::ranges::copy(programAt(program + 1).operators(), std::back_inserter(result));
    }
    return result;
}

} // namespace residua::engine
