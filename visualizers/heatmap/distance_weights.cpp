// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/heatmap/distance_plot.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace residua::visualizers {
namespace {

constexpr double kHighShare = 0.9;

/// Returns the value below which `share` of the values are. Precondition: `values` is sorted and not empty.
double percentile(const std::vector<double>& values, double share)
{
    const double place = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

} // namespace

std::vector<DistanceWeights> weightsByDistance(const engine::Matrix& matrix)
{
    std::map<std::int64_t, std::vector<double>> byDistance;
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
        for (std::int64_t column = 0; column < matrix.columns; ++column) {
            if (const auto weight = static_cast<double>(matrix.at(row, column)); !std::isnan(weight)) {
                byDistance[row + 1 - column].push_back(weight);
            }
        }
    }
    std::vector<DistanceWeights> found;
    for (auto& [distance, weights] : byDistance) {
        std::ranges::sort(weights);
        found.push_back({distance, static_cast<std::int64_t>(weights.size()), percentile(weights, 0.5),
                         percentile(weights, kHighShare)});
    }
    return found;
}

} // namespace residua::visualizers
