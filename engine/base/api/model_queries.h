// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/export_format.h"
#include "engine/base/api/run_ref.h"
#include "engine/base/api/tokeniser_training.h"
#include "projects/model/project.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

// Queries that read or write models and tokenisers, or copy a checkpoint: each with its answer and its fields.
namespace residua::engine {

struct ImportReady {
    QueryTag tag{};
    std::filesystem::path projectDirectory;
    std::filesystem::path runDirectory;
    std::string architecture; ///< "llama"
    std::int64_t layers = 0;
    std::int64_t parameters = 0;    ///< the number of scalars
    std::string type;               ///< the type of most weights in the files: "BF16"
    std::vector<std::string> notes; ///< for the user: what is not imported, and what replaces the data
};

/// Makes a project from a model saved by the package transformers (config.json and safetensors), with a run whose
/// checkpoint of step 0 holds its weights in single precision. Copies the tokeniser if the folder has one. Reads the
/// weights one tensor at a time, directly into their destination. Refused by name, before anything is written, if the
/// architecture, an option or a tensor has no counterpart. Reports QueryProgress.
struct ImportRequest {
    using Answer = ImportReady;
    QueryTag tag{};
    std::filesystem::path folder;
    std::filesystem::path projectDirectory; ///< of the new project; must not exist, or be empty
    /// The training and evaluation data, except for the tokeniser, which is the model's. nullopt: a few lines of sample
    /// text, so that all commands work.
    std::optional<projects::Source> data;
};

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

struct LoadWeightsReady {
    QueryTag tag{};
    std::filesystem::path runDirectory;
    /// The result for one parameter.
    struct Row {
        std::string parameter;
        std::string tensor;  ///< the matching tensor of the file; empty if nothing matches
        bool fits = false;   ///< true if the parameter was loaded from it
        std::string message; ///< why not: the shapes, or the nearest name among the unused tensors
    };
    std::vector<Row> rows;           ///< in the network's order
    std::vector<std::string> unused; ///< unused tensors of the file, except for those that carry no information
    std::vector<std::string> notes;
};

/// Makes a run of `project` whose checkpoint of step 0 takes parameters from a safetensors file. A tensor is used if
/// its shape and name match a parameter: its name in this program, or its name in the transformers architecture that
/// the network has. Other parameters start by their laws in the document. Refused if no tensor matches. If `dryRun`,
/// writes nothing and answers without a run. Reports QueryProgress.
struct LoadWeightsRequest {
    using Answer = LoadWeightsReady;
    QueryTag tag{};
    std::filesystem::path file;
    /// If it names a tower beside the first, the tensors are those of a network that is this tower; each of its
    /// parameters must have one, and the answer has only these. Otherwise the names are those of the whole document.
    std::string tower;
    projects::Project project;
    std::filesystem::path projectDirectory;
    std::filesystem::path runDirectory; ///< must not exist; empty: a new one in the project's folder of runs
    bool dryRun = false;
};

constexpr void describe(const LoadWeightsRequest*, auto&& v)
{
    v({"file", "file of tensors", {}}, &LoadWeightsRequest::file);
    v({"tower",
       "tower",
       "the tower that gets all its weights from the file, whose names do not begin with the tower's",
       {.value = "NAME", .otherwise = "the whole project"}},
      &LoadWeightsRequest::tower);
    v(keyed("project"), &LoadWeightsRequest::project);
    v(keyed("onto"), &LoadWeightsRequest::projectDirectory);
    v({"output", "new run", "the new run", {.value = "DIR", .otherwise = "among the project's"}},
      &LoadWeightsRequest::runDirectory);
    v({"dry-run", {}, "list what fits and what is left over, and write nothing"}, &LoadWeightsRequest::dryRun);
}

struct ExportReady {
    QueryTag tag{};
    std::string architecture; ///< for a HuggingFace model, the name in its config.json; else empty
    std::filesystem::path folder;
    std::int64_t step = 0;          ///< of the checkpoint that was used
    std::int64_t layers = 0;        ///< in the exported network
    std::int64_t parameters = 0;    ///< the number of scalars
    std::int64_t leftOut = 0;       ///< scalars of the checkpoint that are not exported, because nothing reads them
    std::vector<std::string> notes; ///< as SampleReady's
    bool ownCode = false;           ///< for a HuggingFace model: true if it brings the code that computes it
};

/// Writes the network of a checkpoint into a folder, in one of the formats of export_format.h. Runs on the CPU; a
/// separate Python process makes an ONNX graph from PyTorch code. Refused by name, with nothing written, if a part of
/// the network has no counterpart or there is no suitable Python.
struct ExportRequest {
    using Answer = ExportReady;
    QueryTag tag{};
    ExportFormat format = ExportFormat::PyTorch;
    /// The type of the weights in a HuggingFace model of a known architecture: one of kWeightTypes. Empty: the type
    /// that the weights were imported with if that is lossless, else the checkpoint's type.
    std::string type;
    RunRef of;
    std::filesystem::path folder; ///< must not exist, or be empty
    /// The name of a tower that reads no other, to write it alone. Empty: all of them; HuggingFace takes one only.
    std::string tower = {};
};

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

struct TokeniserReady {
    QueryTag tag{};
    std::filesystem::path model; ///< the written file
    TrainedTokeniser tokeniser;
};

/// Trains a tokeniser on text, beside a run. Reports QueryProgress. If given up, writes nothing and answers
/// QueryFailed when the training has ended.
struct TokeniserRequest {
    using Answer = TokeniserReady;
    QueryTag tag{};
    TokeniserTraining training;
};

constexpr void describe(const TokeniserRequest*, auto&& v)
{
    v(keyed("training"), &TokeniserRequest::training);
}

struct CheckpointFetched {
    QueryTag tag{};
    std::filesystem::path checkpoint; ///< its directory on this machine
    std::int64_t step = 0;
    std::int64_t bytes = 0;
    std::vector<std::string> notes = {}; ///< as SampleReady's
};

/// Copies a checkpoint of a run at a place with a folder of its own (EngineRemote::folder) into the run's directory on
/// this machine, beside other commands. An existing copy is replaced. Reports QueryProgress. Programs only.
struct FetchCheckpoint {
    using Answer = CheckpointFetched;
    QueryTag tag{};
    std::filesystem::path runDirectory;
    std::optional<std::int64_t> step; ///< default: the last checkpoint
};

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

} // namespace residua::projects
