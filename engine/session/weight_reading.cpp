// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/session/weight_reading.h"

#include <utility>

namespace residua::engine {
namespace {

constexpr std::chrono::milliseconds kNews{34};

} // namespace

WeightReading::WeightReading(const TensorFiles& files, std::vector<TensorTransfer> transfers)
    : m_files(files), m_transfers(std::move(transfers))
{
    for (const TensorTransfer& each : m_transfers) {
        m_bytes += each.stored.place.bytes;
    }
}

Status WeightReading::readNext()
{
    if (atEnd()) {
        return Done{};
    }
    const TensorTransfer& next = m_transfers[m_next++];
    m_read += next.stored.place.bytes;
    return transfer(m_files, next);
}

std::optional<double> WeightReading::takeShare()
{
    const auto now = std::chrono::steady_clock::now();
    if (m_bytes == 0 || now < m_nextNews) {
        return std::nullopt;
    }
    m_nextNews = now + kNews;
    return static_cast<double>(m_read) / static_cast<double>(m_bytes);
}

} // namespace residua::engine
