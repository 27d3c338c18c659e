// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/session/event_writer.h"

#include "engine/wire/messages.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace residua::engine {

std::size_t bytesOf(const Event& event)
{
    const auto* const progress = std::get_if<Progress>(&event);
    if (progress == nullptr) {
        return 0;
    }
    std::size_t bytes = sizeof(Event) + progress->steps.size() * sizeof(StepRecord) +
                        progress->rows.size() * sizeof(MetricRow) + progress->stages.size() * sizeof(StageRecord);
    for (const Matrix& matrix : progress->matrices) {
        bytes += sizeof(Matrix) + matrix.values.size() * sizeof(float);
    }
    return bytes;
}

EventWriter::~EventWriter()
{
    {
        const std::scoped_lock lock(m_mutex);
        m_quit = true;
    }
    m_wake.notify_one();
    m_writing.join();
}

void EventWriter::take(Event event)
{
    {
        const std::scoped_lock lock(m_mutex);
        if (m_broken) {
            return;
        }
        m_bytes += bytesOf(event);
        m_waiting.push_back(std::move(event));
        const auto isProgress = [](const Event& waiting) { return std::holds_alternative<Progress>(waiting); };
        while (m_bytes > kMostWaitingBytes) {
            const auto oldest = std::ranges::find_if(m_waiting, isProgress);
            m_bytes -= bytesOf(*oldest);
            m_waiting.erase(oldest);
        }
    }
    m_wake.notify_one();
}

void EventWriter::writeAll()
{
    std::unique_lock lock(m_mutex);
    while (true) {
        m_wake.wait(lock, [this] { return m_quit || !m_waiting.empty(); });
        if (m_waiting.empty()) {
            return;
        }
        const Event event = std::move(m_waiting.front());
        m_waiting.pop_front();
        m_bytes -= bytesOf(event);
        lock.unlock();
        const Status written = writeFrame(m_descriptor, frameOf(event));
        lock.lock();
        if (!written) { // the input then ends too
            m_broken = true;
            m_waiting.clear();
            m_bytes = 0;
        }
    }
}

} // namespace residua::engine
