// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/values.h"
#include "projects/schema/describe_training.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

// The run that a query is about, and what the fields of queries have in common (projects/schema/describe.h). Frames
// carry fields by their keys. A field with a help or a value's name is an option of the terminal
// (app/cli/arguments/request_arguments.h), and one with a title is a row of a dialog (app/properties/field_form.h).
namespace residua::engine {

/// The action if a run's data have another fingerprint than the data that it was trained on.
enum class OtherData {
    Refuse, ///< fails, naming the expected and the found data
    Accept, ///< adds a note; a run that trains or is made records an event
};

/// A run, the data that a command uses it with, and a checkpoint of it.
struct RunRef {
    std::filesystem::path runDirectory;
    std::filesystem::path projectDirectory = {}; ///< relative data paths start here; empty: as recorded in the run
    OtherData otherData = OtherData::Refuse;
    std::optional<std::int64_t> step = {}; ///< default: the last checkpoint
};

/// A field without an option or a row of its own.
[[nodiscard]] constexpr projects::Field keyed(std::string_view key)
{
    return {key, {}, {}};
}

inline constexpr projects::Range kNotNegative = projects::Range::atLeast(0);

inline constexpr projects::Field kNewSteps{
    "steps",
    "steps in all",
    "a new total of steps",
    {.range = projects::Range::within(1, projects::kMostTrainingSteps), .value = "N"}};

inline constexpr projects::Field kNewRun{
    "output", {}, "the new run, which must not exist", {.value = "DIR", .otherwise = "beside RUN"}};

inline constexpr projects::Field kTower{
    "tower", {}, "the tower whose parts these are", {.value = "NAME", .otherwise = "the first"}};

} // namespace residua::engine

namespace residua::projects {

template <>
struct Choices<engine::OtherData> {
    static constexpr Choice all[] = {{"refuse", "refuse"}, {"accept", "accept"}};
};
template <>
struct Fields<engine::RunRef> {
    static constexpr void visit(auto&& v)
    {
        v(engine::keyed("run"), &engine::RunRef::runDirectory);
        v({"from",
           "from checkpoint",
           "the checkpoint of this step",
           {.range = engine::kNotNegative, .value = "STEP", .otherwise = "the last"}},
          &engine::RunRef::step);
        v({"project", {}, "the project's folder now", {.value = "DIR", .otherwise = "where the run remembers it"}},
          &engine::RunRef::projectDirectory);
        v({"other-data", "go on though the data are not those it was trained on",
           "go on though the data are not those that the run was trained on"},
          &engine::RunRef::otherData);
    }
};

} // namespace residua::projects
