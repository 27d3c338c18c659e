// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

namespace residua::projects {

/// The words of the schema: what is said of each field of the document, once (describe_*.h), and read by the file, the
/// diff, validation, the inspector, sweeps, the command line and the reference page.

/// A value of a closed set, as the file has it and as people read it.
struct Choice {
    std::string_view name;      ///< in the file: "per_feature"
    std::string_view title;     ///< as within a sentence: "per feature"
    std::string_view help = {}; ///< what it is, where the title leaves that open; a few words
};

enum class End { Closed, Open };

/// The numbers that a field may hold; any finite one until an end is given.
struct Range {
    static constexpr double kNoEnd = std::numeric_limits<double>::infinity();

    double least = -kNoEnd;
    double most = kNoEnd;
    End lower = End::Closed; ///< whether `least` itself is in it
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

/// What is expected: "1 to 4096", "at least 0 and below 1", "more than 0", "any number".
[[nodiscard]] std::string textOf(const Range& range);

enum class Need { Optional, Required };
enum class TextForm { Plain, Path };
/// Whether the places of what lies below a field name it: "data · file" leaves out the source.
enum class InPlaces { Named, LeftOut };
/// Whether a field, with all that is below it, decides what is trained, or tells people something.
enum class Decides { Training, Nothing };

struct Project;

/// Whether a field changes anything as the rest of the document is. `owner` is the struct that has the field.
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
/// The field means something where kHolds, a function of the struct that has the field or of the project, says so.
template <auto kHolds>
inline constexpr Meaning when = &When<kHolds>::holds;

/// What need not be said of every field.
struct FieldDetails {
    std::string_view unit = {};
    Range range = {};            ///< of a number
    std::string_view paper = {}; ///< what the papers use
    std::string_view group = {}; ///< the heading that it and what follows in its struct stand under
    std::string_view item = {};  ///< of a list: what one entry is called, "stage"
    TextForm form = TextForm::Plain;
    InPlaces inPlaces = InPlaces::Named;
    Need need = Need::Optional;
    Decides decides = Decides::Training;
    Meaning where = nullptr; ///< it and all that is below it mean something; nullptr: they always do
};

/// The line of a field. Titles, units and choices are written as within a sentence; headline() begins a line with them.
struct Field {
    std::string_view key;   ///< in the file
    std::string_view title; ///< "warm-up"
    std::string_view help;  ///< one sentence
    FieldDetails more = {};
};

/// The words as the start of a line: "Warm-up". Names and symbols, "bf16" or "q, k, v", stay as they are.
[[nodiscard]] std::string headline(std::string_view words);

} // namespace residua::projects
