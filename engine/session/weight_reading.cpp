// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/session/weight_reading.h"

#include <utility>

namespace residua::engine {
namespace {

constexpr std::chrono::milliseconds kNews{34};

} // namespace

std::optional<double> ShareNews::take(std::uint64_t done, std::uint64_t all)
{
    const auto now = std::chrono::steady_clock::now();
    if (all == 0 || now < m_next) {
        return std::nullopt;
    }
    m_next = now + kNews;
    return static_cast<double>(done) / static_cast<double>(all);
}

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

} // namespace residua::engine
