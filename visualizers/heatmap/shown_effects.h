// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/runs/results/effects.h"

#include <QObject>
#include <QString>

#include <cstddef>
#include <string>
#include <vector>

namespace residua::visualizers {

/// Holds the knock-outs of the run in front and the choice of the shown one. Views follow it by its signal. GUI thread.
class ShownEffects : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    /// Sets the results of a run. Shows the same one as before if it is the same run and still has it, or else the last
    /// one. An empty key: no run.
    void setRun(const std::string& key, std::vector<engine::KeptEffects> results);
    /// Adds a result of the run in place of that of its key, and shows it.
    void add(engine::KeptEffects result);
    /// Shows the result at this place of all().
    void choose(std::size_t place);

    /// Returns the directory of the run; empty without a run.
    [[nodiscard]] const std::string& run() const { return m_run; }
    [[nodiscard]] const std::vector<engine::KeptEffects>& all() const { return m_all; }
    [[nodiscard]] std::size_t place() const { return m_place; }
    /// Returns the shown result; null without results.
    [[nodiscard]] const engine::KeptEffects* shown() const;
    /// Returns the shown result if it is of shortcuts, or else the last one of shortcuts. Null without one.
    [[nodiscard]] const engine::KeptEffects* ofShortcuts() const;

signals:
    void changed();

private:
    std::string m_run;
    std::vector<engine::KeptEffects> m_all;
    std::size_t m_place = 0;
};

/// Returns the name of a result among those of its run: "shortcuts, step 200, 4 batches".
[[nodiscard]] QString titleOf(const engine::KeptEffects& result);

/// Returns the effect of one part in words, with its standard error, divergence and weight, one a line.
[[nodiscard]] QString readingOf(const engine::KnockoutRow& row);

} // namespace residua::visualizers
