// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/reproduce/reproductions.h"
#include "app/cli/sweep/sweep_plan.h"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace residua::cli {

using projects::SeededValue;

/// The measured values of a comparison's sides and the difference a − b over the seeds that both have.
struct Outcome {
    double a = 0; ///< mean; NaN if nothing was measured
    double b = 0;
    projects::PairedDifference difference;
    projects::Verdict verdict = projects::Verdict::CannotTell;
};

[[nodiscard]] Outcome outcomeOf(const Comparison& comparison, const std::vector<SeededValue>& a,
                                const std::vector<SeededValue>& b);
/// Returns the outcome by one recording; nullopt if it lacks a side.
[[nodiscard]] std::optional<Outcome> outcomeIn(const Recording& recording, const Comparison& comparison);
/// Returns the command that makes the sides of a comparison: its sweep, or the first one that trains runs by seed.
[[nodiscard]] std::string commandOf(const Reproduction& row, const Comparison& comparison);
/// Returns the recording of that command with both sides, one with paired values if possible; null without one.
[[nodiscard]] const Recording* recordingFor(const Reproduction& row, const Comparison& comparison);
/// Returns the outcome by that recording. Uses differenceOfMeans if a side was recorded as a mean.
[[nodiscard]] Outcome recordedOutcome(const Reproduction& row, const Comparison& comparison);
[[nodiscard]] std::vector<Outcome> recordedOutcomes(const Reproduction& row);
/// Returns the verdict on a row by its recordings: Differs if one of its comparisons differs, Agrees if all agree. A
/// row without comparisons has the verdict of a person; nullopt if no person gave one.
[[nodiscard]] std::optional<projects::Verdict> recordedVerdict(const Reproduction& row);

/// The runs that decide a comparison, or a whole row.
struct TrainedRuns {
    std::size_t seeds = 0;  ///< that the command trains
    std::size_t runs = 0;   ///< for each seed
    std::int64_t steps = 0; ///< of a run; 0: nothing is trained
    double flops = 0;       ///< of a run
};

/// An answer to what would decide an open row.
struct Need {
    std::string comparison; ///< its sides; empty if the whole row needs it
    /// "about 24 pairs would be needed if the mean difference stays; its command trains 6; 48 runs of 300 steps take
    /// roughly 12 min on CPU, 1 thread"
    std::string text;
};
[[nodiscard]] std::string textOf(const Need& need);
/// Returns what would decide each comparison whose outcome cannot tell, then the row's own remark. `outcomes` has one
/// for each comparison of the row, and `trained` is that of trainedRuns().
[[nodiscard]] std::vector<Need> needsOf(const Reproduction& row, const std::vector<Outcome>& outcomes,
                                        const std::vector<TrainedRuns>& trained);

/// Returns the values of the finished members of a sweep that the side names. Reads their stores.
[[nodiscard]] std::vector<SeededValue> valuesOf(const SweepPlan& plan, const Side& side,
                                                std::optional<std::int64_t> step);
/// Returns the values of the finished runs in `folders`, which are pairs of a seed and a run's directory.
[[nodiscard]] std::vector<SeededValue>
valuesOf(const std::vector<std::pair<std::string, std::filesystem::path>>& folders, const Side& side,
         std::optional<std::int64_t> step);

/// Returns a table with the paper's values, the recorded ones and, unless `now` is empty, the new ones. `now` has one
/// outcome for each comparison of the row.
[[nodiscard]] std::vector<std::vector<std::string>> comparisonTable(const Reproduction& row,
                                                                    const std::vector<Outcome>& now);
[[nodiscard]] nlohmann::json jsonOf(const Comparison& comparison, const Outcome& outcome);
[[nodiscard]] nlohmann::json jsonOf(const Recording& recording);

/// The values of one member, as trained now.
struct MeasuredMember {
    Side side;
    std::optional<std::int64_t> step; ///< as Comparison::step
    std::vector<SeededValue> values;
};
/// Returns the keys seeds and members of a recording in the form of resources/reproductions.json. Seeds are those that
/// all members have a value for. A member without any value is left out: its runs failed.
[[nodiscard]] nlohmann::json recordableOf(const std::vector<MeasuredMember>& measured);
/// Returns the lines that tell a recording: command, commit, device and seeds, then values or text.
[[nodiscard]] std::vector<std::string> linesOf(const Recording& recording);

} // namespace residua::cli
