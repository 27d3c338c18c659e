// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/api/values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

namespace residua::engine {
namespace {

/// Indexed by RunEventKind.
constexpr std::array<std::string_view, 15> kEventWords{"checkpoint",  "paused",   "continued", "resumed",    "forked",
                                                       "retrofitted", "imported", "stage",     "other data", "kernels",
                                                       "store",       "finished", "stopped",   "failed",     "other"};

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

} // namespace residua::engine
