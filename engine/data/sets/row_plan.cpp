// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/sets/row_plan.h"

#include <algorithm>

namespace residua::engine {

RowPlan::RowPlan(std::span<const std::int64_t> ends, std::int64_t begin, projects::DocumentRows rows, std::int64_t time,
                 bool targetsFollow)
{
    std::int64_t room = 0; // in the last row
    for (const std::int64_t end : ends) {
        std::int64_t left = end - begin - (targetsFollow ? 1 : 0);
        m_longer += left > time ? 1 : 0;
        if (rows == projects::DocumentRows::Single) {
            left = std::min(left, time);
        }
        for (; left > 0; left -= m_segments.back().inputs) {
            const std::int64_t inputs = std::min(left, time);
            if (rows == projects::DocumentRows::Single || inputs > room) {
                m_rows.push_back(m_segments.size());
                room = time;
            }
            m_segments.push_back({begin, inputs});
            m_inputs += inputs;
            room -= inputs;
            begin += inputs;
        }
        begin = end;
    }
}

std::span<const RowPlan::Segment> RowPlan::row(std::int64_t number) const
{
    const std::size_t first = m_rows[static_cast<std::size_t>(number)];
    const std::size_t end = number + 1 < size() ? m_rows[static_cast<std::size_t>(number + 1)] : m_segments.size();
    return std::span(m_segments).subspan(first, end - first);
}

Result<std::vector<std::int64_t>> endsAfter(const TokenSequence& tokens, std::int64_t end,
                                            const PreparationWatch& watch)
{
    constexpr std::int64_t kAtOnce = 1 << 18;
    std::vector<std::int64_t> ends;
    std::vector<std::int64_t> block;
    for (std::int64_t first = 0; first < tokens.size(); first += std::ssize(block)) {
        block.resize(static_cast<std::size_t>(std::min(tokens.size() - first, kAtOnce)));
        RESIDUA_TRY(stillWanted(watch, static_cast<double>(first) / static_cast<double>(tokens.size())));
        RESIDUA_TRY(tokens.read(first, block));
        for (std::int64_t i = 0; i < std::ssize(block); ++i) {
            if (block[static_cast<std::size_t>(i)] == end) {
                ends.push_back(first + i + 1);
            }
        }
    }
    if (tokens.size() > 0 && (ends.empty() || ends.back() < tokens.size())) {
        ends.push_back(tokens.size());
    }
    return ends;
}

} // namespace residua::engine
