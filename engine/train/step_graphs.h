// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/graph/pass.h"
#include "engine/network/network.h"
#include "engine/runtime/device_graph.h"

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace residua::engine {

/// Forward and backward of whole steps as recorded graphs (runtime/device_graph.h). A small network's step consists of
/// about a thousand kernels that each run for a few microseconds, so the host's launches take most of its time.
///
/// There is one graph for each set of layers that steps run. It is recorded in that set's fourth step, when the
/// libraries have chosen their algorithms. Engine thread.
class StepGraphs {
public:
    /// Computes a micro-batch's part of the step's loss, a scalar, and adds its gradients to the parameters'. Must
    /// depend on the step through its layers alone.
    using Gradients = std::function<at::Tensor(const DeviceBatch& batch)>;

    /// A step's recorded computation.
    class Graph {
    public:
        /// Sets the values of micro-batch `part`, which has the shapes of the first one.
        void feed(std::size_t part, const DeviceBatch& batch);

    private:
        friend class StepGraphs;
        std::vector<DeviceBatch> m_batches;
        std::unique_ptr<DeviceGraph> m_graph;
        std::vector<at::Tensor> m_results; ///< the loss, and the gradient of each parameter; empty until recorded
    };

    /// `network` must outlive the object.
    StepGraphs(c10::Device device, CompiledNetwork& network);

    /// Returns the graph for a step that runs `layers`, to be fed with every micro-batch and then run. Null if the step
    /// must be computed directly: on the CPU, without the library, until the fourth step with these layers, and where
    /// the device's peak memory exceeds a quarter of its size, because a graph keeps the memory of a step.
    [[nodiscard]] Graph* forStep(const std::vector<LayerUse>& layers);
    /// Sets the parameters' gradients and returns the sum of the losses, a scalar in double. Records the graph at its
    /// first run. If that fails, the step is computed directly, as are all later ones. `pass` is the step's.
    [[nodiscard]] at::Tensor run(Graph& graph, const Pass& pass, const Gradients& gradients);
    /// Forgets all graphs; to be called after a change of the network.
    void clear() { m_steps.clear(); }

    [[nodiscard]] std::size_t recorded() const; ///< the number of graphs
    /// Returns why steps are not recorded, in one line; empty if they are, and on the CPU.
    [[nodiscard]] const std::string& why() const { return m_why; }

private:
    /// The steps that run the same layers.
    struct Step {
        std::vector<LayerUse> layers;
        std::int64_t seen = 0;
        std::unique_ptr<Graph> graph;
    };
    [[nodiscard]] Step& stepWith(const std::vector<LayerUse>& layers);
    [[nodiscard]] bool hasRoom();
    void record(Graph& graph, const Pass& pass, const Gradients& gradients);
    [[nodiscard]] std::vector<at::Tensor> compute(const Graph& graph, const Gradients& gradients);

    c10::Device m_device;
    CompiledNetwork& m_network;
    std::string m_why;
    const DeviceGraphs* m_library;
    std::vector<Step> m_steps;
    std::int64_t m_mostPeak = 0; ///< bytes
    std::int64_t m_peak = 0;     ///< bytes of the device, of the steps so far; 0 on the CPU
};

} // namespace residua::engine
