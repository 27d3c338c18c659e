// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/analyze/analyze.h"

#include "app/cli/analyze/subject_request.h"
#include "app/cli/runs/engine_client.h"
#include "engine/runs/results/visit_results.h"

#include <algorithm>
#include <cstddef>

namespace residua::cli {
namespace {

using engine::VisitCurve;
using nlohmann::json;

constexpr std::size_t kMostShown = 12; ///< visits in a table

const projects::Choice& choiceOf(const VisitCurve& curve)
{
    return projects::Choices<engine::VisitMeasure>::all[static_cast<std::size_t>(curve.measure)];
}

/// Prints a table with one column for each visit, or for evenly spaced ones, and the visit of each.
void show(const engine::VisitsReady& ready, const Console& console)
{
    std::size_t most = 1;
    for (const VisitCurve& curve : ready.curves) {
        const bool isOfVisits = curve.measure != engine::VisitMeasure::Residual;
        most = std::max(most, isOfVisits ? curve.values.size() : 1);
    }
    const std::size_t columns = std::min(most, kMostShown);
    std::vector<std::vector<std::string>> rows{{"measure", "layer"}};
    std::vector<std::size_t> visits;
    for (std::size_t i = 0; i < columns; ++i) {
        visits.push_back(columns == 1 ? 0 : i * (most - 1) / (columns - 1));
        rows.front().push_back("v " + std::to_string(visits.back() + 1));
    }
    json told = json::array();
    for (const VisitCurve& curve : ready.curves) {
        const std::string layer = curve.layer > 0 ? std::to_string(curve.layer) : "";
        told.push_back({{"measure", choiceOf(curve).name}, {"layer", curve.layer}, {"values", curve.values}});
        if (curve.measure == engine::VisitMeasure::Residual) {
            continue; // its last value is told below
        }
        std::vector<std::string>& row =
            rows.emplace_back(std::vector<std::string>{std::string(choiceOf(curve).title), layer});
        for (const std::size_t visit : visits) {
            row.push_back(visit < curve.values.size() ? cellOf(curve.values[visit]) : "");
        }
    }
    console.line(console.table(rows));
    console.line("loss " + numberText(ready.loss, 5) + ", over " + groupedText(ready.batches) + " batches at step " +
                 groupedText(ready.step));
    const auto residual = std::ranges::find(ready.curves, engine::VisitMeasure::Residual, &VisitCurve::measure);
    if (residual != ready.curves.end()) {
        console.line("fixed-point residual after " + std::to_string(residual->values.size()) +
                     " visits: " + cellOf(residual->values.back()));
    }
    console.value({{"step", ready.step},
                   {"batches", ready.batches},
                   {"loss", ready.loss},
                   {"curves", std::move(told)},
                   {"notes", ready.notes}});
}

} // namespace

Exit runVisits(const Arguments& arguments, const Console& console)
{
    Result<engine::VisitsRequest> request = subjectRequestFrom<engine::VisitsRequest>(arguments, console);
    const engine::VisitsReady ready = RESIDUA_TRY(answerTo(request, arguments, console));
    if (arguments.has("output")) {
        return saveNumbers(engine::visitsCsv(ready.curves), countText(ready.curves.size(), "curve"), arguments,
                           console);
    }
    show(ready, console);
    return Exit::Ok;
}

} // namespace residua::cli
