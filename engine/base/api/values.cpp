// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/api/values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <tuple>

namespace residua::engine {

namespace {

/// Indexed by RunEventKind.
constexpr std::array<std::string_view, 16> kEventWords{
    "checkpoint", "paused",  "continued", "resumed",  "forked",   "retrofitted", "imported", "stage",
    "other data", "kernels", "store",     "measured", "finished", "stopped",     "failed",   "other"};

constexpr std::string_view kBeforeNote = "; "; ///< part of no stage's name

} // namespace

std::string stageText(const StageRecord& stage)
{
    return stage.note.empty() ? stage.name : stage.name + std::string(kBeforeNote) + stage.note;
}

StageRecord stageFrom(std::string_view text)
{
    StageRecord stage;
    const std::size_t end = text.find(kBeforeNote);
    stage.name = text.substr(0, end);
    stage.note = end == std::string_view::npos ? std::string_view() : text.substr(end + kBeforeNote.size());
    return stage;
}

std::string kernelsText(const DeviceInfo& device)
{
    if (!device.usable || device.key == "cpu") {
        return {};
    }
    return "custom kernels: " + (device.withoutKernels.empty() ? "in use" : "not in use: " + device.withoutKernels);
}

std::string textOf(RunStatus status)
{
    switch (status) {
    case RunStatus::Running:
        return "running";
    case RunStatus::Paused:
        return "paused";
    case RunStatus::Finished:
        return "finished";
    case RunStatus::Stopped:
        return "stopped";
    case RunStatus::Failed:
        return "failed";
    case RunStatus::Interrupted:
        return "interrupted";
    }
    return {};
}

double RunInfo::last(const std::string& of) const
{
    const auto found = values.find(of);
    return found == values.end() ? kNoLoss : found->second;
}

double RunInfo::rating(std::string_view quantity) const
{
    const double validation = last(std::string(quantity) + "/validation");
    return std::isfinite(validation) ? validation : last(std::string(quantity) + "/train");
}

double RunInfo::judged() const
{
    return rating(judge().quantity);
}

std::string textOf(RunEventKind kind)
{
    return std::string(kEventWords.at(static_cast<std::size_t>(kind)));
}

RunEvent runEventFrom(std::int64_t step, const std::string& kind, std::string text)
{
    const auto* const known = std::ranges::find(kEventWords, kind);
    if (known != kEventWords.end()) {
        return {step, static_cast<RunEventKind>(known - kEventWords.begin()), std::move(text)};
    }
    return {step, RunEventKind::Other, text.empty() ? kind : kind + ": " + text};
}

std::vector<std::string> namesOfClasses(const Matrix& confusion, std::vector<std::string> classes)
{
    while (std::ssize(classes) < confusion.rows) {
        classes.push_back(std::to_string(classes.size()));
    }
    classes.resize(static_cast<std::size_t>(std::max<std::int64_t>(confusion.rows, 0)));
    return classes;
}

namespace {

constexpr double kMebibyte = 1024.0 * 1024.0;
constexpr std::string_view kTraining = "/train";
constexpr std::string_view kValidation = "/validation";
constexpr std::string_view kStage = "/validation/stage";

const MetricTraits kOfEveryRun[] = {{metric::kGradientNorm, "gradient norm"},
                                    {metric::kLearningRate, "learning rate"},
                                    {metric::kThroughput, "throughput", "tokens or samples a second"},
                                    {metric::kPeakBytes, "peak memory", "MiB", 1 / kMebibyte}};

/// The quantities whose titles are not their names.
constexpr struct {
    const char* name;
    const char* title;
    const char* unit = "";
} kTitles[] = {{"f1", "F1"},
               {"macro_f1", "macro F1"},
               {"next_sentence_accuracy", "accuracy of the next sentence"},
               {"time_at_goal", "time at goal", "steps"},
               {"reached_goal", "share of reached goals"},
               {"environment_steps", "environment steps"},
               {"frechet_distance", "Fréchet distance"},
               {"choice_accuracy", "accuracy of choices"},
               {"choice_accuracy_by_token", "accuracy of choices by token"},
               {"choice_loss", "loss of right choices"}};

/// The quantities of objectives whose values are in 0..1.
constexpr std::string_view kShares[] = {
    "accuracy",     "top5",      "f1",     "macro_f1",        "next_sentence_accuracy",
    "reached_goal", "precision", "recall", "choice_accuracy", "choice_accuracy_by_token"};

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
            const auto* const known =
                std::ranges::find_if(kTitles, [&](const auto& titled) { return quantity == titled.name; });
            const bool isKnown = known != std::end(kTitles);
            metrics.push_back({name,
                               std::string(split == kTraining ? "training " : "validation ") +
                                   (isKnown ? known->title : quantity) + (split == kStage ? " of the stage" : ""),
                               isKnown ? known->unit : ""});
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
