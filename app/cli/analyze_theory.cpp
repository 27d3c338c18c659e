// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/analyze_theory.h"

#include "app/cli/project_argument.h"
#include "app/cli/result_file.h"
#include "app/report/svg_plot.h"
#include "engine/data/project_bounds.h"
#include "engine/theory/theory.h"
#include "projects/base/text.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <optional>
#include <sstream>

namespace residua::cli {
namespace {

namespace theory = engine::theory;
using nlohmann::json;

/// What is asked about. A target matrix comes with a project only; its eigenvalues where the theorem allows for them.
struct Question {
    std::int64_t dimension = 0;
    std::int64_t rank = 0;   ///< r*
    std::int64_t layers = 0; ///< T
    std::optional<theory::TargetSpectrum> spectrum;
    std::string withoutSpectrum; ///< why there is none
    std::optional<engine::LowRankTask> task;
    theory::Statement statement = theory::Statement::Proved;
};

/// One line of the answer; NaN where there is no number.
struct Row {
    std::string name;
    std::string key;
    double plainChain = NAN; ///< the layers without any shortcut
    double resNet = NAN;
    double v1 = NAN;
    double v2 = NAN;
    double v3 = NAN;
};

Row rowOf(std::string name, std::string key, const theory::PerGrn& values)
{
    return {std::move(name), std::move(key), NAN, NAN, values.v1, values.v2, values.v3};
}

Result<Question> fromProject(const std::string& path)
{
    const Result<NamedProject> project = openProject(path);
    if (!project) {
        return project.error();
    }
    Result<engine::LowRankTask> task = engine::lowRankTask(project->document.project);
    if (!task) {
        return task.error();
    }
    Question question;
    question.dimension = task->target.rows();
    question.rank = task->collectiveRank;
    question.layers = task->layers;
    if (const auto spectrum = theory::targetSpectrum(task->target)) {
        question.spectrum = *spectrum;
    } else {
        question.withoutSpectrum = spectrum.error().text();
    }
    question.task = *std::move(task);
    return question;
}

Result<Question> fromNumbers(const Arguments& arguments)
{
    for (const char* const name : {"dimension", "rank"}) {
        if (!arguments.has(name)) {
            return Error{"",
                         std::string("missing --") + name + ", or a PROJECT of low-rank regression to take it from"};
        }
    }
    Question question;
    question.dimension = arguments.integer("dimension", 0);
    question.rank = arguments.integer("rank", 0);
    question.layers = arguments.integer("layers", 1);
    const double kappa = arguments.real("kappa", 0.5);
    const double most = arguments.real("lambda-max", 10);
    question.spectrum = theory::TargetSpectrum{kappa * most, most};
    return question;
}

/// Adds the row that `values` gives, or says why there is none.
void add(std::vector<Row>& rows, std::vector<std::string>& notes, const char* name, const char* key,
         const Result<theory::PerGrn>& values)
{
    if (values) {
        rows.push_back(rowOf(name, key, *values));
    } else {
        notes.push_back(std::string(name) + ": " + values.error().text());
    }
}

void addRisk(const Question& question, std::vector<Row>& rows, std::vector<std::string>& notes)
{
    const engine::LowRankTask& task = *question.task;
    const auto risk = theory::excessRisk(task.target, task.collectiveRank, question.statement);
    if (!risk) {
        notes.push_back("excess risk: " + risk.error().text());
        return;
    }
    const auto chain = theory::excessRiskWithoutShortcuts(task.target, task.smallestRank);
    rows.push_back({"excess risk (theorem 4.2)", "excessRisk", chain ? *chain : NAN, risk->resNet, risk->grnV1,
                    risk->grnV2, risk->grnV3});
}

std::vector<Row> answer(const Question& question, std::vector<std::string>& notes)
{
    std::vector<Row> rows;
    if (question.task) {
        addRisk(question, rows, notes);
    }
    const auto rank = double(question.rank);
    if (question.spectrum) {
        const double kappa = question.spectrum->kappa();
        add(rows, notes, "never worse up to r* (4.1 to 4.3)", "rankThreshold",
            theory::rankThresholds(kappa, question.dimension, question.statement));
        add(rows, notes, "gain in excess risk, at least (G1 to G3)", "gainAtLeast",
            theory::gainBounds(*question.spectrum, question.dimension, rank, question.statement));
        add(rows, notes, "r* that does as well (proposition 4.4)", "equivalentRank",
            theory::equivalentRanks(kappa, question.dimension, rank, question.statement));
    } else {
        notes.push_back("thresholds, gains and equal ranks need the eigenvalues of A - I: " + question.withoutSpectrum);
    }
    Row size{"parameters (4.2)", "parameters"};
    const std::pair<theory::DepthModel, double Row::*> models[] = {{theory::DepthModel::ResNet, &Row::resNet},
                                                                   {theory::DepthModel::GrnV1, &Row::v1},
                                                                   {theory::DepthModel::GrnV2, &Row::v2},
                                                                   {theory::DepthModel::GrnV3, &Row::v3}};
    for (const auto& [model, member] : models) {
        if (const auto count = theory::modelSize(model, question.dimension, question.layers, question.rank)) {
            size.*member = double(*count);
        }
    }
    rows.push_back(size);
    return rows;
}

void show(const Question& question, const std::vector<Row>& rows, const Console& console)
{
    std::string about = "d = " + std::to_string(question.dimension) + ", r* = " + std::to_string(question.rank) +
                        ", T = " + std::to_string(question.layers);
    if (question.spectrum) {
        about += ", eigenvalues of A - I from " + numberText(question.spectrum->lambdaMin, 4) + " to " +
                 numberText(question.spectrum->lambdaMax, 4);
    }
    console.line("Low-rank linear model (DeepCrossAttention, section 4): " + about);
    const auto cell = [](double value) { return std::isnan(value) ? "-" : numberText(value, 6); };
    std::vector<std::vector<std::string>> cells{{"", "no shortcuts", "ResNet", "GRN-v1", "GRN-v2", "GRN-v3"}};
    for (const Row& row : rows) {
        cells.push_back({row.name, cell(row.plainChain), cell(row.resNet), cell(row.v1), cell(row.v2), cell(row.v3)});
    }
    console.line(table(cells));

    const auto number = [](double value) { return std::isfinite(value) ? json(value) : json(nullptr); };
    json told{{"dimension", question.dimension}, {"rank", question.rank}, {"layers", question.layers}};
    if (question.spectrum) {
        told["lambdaMin"] = question.spectrum->lambdaMin;
        told["lambdaMax"] = question.spectrum->lambdaMax;
    }
    for (const Row& row : rows) {
        told[row.key] = {{"noShortcuts", number(row.plainChain)},
                         {"resNet", number(row.resNet)},
                         {"grnV1", number(row.v1)},
                         {"grnV2", number(row.v2)},
                         {"grnV3", number(row.v3)}};
    }
    console.value(told);
}

/// Figure 5's left panel: the bounds of the gains over every collective rank, as CSV or as a picture.
Exit saveCurves(const Question& question, const std::filesystem::path& path, const Console& console)
{
    if (!question.spectrum) {
        return console.fail(Exit::Usage, {"", "no gains to draw: " + question.withoutSpectrum});
    }
    const bool picture = path.extension() == ".svg";
    if (!picture && !isStandardOutput(path) && path.extension() != ".csv") {
        return console.fail(Exit::Usage, {"--output", "got " + path.string() + ", expected FILE.csv, FILE.svg or -"});
    }
    std::ostringstream csv;
    csv << "collective_rank,g1,g2,g3\n";
    report::PlotSpec plot{
        "Gain over a residual network of as many parameters, at least", "collective rank r*", "excess risk saved", {}};
    for (const char* const name : {"GRN-v1", "GRN-v2", "GRN-v3"}) {
        plot.curves.push_back({name, {}, report::Stroke::Solid, plot.curves.size()});
    }
    for (std::int64_t rank = 1; rank < question.dimension; ++rank) {
        const auto gains = theory::gainBounds(*question.spectrum, question.dimension, double(rank), question.statement);
        if (!gains) {
            return console.fail(Exit::Usage, gains.error());
        }
        const double values[] = {gains->v1, gains->v2, gains->v3};
        csv << rank;
        for (std::size_t i = 0; i < plot.curves.size(); ++i) {
            csv << ',' << numberText(values[i]);
            plot.curves[i].points.push_back({rank, values[i]});
        }
        csv << '\n';
    }
    const ResultFile file{path, picture ? report::svgPlot(plot) : csv.str(), "csv"};
    return deliver(file, "wrote " + path.string() + ": the gains at " + grouped(question.dimension - 1) + " ranks",
                   {{"file", path.string()}}, console);
}

} // namespace

Exit runTheory(const Arguments& arguments, const Console& console)
{
    const std::string project = arguments.positional(1);
    Result<Question> question = project.empty() ? fromNumbers(arguments) : fromProject(project);
    if (!question) {
        return console.fail(Exit::Usage, question.error());
    }
    question->statement = arguments.has("printed") ? theory::Statement::Printed : theory::Statement::Proved;
    if (arguments.has("output")) {
        return saveCurves(*question, arguments.text("output"), console);
    }
    std::vector<std::string> notes;
    const std::vector<Row> rows = answer(*question, notes);
    show(*question, rows, console);
    for (const std::string& note : notes) {
        console.remark("note: " + note);
    }
    return Exit::Ok;
}

std::vector<OptionSpec> theoryOptions()
{
    return {
        {"dimension", OptionKind::Integer, "D", "theory, figure 4: the dimension d of inputs and outputs", {}, 2, 1e6},
        {"rank",
         OptionKind::Integer,
         "R",
         "theory: the collective rank r* of the residual network; gap: of each weight",
         {},
         1,
         1e6},
        {"layers",
         OptionKind::Integer,
         "T",
         "theory: how many layers (default: 1); figure 4: up to how many (default: 96)",
         {},
         1,
         1e6},
        {"kappa", OptionKind::Real, "K", "theory: least over largest eigenvalue of A - I (default: 0.5)", {}, 0, 1},
        {"lambda-max", OptionKind::Real, "L", "theory: largest eigenvalue of A - I (default: 10)", {}, 1e-300},
        {"printed", OptionKind::Flag, "", "theory: the paper's constants where its proof gives others"}};
}

} // namespace residua::cli
