// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "visualizers/runs/shown_runs.h"

#include <string>

namespace residua::visualizers {

/// Overlays a run, which has no numbers yet.
inline void begin(ShownRuns& runs, const std::string& key, const ShownRuns::Facts& facts = {})
{
    runs.overlay(key);
    runs.begin(key, facts);
}

} // namespace residua::visualizers
