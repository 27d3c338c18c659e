// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/analyze/analyze.h"

#include "app/cli/arguments/project_argument.h"
#include "app/cli/arguments/request_arguments.h"
#include "app/cli/runs/engine_client.h"
#include "app/cli/runs/named_runs.h"
#include "app/cli/runs/weakest_shortcuts.h"
#include "engine/runs/results/effects.h"
#include "engine/runs/results/visit_results.h"
#include "projects/base/ranges.h"
#include "projects/transfer/weakest.h"

#include <algorithm>

namespace residua::cli {
namespace {

using engine::KnockoutRow;
using nlohmann::json;

/// Returns the measure of --weak-by. Checks what --weakest needs, before anything is measured.
Result<projects::WeakBy> weakByOf(const engine::KnockoutRequest& request, const Arguments& arguments)
{
    if (!arguments.has("weakest")) {
        return arguments.has("weak-by") ? Result<projects::WeakBy>(Error{
                                              "--weak-by", "orders the shortcuts of --weakest K, which is missing"})
                                        : projects::WeakBy::Effect;
    }
    if (request.by != projects::KnockoutBy::Term) {
        return Error{"--weakest", "it ranks shortcuts; expected --by term or no --by"};
    }
    return weakByFrom(arguments.text("weak-by", "effect"));
}

/// Returns the shortcuts that --weakest asks for, as fork --prune takes them.
Result<std::string> weakestText(const engine::KnockoutReady& ready, projects::WeakBy by, const Arguments& arguments)
{
    const projects::Project project = RESIDUA_TRY(projectOfRun(arguments.positional(0), arguments.text("tower")));
    const Result<projects::Pruning> found = weakestOf(project, ready, by, arguments.integer("weakest", 1));
    return found ? Result<std::string>(textOf(*found, project)) : Result<std::string>(found.error());
}

/// Prints the fits of the loss over visits, and returns them as JSON.
json tellFits(const std::vector<engine::VisitFit>& fits, const Console& console)
{
    return mapped<json>(fits, [&](const engine::VisitFit& fit) -> json {
        console.line(fit.text());
        return {{"visits", fit.visits},
                {"least", fit.least},
                {"height", fit.height},
                {"rate", fit.rate},
                {"error", fit.error}};
    });
}

void show(const engine::KnockoutReady& ready, const engine::KnockoutRequest& request, const std::string& weakest,
          const Console& console)
{
    const projects::KnockoutBy by = request.by;
    const bool isOverVisits = by == projects::KnockoutBy::Visits && request.only.empty();
    std::vector<KnockoutRow> sorted = ready.rows;
    if (by != projects::KnockoutBy::Visits) {
        std::ranges::stable_sort(sorted, std::greater(), &KnockoutRow::rise);
    }
    std::vector<std::vector<std::string>> rows{
        {by == projects::KnockoutBy::Visits ? "with" : "without", "weight", "loss above that of all", "+-", "KL"}};
    for (const KnockoutRow& row : sorted) {
        rows.push_back({row.name, cellOf(row.weight), cellOf(row.rise), cellOf(row.error), cellOf(row.divergence)});
    }
    console.line(console.table(rows));
    console.line("loss of the whole network " + numberText(ready.loss, 5) + ", over " + groupedText(ready.batches) +
                 " batches at step " + groupedText(ready.step) +
                 "; +- is the standard error over the batches, KL in nats");
    tellKept(ready, console);
    const double correlation = engine::weightAgainstEffect(ready);
    if (!std::isnan(correlation)) {
        console.line("rank correlation of the size of a weight with its effect: " + numberText(correlation, 3));
    }
    if (!weakest.empty()) {
        console.line("weakest: " + weakest + " (left out by residua-cli fork RUN --prune \"" + weakest + "\")");
    }
    auto parts = mapped<json>(ready.rows, [](const KnockoutRow& row) -> json {
        return {
            {"part", row.name},     {"first", row.first},         {"reader", row.reader},        {"weight", row.weight},
            {"lossRise", row.rise}, {"standardError", row.error}, {"divergence", row.divergence}};
    });
    json all = measuredJson(ready);
    all.update({{"rankCorrelation", correlation}, {"parts", std::move(parts)}, {"weakest", weakest}});
    if (isOverVisits) {
        all["fits"] = tellFits(engine::visitFitsOf(ready), console);
    }
    console.value(all);
}

} // namespace

Exit runKnockout(const Arguments& arguments, const Console& console)
{
    Result<engine::KnockoutRequest> request = requestFrom<engine::KnockoutRequest>(arguments);
    const projects::WeakBy by = RESIDUA_TRY_OR_FAIL(Exit::Usage, request ? weakByOf(*request, arguments)
                                                                         : Result<projects::WeakBy>(request.error()));
    const engine::KnockoutReady ready =
        RESIDUA_TRY(answerTo(request, arguments, console, shareTeller(console, "measured ")));
    const Result<std::string> weakest =
        arguments.has("weakest") ? weakestText(ready, by, arguments) : Result<std::string>(std::string());
    const std::string weak = weakest ? *weakest : std::string();
    const auto end = [&] { return weakest ? Exit::Ok : console.fail(Exit::Usage, weakest.error()); };
    if (!arguments.has("output")) {
        show(ready, *request, weak, console); // the effects are measured in any case
        return end();
    }
    const Exit written =
        saveNumbers(engine::effectsCsv(ready),
                    groupedText(std::ssize(ready.rows)) + " parts" + (weak.empty() ? "" : "; weakest: " + weak),
                    arguments, console, {{"weakest", weak}});
    return written == Exit::Ok ? end() : written;
}

} // namespace residua::cli
