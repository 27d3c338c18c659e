// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/values.h"
#include "engine/compute/depth/layer_magnitudes.h"
#include "engine/compute/network/network.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace residua::engine {

/// The units per second of training time over the last seconds.
class Throughput {
public:
    /// Adds a recorded step. Steps must be added in order.
    void add(const StepRecord& record);
    /// Returns the throughput, or 0 until two steps are known.
    [[nodiscard]] double unitsPerSecond() const;

private:
    struct Point {
        double seconds = 0;
        std::int64_t units = 0;
    };
    std::deque<Point> m_points;
};

/// Reads values of a network while it trains. Engine thread.
class Observer {
public:
    /// The network must outlive it.
    explicit Observer(CompiledNetwork& network) : m_network(network) {}

    /// Returns the collector to which the step before an observation records its layers' magnitudes, ranks and
    /// gradients.
    [[nodiscard]] LayerMagnitudes* magnitudes();
    /// Returns the network's mixing coefficients, and the layers' values recorded since the last observation. Waits for
    /// the device.
    [[nodiscard]] std::vector<Matrix> observe(std::int64_t step);

private:
    CompiledNetwork& m_network;
    LayerMagnitudes m_magnitudes{LayerMagnitudes::Ranks::Taken};
};

} // namespace residua::engine
