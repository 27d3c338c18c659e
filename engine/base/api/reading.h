// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

/// The version of what data files, seeds and networks mean: how rows are split, labels numbered, pictures and texts
/// read, training draws made, and residuals added. A run keeps the version that it began with, so that what it computes
/// stays the same. A change of any of these rules acts for the newest version alone, or is refused by name for a run of
/// an earlier one.
enum class ReadingVersion : std::int64_t {
    First = 1, ///< of runs whose run.json has no "reading"
    /// Splits are stratified, and labels that are whole numbers are the numbers of their classes. The random
    /// numbers and averages of a step depend on its examples, and not on their division into micro-batches and ranks.
    Second = 2,
    /// A residual adds a layer's attention, then its FFN, instead of the sum of both.
    Third = 3,
};
inline constexpr ReadingVersion kNewestReading = ReadingVersion::Third;

/// The meaning of data for a network that exists already, or for a new one.
struct Reading {
    ReadingVersion version = kNewestReading;
    /// The names of the network's classes by number. Labels are matched to them. Empty: the data number their labels.
    std::vector<std::string> classes;

    [[nodiscard]] bool isFirst() const { return version == ReadingVersion::First; }
    bool operator==(const Reading&) const = default;
};

/// The parts of the data.
enum class Split { Train, Validation, Test };

struct SplitName {
    std::string_view word;  ///< used on the command line
    std::string_view title; ///< used within a sentence
};
/// Indexed by the enumerators.
inline constexpr SplitName kSplitNames[] = {{"train", "training"}, {"validation", "validation"}, {"test", "test"}};
inline constexpr int kSplits = std::size(kSplitNames);

[[nodiscard]] constexpr const SplitName& nameOf(Split split)
{
    return kSplitNames[static_cast<std::size_t>(split)];
}

} // namespace residua::engine
