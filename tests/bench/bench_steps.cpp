// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/bench_steps.h"

#include "engine/compute/runtime/device.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace residua::tests {
namespace {

/// Points in time on the device's own clock.
class Marks {
public:
    explicit Marks(c10::Device device) : m_device(device) {}

    /// Enqueues a mark behind all work so far.
    void add()
    {
        if (m_device.is_cpu()) {
            m_times.push_back(std::chrono::steady_clock::now());
            return;
        }
        c10::Event& event = m_events.emplace_back(m_device.type(), c10::EventFlag::BACKEND_DEFAULT);
        event.record(c10::impl::VirtualGuardImpl(m_device.type()).getStream(m_device));
    }

    /// Seconds between each mark and the next. Waits for the last.
    [[nodiscard]] std::vector<double> intervals() const
    {
        std::vector<double> seconds;
        for (std::size_t i = 1; i < m_times.size(); ++i) {
            seconds.push_back(std::chrono::duration<double>(m_times[i] - m_times[i - 1]).count());
        }
        if (!m_events.empty()) {
            m_events.back().synchronize();
        }
        for (std::size_t i = 1; i < m_events.size(); ++i) {
            seconds.push_back(1e-3 * m_events[i - 1].elapsedTime(m_events[i]));
        }
        return seconds;
    }

private:
    c10::Device m_device;
    std::vector<c10::Event> m_events;
    std::vector<std::chrono::steady_clock::time_point> m_times;
};

} // namespace

std::vector<double> timedSteps(engine::Trainer& trainer, std::int64_t lead, std::int64_t count)
{
    Marks marks(trainer.device());
    for (std::int64_t step = 0; step < lead + count; ++step) {
        if (step == lead) {
            marks.add();
        }
        if (const Status stepped = trainer.step(); !stepped) {
            throw std::runtime_error(stepped.error().text());
        }
        if (step >= lead) {
            marks.add();
        }
    }
    engine::synchronise(trainer.device());
    return marks.intervals();
}

std::int64_t allocatedBytes(c10::Device device)
{
    if (device.is_cpu()) {
        return 0;
    }
    const auto stats = c10::getDeviceAllocator(device.type())->getDeviceStats(device.index());
    return stats.allocated_bytes[static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE)].current;
}

double processorSeconds()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double medianOf(std::vector<double> values)
{
    std::ranges::sort(values);
    return values[values.size() / 2];
}

} // namespace residua::tests
