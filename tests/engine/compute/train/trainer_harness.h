// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/train/trainer.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace residua::tests {

/// Returns a trainer of the project at its first step. Throws the error's text.
inline engine::Trainer trainerOf(const projects::Project& project, const std::string& device = "cpu")
{
    Result<engine::TrainerParts> parts = engine::openParts(project, {}, device);
    if (!parts) {
        throw std::runtime_error(parts.error().text());
    }
    return engine::Trainer(std::move(*parts));
}

/// Returns the measure that records a metric or matrix.
inline const engine::Measure& measureOf(std::string_view record)
{
    return *std::ranges::find(engine::kMeasures, record, &engine::Measure::record);
}

/// Measures a metric of kMeasures now. Returns NaN if it measures nothing. Throws the error's text.
inline double measured(engine::Trainer& trainer, std::string_view metric)
{
    const Result<engine::Measured> measured = trainer.measure(measureOf(metric));
    if (!measured) {
        throw std::runtime_error(measured.error().text());
    }
    const auto row = std::ranges::find(measured->rows, metric, &engine::MetricRow::name);
    return row == measured->rows.end() ? engine::kNoLoss : row->value;
}

} // namespace residua::tests
