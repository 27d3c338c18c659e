// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/train/step_graphs.h"

#include "engine/compute/runtime/device.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <utility>

namespace residua::engine {
namespace {

constexpr std::int64_t kDirectSteps = 3;
constexpr std::int64_t kMemoryShare = 4;
/// Recording takes the host about three direct steps, and a launch saves most of one.
constexpr double kLeastLater = 4;
/// A graph of a thousand kernels is assumed to take at most 8 MiB of the host's memory, all of them 4 GiB. Twelve
/// layers with two fixed have C(10, 5) = 252 sets of one size, and 1,024 in all.
constexpr std::size_t kMostSets = 512;

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

StepGraphs::StepGraphs(c10::Device device, CompiledNetwork& network)
    : m_device(device), m_network(network), m_library(deviceGraphs(device, m_why))
{
    if (m_library != nullptr && !device.is_cpu()) {
        m_roomBytes = memoryOf(device).totalBytes / kMemoryShare;
    }
}

void StepGraphs::leaveOut(const std::string& reason)
{
    if (m_library != nullptr) {
        m_why = "steps are not recorded as CUDA graphs: " + reason;
        m_library = nullptr;
    }
}

void StepGraphs::note(const std::vector<LayerUse>& layers)
{
    if (m_steps.size() >= kMostSets) { // random sets of a deep network hardly ever repeat
        std::erase_if(m_steps, [](const Step& step) { return step.graph == nullptr; });
    }
    if (m_steps.size() < kMostSets) {
        m_steps.push_back({layers, nullptr});
    }
}

bool StepGraphs::hasRoom()
{
    if (m_device.is_cpu()) {
        return true;
    }
    m_peak = std::max(m_peak, peakBytes(m_device));
    return m_peak <= m_roomBytes && memoryOf(m_device).freeBytes >= m_roomBytes;
}

StepGraphs::Graph* StepGraphs::forStep(const std::vector<LayerUse>& layers, double later)
{
    if (m_library == nullptr) {
        m_steps.clear();
        return nullptr;
    }
    const auto step = std::ranges::find(m_steps, layers, &Step::layers);
    const bool repeats = step != m_steps.end();
    if (repeats && step->graph == nullptr && m_direct >= kDirectSteps && later >= kLeastLater && hasRoom()) {
        step->graph = std::make_unique<Graph>();
    }
    if (repeats && step->graph != nullptr) {
        return step->graph.get();
    }
    ++m_direct;
    if (!repeats && later >= kLeastLater) {
        note(layers);
    }
    return nullptr;
}

void StepGraphs::feed(std::size_t part, const DeviceBatch& batch)
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
    for (const auto member : {&DeviceBatch::weight, &DeviceBatch::draws}) {
        if ((batch.*member).defined()) {
            copyInto(held.*member, batch.*member);
        }
    }
}

std::vector<at::Tensor> StepGraphs::compute(const Gradients& gradients)
{
    at::Tensor sum = at::zeros({}, at::TensorOptions().dtype(at::kDouble).device(m_device));
    for (const DeviceBatch& batch : m_batches) {
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
            static_cast<void>(m_network.forward(m_batches.front(), evaluation));
        }
        std::unique_ptr<DeviceGraph> recording = m_library->create();
        graph.m_results = recording->record([this, gradients] { return compute(gradients); });
        graph.m_graph = std::move(recording);
    } catch (const c10::Error& error) {
        const std::string text = error.what_without_backtrace();
        leaveOut(text.substr(0, text.find('\n')));
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
        ++m_launched;
        results = graph.m_results;
    } else {
        results = compute(gradients);
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
