// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/studies/sweep_results.h"

#include "projects/base/mapped.h"
#include "projects/base/text.h"
#include "projects/studies/sweep_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace residua::projects {
namespace {

using Labels = std::vector<std::string>;

/// Returns the labels of the axes with one of these roles.
Labels labelsOf(const SweepResult& result, std::span<const AxisRole> roles, std::initializer_list<AxisRole> wanted)
{
    Labels labels;
    for (std::size_t axis = 0; axis < roles.size() && axis < result.values.size(); ++axis) {
        if (std::ranges::find(wanted, roles[axis]) != wanted.end()) {
            labels.push_back(result.values[axis]);
        }
    }
    return labels;
}

/// True if one of the labels of the searched axes is the first or last value of an axis with several.
bool isAtEnd(const Sweep& sweep, std::span<const AxisRole> roles, const Labels& best)
{
    std::size_t at = 0;
    for (std::size_t axis = 0; axis < roles.size(); ++axis) {
        if (roles[axis] != AxisRole::Searched) {
            continue;
        }
        const std::vector<SweepValue>& values = sweep.axes[axis].values;
        const std::string& label = best[at++];
        if (values.size() > 1 && (label == labelOf(values.front()) || label == labelOf(values.back()))) {
            return true;
        }
    }
    return false;
}

} // namespace

AxisRole roleOf(const SweepAxis& axis)
{
    if (isSeedField(axis.field)) {
        return AxisRole::Seed;
    }
    const bool isSetting = axis.field.starts_with("/training/") || axis.field.starts_with("/initialisation/");
    const bool isNumbers = std::ranges::all_of(
        axis.values, [](const SweepValue& value) { return numberFrom<double>(value.value.json).has_value(); });
    return isSetting && isNumbers && axis.field != "/training/steps" ? AxisRole::Searched : AxisRole::Compared;
}

std::vector<AxisRole> rolesOf(const Sweep& sweep)
{
    return mapped(sweep.axes, [](const SweepAxis& axis) { return roleOf(axis); });
}

std::vector<std::string> axisLabels(const Sweep& sweep, AxisRole role)
{
    std::vector<std::string> labels;
    for (const SweepAxis& axis : sweep.axes) {
        if (roleOf(axis) == role) {
            labels.push_back(labelOf(axis));
        }
    }
    return labels;
}

std::vector<MeanOfSeveral> meansOverSeeds(std::span<const AxisRole> roles, std::span<const SweepResult> results)
{
    std::map<Labels, std::vector<double>> groups;
    const auto groupOf = [&](const SweepResult& result) {
        return labelsOf(result, roles, {AxisRole::Compared, AxisRole::Searched});
    };
    for (const SweepResult& result : results) {
        std::vector<double>& values = groups[groupOf(result)];
        if (result.value) {
            values.push_back(*result.value);
        }
    }
    return mapped(results, [&](const SweepResult& result) { return meanOf(groups[groupOf(result)]); });
}

std::vector<BestOfEach> bestOfEach(const Sweep& sweep, std::span<const SweepResult> results, const Judge& judge)
{
    const std::vector<AxisRole> roles = rolesOf(sweep);
    if (std::ranges::find(roles, AxisRole::Searched) == roles.end()) {
        return {};
    }
    const std::vector<MeanOfSeveral> means = meansOverSeeds(roles, results);
    std::vector<BestOfEach> bests;
    std::map<Labels, std::map<Labels, std::size_t>> finished; // of each point, by the searched values
    for (std::size_t i = 0; i < results.size(); ++i) {
        const Labels compared = labelsOf(results[i], roles, {AxisRole::Compared});
        const Labels searched = labelsOf(results[i], roles, {AxisRole::Searched});
        finished[compared][searched] = means[i].count;
        if (means[i].count == 0) {
            continue;
        }
        auto best = std::ranges::find(bests, compared, &BestOfEach::compared);
        if (best == bests.end()) {
            best = bests.insert(bests.end(), {compared, searched, means[i]});
        } else if (judge.prefers(means[i].mean, best->mean.mean)) {
            best->best = searched;
            best->mean = means[i];
        }
    }
    for (BestOfEach& best : bests) {
        best.isAtEnd = isAtEnd(sweep, roles, best.best);
        best.missing = static_cast<std::size_t>(
            std::ranges::count_if(finished[best.compared], [](const auto& point) { return point.second == 0; }));
    }
    return bests;
}

std::string remarkOn(const BestOfEach& best)
{
    std::vector<std::string> remarks;
    if (best.isAtEnd) {
        remarks.emplace_back("at the end of its range");
    }
    if (best.missing > 0) {
        remarks.push_back(countText(best.missing, "point") + (best.missing == 1 ? " is missing" : " are missing"));
    }
    return joinedText(remarks, "; ");
}

std::optional<AxisImportance> importanceOf(const Sweep& sweep, std::span<const SweepResult> results)
{
    std::vector<double> all;
    for (const SweepResult& result : results) {
        if (result.value && std::isfinite(*result.value)) {
            all.push_back(*result.value);
        }
    }
    const double mean = meanOf(all).mean;
    double total = 0;
    for (const double value : all) {
        total += (value - mean) * (value - mean);
    }
    if (all.size() < 2 || total <= 0) {
        return std::nullopt;
    }
    AxisImportance importance{{}, 1, all.size()};
    for (std::size_t axis = 0; axis < sweep.axes.size(); ++axis) {
        std::map<std::string, std::vector<double>> byValue;
        for (const SweepResult& result : results) {
            if (result.value && std::isfinite(*result.value)) {
                byValue[result.values[axis]].push_back(*result.value);
            }
        }
        double between = 0;
        for (const auto& [label, values] : byValue) {
            const double difference = meanOf(values).mean - mean;
            between += static_cast<double>(values.size()) * difference * difference;
        }
        const bool isKnown = byValue.size() > 1;
        importance.shares.push_back(isKnown ? between / total : std::numeric_limits<double>::quiet_NaN());
        importance.together -= isKnown ? importance.shares.back() : 0;
    }
    importance.together = std::max(importance.together, 0.0);
    return importance;
}

std::string shareText(double share)
{
    return std::isnan(share) ? "unknown" : percentText(share);
}

} // namespace residua::projects
