// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/values.h"
#include "projects/base/result.h"
#include "projects/model/project.h"
#include "projects/studies/paired_difference.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace residua::engine {

/// A run and what it trains. Both pointers are valid during a call.
struct TrainedRun {
    const RunInfo* info = nullptr;
    const projects::Project* project = nullptr;
};

/// Runs of one configuration: what they train and what they began with differ in seeds alone.
struct RunGroup {
    std::string key;               ///< identifies the configuration, in every program and version: a SHA-256
    std::string label;             ///< says how it differs from the other groups; unique among them
    std::size_t colour = 0;        ///< of its curves and points, below kGroupColours if there are so many groups
    std::vector<std::size_t> runs; ///< indices, ascending
};

/// The groups of several runs, in the order of their first runs.
struct RunGroups {
    std::vector<RunGroup> groups;
    std::vector<std::size_t> of;     ///< group of each run
    std::vector<std::string> labels; ///< of each run: its group's label and, among several, its seed; unique
    std::vector<std::string> seeds;  ///< of each run: equal for runs that draw alike

    [[nodiscard]] const RunGroup& groupOf(std::size_t run) const { return groups[of[run]]; }
};

/// Returns the groups of these runs. Colours follow the start times of the groups. Forks are one group if they have one
/// configuration, and were made at the same step of runs of one group. Labels leave out the words that all groups
/// share. They include stages, ranks, pruned shortcuts and forks. The time is proportional to the projects' sizes. Any
/// thread.
[[nodiscard]] RunGroups groupsOf(std::span<const TrainedRun> runs);

/// The number of distinct looks of groups: each colour of resources::curveColour with a solid line, and with two kinds
/// of dashes.
inline constexpr std::size_t kGroupColours = 24;
/// The file in a project's folder of runs that keeps the colours and the notes of its groups.
inline constexpr const char* kGroupsFile = "groups.json";
/// Returns the folder of runs of the project that `folder` is part of, where its groups have their colours. nullopt for
/// a folder that belongs to no project.
[[nodiscard]] std::optional<std::filesystem::path> groupsFolderOf(const std::filesystem::path& folder);
/// Sets the colours of the groups of these runs to those in the folder's kGroupsFile. Other groups get unused colours,
/// which are added to the file. If all are used, the colour of a group that is not in `groups` is taken. Notes and
/// colours under the keys of earlier versions are moved to the keys of now. A damaged file counts as empty. Does not
/// report a file that cannot be written. Blocking; any thread.
void keepColours(RunGroups& groups, std::span<const TrainedRun> runs, const std::filesystem::path& folder);
/// Returns the keys of the groups as files had them before fields at their defaults were left out of them.
[[nodiscard]] std::vector<std::string> earlierKeys(const RunGroups& groups, std::span<const TrainedRun> runs);

/// Returns the notes (Markdown) of groups by their keys, as the folder's kGroupsFile has them after keepColours().
/// Blocking; any thread.
[[nodiscard]] std::map<std::string, std::string> groupNotes(const std::filesystem::path& folder);
/// Replaces the note of a group, at most kLongestNote bytes; an empty note removes it. Blocking; any thread.
[[nodiscard]] Status noteGroup(const std::filesystem::path& folder, const std::string& key, const std::string& note);

/// Adds what another folder's kGroupsFile has: notes of groups without a note in `folder`, and colours that no group
/// has there. Blocking; any thread.
[[nodiscard]] Status joinGroups(const std::filesystem::path& folder, const std::filesystem::path& other);

/// Returns the group that `name` means, by its label, or one run alone by its label, name, folder or directory. The
/// error, of the option `place`, lists the groups.
[[nodiscard]] Result<RunGroup> groupNamed(const RunGroups& groups, std::span<const TrainedRun> runs,
                                          const std::string& name, const std::string& place);
/// Returns the run as a group of its own; its group if that has no other run.
[[nodiscard]] RunGroup aloneIn(const RunGroups& groups, std::size_t run);

/// The values by which the finished runs of a group are compared, each with its seeds.
struct GroupValues {
    std::vector<projects::SeededValue> judged;   ///< finalValue()
    std::vector<projects::SeededValue> training; ///< lastTrainingLoss()
};
/// Returns the values of the finished runs, the training loss over the last `steps`. Blocking; any thread.
[[nodiscard]] GroupValues valuesOf(const RunGroups& groups, const RunGroup& group, std::span<const TrainedRun> runs,
                                   std::int64_t steps);
/// Returns a metric of the group's runs by step. `metricOf` is asked by index.
[[nodiscard]] projects::SeededSeries
seededSeries(const RunGroups& groups, const RunGroup& group,
             const std::function<std::vector<MetricPoint>(std::size_t run)>& metricOf);

/// Returns the words that a name needs beside the wiring: "stages 3-4-5-6", "rank 8", "2 pruned". Empty for a network
/// at full rank that trains all of its parts in every step.
[[nodiscard]] std::vector<std::string> methodWords(const projects::Project& project);
/// Returns `name` with those of the words that it lacks.
[[nodiscard]] std::string withWords(std::string name, const std::vector<std::string>& words);
/// Returns the name of a run: that of run.json and, of a fork, its step.
[[nodiscard]] std::string nameOf(const RunInfo& info);

/// Returns the number of last steps of training that a mean over several covers: a tenth of them, at most 100.
[[nodiscard]] std::int64_t lastSteps(std::int64_t steps);
/// Returns the mean of the run's training loss over its last `steps`; nullopt without a loss. Blocking; any thread.
[[nodiscard]] std::optional<double> lastTrainingLoss(const std::filesystem::path& runDirectory, std::int64_t steps);

} // namespace residua::engine
