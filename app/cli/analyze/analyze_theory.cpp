// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/analyze/analyze.h"

#include "app/cli/arguments/data_argument.h"
#include "app/cli/arguments/project_argument.h"
#include "app/report/low_rank_theory.h"
#include "app/report/svg_plot.h"

#include <algorithm>
#include <iterator>
#include <sstream>

namespace residua::cli {
namespace {

namespace theory = engine::theory;
using nlohmann::json;

using report::LowRankModel;
using report::TheoryRow;

Result<LowRankModel> fromProject(const std::string& path, const Arguments& arguments, const Console& console)
{
    const ValueOr<NamedProject, Refusal> named = openProject(path, arguments, console);
    return named ? report::lowRankModelOf((*named).document.project) : named.error().error;
}

Result<LowRankModel> fromNumbers(const Arguments& arguments)
{
    if (arguments.has("set")) {
        return Error{"--set", "is for a PROJECT, and none is named"};
    }
    for (const char* const name : {"dimension", "rank"}) {
        if (!arguments.has(name)) {
            return Error{"",
                         std::string("missing --") + name + ", or a PROJECT of low-rank regression to take it from"};
        }
    }
    return report::lowRankModelOf(arguments.integer("dimension", 0), arguments.integer("rank", 0),
                                  arguments.integer("layers", 1), arguments.real("kappa", 0.5),
                                  arguments.real("lambda-max", 10));
}

void show(const LowRankModel& model, const report::TheoryTable& answer, const Console& console)
{
    console.line("Low-rank linear model (DeepCrossAttention, section 4): " + answer.about);
    const auto cell = [](double value) { return cellOf(value, 6); };
    std::vector<std::vector<std::string>> cells{{""}};
    cells.front().insert(cells.front().end(), report::kTheoryColumns.begin(), report::kTheoryColumns.end());
    for (const TheoryRow& row : answer.rows) {
        cells.push_back({row.name});
        std::ranges::transform(row.values(), std::back_inserter(cells.back()), cell);
    }
    console.line(console.table(cells));

    const auto number = [](double value) { return std::isfinite(value) ? json(value) : json(nullptr); };
    json told{{"dimension", model.dimension}, {"rank", model.rank}, {"layers", model.layers}};
    if (model.spectrum) {
        told["lambdaMin"] = model.spectrum->lambdaMin;
        told["lambdaMax"] = model.spectrum->lambdaMax;
    }
    for (const TheoryRow& row : answer.rows) {
        told[row.key] = {{"noShortcuts", number(row.plainChain)},
                         {"resNet", number(row.resNet)},
                         {"grnV1", number(row.v1)},
                         {"grnV2", number(row.v2)},
                         {"grnV3", number(row.v3)}};
    }
    console.value(told);
    remarkNotes(answer.notes, console);
}

/// Saves figure 5's left panel, the bounds of the gains over every collective rank, as CSV or as a picture.
Exit saveCurves(const LowRankModel& model, const Arguments& arguments, const Console& console)
{
    const auto gains = RESIDUA_TRY_OR_FAIL(Exit::Usage, report::gainCurves(model));
    std::ostringstream csv;
    csv << "collective_rank,g1,g2,g3\n";
    report::PlotSpec plot{
        "Gain over a residual network of as many parameters, at least", "collective rank r*", "excess risk saved", {}};
    for (const char* const name : {"GRN-v1", "GRN-v2", "GRN-v3"}) {
        plot.curves.push_back({name, {}, report::Stroke::Solid, plot.curves.size()});
    }
    std::int64_t rank = 0;
    for (const theory::PerGrn& at : gains) {
        const double values[] = {at.v1, at.v2, at.v3};
        csv << ++rank;
        for (std::size_t i = 0; i < plot.curves.size(); ++i) {
            csv << ',' << numberText(values[i]);
            plot.curves[i].points.append(double(rank), values[i]);
        }
        csv << '\n';
    }
    return saveFigure([&] { return report::svgFile({plot}); }, [&] { return csv.str(); },
                      "the gains at " + groupedText(rank) + " ranks", arguments, console);
}

} // namespace

Exit runTheory(const Arguments& arguments, const Console& console)
{
    const std::string project = arguments.positional(0);
    LowRankModel model = RESIDUA_TRY_OR_FAIL(Exit::Usage, project.empty() ? fromNumbers(arguments)
                                                                          : fromProject(project, arguments, console));
    model.statement = arguments.has("printed") ? theory::Statement::Printed : theory::Statement::Proved;
    if (arguments.has("output")) {
        return saveCurves(model, arguments, console);
    }
    show(model, report::theoryTable(model), console);
    return Exit::Ok;
}

std::vector<OptionSpec> theoryOptions()
{
    return {{"dimension", OptionKind::Integer, "D", "the dimension d of inputs and outputs", {}, 2, 1e6},
            fieldOption("/network/rank/rank", "rank", "R", "the collective rank r* of the residual network"),
            {"layers", OptionKind::Integer, "T", "the number of layers (default: 1)", {}, 1, 1e6},
            {"kappa", OptionKind::Real, "K", "least over largest eigenvalue of A - I (default: 0.5)", {}, 0, 1},
            {"lambda-max", OptionKind::Real, "L", "largest eigenvalue of A - I (default: 10)", {}, 1e-300},
            {"printed", OptionKind::Flag, "", "the paper's constants where its proof gives others"}};
}

} // namespace residua::cli
