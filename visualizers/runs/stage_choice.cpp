// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/runs/stage_choice.h"

#include <algorithm>

namespace residua::visualizers {

void StageChoice::choose(const Staged& runs, int index)
{
    m_none = static_cast<std::size_t>(index) >= runs.size();
    m_run = m_none ? std::string() : runs[static_cast<std::size_t>(index)]->key;
}

const ShownRuns::Run* StageChoice::pick(const Staged& runs, const std::string& front) const
{
    if (runs.empty() || m_none) {
        return nullptr;
    }
    for (const std::string& wanted : {m_run, front}) {
        if (const auto found = std::ranges::find(runs, wanted, &ShownRuns::Run::key); found != runs.end()) {
            return *found;
        }
    }
    return runs.front();
}

} // namespace residua::visualizers
