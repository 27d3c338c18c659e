// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/api/run_progress.h"

#include "engine/base/api/values.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace residua::engine {

std::optional<QueryTag> answeredBy(const Event& event)
{
    return std::visit(
        []<class Told>(const Told& told) -> std::optional<QueryTag> {
            if constexpr (requires { told.tag; } && !kIsProgress<Told>) {
                return told.tag;
            } else {
                return std::nullopt;
            }
        },
        event);
}

void merge(Progress& progress, Progress next)
{
    progress.steps.insert(progress.steps.end(), next.steps.begin(), next.steps.end());
    std::move(next.rows.begin(), next.rows.end(), std::back_inserter(progress.rows));
    std::move(next.matrices.begin(), next.matrices.end(), std::back_inserter(progress.matrices));
    std::move(next.stages.begin(), next.stages.end(), std::back_inserter(progress.stages));
    progress.unitsPerSecond = next.unitsPerSecond;
    progress.peakBytes = std::max(progress.peakBytes, next.peakBytes);
}

void setValues(std::map<std::string, double>& values, const Progress& progress)
{
    if (!progress.steps.empty()) {
        values[metric::kLoss] = progress.steps.back().loss;
    }
    for (const MetricRow& row : progress.rows) {
        if (isRating(row.name)) {
            values[row.name] = row.value;
        }
    }
}

void RunProgress::add(const RunStarted& started)
{
    step = started.firstStep;
    steps = started.steps;
    unitsPerStep = started.unitsPerStep;
    unit = started.unit;
}

void RunProgress::add(const Progress& progress)
{
    if (!progress.steps.empty()) {
        step = progress.steps.back().step;
        loss = progress.steps.back().loss;
        seconds = progress.steps.back().seconds;
    }
    validationLoss = progress.last(metric::kValidationLoss).value_or(validationLoss);
    unitsPerSecond = progress.unitsPerSecond;
}

double RunProgress::secondsLeft() const
{
    return unitsPerSecond > 0 && unitsPerStep > 0 ? static_cast<double>((steps - step) * unitsPerStep) / unitsPerSecond
                                                  : -1;
}

} // namespace residua::engine
