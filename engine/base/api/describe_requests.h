// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/commands.h"
#include "projects/schema/describe_project.h"

#include <algorithm>
#include <array>
#include <string_view>

// The fields of the queries (projects/schema/describe.h). Frames carry them by their keys. A field with a help or a
// value's name is an option of the terminal (app/cli/arguments/request_arguments.h), and one with a title is a row of
// a dialog (app/properties/field_form.h).
namespace residua::engine {

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

/// The fields of a query beside `tag` and `of`.
constexpr void describe(const ListDevices*, auto&&) {}
constexpr void describe(const SampleRequest*, auto&& v)
{
    v({"prompt",
       {},
       "what to continue; a model of masked tokens fills each [MASK] in it; a classifier names its class, of pictures "
       "that of the file at this path, or those of some held-out examples",
       {.value = "TEXT", .otherwise = "the data's beginning"}},
      &SampleRequest::prompt);
    v({"tokens", {}, "tokens to add", {.range = projects::Range::within(0, kMostSampledTokens), .value = "N"}},
      &SampleRequest::tokens);
    v({"temperature", {}, "0: always the likeliest token", {.range = kNotNegative, .value = "T"}},
      &SampleRequest::temperature);
    static_assert(kCandidates == 5);
    v({"top-k",
       {},
       "only from the K likeliest; of masked tokens, list so many",
       {.range = kNotNegative, .value = "K", .otherwise = "all; of masked tokens 5"}},
      &SampleRequest::topK);
    v({"seed", {}, "of the draws", {.value = "N"}}, &SampleRequest::seed);
}
constexpr void describe(const EvaluateRequest*, auto&& v)
{
    v({"split", {}, {}, {.value = "NAME"}}, &EvaluateRequest::split);
    v({"batches", {}, "at most so many", {.range = kNotNegative, .value = "N", .otherwise = "all"}},
      &EvaluateRequest::batches);
}
constexpr void describe(const RetrofitRequest*, auto&& v)
{
    v({"topology",
       "topology",
       "a preset, shortcuts (0:2+1:3), or a project to take it from",
       {.value = "NAME", .need = projects::Need::Required}},
      &RetrofitRequest::topology);
    v({"prune",
       {},
       "shortcuts and layers that are left out, separated by commas: 2:7, 3:* (all out of 3), *:5 (all into 5), layer "
       "4",
       {.value = "PARTS"}},
      &RetrofitRequest::prune);
    v({"layers",
       {},
       "the layers that become visits of a loop, and how many visits: 3:10,4; then average or stepwise for the "
       "weights, and cycle or in_place for the order",
       {.value = "TIE"}},
      &RetrofitRequest::ties);
    v({"measured", "go on though the outputs change",
       "go on though the outputs change; the loss before and after is measured"},
      &RetrofitRequest::measured);
    v(keyed("settings"), &RetrofitRequest::project);
    v(kNewRun, &RetrofitRequest::newRun);
    v(kNewSteps, &RetrofitRequest::steps);
    v(kTower, &RetrofitRequest::tower);
}
constexpr void describe(const FactoriseRequest*, auto&& v)
{
    v({"rank", "rank scale", "the rank as a share of each weight's smaller side", {.need = projects::Need::Required}},
      &FactoriseRequest::rank);
    v({"method", "method", {}, {.value = "NAME"}}, &FactoriseRequest::method);
    v({"inputs", "fitted to", "data: fitted to each layer's own; or gaussian", {.value = "NAME"}},
      &FactoriseRequest::inputs);
    v(kNewRun, &FactoriseRequest::newRun);
    v(kNewSteps, &FactoriseRequest::steps);
    v(kTower, &FactoriseRequest::tower);
}
constexpr void describe(const ImportRequest*, auto&& v)
{
    v(keyed("folder"), &ImportRequest::folder);
    v({"output",
       {},
       "the new project, which must not exist; with --onto the new run (default: among the project's)",
       {.value = "PROJECT", .need = projects::Need::Required}},
      &ImportRequest::projectDirectory);
    v(keyed("data"), &ImportRequest::data);
}
constexpr void describe(const LoadWeightsRequest*, auto&& v)
{
    v(keyed("file"), &LoadWeightsRequest::file);
    v(keyed("tower"), &LoadWeightsRequest::tower);
    v(keyed("project"), &LoadWeightsRequest::project);
    v(keyed("onto"), &LoadWeightsRequest::projectDirectory);
    v({"output", {}, "the new run", {.value = "DIR", .otherwise = "among the project's"}},
      &LoadWeightsRequest::runDirectory);
}
constexpr void describe(const ExportRequest*, auto&& v)
{
    v({"to", "as", {}, {.value = "FORMAT", .need = projects::Need::Required}}, &ExportRequest::format);
    v({"output",
       "new folder",
       "the new folder, which must not exist",
       {.value = "FOLDER", .need = projects::Need::Required}},
      &ExportRequest::folder);
    v({"type",
       {},
       "huggingface: F32, BF16, F16 or F64",
       {.value = "TYPE", .otherwise = "as imported where nothing is lost, else F32"}},
      &ExportRequest::type);
    v({"tower", {}, "one tower alone, which reads no other", {.value = "NAME", .otherwise = "all"}},
      &ExportRequest::tower);
}
constexpr void describe(const StabilityRequest*, auto&& v)
{
    v({"batches",
       {},
       "batches of the validation split",
       {.range = projects::Range::atLeast(1), .value = "N", .otherwise = "the run's"}},
      &StabilityRequest::batches);
    v(kTower, &StabilityRequest::tower);
}
constexpr void describe(const KnockoutRequest*, auto&& v)
{
    v({"by", "switch off", {}, {.value = "PART"}}, &KnockoutRequest::by);
    v({"renormalise", "the other weights of a softmax take the place of a shortcut's",
       "the other weights of a softmax take the place of a shortcut's"},
      &KnockoutRequest::renormalise);
    v({"batches",
       "held-out batches",
       "batches of the validation split",
       {.range = projects::Range::atLeast(1), .value = "N", .otherwise = "the run's"}},
      &KnockoutRequest::batches);
    v({"only", {}, "these parts alone, separated by commas: 2:7,3:9", {.value = "PARTS", .otherwise = "all"}},
      &KnockoutRequest::only);
    v({"again", {}, "measure anew, even if the run has kept such a result"}, &KnockoutRequest::again);
    v(kTower, &KnockoutRequest::tower);
}
constexpr void describe(const InterventionRequest*, auto&& v)
{
    v({"what", "measure", {}, {.value = "WHAT"}}, &InterventionRequest::what);
    v({"streams", {}, "sets of streams, separated by commas: 1,2,1+3", {.value = "SETS", .otherwise = "each stream"}},
      &InterventionRequest::streams);
    v({"after",
       {},
       "the modules after which streams are filled, or whose transitions are replaced, separated by commas: 4,8-12 is "
       "4, and the range 8 to 12; 0 is the entry",
       {.value = "MODULES", .otherwise = "each; rescue: 1; transitions: all, the first and the second half"}},
      &InterventionRequest::after);
    v({"fill", "value", {}, {.value = "VALUE"}}, &InterventionRequest::fill);
    v({"copied",
       "copied stream",
       "with --fill stream: the stream whose value the others take",
       {.range = projects::Range::atLeast(1), .value = "STREAM", .otherwise = "none"}},
      &InterventionRequest::copied);
    v({"restored", {}, "rescue: the streams that are restored", {.value = "STREAMS", .otherwise = "each"}},
      &InterventionRequest::restored);
    v({"at",
       {},
       "rescue: the modules after which they are restored",
       {.value = "MODULES", .otherwise = "each from the filled one on"}},
      &InterventionRequest::at);
    v({"by", "transition", {}, {.value = "FORM"}}, &InterventionRequest::by);
    v({"top",
       "weights kept",
       "weights that --by top keeps of each new stream's",
       {.range = projects::Range::atLeast(1), .value = "K"}},
      &InterventionRequest::top);
    v({"batches",
       "held-out batches",
       "batches of the validation split",
       {.range = projects::Range::atLeast(1), .value = "N", .otherwise = "the run's"}},
      &InterventionRequest::batches);
    v(kTower, &InterventionRequest::tower);
}
constexpr void describe(const GapRequest*, auto&& v)
{
    v(keyed("project"), &GapRequest::project);
    v({"rank", {}, "the rank as a share of each weight's smaller side", {.otherwise = "the project's"}},
      &GapRequest::rank);
    v({"methods", {}, "separated by commas", {.value = "LIST"}}, &GapRequest::methods);
    v({"inputs", {}, "gaussian, or data: those of each layer", {.value = "NAME", .otherwise = "the project's"}},
      &GapRequest::inputs);
}
constexpr void describe(const TokeniserRequest*, auto&& v)
{
    v(keyed("training"), &TokeniserRequest::training);
}
constexpr void describe(const FetchCheckpoint*, auto&& v)
{
    v(keyed("run"), &FetchCheckpoint::runDirectory);
    v({"step",
       "checkpoint",
       "the checkpoint of this step",
       {.range = kNotNegative, .value = "STEP", .otherwise = "the last one"}},
      &FetchCheckpoint::step);
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
struct Choices<KnockoutBy> {
    static constexpr Choice all[] = {{"term", "each shortcut", "each shortcut"},
                                     {"layer", "each layer", "each layer"},
                                     {"half", "each half of a layer", "the attention and the FFN of each layer"},
                                     {"stream", "each parallel stream", "each parallel stream"},
                                     {"visits", "each number of visits of a loop", "each number of visits of a loop"}};
};
template <>
struct Choices<InterventionKind> {
    static constexpr Choice all[] = {
        {"streams", "streams with another value", "sets of streams are filled"},
        {"pairs", "streams alone and in pairs", "two streams at a time, and each alone"},
        {"rescue", "streams that are restored later", "a filled stream is restored later"},
        {"transitions", "replaced transitions", "the matrices between the streams are replaced"}};
};
template <>
struct Choices<StreamFill> {
    static constexpr Choice all[] = {
        {"zero", "zero", "no value"},
        {"mean", "its mean over the tokens", "the stream's mean over the tokens of the batch"},
        {"stream", "another stream's", "another stream's"}};
};
template <>
struct Choices<TransitionForm> {
    static constexpr Choice all[] = {{"identity", "identity", "each stream keeps its value"},
                                     {"mean", "its mean over the tokens", "the mean over the tokens of the batch"},
                                     {"top", "its largest weights", "only the largest weights of each new stream"},
                                     {"top_scaled", "its largest weights, scaled", "these, scaled to the sum of all"}};
};
template <>
struct Choices<engine::ExportFormat> {
    static constexpr auto all = [] {
        std::array<Choice, std::size(engine::kExportFormats)> choices;
        std::ranges::transform(engine::kExportFormats, choices.begin(), [](const engine::ExportFormatInfo& format) {
            return Choice{format.key, format.title, format.makes};
        });
        return choices;
    }();
};
template <>
struct Choices<engine::PieceModel> {
    static constexpr Choice all[] = {{"bpe", "BPE: the commonest pairs are joined"},
                                     {"unigram", "Unigram: the likeliest pieces are kept"}};
};
template <>
struct Choices<engine::OtherData> {
    static constexpr Choice all[] = {{"refuse", "refuse"}, {"accept", "accept"}};
};
template <>
struct Fields<engine::TokeniserTraining> {
    static constexpr void visit(auto&& v)
    {
        using engine::TokeniserTraining;
        v(engine::keyed("text"), &TokeniserTraining::text);
        v({"output", "model", "the model's file, which is replaced", {.value = "FILE", .need = Need::Required}},
          &TokeniserTraining::output);
        v({"kind", "kind", {}, {.value = "KIND"}}, &TokeniserTraining::model);
        static_assert(kByteVocabulary == 256);
        v({"size",
           "pieces",
           "how many pieces; 256 of them are bytes",
           {.range = Range::within(engine::kFewestPieces, engine::kMostPieces), .value = "PIECES"}},
          &TokeniserTraining::pieces);
        v({"field",
           {},
           "the key of JSON Lines, or the column of Parquet, that holds the text",
           {.value = "KEY", .otherwise = "text"}},
          &TokeniserTraining::field);
    }
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
