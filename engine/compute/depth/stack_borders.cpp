// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/depth/stack_borders.h"

#include <iterator>
#include <utility>

namespace residua::engine {

void StackBorders::clear()
{
    KeptStreams kept{m_streams.keepsWeights, std::move(m_streams.borders), {}, {}};
    *this = StackBorders(m_mostBytes);
    m_streams = std::move(kept);
}

void StackBorders::keep(std::size_t step, const DepthState& state)
{
    if (m_full) {
        return;
    }
    std::int64_t bytes = m_bytes;
    for (const DepthValue& value : state.values) {
        if (value.tensor.defined() && m_counted.insert(value.tensor.const_data_ptr()).second) {
            bytes += static_cast<std::int64_t>(value.tensor.nbytes());
        }
    }
    m_full = bytes > m_mostBytes;
    if (!m_full) {
        m_bytes = bytes;
        m_states.insert_or_assign(step, state.copy());
    }
}

const std::pair<const std::size_t, DepthState>* StackBorders::before(std::size_t step) const
{
    const auto after = m_states.upper_bound(step);
    return after == m_states.begin() ? nullptr : &*std::prev(after);
}

} // namespace residua::engine
