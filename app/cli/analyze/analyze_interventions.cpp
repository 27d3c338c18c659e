// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/analyze/analyze.h"

#include "app/cli/arguments/project_argument.h"
#include "app/cli/arguments/request_arguments.h"
#include "app/cli/runs/engine_client.h"

#include <sstream>
#include <utility>

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

/// Returns a line for each column of the table.
std::string legendOf(const InterventionReady& ready, projects::InterventionKind what)
{
    using projects::InterventionKind;
    const bool hasClasses = !std::isnan(ready.noise);
    std::string legend = "loss rise: above " + numberText(ready.loss, 5) + ", the loss without interventions on " +
                         groupedText(ready.batches) + " held-out batches at step " + groupedText(ready.step) +
                         "; +- is its standard error over the batches\n"
                         "routing: the weights of reads, transitions, writes and exit, recomputed from the altered "
                         "streams or frozen as they are without the intervention";
    legend += what == InterventionKind::Transitions
                  ? ""
                  : "\nafter: a layer, or one of its halves: 1a is the attention of layer 1, 1f its FFN";
    if (!hasClasses) {
        return legend + "\nKL, perplexity, R and redundancy are those of networks that predict classes";
    }
    legend += "\nperplexity %: the change of exp(loss)\nKL: divergence of the predictions from those without "
              "interventions, as a mean over the outputs in "
              "nats; \"noise\": at most " +
              numberText(ready.noise, 3);
    legend +=
        what == InterventionKind::Rescue
            ? "\nR: share of the KL that the restored stream takes away: 1 all, 0 none; - if the KL without it is "
              "not above the noise"
        : what == InterventionKind::Pairs
            ? "\nredundancy: the KL of both streams less that of each, in nats; above 0 each can stand in for the "
              "other"
            : "";
    return legend;
}

json rowJson(const InterventionRow& row, projects::InterventionKind what)
{
    json each{
        {"intervention", row.name},   {"streams", row.streams},       {"first", row.first},
        {"last", row.last},           {"routing", routingOf(row)},    {"lossRise", row.rise},
        {"standardError", row.error}, {"divergence", row.divergence}, {"perplexityPercent", perplexityChange(row)}};
    if (what == projects::InterventionKind::Rescue) {
        each["restored"] = row.restored;
        each["at"] = row.at;
        each["rescue"] = row.derived;
    } else if (what == projects::InterventionKind::Pairs) {
        each["redundancy"] = row.derived;
    }
    return each;
}

void showInterventions(const InterventionReady& ready, projects::InterventionKind what, const Console& console)
{
    const bool hasClasses = !std::isnan(ready.noise);
    const char* const derived = what == projects::InterventionKind::Rescue  ? "R"
                                : what == projects::InterventionKind::Pairs ? "redundancy"
                                                                            : nullptr;
    std::vector<std::vector<std::string>> rows{{"intervention", "routing", "loss rise", "+-"}};
    json interventions = json::array();
    const auto addCells = [&](std::vector<std::string>& cells, const std::vector<std::string>& more) {
        cells.insert(cells.end(), more.begin(), more.begin() + (!hasClasses ? 0 : derived == nullptr ? 2 : 3));
    };
    addCells(rows.front(), {"perplexity %", "KL", derived == nullptr ? "" : derived});
    for (const InterventionRow& row : ready.rows) {
        rows.push_back({row.name, routingOf(row), cellOf(row.rise), cellOf(row.error)});
        addCells(rows.back(), {cellOf(perplexityChange(row)),
                               row.divergence > ready.noise ? cellOf(row.divergence) : "noise", cellOf(row.derived)});
        interventions.push_back(rowJson(row, what));
    }
    console.line(console.table(rows));
    console.line(legendOf(ready, what));
    tellKept(ready, console);
    json all = measuredJson(ready);
    all.update({{"noise", ready.noise}, {"interventions", std::move(interventions)}});
    console.value(all);
}

} // namespace

Exit runInterventions(const Arguments& arguments, const Console& console)
{
    Result<engine::InterventionRequest> request = requestFrom<engine::InterventionRequest>(arguments);
    const InterventionReady ready =
        RESIDUA_TRY(answerTo(request, arguments, console, shareTeller(console, "measured ")));
    if (!arguments.has("output")) {
        showInterventions(ready, request->what, console);
        return Exit::Ok;
    }
    return saveNumbers(interventionsCsv(ready), groupedText(std::ssize(ready.rows)) + " rows", arguments, console);
}

} // namespace residua::cli
