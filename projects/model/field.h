// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

namespace residua::projects {

/// The schema: the description of each field of the document (describe_*.h). The file, the diff, validation, the
/// inspector, sweeps, the command line and the reference page all use it.

/// A value of a closed set with its names in the file and for people.
struct Choice {
    std::string_view name;      ///< name in the file: "per_feature"
    std::string_view title;     ///< name within a sentence: "per feature"
    std::string_view help = {}; ///< explains the title in a few words; may be empty
};

enum class End { Closed, Open };

/// The numbers that a field may have. Any finite number by default.
struct Range {
    static constexpr double kNoEnd = std::numeric_limits<double>::infinity();

    double least = -kNoEnd;
    double most = kNoEnd;
    End lower = End::Closed; ///< whether `least` itself is allowed
    End upper = End::Closed;

    [[nodiscard]] static constexpr Range atLeast(double least) { return {least}; }
    [[nodiscard]] static constexpr Range moreThan(double bound) { return {bound, kNoEnd, End::Open}; }
    [[nodiscard]] static constexpr Range within(double least, double most) { return {least, most}; }
    /// least ≤ value < bound.
    [[nodiscard]] static constexpr Range halfOpen(double least, double bound)
    {
        return {least, bound, End::Closed, End::Open};
    }

    /// bound < value ≤ most.
    [[nodiscard]] static constexpr Range halfOpenLow(double bound, double most) { return {bound, most, End::Open}; }

    [[nodiscard]] bool contains(double value) const;
    [[nodiscard]] bool contains(std::int64_t value) const;
    bool operator==(const Range&) const = default;
};

/// Describes the allowed numbers: "1 to 4096", "at least 0 and below 1", "more than 0", "any number".
[[nodiscard]] std::string textOf(const Range& range);

enum class Need { Optional, Required };
/// Whether files contain the field while it has its default.
enum class InFiles { Always, IfSet };
enum class TextForm { Plain, Path };
/// Whether the places of fields below include this field's name. "data · file" leaves out the source.
enum class InPlaces { Named, LeftOut };
/// Whether a field, including all fields below it, affects the training.
enum class Decides { Training, Nothing };

struct Project;

/// Returns true if a field has an effect in the current document. `owner` is the struct that contains the field.
using Meaning = bool (*)(const void* owner, const Project& project);

template <auto kHolds>
struct When;
template <class Owner, bool (*kHolds)(const Owner&)>
struct When<kHolds> {
    static bool holds([[maybe_unused]] const void* owner, [[maybe_unused]] const Project& project)
    {
        if constexpr (std::is_same_v<Owner, Project>) {
            return kHolds(project);
        } else {
            return kHolds(*static_cast<const Owner*>(owner));
        }
    }
};
/// The field has an effect if kHolds, a function of the struct that contains it or of the project, returns true.
template <auto kHolds>
inline constexpr Meaning when = &When<kHolds>::holds;

/// The optional parts of a field's description.
struct FieldDetails {
    std::string_view unit = {};
    Range range = {};            ///< for a number
    std::string_view paper = {}; ///< the value in the papers
    std::string_view group = {}; ///< heading of this field and the following ones in its struct
    std::string_view item = {};  ///< for a list: name of one entry, "stage"
    /// For an option of the terminal: the name of its value, "N"; and its default in words, if the value itself does
    /// not say it, "all".
    std::string_view value = {};
    std::string_view otherwise = {};
    TextForm form = TextForm::Plain;
    InPlaces inPlaces = InPlaces::Named;
    Need need = Need::Optional;
    Decides decides = Decides::Training;
    InFiles inFiles = InFiles::Always;
    Meaning where = nullptr; ///< true if it and all fields below it have an effect; null: always
};

/// The line of a field. Titles, units and choices are written as within a sentence; headline() makes a heading of them.
struct Field {
    std::string_view key;   ///< name in the file
    std::string_view title; ///< "warm-up"
    std::string_view help;  ///< one sentence
    FieldDetails more = {};
};

/// Capitalises the words for the start of a line: "Warm-up". Names and symbols, "bf16" or "q, k, v", stay unchanged.
[[nodiscard]] std::string headline(std::string_view words);

} // namespace residua::projects
