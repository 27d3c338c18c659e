// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/analyze/analyze.h"

#include "app/cli/analyze/subject_request.h"
#include "app/cli/runs/engine_client.h"
#include "engine/base/api/gap.h"
#include "projects/schema/method_keys.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace residua::cli {
namespace {

using engine::Gap;
using engine::GapFit;
using engine::GapOrder;
using Columns = engine::GapWeight::Columns;
using nlohmann::json;

/// Returns the order: by layer as in the network, by the size of the weight, or by the error of the first method.
Result<GapOrder> orderFrom(const Arguments& arguments)
{
    const std::string by = arguments.text("sort", "layer");
    constexpr std::pair<const char*, GapOrder> kOrders[] = {
        {"layer", GapOrder::Layer}, {"size", GapOrder::Size}, {"error", GapOrder::Error}};
    for (const auto& [word, order] : kOrders) {
        if (by == word) {
            return order;
        }
    }
    return Error{"--sort", "got \"" + shortened(by) + "\", expected layer, size or error"};
}

std::string shareText(const std::optional<double>& share)
{
    return share ? numberText(*share, 4) : "-";
}

std::string gapTable(const Gap& gap, const std::vector<std::size_t>& order)
{
    std::vector<std::vector<std::string>> cells{{"weight", "size", "rank", "follows", "method", "error", "weight error",
                                                 "correlation", "bound 3.5", "seconds"}};
    for (const std::size_t index : order) {
        const Columns of = gap.weights[index].columns();
        for (std::size_t method = 0; method < gap.methods.size(); ++method) {
            const GapFit& fit = gap.fit(index, method);
            std::vector<std::string> row(4);
            if (method == 0) {
                row = {gap.weights[index].name, std::to_string(of.out) + " x " + std::to_string(of.in),
                       std::to_string(of.rank), of.follows};
            }
            row.push_back(wordOf(gap.methods[method]));
            if (fit.state == GapFit::State::Fitted) {
                row.insert(row.end(),
                           {numberText(fit.relativeError(), 4), numberText(fit.weightError, 4),
                            numberText(fit.meanCorrelation, 4),
                            method == 0 ? shareText(fit.relativeBound()) : std::string(), numberText(fit.seconds, 2)});
            } else {
                row.insert(row.end(), {"-", "-", "-", "-", "-"});
            }
            cells.push_back(std::move(row));
        }
    }
    return table(cells);
}

/// Returns a table of each method's figures over all weights, and on the outputs of the network with these weights.
std::string totalsTable(const Gap& gap)
{
    std::vector<std::vector<std::string>> cells{{"all weights", "error", "output gap", "seconds"}};
    for (std::size_t method = 0; method < gap.methods.size(); ++method) {
        const engine::GapTotal total = totalOf(gap, method);
        cells.push_back({wordOf(gap.methods[method]), numberText(total.relativeError, 4),
                         shareText(gap.outputs[method]), numberText(total.seconds, 2)});
    }
    return table(cells);
}

/// Returns the notes of the fits, each sentence once with the number of weights it concerns.
std::vector<std::string> fitNotes(const Gap& gap, const std::vector<std::size_t>& order)
{
    std::vector<std::pair<std::string, std::vector<std::string>>> found;
    for (const std::size_t index : order) {
        const engine::GapFactors* const factors = gap.weights[index].factors();
        for (std::size_t method = 0; method < gap.methods.size(); ++method) {
            const GapFit& fit = gap.fit(index, method);
            const bool says = fit.state == GapFit::State::Failed || !fit.converged ||
                              gap.methods[method] == projects::LowRankMethod::ReluSvd ||
                              (factors != nullptr && factors->activation.empty());
            if (!says || fit.note.empty()) {
                continue;
            }
            const auto known =
                std::ranges::find(found, fit.note, &std::pair<std::string, std::vector<std::string>>::first);
            auto& about =
                known == found.end() ? found.emplace_back(fit.note, std::vector<std::string>()).second : known->second;
            about.push_back(gap.weights[index].name + " (" + wordOf(gap.methods[method]) + ")");
        }
    }
    std::vector<std::string> notes;
    for (const auto& [text, about] : found) {
        notes.push_back(about.front() + (about.size() > 1 ? " and " + std::to_string(about.size() - 1) + " more" : "") +
                        ": " + text);
    }
    return notes;
}

json fitJson(const GapFit& fit)
{
    if (fit.state != GapFit::State::Fitted) {
        return {{"error", fit.note}};
    }
    return {{"functionError", fit.functionError},
            {"relativeFunctionError", fit.relativeError()},
            {"weightError", fit.weightError},
            {"meanCorrelation", fit.meanCorrelation},
            {"spectralGapBound", fit.spectralGapBound ? json(*fit.spectralGapBound) : json(nullptr)},
            {"seconds", fit.seconds},
            {"converged", fit.converged},
            {"note", fit.note}};
}

json gapJson(const Gap& gap, const std::vector<std::size_t>& order)
{
    json weights = json::array();
    for (const std::size_t index : order) {
        const Columns of = gap.weights[index].columns();
        json methods = json::array();
        for (std::size_t method = 0; method < gap.methods.size(); ++method) {
            json told = fitJson(gap.fit(index, method));
            told["method"] = wordOf(gap.methods[method]);
            methods.push_back(std::move(told));
        }
        weights.push_back({{"name", gap.weights[index].name},
                           {"out", of.out},
                           {"in", of.in},
                           {"rank", of.rank},
                           {"follows", of.follows},
                           {"methods", std::move(methods)}});
    }
    json outputs = json::object();
    for (std::size_t method = 0; method < gap.methods.size(); ++method) {
        const std::optional<double>& output = gap.outputs[method];
        outputs[wordOf(gap.methods[method])] = output ? json(*output) : json(nullptr);
    }
    return {{"weights", std::move(weights)}, {"outputGap", std::move(outputs)}, {"notes", gap.notes}};
}

Exit tellGap(const Gap& gap, GapOrder by, const Arguments& arguments, const Console& console)
{
    const std::vector<std::size_t> order = ordered(gap, by);
    remarkNotes(gap.notes, console);
    remarkNotes(fitNotes(gap, order), console);
    if (arguments.has("output")) {
        return saveNumbers(csvOf(gap, order),
                           std::to_string(gap.weights.size()) + " weights by " + std::to_string(gap.methods.size()) +
                               " methods",
                           arguments, console, {{"weights", gap.weights.size()}});
    }
    console.line(gapTable(gap, order));
    console.line(totalsTable(gap));
    console.remark(std::string("note: error is E|s(U V x) - s(W x)|^2 over E|s(W x)|^2, s what follows; x is ") +
                   (gap.inputs == projects::LowRankInputs::Data
                        ? "Gaussian with the second moments of the layer's own inputs"
                        : "standard normal") +
                   "; bound 3.5 is the least share that the spectral start leaves above the best; output gap is "
                   "|f(x) - F(x)|^2 over |F(x)|^2, the outputs of the whole network with factors and with full weights "
                   "on a batch of held data");
    console.value(gapJson(gap, order));
    return Exit::Ok;
}

} // namespace

Exit runGap(const Arguments& arguments, const Console& console)
{
    Computing computing = Computing::from(arguments);
    RESIDUA_TRY_OR_FAIL(Exit::Usage, readPlace(computing, arguments));
    engine::GapRequest request =
        RESIDUA_TRY_OR_FAIL(Exit::Usage, subjectRequestFrom<engine::GapRequest>(arguments, console));
    const GapOrder order = RESIDUA_TRY_OR_FAIL(Exit::Usage, orderFrom(arguments));
    setPaths(request.of, computing);
    const auto ready = RESIDUA_TRY(answerOf(request, console, computing, [&console](const engine::Event& news) {
        const engine::Gap& gap = std::get<engine::GapProgress>(news).gap;
        console.status("fitted " + std::to_string(gap.done()) + " of " + std::to_string(gap.fits.size()));
    }));
    return tellGap(ready.gap, order, arguments, console);
}

std::vector<OptionSpec> gapOptions()
{
    std::vector<OptionSpec> options = optionsOf<engine::GapRequest>();
    options.push_back(choiceOption("sort", "BY", "layer (default), size or error", {"layer", "size", "error"}));
    return options;
}

} // namespace residua::cli
