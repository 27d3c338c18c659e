// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "visualizers/runs/shown_runs.h"

#include <limits>
#include <string>

namespace residua::visualizers {

/// Overlays a run, which has no numbers yet.
inline void begin(ShownRuns& runs, const std::string& key, const ShownRuns::Facts& facts = {})
{
    runs.overlay(key);
    runs.begin(key, facts);
}

/// Mixing weights of two layers, of which the second weighs its own entry by `last`.
inline engine::Matrix triangle(std::int64_t step, float last)
{
    const float none = std::numeric_limits<float>::quiet_NaN();
    return {.name = "mix", .step = step, .rows = 2, .columns = 2, .values = {1, none, 1 - last, last}};
}

} // namespace residua::visualizers
