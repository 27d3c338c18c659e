// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "visualizers/runs/shown_runs.h"

#include <limits>
#include <map>
#include <string>
#include <vector>

namespace residua::visualizers {

/// Overlays a run, which has no numbers yet.
inline void begin(ShownRuns& runs, const std::string& key, const ShownRuns::Facts& facts = {})
{
    runs.overlay(key);
    runs.begin(key, facts);
}

/// Puts runs, as their keys, into one group each. Seeds are their places in it.
inline void group(ShownRuns& runs, const std::map<QString, std::vector<std::string>>& groups)
{
    std::map<std::string, ShownRuns::Look> looks;
    std::size_t colour = 0;
    for (const auto& [name, keys] : groups) {
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const QString seed = QString::number(i + 1);
            const QString label = keys.size() > 1 ? name + ", seed " + seed : name;
            looks[keys[i]] = {"group " + name.toStdString(), name, label, colour, seed.toStdString()};
        }
        ++colour;
    }
    runs.setLooks(looks);
}

/// Mixing weights of two layers, of which the second weighs its own entry by `last`.
inline engine::Matrix triangle(std::int64_t step, float last)
{
    const float none = std::numeric_limits<float>::quiet_NaN();
    return {.name = "mix", .step = step, .rows = 2, .columns = 2, .values = {1, none, 1 - last, last}};
}

} // namespace residua::visualizers
