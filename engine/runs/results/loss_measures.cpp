// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/results/loss_measures.h"

#include "projects/base/text.h"
#include "projects/model/data_source.h"
#include "projects/nodes/towers.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

namespace residua::engine {
namespace {

bool tokensAreBytes(const projects::DataSource& data)
{
    const projects::Tokeniser* const tokeniser = projects::tokeniserOf(data.source);
    return tokeniser != nullptr && tokeniser->kind == projects::TokeniserKind::Bytes;
}

} // namespace

std::optional<LossMeasures> measuresOf(const projects::Project& project, double loss)
{
    if (projects::traitsOf(projects::judgingObjective(project)).meanOf != projects::MeanOf::TokenNats ||
        !std::isfinite(loss)) {
        return std::nullopt;
    }
    LossMeasures measures{std::exp(loss), {}};
    if (tokensAreBytes(project.data)) {
        measures.bitsPerByte = loss / std::numbers::ln2;
    }
    return measures;
}

std::string measuresText(const projects::Project& project, double loss)
{
    const auto measures = measuresOf(project, loss);
    if (!measures) {
        return {};
    }
    const std::string bits = measures->bitsPerByte ? ", " + fixedText(*measures->bitsPerByte, 3) + " bits a byte" : "";
    return "perplexity " + numberText(measures->perplexity, 4) + bits;
}

std::string comparisonText(const EvaluationReady& compared, Split split)
{
    constexpr int kDigits = 6;
    const auto share = [&](const char* quantity) {
        return ", " + std::string(quantity) + " " + percentText(compared.means.at(quantity));
    };
    return "Fréchet distance " + numberText(compared.means.at("frechet_distance"), kDigits) + share("precision") +
           share("recall") + " of " + groupedText(compared.batches) + " images against as many of the " +
           std::string(nameOf(split).word) + " part, by " + compared.features + ", at step " +
           groupedText(compared.step);
}

std::optional<Reached> firstReached(const std::vector<MetricPoint>& points, double target,
                                    const std::vector<MetricPoint>& seconds, const projects::Judge& judge)
{
    const auto found = std::ranges::find_if(
        points, [&](const MetricPoint& point) { return point.value == target || judge.prefers(point.value, target); });
    if (found == points.end()) {
        return std::nullopt;
    }
    Reached reached{found->step, {}};
    const auto after = std::ranges::upper_bound(seconds, found->step, {}, &MetricPoint::step);
    if (after != seconds.begin()) {
        reached.seconds = std::prev(after)->value;
    }
    return reached;
}

} // namespace residua::engine
