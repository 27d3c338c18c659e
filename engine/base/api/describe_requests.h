// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/commands.h"
#include "projects/schema/describe_project.h"

#include <algorithm>
#include <array>
#include <string_view>

// The fields of the queries (projects/schema/describe.h). Frames carry them by their keys. A field with a help is an
// option of the terminal, named by its key: its title names the value, and its range is the option's.
namespace residua::engine {

/// A field without an option of its own.
[[nodiscard]] constexpr projects::Field keyed(std::string_view key)
{
    return {key, {}, {}};
}
inline constexpr projects::FieldDetails kNotNegative{.range = projects::Range::atLeast(0)};

inline constexpr projects::Field kNewSteps{
    "steps", "N", "a new total of steps", {.range = projects::Range::within(1, projects::kMostTrainingSteps)}};

/// The fields of a query beside `tag` and `of`.
constexpr void describe(const ListDevices*, auto&&) {}
constexpr void describe(const SampleRequest*, auto&& v)
{
    v({"prompt", "TEXT",
       "what to continue (default: the data's beginning); a model of masked tokens fills each [MASK] in it; a "
       "classifier names its class, of pictures that of the file at this path, or those of the first held-out "
       "examples"},
      &SampleRequest::prompt);
    v({"tokens", "N", "tokens to add", {.range = projects::Range::within(0, kMostSampledTokens)}},
      &SampleRequest::tokens);
    v({"temperature", "T", "0: always the likeliest token", kNotNegative}, &SampleRequest::temperature);
    static_assert(kCandidates == 5);
    v({"top-k", "K", "only from the K likeliest (default: all); of masked tokens, list so many (default 5)",
       kNotNegative},
      &SampleRequest::topK);
    v({"seed", "N", "of the draws"}, &SampleRequest::seed);
}
constexpr void describe(const EvaluateRequest*, auto&& v)
{
    v({"split", "NAME", "train, validation (default) or test"}, &EvaluateRequest::split);
    v({"batches", "N", "at most so many (default: all)", kNotNegative}, &EvaluateRequest::batches);
}
constexpr void describe(const RetrofitRequest*, auto&& v)
{
    v(keyed("topology"), &RetrofitRequest::topology);
    v(keyed("output"), &RetrofitRequest::newRun);
    v(kNewSteps, &RetrofitRequest::steps);
}
constexpr void describe(const FactoriseRequest*, auto&& v)
{
    v(keyed("rank"), &FactoriseRequest::rank);
    v(keyed("method"), &FactoriseRequest::method);
    v(keyed("inputs"), &FactoriseRequest::inputs);
    v(keyed("output"), &FactoriseRequest::newRun);
    v(kNewSteps, &FactoriseRequest::steps);
}
constexpr void describe(const ImportRequest*, auto&& v)
{
    v(keyed("folder"), &ImportRequest::folder);
    v(keyed("output"), &ImportRequest::projectDirectory);
    v(keyed("data"), &ImportRequest::data);
}
constexpr void describe(const LoadWeightsRequest*, auto&& v)
{
    v(keyed("file"), &LoadWeightsRequest::file);
    v(keyed("project"), &LoadWeightsRequest::project);
    v(keyed("onto"), &LoadWeightsRequest::projectDirectory);
    v(keyed("output"), &LoadWeightsRequest::runDirectory);
}
constexpr void describe(const ExportRequest*, auto&& v)
{
    v(keyed("to"), &ExportRequest::format);
    v(keyed("type"), &ExportRequest::type);
    v(keyed("output"), &ExportRequest::folder);
}
constexpr void describe(const StabilityRequest*, auto&& v)
{
    v({"batches", "N", "batches of the validation split (default: the run's)", {.range = projects::Range::atLeast(1)}},
      &StabilityRequest::batches);
}
constexpr void describe(const GapRequest*, auto&& v)
{
    v(keyed("project"), &GapRequest::project);
    v(keyed("rank"), &GapRequest::rank);
    v(keyed("inputs"), &GapRequest::inputs);
    v(keyed("methods"), &GapRequest::methods);
}
constexpr void describe(const TokeniserRequest*, auto&& v)
{
    v(keyed("training"), &TokeniserRequest::training);
}
constexpr void describe(const FetchCheckpoint*, auto&& v)
{
    v(keyed("run"), &FetchCheckpoint::runDirectory);
    v(keyed("step"), &FetchCheckpoint::step);
}

} // namespace residua::engine

namespace residua::projects {

template <>
struct Choices<engine::Split> {
    static constexpr auto all = [] {
        std::array<Choice, engine::kSplits> choices;
        std::ranges::transform(engine::kSplitNames, choices.begin(), [](const engine::SplitName& name) {
            return Choice{name.word, name.title};
        });
        return choices;
    }();
};
template <>
struct Fields<engine::RunRef> {
    static constexpr void visit(auto&& v)
    {
        v(engine::keyed("run"), &engine::RunRef::runDirectory);
        v(engine::keyed("project"), &engine::RunRef::projectDirectory);
        v(engine::keyed("other-data"), &engine::RunRef::otherData);
        v(engine::keyed("step"), &engine::RunRef::step);
    }
};
template <class Query>
requires engine::kIsQuery<Query>
struct Fields<Query> {
    static constexpr void visit(auto&& v)
    {
        v(engine::keyed("tag"), &Query::tag);
        if constexpr (requires { &Query::of; }) {
            v(engine::keyed("of"), &Query::of);
        }
        describe(static_cast<const Query*>(nullptr), v);
    }
};

} // namespace residua::projects
