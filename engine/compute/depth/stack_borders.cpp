// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/depth/stack_borders.h"

#include <iterator>

namespace residua::engine {

void StackBorders::clear()
{
    StackBorders empty(m_mostBytes);
    empty.m_wantsRouting = m_wantsRouting;
    empty.m_wanted = std::move(m_wanted);
    *this = std::move(empty);
}

std::int64_t StackBorders::count(const at::Tensor& tensor)
{
    const bool isNew = tensor.defined() && m_counted.insert(tensor.const_data_ptr()).second;
    return isNew ? static_cast<std::int64_t>(tensor.nbytes()) : 0;
}

void StackBorders::keep(std::size_t step, const DepthState& state)
{
    if (m_full) {
        return;
    }
    std::int64_t bytes = m_bytes;
    for (const DepthValue& value : state.values) {
        bytes += count(value.tensor) + count(value.branch);
    }
    m_full = bytes > m_mostBytes;
    if (!m_full) {
        m_bytes = bytes;
        m_states.insert_or_assign(step, state.copy());
    }
}

void StackBorders::keepRouting(std::size_t module, const MixWeights& read, const MixWeights& write)
{
    for (const MixWeights* const weights : {&read, &write}) {
        m_bytes += count(weights->weights) + count(weights->tokenWeights);
    }
    m_routing.insert_or_assign(module, std::pair(read, write));
}

void StackBorders::keepStreams(std::int64_t border, const std::vector<at::Tensor>& streams)
{
    if (!m_wanted.contains(border)) {
        return;
    }
    for (const at::Tensor& stream : streams) {
        m_bytes += count(stream);
    }
    m_streams.insert_or_assign(border, streams);
}

const std::pair<const std::size_t, DepthState>* StackBorders::before(std::size_t step) const
{
    const auto after = m_states.upper_bound(step);
    return after == m_states.begin() ? nullptr : &*std::prev(after);
}

const std::pair<MixWeights, MixWeights>* StackBorders::keptRouting(std::size_t module) const
{
    const auto kept = m_routing.find(module);
    return kept != m_routing.end() ? &kept->second : nullptr;
}

const std::vector<at::Tensor>* StackBorders::keptStreams(std::int64_t border) const
{
    const auto kept = m_streams.find(border);
    return kept != m_streams.end() ? &kept->second : nullptr;
}

} // namespace residua::engine
