// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "resources/colours.h"

#include <QColor>
#include <QString>
#include <QWidget>

#include <optional>
#include <vector>

namespace residua::visualizers {

using Theme = resources::Theme;

/// Loss against step: training (raw faint behind the smoothed) and validation, one or more runs.
/// GUI thread.
class LossView : public QWidget {
    Q_OBJECT
public:
    explicit LossView(QWidget* parent = nullptr);
    ~LossView() override;

    /// Adds or renames a curve pair; `key` identifies the run (its directory).
    void setRun(const QString& key, const QString& name);
    void removeRun(const QString& key);
    void clear();
    /// Appends; points at or before the last drawn step replace what was there (a resumed run never draws backwards).
    void append(const QString& key, const std::vector<residua::engine::StepRecord>& steps,
                const std::vector<residua::engine::ValidationRecord>& validations);
    void setTheme(Theme theme);

private:
    class Impl;
    Impl* m_impl;
};

/// Mixing coefficients as a grid, row = target, column = source, with a step scrubber. GUI thread.
class HeatmapView : public QWidget {
    Q_OBJECT
public:
    explicit HeatmapView(QWidget* parent = nullptr);
    ~HeatmapView() override;

    void clear();
    /// Appends the frame; follows the newest while the scrubber stands at the end.
    void append(const std::vector<residua::engine::Matrix>& matrices);
    void setTheme(Theme theme);
    /// Outlines a cell (hover on the canvas); row = target − 1. A negative row: none.
    void setHighlighted(int row, int column);

signals:
    void cellHovered(int row, int column); ///< −1, −1 when the pointer leaves

private:
    class Impl;
    Impl* m_impl;
};

} // namespace residua::visualizers
