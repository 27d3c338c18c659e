// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/analyze/analyze.h"

#include "app/report/svg_plot.h"
#include "engine/maths/theory/layer_stability.h"
#include "engine/maths/theory/sine_phases.h"

#include <sstream>

namespace residua::cli {
namespace {

namespace theory = engine::theory;
using nlohmann::json;

constexpr const char* kTheorem = "I.1";
constexpr double kRates[] = {0.1, 0.03, 0.01, 0.003, 0.001};
constexpr double kExact = 1e-12; ///< error of p0 at which the first phase stays near its saddle for long enough
constexpr const char* kDegrees[] = {"constant", "x1 (degree 1)", "x1 x2 (degree 2)"};

struct AtRate {
    double rate = 0;
    double biasError = 0; ///< at which the bias phase ends
    theory::SinePhases phases;
};

struct NamedPhase {
    const char* key;
    const char* text;
    theory::Phase theory::SinePhases::*phase;
};
constexpr NamedPhase kPhases[] = {{"bias", "p0", &theory::SinePhases::bias},
                                  {"first", "first phase", &theory::SinePhases::first},
                                  {"second", "second phase", &theory::SinePhases::second},
                                  {"loss", "loss", &theory::SinePhases::loss}};

Result<std::vector<AtRate>> atRates(const std::vector<double>& rates)
{
    std::vector<AtRate> all;
    for (const bool exact : {true, false}) {
        for (const double rate : rates) {
            const double biasError = exact ? kExact : rate;
            auto phases = RESIDUA_TRY(theory::sinePhases(rate, biasError));
            all.push_back({rate, biasError, std::move(phases)});
        }
    }
    return all;
}

std::string stepsText(const theory::Phase& phase)
{
    return phase.reached ? groupedText(phase.steps) : "never";
}

json jsonOf(const theory::Phase& phase)
{
    return {{"reached", phase.reached},
            {"steps", phase.reached ? json(phase.steps) : json(nullptr)},
            {"leastError", std::isfinite(phase.least) ? json(phase.least) : json(nullptr)}};
}

/// Returns the power of 1/rate that `valueOf` follows over the rates with an exact or an inexact p0.
double powerOver(const std::vector<AtRate>& all, bool exact, const auto& valueOf)
{
    std::vector<double> x;
    std::vector<double> y;
    for (const AtRate& at : all) {
        if ((at.biasError == kExact) == exact) {
            x.push_back(1 / at.rate);
            y.push_back(valueOf(at.phases)); // values that are not positive are ignored
        }
    }
    return theory::fittedPower(x, y);
}

std::string powersText(const std::vector<AtRate>& all)
{
    std::string text;
    for (const NamedPhase& named : kPhases) {
        const double power = powerOver(all, true, [&](const theory::SinePhases& phases) {
            const theory::Phase& phase = phases.*named.phase;
            return phase.reached ? static_cast<double>(phase.steps) : 0.0;
        });
        text += std::string(text.empty() ? "" : ", ") + named.text + " " + numberText(power, 3);
    }
    const double closest = powerOver(all, false, [](const theory::SinePhases& phases) { return phases.first.least; });
    return "The steps go as this power of 1/rate, p0 trained to " + numberText(kExact) + ": " + text +
           ". The theorem says 1 for each.\nWith p0 trained only to the rate, as in lemma I.3, the least error of the "
           "first phase goes as rate^" +
           numberText(-closest, 2) + ", where lemma I.4 says rate^1.";
}

void show(const std::vector<AtRate>& all, const Console& console)
{
    std::vector<std::vector<std::string>> rows{{"rate", "error of p0", "steps for p0", "steps of the first phase",
                                                "its least error", "loss of one layer", "steps of the second phase",
                                                "steps until the loss is the rate"}};
    json told = json::array();
    for (const AtRate& at : all) {
        const theory::SinePhases& phases = at.phases;
        rows.push_back({numberText(at.rate), numberText(at.biasError), stepsText(phases.bias), stepsText(phases.first),
                        numberText(phases.first.least, 3), numberText(phases.singleLoss, 4), stepsText(phases.second),
                        stepsText(phases.loss)});
        json row{{"rate", at.rate}, {"biasError", at.biasError}, {"singleLoss", phases.singleLoss}};
        for (const NamedPhase& named : kPhases) {
            row[named.key] = jsonOf(phases.*named.phase);
        }
        told.push_back(std::move(row));
    }
    console.line("RaPTr's theorem I.1 by exact gradients, for every dimension: steps until the error of a phase is at "
                 "most the rate");
    console.line(console.table(rows));
    if (all.size() > 2) {
        console.line(powersText(all));
    }
    console.line("One layer alone leaves a loss of at least " + numberText(theory::kSingleLayerLoss) +
                 " (theorem I.2).");
    console.value({{"theorem", kTheorem}, {"singleLayerLoss", theory::kSingleLayerLoss}, {"rates", told}});
}

std::string csvOf(const std::vector<AtRate>& all)
{
    std::ostringstream csv;
    csv << "rate,bias_error,time,constant,degree_1,degree_2\n";
    for (const AtRate& at : all) {
        for (const auto& [time, errors] : at.phases.course) {
            csv << numberText(at.rate) << ',' << numberText(at.biasError) << ',' << numberText(time);
            for (const double error : errors) {
                csv << ',' << numberText(error);
            }
            csv << '\n';
        }
    }
    return csv.str();
}

/// The errors of each degree over rate·steps, up to the end of the second phase's loss, for the smallest rate.
report::PlotSpec plotOf(const AtRate& at)
{
    const theory::SinePhases& phases = at.phases;
    const double afterBias = at.rate * static_cast<double>(phases.bias.steps);
    const double afterFirst = afterBias + at.rate * static_cast<double>(phases.first.steps);
    const double end =
        phases.loss.reached ? afterFirst + 2 * at.rate * static_cast<double>(phases.loss.steps) : afterFirst;
    report::PlotSpec plot{"Errors of the output's coefficients, rate " + numberText(at.rate) + ", p0 to " +
                              numberText(at.biasError) + " (RaPTr, theorem I.1)",
                          "rate · steps",
                          "absolute error",
                          {},
                          report::AxisScale::Linear,
                          {{0, "p0"}, {afterBias, "one layer"}, {afterFirst, "both layers"}},
                          0};
    for (const char* const name : kDegrees) {
        plot.curves.push_back({name, {}, report::Stroke::Solid, plot.curves.size()});
    }
    for (const auto& [time, errors] : phases.course) {
        for (std::size_t i = 0; time <= end && i < errors.size(); ++i) {
            plot.curves[i].points.append(time, errors[i]);
        }
    }
    return plot;
}

std::string svgOf(const std::vector<AtRate>& all)
{
    const std::size_t half = all.size() / 2;
    return report::svgFile({plotOf(all[half - 1]), plotOf(all.back())});
}

} // namespace

Exit runSinePhases(const Arguments& arguments, const Console& console)
{
    if (!arguments.positional(0).empty()) {
        return console.fail(Exit::Usage, {"--theorem", "has a network of its own, so it takes no PROJECT"});
    }
    std::vector<double> rates(std::begin(kRates), std::end(kRates));
    if (arguments.has("rate")) {
        rates = {arguments.real("rate", 0)};
    }
    const auto all = RESIDUA_TRY_OR_FAIL(Exit::Usage, atRates(rates));
    if (!arguments.has("output")) {
        show(all, console);
        return Exit::Ok;
    }
    return saveFigure([&] { return svgOf(all); }, [&] { return csvOf(all); },
                      countText(rates.size(), "rate") + ", with p0 to " + numberText(kExact) + " and to the rate",
                      arguments, console);
}

std::vector<OptionSpec> sinePhasesOptions()
{
    return {choiceOption("theorem", "NAME",
                         "I.1, the phases of RaPTr's two-layer network and the steps that each needs", {kTheorem}),
            realOption("rate", "R", "with --theorem: the learning rate (default: 0.1 to 0.001)", theory::kLeastSineRate,
                       theory::kMostSineRate)};
}

} // namespace residua::cli
