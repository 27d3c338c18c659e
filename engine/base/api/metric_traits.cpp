// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/api/metric_traits.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

namespace residua::engine {
namespace {

constexpr double kMebibyte = 1024.0 * 1024.0;
constexpr std::string_view kTraining = "/train";
constexpr std::string_view kValidation = "/validation";
constexpr std::string_view kStage = "/validation/stage";

const MetricTraits kOfEveryRun[] = {{metric::kGradientNorm, "gradient norm"},
                                    {metric::kLearningRate, "learning rate"},
                                    {metric::kThroughput, "throughput", "tokens or samples a second"},
                                    {metric::kPeakBytes, "peak memory", "MiB", 1 / kMebibyte}};

/// The titles of quantities that are not their names.
constexpr std::pair<const char*, const char*> kTitles[] = {
    {"f1", "F1"}, {"macro_f1", "macro F1"}, {"next_sentence_accuracy", "accuracy of the next sentence"}};

/// The quantities of objectives whose values are in 0..1.
constexpr std::string_view kShares[] = {"accuracy", "top5", "f1", "macro_f1", "next_sentence_accuracy"};

/// Returns the name's part from the first '/' on.
std::string_view splitOf(std::string_view name)
{
    return name.substr(std::min(name.find('/'), name.size()));
}

/// Adds the metrics of an objective's quantities, except for losses, with titles such as "validation accuracy".
void addQuantities(const std::set<std::string>& names, std::vector<MetricTraits>& metrics)
{
    for (const std::string& name : names) {
        const std::string_view split = splitOf(name);
        const std::string quantity = name.substr(0, name.size() - split.size());
        if (quantity != "loss" && (isRating(name) || split == kStage)) {
            const auto* const known = std::ranges::find(kTitles, quantity, &std::pair<const char*, const char*>::first);
            const std::string title = (split == kTraining ? "training " : "validation ") +
                                      (known == std::end(kTitles) ? quantity : std::string(known->second));
            metrics.push_back({name, title + (split == kStage ? " of the stage" : "")});
        }
    }
}

/// Adds the metrics of several ranks, with titles such as "waiting of rank 1".
void addRanks(const std::set<std::string>& names, std::vector<MetricTraits>& metrics)
{
    for (const auto& [prefix, title, unit] :
         {std::tuple(metric::kRankThroughput, "throughput of rank ", "tokens or samples a second of its own time"),
          std::tuple(metric::kRankWaiting, "waiting of rank ", "share of the time"),
          std::tuple(metric::kRankExchange, "exchange of rank ", "share of the time")}) {
        for (const std::string& name : names) {
            if (name.starts_with(prefix)) {
                metrics.push_back({name, title + name.substr(std::string_view(prefix).size()), unit});
            }
        }
    }
}

} // namespace

bool isRating(std::string_view name)
{
    return splitOf(name) == kTraining || splitOf(name) == kValidation;
}

bool isShare(std::string_view name)
{
    const std::string_view quantity = name.substr(0, name.find('/'));
    return std::ranges::find(kShares, quantity) != std::end(kShares) || name.starts_with(metric::kRankWaiting) ||
           name.starts_with(metric::kRankExchange);
}

std::vector<MetricTraits> plottedMetrics(const std::set<std::string>& names)
{
    std::vector<MetricTraits> plotted(std::begin(kOfEveryRun), std::end(kOfEveryRun));
    addQuantities(names, plotted);
    addRanks(names, plotted);
    return plotted;
}

std::vector<MetricPoint> shownPoints(std::string_view name, std::vector<MetricPoint> points)
{
    const auto* const known = std::ranges::find(kOfEveryRun, name, &MetricTraits::name);
    for (MetricPoint& point : points) {
        point.value *= known == std::end(kOfEveryRun) ? 1 : known->scale;
    }
    return points;
}

std::vector<MetricTraits> ratingColumns(std::span<const RunInfo> runs)
{
    std::set<std::string> names;
    for (const RunInfo& run : runs) {
        std::ranges::transform(run.values, std::inserter(names, names.end()), [](const auto& v) { return v.first; });
    }
    std::vector<MetricTraits> columns;
    addQuantities(names, columns);
    return columns;
}

} // namespace residua::engine
