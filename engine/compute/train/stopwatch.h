// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Private to trainer.cpp and trainer_borders.cpp.

#include <chrono>

namespace residua::engine {

/// Adds its lifetime to a counter.
class Stopwatch {
public:
    explicit Stopwatch(double& seconds) : m_seconds(seconds) {}
    ~Stopwatch() { m_seconds = total(); }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

    [[nodiscard]] double total() const
    {
        return m_seconds + std::chrono::duration<double>(Clock::now() - m_begin).count();
    }

private:
    using Clock = std::chrono::steady_clock;
    double& m_seconds;
    Clock::time_point m_begin = Clock::now();
};

} // namespace residua::engine
