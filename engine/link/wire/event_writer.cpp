// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/link/wire/event_writer.h"

#include "engine/base/machine/failure.h"
#include "engine/link/wire/messages.h"

#include <sys/socket.h>

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

namespace residua::engine {

namespace {

/// True if both are progress of one query: each tells all that has been done. A text of progress is not replaced.
bool replaces(const Event& newer, const Event& older)
{
    return newer.index() == older.index() && std::visit(
                                                 [&]<class Told>(const Told& told) {
                                                     if constexpr (std::is_same_v<Told, QueryProgress>) {
                                                         const auto& waiting = std::get<Told>(older);
                                                         return told.tag == waiting.tag && told.text.empty() &&
                                                                waiting.text.empty();
                                                     } else if constexpr (kIsProgress<Told>) {
                                                         return told.tag == std::get<Told>(older).tag;
                                                     } else {
                                                         return false;
                                                     }
                                                 },
                                                 newer);
}

/// Returns the frame of an event, or of a message about an event that is too large for one.
Frame frameFor(const Event& event)
{
    Frame frame = frameOf(event);
    const Status fits = checkSize(frame);
    return fits ? std::move(frame)
                : std::visit(
                      [&]<class Told>(const Told& told) {
                          if constexpr (requires { told.tag; }) {
                              return frameOf(Event(QueryFailed{told.tag, fits.error()}));
                          } else {
                              return frameOf(Event(Notice{told.run, fits.error().text()}));
                          }
                      },
                      event);
}

} // namespace

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
        const auto older =
            std::ranges::find_if(m_waiting, [&](const Event& waiting) { return replaces(event, waiting); });
        if (older != m_waiting.end()) {
            m_waiting.erase(older);
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
        Status written = Done{};
        const auto failure = attemptStandard([&] { written = writeFrame(m_descriptor, frameFor(event)); });
        lock.lock();
        if (failure || !written) {
            m_broken = true;
            m_waiting.clear();
            m_bytes = 0;
            shutdown(m_descriptor, SHUT_RDWR); // of a socket; the reader of a pipe watches its output
        }
    }
}

} // namespace residua::engine
