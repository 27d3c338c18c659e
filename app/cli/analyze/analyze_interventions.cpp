// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/analyze/analyze.h"

#include "app/cli/arguments/project_argument.h"
#include "app/cli/arguments/request_arguments.h"
#include "app/cli/runs/engine_client.h"
#include "app/cli/terminal/console.h"
#include "projects/base/text.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <sstream>

namespace residua::cli {
namespace {

using engine::InterventionReady;
using engine::InterventionRow;
using nlohmann::json;

/// Returns the change of the perplexity in percent. Only of a loss that is a cross-entropy.
double perplexityChange(const InterventionRow& row)
{
    return std::isnan(row.divergence) ? row.divergence : std::expm1(row.rise) * 100;
}

const char* routingOf(const InterventionRow& row)
{
    return row.frozen ? "frozen" : "recomputed";
}

json finiteJson(double value)
{
    return std::isfinite(value) ? json(value) : json(nullptr);
}

std::string interventionsCsv(const InterventionReady& ready)
{
    std::ostringstream csv;
    csv << "intervention,streams,first,last,restored,at,routing,loss_rise,standard_error,divergence,perplexity_percent,"
           "derived\n";
    for (const InterventionRow& row : ready.rows) {
        csv << '"' << row.name << "\"," << row.streams << ',' << row.first << ',' << row.last << ',' << row.restored
            << ',' << row.at << ',' << routingOf(row);
        for (const double value : {row.rise, row.error, row.divergence, perplexityChange(row), row.derived}) {
            csv << ',' << (std::isnan(value) ? "" : numberText(value));
        }
        csv << '\n';
    }
    return csv.str();
}

void showInterventions(const InterventionReady& ready, projects::InterventionKind what, const Console& console)
{
    using projects::InterventionKind;
    const bool derives = what == InterventionKind::Pairs || what == InterventionKind::Rescue;
    const auto shown = [](double value) { return std::isnan(value) ? "-" : numberText(value, 4); };
    std::vector<std::vector<std::string>> rows{
        {"intervention", "routing", "loss above that of none", "+-", "KL", "perplexity %"}};
    if (derives) {
        rows.front().emplace_back(what == InterventionKind::Rescue ? "R" : "redundancy");
    }
    json interventions = json::array();
    for (const InterventionRow& row : ready.rows) {
        const double perplexity = perplexityChange(row);
        rows.push_back(
            {row.name, routingOf(row), shown(row.rise), shown(row.error), shown(row.divergence), shown(perplexity)});
        if (derives) {
            rows.back().push_back(shown(row.derived));
        }
        json each{{"intervention", row.name},
                  {"streams", row.streams},
                  {"first", row.first},
                  {"last", row.last},
                  {"routing", routingOf(row)},
                  {"lossRise", finiteJson(row.rise)},
                  {"standardError", finiteJson(row.error)},
                  {"divergence", finiteJson(row.divergence)},
                  {"perplexityPercent", finiteJson(perplexity)}};
        if (what == InterventionKind::Rescue) {
            each["restored"] = row.restored;
            each["at"] = row.at;
            each["rescue"] = finiteJson(row.derived);
        } else if (what == InterventionKind::Pairs) {
            each["redundancy"] = finiteJson(row.derived);
        }
        interventions.push_back(std::move(each));
    }
    console.line(console.table(rows));
    console.line("loss without interventions " + numberText(ready.loss, 5) + ", over " + groupedText(ready.batches) +
                 " batches at step " + groupedText(ready.step) +
                 "; +- is the standard error over the batches, KL in nats, above a noise of " + shown(ready.noise));
    console.value({{"step", ready.step},
                   {"batches", ready.batches},
                   {"loss", finiteJson(ready.loss)},
                   {"noise", finiteJson(ready.noise)},
                   {"keptBytes", ready.borderBytes},
                   {"interventions", std::move(interventions)},
                   {"notes", ready.notes}});
}

} // namespace

Exit runInterventions(const Arguments& arguments, const Console& console)
{
    Result<engine::InterventionRequest> request = requestFrom<engine::InterventionRequest>(arguments);
    const auto answer = answerTo(request, arguments, console);
    const auto* const ready = std::get_if<InterventionReady>(&answer);
    if (ready == nullptr) {
        return std::get<Exit>(answer);
    }
    if (!arguments.has("output")) {
        showInterventions(*ready, request->what, console);
        return Exit::Ok;
    }
    const std::filesystem::path path = arguments.text("output");
    return deliver({path, interventionsCsv(*ready), "csv"},
                   "wrote " + path.string() + ": " + groupedText(std::ssize(ready->rows)) + " rows",
                   {{"file", path.string()}}, console);
}

} // namespace residua::cli
