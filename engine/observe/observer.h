// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "engine/depth/layer_magnitudes.h"
#include "engine/network/network.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace residua::engine {

/// Units per second of training time over the last seconds.
class Throughput {
public:
    /// A step as recorded, in order.
    void add(const StepRecord& record);
    /// 0 until two steps are known.
    [[nodiscard]] double unitsPerSecond() const;

private:
    struct Point {
        double seconds = 0;
        std::int64_t units = 0;
    };
    std::deque<Point> m_points;
};

/// Looks at a network while it trains, at the plan's cadence. Engine thread.
class Observer {
public:
    /// `every` 0: never. The network must outlive it.
    Observer(CompiledNetwork& network, std::int64_t every);

    /// Whether the state after `step` is to be looked at: the first, every so many, and the last.
    [[nodiscard]] bool due(std::int64_t step, std::int64_t lastStep) const;
    /// What the passes of `step` are to tell the layers' magnitudes; null where it is not due.
    [[nodiscard]] LayerMagnitudes* magnitudesFor(std::int64_t step, std::int64_t lastStep);
    /// Its mixing coefficients, and the layers' magnitudes where its passes told them. Waits for the device.
    [[nodiscard]] std::vector<Matrix> observe(std::int64_t step);

private:
    CompiledNetwork& m_network;
    std::int64_t m_every = 0;
    LayerMagnitudes m_magnitudes;
};

} // namespace residua::engine
