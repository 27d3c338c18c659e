// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/values.h"
#include "resources/colours.h"
#include "visualizers/plot/plot.h"

#include <QString>

#include <cstdint>
#include <vector>

namespace residua::visualizers {

/// The weights that targets give to the entry at a distance before them.
struct DistanceWeights {
    std::int64_t distance = 0; ///< target − source; 1: the entry directly before
    std::int64_t count = 0;    ///< of weights
    double median = 0;
    double high = 0; ///< the 90th percentile
};

/// Returns the weights of a matrix by distance, ascending, without distances that have no weights. Percentiles are
/// interpolated between values. After DeepCrossAttention's figure 10, which shows this for each layer's features.
[[nodiscard]] std::vector<DistanceWeights> weightsByDistance(const engine::Matrix& matrix);

/// The median of weights against their distance in depth, shaded up to the 90th percentile. GUI thread.
class DistancePlot final : public Plot {
public:
    explicit DistancePlot(QWidget* parent);

    /// `label` names the weights. `low` and `high` are those of the weights at all steps, so that the axis stays.
    void setWeights(const std::vector<DistanceWeights>& weights, const QString& label, double low, double high);
    void setTheme(resources::Theme theme);

private:
    void style();

    QCPGraph* m_median;
    QCPGraph* m_high;
    resources::Theme m_theme = resources::Theme::Light;
};

} // namespace residua::visualizers
