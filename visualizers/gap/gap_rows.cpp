// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/gap/gap_rows.h"

#include "projects/model/parameter_name.h"

#include <algorithm>

namespace residua::visualizers {

WeightPlace placeOfWeight(const std::string& name)
{
    const projects::ParameterName parameter = projects::parameterNameFrom(name);
    const bool isNowhere = parameter.part == projects::NetworkPart::Other ||
                           (parameter.part == projects::NetworkPart::Layers && parameter.layer == 0);
    return isNowhere ? WeightPlace{} : WeightPlace{parameter.layer, std::string(parameter.node())};
}

std::string shortNameOf(const std::string& name)
{
    const std::string text(projects::lastOf(name) == "weight" ? projects::ownerOf(name) : name);
    const projects::ParameterName parameter = projects::parameterNameFrom(text);
    return parameter.layer > 0 ? std::to_string(parameter.layer) + " " + std::string(parameter.rest) : text;
}

std::optional<double> valueOf(const engine::GapFit& fit, GapMeasure measure)
{
    if (fit.state != engine::GapFit::State::Fitted) {
        return std::nullopt;
    }
    switch (measure) {
    case GapMeasure::FunctionError:
        return fit.relativeError();
    case GapMeasure::WeightError:
        return fit.weightError;
    case GapMeasure::Correlation:
        return fit.meanCorrelation;
    case GapMeasure::Seconds:
        break;
    }
    return fit.seconds;
}

std::optional<double> bestAtMost(const engine::Gap& gap, std::size_t weight)
{
    const auto spectral = std::ranges::find(gap.methods, projects::LowRankMethod::Spectral);
    if (spectral == gap.methods.end()) {
        return std::nullopt;
    }
    const engine::GapFit& fit = gap.fit(weight, static_cast<std::size_t>(spectral - gap.methods.begin()));
    const std::optional<double> bound = fit.relativeBound();
    return fit.state == engine::GapFit::State::Fitted && bound ? std::optional(fit.relativeError() - *bound)
                                                               : std::nullopt;
}

} // namespace residua::visualizers
