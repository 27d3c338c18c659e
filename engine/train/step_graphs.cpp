// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/train/step_graphs.h"

#include "engine/runtime/device.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <utility>

namespace residua::engine {
namespace {

constexpr std::int64_t kDirectSteps = 3;
constexpr std::size_t kMostSets = 64;
constexpr std::int64_t kMemoryShare = 4;

void copyInto(at::Tensor& held, const at::Tensor& values)
{
    if (!held.defined()) {
        held = values;
    } else if (!held.is_same(values)) {
        TORCH_CHECK(held.sizes() == values.sizes(), "a recorded step has examples of ", held.sizes(), ", got ",
                    values.sizes());
        held.copy_(values, /*non_blocking=*/true);
    }
}

} // namespace

void StepGraphs::Graph::feed(std::size_t part, const DeviceBatch& batch)
{
    if (m_batches.size() <= part) {
        m_batches.resize(part + 1);
    }
    DeviceBatch& held = m_batches[part];
    copyInto(held.input, batch.input);
    copyInto(held.target, batch.target);
    for (const auto& [name, values] : batch.conditions) {
        copyInto(held.conditions[name], values);
    }
}

StepGraphs::StepGraphs(c10::Device device, CompiledNetwork& network)
    : m_device(device), m_network(network), m_library(deviceGraphs(device, m_why))
{
    if (m_library != nullptr && !device.is_cpu()) {
        m_mostPeak = memoryOf(device).totalBytes / kMemoryShare;
    }
}

StepGraphs::Step& StepGraphs::stepWith(const std::vector<LayerUse>& layers)
{
    const auto found = std::ranges::find(m_steps, layers, &Step::layers);
    if (found != m_steps.end()) {
        return *found;
    }
    if (m_steps.size() >= kMostSets) { // random sets of a deep network hardly ever repeat
        std::erase_if(m_steps, [](const Step& step) { return step.graph == nullptr; });
    }
    Step& step = m_steps.emplace_back();
    step.layers = layers;
    return step;
}

bool StepGraphs::hasRoom()
{
    if (!m_device.is_cpu() && m_peak <= m_mostPeak) {
        m_peak = std::max(m_peak, peakBytes(m_device));
    }
    return m_peak <= m_mostPeak;
}

StepGraphs::Graph* StepGraphs::forStep(const std::vector<LayerUse>& layers)
{
    if (m_library == nullptr) {
        return nullptr;
    }
    Step& step = stepWith(layers);
    ++step.seen;
    if (step.graph == nullptr && hasRoom() && step.seen > kDirectSteps && m_steps.size() <= kMostSets) {
        step.graph = std::make_unique<Graph>();
    }
    return step.graph.get();
}

std::vector<at::Tensor> StepGraphs::compute(const Graph& graph, const Gradients& gradients)
{
    at::Tensor sum = at::zeros({}, at::TensorOptions().dtype(at::kDouble).device(m_device));
    for (const DeviceBatch& batch : graph.m_batches) {
        sum.add_(gradients(batch));
    }
    std::vector<at::Tensor> results{sum};
    for (NamedParameter& parameter : m_network.parameters()) {
        results.push_back(std::exchange(parameter.tensor.mutable_grad(), {}));
    }
    return results;
}

void StepGraphs::record(Graph& graph, const Pass& pass, const Gradients& gradients)
{
    try {
        // The weights that a network keeps of its last pass belong to gradients on the stream of that pass, which a
        // recording on another one must not wait for.
        {
            const at::NoGradGuard noGrad;
            Pass evaluation = pass;
            evaluation.mode = Mode::Evaluation;
            static_cast<void>(m_network.forward(graph.m_batches.front(), evaluation));
        }
        std::unique_ptr<DeviceGraph> recording = m_library->create();
        graph.m_results = recording->record([this, &graph, gradients] { return compute(graph, gradients); });
        graph.m_graph = std::move(recording);
    } catch (const c10::Error& error) {
        const std::string text = error.what_without_backtrace();
        m_why = "steps are not recorded as CUDA graphs: " + text.substr(0, text.find('\n'));
        m_library = nullptr;
        for (NamedParameter& parameter : m_network.parameters()) {
            parameter.tensor.mutable_grad().reset();
        }
    }
}

at::Tensor StepGraphs::run(Graph& graph, const Pass& pass, const Gradients& gradients)
{
    if (graph.m_graph == nullptr) {
        record(graph, pass, gradients);
    }
    m_network.noteTraining(pass);
    std::vector<at::Tensor> results;
    if (graph.m_graph != nullptr) {
        graph.m_graph->launch();
        results = graph.m_results;
    } else {
        results = compute(graph, gradients);
    }
    std::vector<NamedParameter>& parameters = m_network.parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        parameters[i].tensor.mutable_grad() = results[i + 1];
    }
    return results.front();
}

std::size_t StepGraphs::recorded() const
{
    return static_cast<std::size_t>(std::ranges::count_if(
        m_steps, [](const Step& step) { return step.graph != nullptr && step.graph->m_graph != nullptr; }));
}

} // namespace residua::engine
