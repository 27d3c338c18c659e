// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "resources/colours.h"
#include "visualizers/plot/plot_view.h"

#include <QColor>
#include <QString>
#include <QWidget>

#include <memory>
#include <vector>

namespace residua::visualizers {

using Theme = resources::Theme;

/// Loss of one or more runs: training (raw faint behind the smoothed) and validation, against step, tokens, FLOP or
/// time, with the stages as bands and a table of what each transition did. GUI thread.
class LossView : public PlotView {
    Q_OBJECT
public:
    explicit LossView(QWidget* parent = nullptr);
    ~LossView() override;

    /// Adds or renames a curve pair; `key` identifies the run (its directory).
    void setRun(const QString& key, const QString& name);
    /// Training FLOP per token or sample, for the axis of that name.
    void setFlopPerUnit(const QString& key, double flop);
    /// The stages of the run, from what it recorded. Bands are those of the first run that has any.
    void setEvents(const QString& key, const std::vector<residua::engine::RunEvent>& events);
    void removeRun(const QString& key);
    /// What its curves are drawn in; invalid for a run that is not shown.
    [[nodiscard]] QColor colourOf(const QString& key) const;
    void clear();
    /// Appends; points at or before the last drawn step replace what was there (a resumed run never draws backwards).
    void append(const QString& key, const std::vector<residua::engine::StepRecord>& steps,
                const std::vector<residua::engine::ValidationRecord>& validations);
    void setTheme(Theme theme);
    [[nodiscard]] CsvText csvText() const override;

protected:
    [[nodiscard]] QCustomPlot& plot() const override;

private:
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace residua::visualizers
