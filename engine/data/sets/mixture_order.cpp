// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/sets/mixture_order.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace residua::engine {

MixtureOrder::MixtureOrder(std::vector<double> shares, const std::vector<std::int64_t>& windows)
    : m_shares(std::move(shares)), m_taken(m_shares.size())
{
    if (m_shares.empty()) {
        return;
    }
    const std::size_t scarcest = next(windows); // it runs out first
    const double end = turnOf(scarcest, windows[scarcest]);
    for (std::size_t part = 0; part < m_shares.size(); ++part) {
        const std::int64_t count = before(part, end);
        // If two parts have windows at the same turn, the earlier part's window comes first, so it is before the end.
        m_taken[part] = count + (part < scarcest && turnOf(part, count) == end ? 1 : 0);
    }
    m_size = std::accumulate(m_taken.begin(), m_taken.end(), std::int64_t{0});
}

double MixtureOrder::turnOf(std::size_t part, std::int64_t number) const
{
    return (static_cast<double>(number) + 0.5) / m_shares[part];
}

std::int64_t MixtureOrder::before(std::size_t part, double turn) const
{
    // The rounded product is off by one at most; turnOf() decides, as everywhere else.
    auto count = static_cast<std::int64_t>(std::max(0.0, std::floor(turn * m_shares[part])));
    while (count > 0 && turnOf(part, count - 1) >= turn) {
        --count;
    }
    while (turnOf(part, count) < turn) {
        ++count;
    }
    return count;
}

std::size_t MixtureOrder::next(const std::vector<std::int64_t>& taken) const
{
    std::size_t first = 0;
    for (std::size_t part = 1; part < m_shares.size(); ++part) {
        if (turnOf(part, taken[part]) < turnOf(first, taken[first])) {
            first = part;
        }
    }
    return first;
}

std::vector<MixtureOrder::Window> MixtureOrder::windows(std::int64_t first, std::int64_t count) const
{
    // Before turn t there are at most t + parts / 2 windows, so the rest are enumerated one by one.
    const double start = std::max(0.0, static_cast<double>(first) - static_cast<double>(m_shares.size()));
    std::vector<std::int64_t> taken(m_shares.size());
    std::int64_t done = 0;
    for (std::size_t part = 0; part < m_shares.size(); ++part) {
        taken[part] = before(part, start);
        done += taken[part];
    }
    std::vector<Window> windows;
    windows.reserve(static_cast<std::size_t>(count));
    for (; done < first + count; ++done) {
        const std::size_t part = next(taken);
        if (done >= first) {
            windows.push_back({part, taken[part]});
        }
        ++taken[part];
    }
    return windows;
}

} // namespace residua::engine
