// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/queries/models/weight_reading.h"

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

WeightReading::WeightReading(const TensorFiles& files, std::vector<TransferStep> steps)
    : m_files(files), m_steps(std::move(steps))
{
    for (const TransferStep& each : m_steps) {
        m_bytes += each.bytes();
    }
}

Status WeightReading::readNext()
{
    if (atEnd()) {
        return Done{};
    }
    const TransferStep& next = m_steps[m_next++];
    m_read += next.bytes();
    return carryOut(m_files, next);
}

} // namespace residua::engine
