// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/canvas/shown_weights.h"

#include "engine/base/api/matrix_name.h"
#include "visualizers/heatmap/shown_matrices.h"

#include <optional>
#include <string_view>

namespace residua::app {
namespace {

using editor::LiveMeasure;

std::optional<LiveMeasure> measureOf(std::string_view kind)
{
    return kind == engine::matrix::kMix       ? std::optional(LiveMeasure::Mean)
           : kind == engine::matrix::kSpread  ? std::optional(LiveMeasure::Spread)
           : kind == engine::matrix::kFeature ? std::optional(LiveMeasure::Feature)
                                              : std::nullopt;
}

} // namespace

void takeFrames(const visualizers::ShownMatrices& matrices,
                const std::vector<visualizers::HeatmapFrames::Shown>& frames, editor::LiveWeights& live)
{
    for (const auto& [matrix, scale, value] : frames) {
        editor::LiveValues values;
        values.port = matrix.name.port;
        values.step = matrix.step;
        if (const auto measure = measureOf(matrix.name.kind)) {
            values.mix = matrix.values;
            values.rows = matrix.rows;
            values.columns = matrix.columns;
            values.measure = *measure;
            values.feature = matrices.feature().value_or(0);
            values.title = matrices.titleOf(value, matrix.name).toStdString();
        } else if (matrix.name.kind == engine::matrix::kActive) {
            values.active = matrix.values;
        }
        live.take(values, scale);
    }
}

} // namespace residua::app
