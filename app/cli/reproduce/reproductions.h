// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/studies/paired_difference.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace residua::cli {

/// The part of a table or figure that can be repeated, and its size.
enum class Coverage {
    Whole,   ///< at the paper's own size
    Small,   ///< the same comparison, smaller
    Part,    ///< some of its rows or panels, smaller
    Drawing, ///< it is a diagram or a list of settings: nothing is measured
};

inline constexpr std::string_view kOutPlaceholder = "OUT";   ///< in commands: the folder that they write into
inline constexpr std::string_view kSeedPlaceholder = "SEED"; ///< in commands and runs: repeated for each seed

/// One side of a comparison.
struct Side {
    /// The label of the sweep's members without their seed ("dca"), or a run's folder ("OUT/SEED/dca"). A label that
    /// ends with ", *" names the members with any value of the last axis but the seed; the one with the lowest mean
    /// counts ("dca, *": at the best of the swept rates).
    std::string member;
    std::string metric;          ///< name of the recorded value: "loss/validation"
    std::optional<double> paper; ///< the value that the paper prints
};

/// True if the name of a side's member fits a label of the sweep, which has no seed.
[[nodiscard]] bool namesMember(std::string_view member, std::string_view label);

/// A statement of a paper that a command tests: `a` is below or above `b`.
struct Comparison {
    Side a;
    Side b;
    projects::Direction direction = projects::Direction::Below;
    std::string paperMetric;          ///< of the sides' paper values, such as "perplexity"; empty without them
    std::optional<std::int64_t> step; ///< the step that both metrics are read at; nullopt: the last one
    std::size_t sweep = 0;            ///< the number of the sweep among the row's commands, from 0
};

/// The values of one member: one for each seed of the recording, or their mean alone.
struct RecordedMember {
    std::string name;                 ///< as Side::member
    std::string metric;               ///< as Side::metric
    std::optional<std::int64_t> step; ///< as Comparison::step
    std::vector<double> values;       ///< in the order of the seeds; empty if only the mean is known
    double mean = 0;
    std::optional<double> deviation; ///< of a single value over the seeds; nullopt: not recorded
};

/// The result of a command, measured once.
struct Recording {
    std::vector<std::string> rows; ///< "dca table-7"
    std::string command;           ///< as in the rows
    std::string commit;            ///< of the program that ran it; of earlier recordings the one that added the result
    std::string device;
    std::optional<std::int64_t> threads; ///< of a training on the CPU; nullopt in some early recordings
    std::optional<double> secondsPerRun; ///< of training, the median; nullopt: not recorded
    std::vector<std::string> seeds;
    std::vector<RecordedMember> members;
    std::optional<std::pair<double, double>> deviations; ///< least and largest, of the members without one of their own
    std::string text;                                    ///< a result that is no member's value; a remark
    std::optional<projects::Verdict> verdict;            ///< judged by a person, if the row has no comparison
};

/// A table or figure of one of the papers, and the commands that stand for it here.
struct Reproduction {
    std::string paper; ///< key: "dca"
    std::string item;  ///< key: "figure-1"
    std::string about; ///< the subject of its comparison
    Coverage coverage = Coverage::Whole;
    std::string size; ///< the setting here
    /// Command lines of residua-cli, in order, with the placeholders. Empty if nothing runs.
    std::vector<std::string> commands;
    std::vector<std::string> seeds; ///< the values of kSeedPlaceholder
    std::vector<std::string> wider; ///< further command lines with a recording, which `reproduce` does not run
    std::string paperSays;
    std::vector<Comparison> comparisons;
    std::string needs; ///< the experiment that would decide an open comparison; may be empty

    [[nodiscard]] std::string name() const { return paper + " " + item; }
};

/// A paper by its key: title and the document in which the items are counted.
struct Paper {
    std::string key;
    std::string title;
};

/// The contents of resources/reproductions.json. Immutable; any thread.
[[nodiscard]] const std::vector<Paper>& papers();
/// Every table and figure of papers(), by paper, figures first.
[[nodiscard]] const std::vector<Reproduction>& reproductions();
[[nodiscard]] const std::vector<Recording>& recordings();

/// Returns null for an unknown pair.
[[nodiscard]] const Reproduction* findReproduction(std::string_view paper, std::string_view item);
/// Returns the recordings of a row, in the order of the file.
[[nodiscard]] std::vector<const Recording*> recordingsOf(const Reproduction& row);
/// True for a training on the CPU whose number of threads is unknown.
[[nodiscard]] bool lacksThreads(const Recording& recording);
/// Splits a command line of the table into words; text in double quotes is one word. Replaces the placeholders, OUT
/// only at the beginning of a word.
[[nodiscard]] std::vector<std::string> commandWords(std::string_view line, const std::string& out,
                                                    const std::string& seed);
/// Returns the words of the row's commands in order. A line with the placeholder of a seed is repeated for each seed.
[[nodiscard]] std::vector<std::vector<std::string>> commandsOf(const Reproduction& row, const std::string& out);
/// Returns "whole", "smaller", "part" or "drawing".
[[nodiscard]] std::string_view nameOf(Coverage coverage);

} // namespace residua::cli
