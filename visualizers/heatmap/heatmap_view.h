// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "projects/depth/weight_scale.h"
#include "projects/model/topology.h"
#include "resources/colours.h"
#include "visualizers/plot/plot_view.h"

#include <QString>
#include <QWidget>

#include <memory>
#include <optional>
#include <vector>

namespace residua::visualizers {

class ShownRuns;

/// Mixing coefficients as a grid, row = target, column = source, of one port at a time, with a step scrubber: their
/// values, their change since the start or a pinned step, their difference from another run, or ANCRe's logarithm.
/// Keys: arrows go from cell to cell, PageUp and PageDown from step to step, Home and End to the first and last, Space
/// plays, P pins. GUI thread.
class HeatmapView : public PlotView {
    Q_OBJECT
public:
    explicit HeatmapView(QWidget* parent = nullptr);
    ~HeatmapView() override;

    /// Shows the matrices of the run in front of `runs`, and how they differ from those of the one that is compared.
    /// It does not outlive them.
    void follow(const ShownRuns& runs);
    /// Forgets every frame, but not the run that they are compared with.
    void clear();
    /// The wiring of the run whose matrices follow, which says how their weights are coloured; clear() forgets it.
    void setWiring(const residua::projects::Wiring& wiring);
    /// Appends the frame; follows the newest while the scrubber stands at the end.
    void append(const std::vector<residua::engine::Matrix>& matrices);
    /// The run to show the difference from; an empty name: none.
    void compareWith(const QString& name);
    /// Appends to what that run has recorded.
    void appendCompared(const std::vector<residua::engine::Matrix>& matrices);
    /// The applied weights ("mix", "mix/q") of one feature by step, as featureWanted asked for; none: of all again.
    void setFeature(int feature, const std::vector<residua::engine::Matrix>& matrices);
    /// Later steps of the feature that is shown.
    void appendFeature(const std::vector<residua::engine::Matrix>& matrices);
    [[nodiscard]] std::optional<int> feature() const;
    /// What was recorded up to the step of the scrubber, the newest of every matrix; none where nothing is shown.
    [[nodiscard]] std::vector<std::shared_ptr<const residua::engine::Matrix>> framesShown() const;
    /// How the weights of a matrix are coloured.
    [[nodiscard]] projects::WeightScale scaleOf(const std::string& matrix) const;
    void setTheme(resources::Theme theme) override;
    /// Outlines a cell (hover on the canvas); row = target − 1. A negative row: none.
    void setHighlighted(int row, int column);
    [[nodiscard]] CsvText csvText() const override;

signals:
    void cellHovered(int row, int column); ///< −1, −1 when the pointer leaves
    void featureWanted(int feature);       ///< a person asks for a single feature's weights
    void stepShown();                      ///< the scrubber stands elsewhere, or there are other frames

protected:
    [[nodiscard]] QCustomPlot& plot() const override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace residua::visualizers
