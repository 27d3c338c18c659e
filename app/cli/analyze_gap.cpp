// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/analyze_gap.h"

#include "app/cli/computing.h"
#include "app/cli/engine_link.h"
#include "app/cli/low_rank_figures.h"
#include "app/cli/project_argument.h"
#include "app/cli/result_file.h"
#include "app/cli/run_argument.h"
#include "engine/lowrank/fit_layers.h"
#include "projects/base/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>
#include <thread>

namespace residua::cli {
namespace {

using engine::LowRankFit;
using engine::LowRankMethod;
using engine::LowRankProblem;
using nlohmann::json;

struct Gap {
    std::vector<std::string> names; ///< of the weights
    std::vector<LowRankProblem> problems;
    std::vector<LowRankMethod> methods;
    std::vector<Result<LowRankFit>> fits; ///< [problem·methods + method]
    std::vector<std::size_t> order;       ///< of the problems, as they are shown
    std::vector<std::string> notes;

    [[nodiscard]] const Result<LowRankFit>& fit(std::size_t problem, std::size_t method) const
    {
        return fits[problem * methods.size() + method];
    }
};

engine::Nonlinearity followingOf(const std::string& activation)
{
    for (const auto known : {engine::Nonlinearity::Relu, engine::Nonlinearity::Silu, engine::Nonlinearity::Gelu}) {
        if (activation == nameOf(known)) {
            return known;
        }
    }
    return engine::Nonlinearity::Identity;
}

LowRankProblem problemOf(engine::LowRankWeight& weight)
{
    LowRankProblem problem;
    problem.out = weight.out;
    problem.in = weight.in;
    problem.weight = std::move(weight.values);
    problem.rank = weight.rank;
    problem.follows = followingOf(weight.follows);
    problem.covariance = std::move(weight.inputMoments);
    problem.seed = weight.seed;
    problem.drawnLeft = std::move(weight.drawnLeft);
    problem.drawnRight = std::move(weight.drawnRight);
    return problem;
}

/// What the words ask the engine for.
Result<engine::LowRankWeightsRequest> requestFrom(const Arguments& arguments)
{
    engine::LowRankWeightsRequest request;
    request.tag = engine::QueryTag{1};
    const std::filesystem::path subject = arguments.positional(1);
    std::error_code ignored;
    if (std::filesystem::exists(subject / "run.json", ignored)) {
        request.runDirectory = subject;
        setSource(request, arguments);
        if (arguments.has("step")) {
            request.step = arguments.integer("step", 0);
        }
    } else {
        Result<NamedProject> project = openProject(subject.string());
        if (!project) {
            return project.error();
        }
        request.project = std::move(project->document.project);
        request.projectDirectory = project->directory;
    }
    if (arguments.has("rank") && arguments.has("rank-scale")) {
        return Error{"", "--rank and --rank-scale exclude each other"};
    }
    if (arguments.has("rank")) {
        request.rank = projects::FixedRank{arguments.integer("rank", 1)};
    } else if (arguments.has("rank-scale")) {
        const double scale = arguments.real("rank-scale", 1);
        if (scale <= 0) {
            return Error{"--rank-scale", "got 0, expected more than 0 and at most 1"};
        }
        request.rank = projects::RankScale{scale};
    }
    if (const std::string inputs = arguments.text("inputs"); inputs == "data" || inputs == "gaussian") {
        request.inputs = inputs == "data" ? projects::LowRankInputs::Data : projects::LowRankInputs::Gaussian;
    } else if (!inputs.empty()) {
        return Error{"--inputs", "got \"" + shortened(inputs) + "\", expected data or gaussian"};
    }
    return request;
}

void fitAll(Gap& gap, int threads, const Console& console)
{
    std::size_t done = 0;
    engine::LayerFitsWatch watch;
    watch.finished = [&](std::size_t problem, std::size_t method, const Result<LowRankFit>&) {
        ++done;
        console.status("fitted " + std::to_string(done) + " of " +
                       std::to_string(gap.problems.size() * gap.methods.size()) + ": " + gap.names[problem] + ", " +
                       std::string(nameOf(gap.methods[method])));
    };
    gap.fits = engine::fitLayers(gap.problems, gap.methods, threads, watch);
    console.status("");
}

/// By the layer as the network has them, by the size of the weight, or by the error of the first method.
Status sortGap(Gap& gap, const std::string& by)
{
    gap.order.resize(gap.problems.size());
    std::iota(gap.order.begin(), gap.order.end(), std::size_t{0});
    if (by == "size") {
        std::ranges::stable_sort(gap.order, std::ranges::greater(), [&](std::size_t problem) {
            return gap.problems[problem].out * gap.problems[problem].in;
        });
    } else if (by == "error") {
        std::ranges::stable_sort(gap.order, std::ranges::greater(), [&](std::size_t problem) {
            const auto& fit = gap.fit(problem, 0);
            return fit ? fit->measures.relativeFunctionError : 0.0;
        });
    } else if (by != "layer") {
        return Error{"--sort", "got \"" + shortened(by) + "\", expected layer, size or error"};
    }
    return Done{};
}

std::string sizeOf(const LowRankProblem& problem)
{
    return std::to_string(problem.out) + " x " + std::to_string(problem.in);
}

/// The bound as a share of what the full layer gives, like the errors beside it.
std::string boundOf(const LowRankFit& fit)
{
    const auto bound = fit.measures.spectralGapBound;
    return bound && fit.measures.fullFunction > 0 ? numberText(*bound / fit.measures.fullFunction, 3) : "-";
}

std::string gapTable(const Gap& gap)
{
    std::vector<std::vector<std::string>> cells{{"weight", "size", "rank", "follows", "method", "error", "weight error",
                                                 "correlation", "bound 3.5", "seconds"}};
    for (const std::size_t problem : gap.order) {
        const LowRankProblem& of = gap.problems[problem];
        for (std::size_t method = 0; method < gap.methods.size(); ++method) {
            const std::string name(nameOf(gap.methods[method]));
            const auto& fit = gap.fit(problem, method);
            const bool first = method == 0;
            std::vector<std::string> row{first ? gap.names[problem] : "", first ? sizeOf(of) : "",
                                         first ? std::to_string(of.rank) : "",
                                         first ? std::string(nameOf(of.follows)) : "", name};
            if (fit) {
                const auto& measures = fit->measures;
                row.insert(row.end(), {numberText(measures.relativeFunctionError, 4),
                                       numberText(measures.weightError, 4), numberText(measures.meanCorrelation, 4),
                                       first ? boundOf(*fit) : "", numberText(measures.seconds, 2)});
            } else {
                row.insert(row.end(), {"-", "-", "-", "-", "-"});
            }
            cells.push_back(std::move(row));
        }
    }
    return table(cells);
}

/// Σ R over Σ E‖σ(Wx)‖² by method, over the weights that were fitted.
std::string meanLine(const Gap& gap)
{
    std::string text = "all weights:";
    for (std::size_t method = 0; method < gap.methods.size(); ++method) {
        double error = 0;
        double full = 0;
        double seconds = 0;
        for (std::size_t problem = 0; problem < gap.problems.size(); ++problem) {
            if (const auto& fit = gap.fit(problem, method)) {
                error += fit->measures.functionError;
                full += fit->measures.fullFunction;
                seconds += fit->measures.seconds;
            }
        }
        text += (method == 0 ? " " : ", ") + std::string(nameOf(gap.methods[method])) + " " +
                numberText(full > 0 ? error / full : 0, 4) + " in " + numberText(seconds, 2) + " s";
    }
    return text;
}

/// What the fits have to say, each sentence once with how many weights it is about.
std::vector<std::string> fitNotes(const Gap& gap)
{
    std::vector<std::pair<std::string, std::vector<std::string>>> found;
    for (const std::size_t problem : gap.order) {
        for (std::size_t method = 0; method < gap.methods.size(); ++method) {
            const auto& fit = gap.fit(problem, method);
            const bool says = !fit || !fit->converged || gap.methods[method] == LowRankMethod::ReluSvd ||
                              gap.problems[problem].follows == engine::Nonlinearity::Identity;
            const std::string text = fit ? fit->note : fit.error().text();
            if (!says || text.empty()) {
                continue;
            }
            const auto known = std::ranges::find(found, text, &std::pair<std::string, std::vector<std::string>>::first);
            auto& about =
                known == found.end() ? found.emplace_back(text, std::vector<std::string>()).second : known->second;
            about.push_back(gap.names[problem] + " (" + std::string(nameOf(gap.methods[method])) + ")");
        }
    }
    std::vector<std::string> notes;
    for (const auto& [text, about] : found) {
        notes.push_back(about.front() + (about.size() > 1 ? " and " + std::to_string(about.size() - 1) + " more" : "") +
                        ": " + text);
    }
    return notes;
}

json gapJson(const Gap& gap)
{
    json weights = json::array();
    for (const std::size_t problem : gap.order) {
        const LowRankProblem& of = gap.problems[problem];
        json methods = json::array();
        for (std::size_t method = 0; method < gap.methods.size(); ++method) {
            const auto& fit = gap.fit(problem, method);
            json told{{"method", nameOf(gap.methods[method])}};
            if (fit) {
                const auto& measures = fit->measures;
                told.update({{"functionError", measures.functionError},
                             {"relativeFunctionError", measures.relativeFunctionError},
                             {"weightError", measures.weightError},
                             {"meanCorrelation", measures.meanCorrelation},
                             {"seconds", measures.seconds},
                             {"converged", fit->converged},
                             {"note", fit->note}});
                told["spectralGapBound"] = measures.spectralGapBound ? json(*measures.spectralGapBound) : json(nullptr);
            } else {
                told["error"] = fit.error().text();
            }
            methods.push_back(std::move(told));
        }
        weights.push_back({{"name", gap.names[problem]},
                           {"out", of.out},
                           {"in", of.in},
                           {"rank", of.rank},
                           {"follows", nameOf(of.follows)},
                           {"methods", std::move(methods)}});
    }
    return {{"weights", std::move(weights)}, {"notes", gap.notes}};
}

std::string gapCsv(const Gap& gap)
{
    std::ostringstream csv;
    csv << "weight,out,in,rank,follows,method,relative_function_error,function_error,weight_error,mean_correlation,"
           "spectral_gap_bound,seconds,converged\n";
    for (const std::size_t problem : gap.order) {
        const LowRankProblem& of = gap.problems[problem];
        for (std::size_t method = 0; method < gap.methods.size(); ++method) {
            const auto& fit = gap.fit(problem, method);
            if (!fit) {
                continue;
            }
            const auto& measures = fit->measures;
            csv << gap.names[problem] << ',' << of.out << ',' << of.in << ',' << of.rank << ',' << nameOf(of.follows)
                << ',' << nameOf(gap.methods[method]) << ',' << numberText(measures.relativeFunctionError) << ','
                << numberText(measures.functionError) << ',' << numberText(measures.weightError) << ','
                << numberText(measures.meanCorrelation) << ','
                << (measures.spectralGapBound ? numberText(*measures.spectralGapBound) : "") << ','
                << numberText(measures.seconds) << ',' << (fit->converged ? 1 : 0) << '\n';
        }
    }
    return csv.str();
}

Exit tellGap(const Gap& gap, const Arguments& arguments, const Console& console)
{
    remarkNotes(gap.notes, console);
    remarkNotes(fitNotes(gap), console);
    if (arguments.has("output")) {
        const std::filesystem::path path = arguments.text("output");
        return deliver({path, gapCsv(gap), "csv"},
                       "wrote " + path.string() + ": " + std::to_string(gap.problems.size()) + " weights by " +
                           std::to_string(gap.methods.size()) + " methods",
                       {{"file", path.string()}, {"weights", gap.problems.size()}}, console);
    }
    console.line(gapTable(gap));
    console.line(meanLine(gap));
    const bool real =
        std::ranges::any_of(gap.problems, [](const auto& problem) { return !problem.covariance.empty(); });
    console.remark(std::string("note: error is E|s(U V x) - s(W x)|^2 over E|s(W x)|^2, s what follows; x is ") +
                   (real ? "Gaussian with the second moments of the layer's own inputs" : "standard normal") +
                   "; bound 3.5 is the least share that the spectral start leaves above the best");
    console.value(gapJson(gap));
    return Exit::Ok;
}

} // namespace

Exit runGap(const Arguments& arguments, const Console& console)
{
    if (arguments.positional(1).empty()) {
        return console.fail(Exit::Usage, {"", "missing argument SUBJECT: a project or a run's directory"});
    }
    Result<std::vector<LowRankMethod>> methods =
        lowRankMethodsFrom(arguments.text("methods", "spectral,lfai-ws,exact"));
    const Result<engine::LowRankWeightsRequest> request = requestFrom(arguments);
    Gap gap;
    const Status sortable = sortGap(gap, arguments.text("sort", "layer")); // before the work, of nothing
    if (!methods || !request || !sortable) {
        return console.fail(Exit::Usage, !methods ? methods.error() : !request ? request.error() : sortable.error());
    }
    const int threads = Computing::from(arguments).threads;
    std::optional<engine::Event> answer = ask(*request, threads);
    auto* const ready = answer ? std::get_if<engine::LowRankWeightsReady>(&*answer) : nullptr;
    if (ready == nullptr) {
        const auto* const failed = answer ? std::get_if<engine::QueryFailed>(&*answer) : nullptr;
        return failed ? console.fail(Exit::RunFailed, failed->error)
                      : console.fail(Exit::Quit, {"", "interrupted: there is no answer"});
    }
    gap.methods = *std::move(methods);
    gap.notes = std::move(ready->notes);
    for (engine::LowRankWeight& weight : ready->weights) {
        gap.names.push_back(weight.name);
        gap.problems.push_back(problemOf(weight));
    }
    fitAll(gap, threads > 0 ? threads : int(std::max(1U, std::thread::hardware_concurrency())), console);
    (void)sortGap(gap, arguments.text("sort", "layer"));
    return tellGap(gap, arguments, console);
}

std::vector<OptionSpec> gapOptions()
{
    return {{"rank-scale",
             OptionKind::Real,
             "S",
             "gap: the rank as a share of each weight's smaller side (default: the project's)",
             {},
             0,
             1},
            {"inputs", OptionKind::Text, "NAME", "gap: gaussian, or data: each layer's own (default: the project's)"},
            {"sort", OptionKind::Text, "BY", "gap: layer (default), size or error"},
            projectOption(),
            otherDataOption(),
            threadsOption()};
}

} // namespace residua::cli
