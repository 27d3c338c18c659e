// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "resources/colours.h"
#include "visualizers/heatmap/distance_weights.h"
#include "visualizers/plot/plot.h"

#include <QString>

#include <vector>

namespace residua::visualizers {

/// The median of weights against their distance in depth, shaded up to the 90th percentile. GUI thread.
class DistancePlot final : public Plot {
public:
    explicit DistancePlot(QWidget* parent);

    /// `label` names the weights. `low` and `high` are those of the weights at all steps, so that the axis does not
    /// move.
    void setWeights(const std::vector<DistanceWeights>& weights, const QString& label, double low, double high);
    void setTheme(resources::Theme theme);

private:
    void style();

    QCPGraph* m_median;
    QCPGraph* m_high;
    resources::Theme m_theme = resources::Theme::Light;
};

} // namespace residua::visualizers
