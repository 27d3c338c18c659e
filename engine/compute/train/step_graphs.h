// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/graph/pass.h"
#include "engine/compute/network/network.h"
#include "engine/compute/runtime/device_graph.h"

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
/// There is one graph for each set of layers that steps run. It is recorded when a set repeats, because the libraries
/// choose their algorithms and load their kernels in a direct step. Engine thread.
class StepGraphs {
public:
    /// Computes a micro-batch's part of the step's loss, a scalar, and adds its gradients to the parameters'. Must
    /// depend on the step through its layers alone.
    using Gradients = std::function<at::Tensor(const DeviceBatch& batch)>;

    /// The recorded computation of the steps that run the same layers.
    class Graph {
        friend class StepGraphs;
        std::unique_ptr<DeviceGraph> m_graph;
        std::vector<at::Tensor> m_results; ///< the loss, and the gradient of each parameter; empty until recorded
    };

    /// `network` must outlive the object.
    StepGraphs(c10::Device device, CompiledNetwork& network);

    /// Returns the graph for a step that runs `layers`, as `later` further steps are expected to do. Every micro-batch
    /// must then be fed before the graph is run. Null if the step must be computed directly:
    /// - on the CPU, and without the library;
    /// - in the first three steps, and in the first step with these layers;
    /// - if recording would take longer than it saves in the later steps;
    /// - if the steps' peak memory exceeds a quarter of the device's, because the graphs keep the memory of a step, or
    ///   less than a quarter is free;
    /// - if there is the largest number of graphs already.
    [[nodiscard]] Graph* forStep(const std::vector<LayerUse>& layers, double later);
    /// Sets the values of micro-batch `part`, which has the shapes of the first one.
    void feed(std::size_t part, const DeviceBatch& batch);
    /// Sets the parameters' gradients and returns the sum of the losses, a scalar in double; all are valid until the
    /// next run. Records the graph at its first run. If that fails, the step is computed directly, as are all later
    /// ones. `pass` is the step's.
    [[nodiscard]] at::Tensor run(Graph& graph, const Pass& pass, const Gradients& gradients);
    /// Computes all steps directly, because of `reason`.
    void leaveOut(const std::string& reason);
    /// Forgets all graphs; to be called after a change of the network, and when a stage ends, whose sets of layers do
    /// not come back.
    void clear() { m_steps.clear(); }

    [[nodiscard]] std::size_t recorded() const;                        ///< the number of graphs
    [[nodiscard]] std::int64_t launched() const { return m_launched; } ///< the number of steps that ran as graphs
    /// Returns why steps are not recorded, in one line; empty if they are, and on the CPU.
    [[nodiscard]] const std::string& why() const { return m_why; }

private:
    /// The steps that run the same layers.
    struct Step {
        std::vector<LayerUse> layers;
        std::unique_ptr<Graph> graph; ///< null until the step is to be recorded
    };
    /// Notes a set of layers that steps are expected to repeat.
    void note(const std::vector<LayerUse>& layers);
    [[nodiscard]] bool hasRoom();
    void record(Graph& graph, const Pass& pass, const Gradients& gradients);
    [[nodiscard]] std::vector<at::Tensor> compute(const Gradients& gradients);

    c10::Device m_device;
    CompiledNetwork& m_network;
    std::string m_why;
    const DeviceGraphs* m_library;
    std::vector<DeviceBatch> m_batches; ///< the inputs of all graphs
    std::vector<Step> m_steps;
    std::int64_t m_direct = 0; ///< the number of steps that were computed directly
    std::int64_t m_launched = 0;
    std::int64_t m_roomBytes = 0; ///< a quarter of the device's memory; 0 on the CPU
    std::int64_t m_peak = 0;      ///< bytes of the device, of the steps so far; 0 on the CPU
};

} // namespace residua::engine
