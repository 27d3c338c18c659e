// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/api/data_summary.h"

#include "engine/base/machine/failure.h"
#include "engine/data/codec/text_codec.h"
#include "engine/data/sets/class_numbers.h"
#include "engine/data/sets/dataset.h"
#include "engine/data/sets/fingerprint.h"
#include "engine/data/sets/labelled_dataset.h"
#include "engine/data/sets/mixture_order.h"
#include "engine/data/sets/numbered_pictures.h"
#include "engine/data/text/data_files.h"
#include "engine/data/text/folder_files.h"
#include "engine/runs/store/run_files.h"
#include "projects/base/result.h"
#include "projects/model/data_source.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace residua::engine {
namespace {

constexpr std::int64_t kPreviewed = 12; ///< examples that are no long text

DataSummary summaryOf(const DataOutline& data)
{
    const auto counted = [&data](Split split) {
        const std::int64_t size = data.sizes[static_cast<std::size_t>(split)];
        return size == kEndless ? -1 : size;
    };
    return {.examples = data.schema,
            .train = counted(Split::Train),
            .validation = counted(Split::Validation),
            .test = counted(Split::Test),
            .texts = {},
            .parts = {},
            .readings = {},
            .notes = {}};
}

/// Returns the tokens of a batch of one sequence, without its padding.
std::vector<std::int64_t> tokensOf(const Batch& batch, const projects::ExampleSchema& examples)
{
    std::vector<std::int64_t> tokens = batch.values<std::int64_t>(0);
    for (std::size_t i = 0; i < batch.fields.size(); ++i) {
        if (examples.fields[i].name == projects::kLength) {
            tokens.resize(static_cast<std::size_t>(batch.values<std::int64_t>(i).front()));
        } else if (examples.fields[i].role == projects::FieldRole::Mask) {
            const auto count = [](const auto& mask) { return std::ranges::count(mask, 1); };
            tokens.resize(static_cast<std::size_t>(std::visit(count, batch.fields[i])));
        }
    }
    return tokens;
}

/// Summarises an open data set, without its readings.
DataSummary summaryWithoutFiles(const Dataset& dataset, const projects::TrainingPlan& plan)
{
    DataSummary summary = summaryOf(
        {dataset.schema(), {dataset.size(Split::Train), dataset.size(Split::Validation), dataset.size(Split::Test)}});
    for (const DataPartOutline& part : dataset.parts()) {
        const auto tokens = [](const auto& splits, Split split) { return splits[static_cast<std::size_t>(split)]; };
        summary.parts.push_back({.path = part.name,
                                 .share = part.share,
                                 .passes = passesOf(part, plan),
                                 .train = tokens(part.sizes, Split::Train),
                                 .validation = tokens(part.sizes, Split::Validation),
                                 .test = tokens(part.sizes, Split::Test),
                                 .validated = tokens(part.evaluated, Split::Validation)});
    }
    summary.texts = dataset.texts();
    summary.notes = dataset.notes();
    return summary;
}

/// Returns a note on held-out files beside the training files that the project does not use.
template <class FileSource>
std::vector<std::string> notesOnUnused(const FileSource& source, const std::filesystem::path& projectDirectory)
{
    constexpr bool takesPath = requires
    {
        source.validationPath;
    };
    const std::vector<std::filesystem::path> beside = heldOutBeside(projectDirectory / source.path);
    bool isUsed = beside.empty();
    if constexpr (takesPath) {
        isUsed = isUsed || !source.validationPath.empty();
    }
    if (isUsed) {
        return {};
    }
    return {beside.front().string() + (beside.size() > 1 ? " and others like it lie" : " lies") +
            " beside the training data and is not used: validation takes a share of the training data" +
            (takesPath ? "; to hold it out, set data.source.validation_path to it" : "")};
}

} // namespace

Result<std::vector<std::string>> labelsIn(const projects::Source& source, const std::filesystem::path& projectDirectory,
                                          const PreparationWatch& watch)
{
    using Labels = Result<std::vector<std::string>>;
    return std::visit(
        [&]<class Data>(Data data) -> Labels {
            if constexpr (requires { data.classes; }) {
                Labels labels = labelsIn(data, projectDirectory, watch);
                if (!labels || data.validationPath.empty()) {
                    return labels;
                }
                data.path = data.validationPath;
                const Labels heldOut = labelsIn(data, projectDirectory, watch);
                if (heldOut) {
                    labels->insert(labels->end(), heldOut->begin(), heldOut->end());
                }
                return heldOut ? labels : heldOut;
            } else {
                return std::vector<std::string>();
            }
        },
        source);
}

Result<std::optional<std::int64_t>> countClasses(const projects::Source& source,
                                                 const std::filesystem::path& projectDirectory,
                                                 const std::function<bool()>& wanted)
{
    using Count = Result<std::optional<std::int64_t>>;
    const PreparationWatch watch = [&wanted](double) { return !wanted || wanted(); };
    Count count = std::optional<std::int64_t>();
    const auto take = [&count](const Result<std::int64_t>& counted) {
        count = counted ? Count(*counted) : Count(withPlainPlace(counted.error()));
    };
    const auto failure = attemptStandard([&] {
        if (const auto* const texts = std::get_if<projects::LabelledTextData>(&source)) {
            take(labelsIn(*texts, projectDirectory, watch).transform(classesOf));
        } else if (const auto* const pictures = std::get_if<projects::PictureData>(&source)) {
            take(countClasses(*pictures, projectDirectory, watch));
        }
    });
    return failure ? Count(Error{"data", failure->text}) : count;
}

std::vector<DataReading> readingsOf(const projects::Project& project, const std::filesystem::path& projectDirectory)
{
    std::vector<DataReading> readings;
    const auto add = [&](const std::string& path, DataKind kind) {
        DataLook look = lookAt(projectDirectory / path, kind);
        readings.push_back({path, std::move(look.files), std::move(look.notes)});
    };
    std::visit(Overloaded{[&](const projects::TextData& source) { add(source.path, DataKind::Text); },
                          [&](const projects::JsonLinesData& source) { add(source.path, DataKind::Records); },
                          [&](const projects::TokenFileData& source) {
                              add(source.path, DataKind::Tokens);
                              if (!source.validationPath.empty()) {
                                  add(source.validationPath, DataKind::Tokens);
                              }
                          },
                          [&](const projects::MixtureData& source) {
                              for (const projects::MixturePart& part : source.parts) {
                                  add(part.path, kindAt(projectDirectory / part.path));
                              }
                          },
                          [](const auto&) {}},
               project.data.source);
    return readings;
}

Result<projects::Tokeniser> tokeniserAt(const std::filesystem::path& file)
{
    const bool json = file.extension() == ".json";
    Result<projects::Tokeniser> tokeniser = projects::Tokeniser{
        json ? projects::TokeniserKind::TokenizerJson : projects::TokeniserKind::SentencePiece, file.string(), 0};
    const auto failure = attemptStandard([&] {
        const auto codec = json ? tokenizerJsonCodec(file) : sentencePieceCodec(file);
        if (codec) {
            tokeniser->vocabulary = (*codec)->vocabulary();
        } else {
            tokeniser = codec.error();
        }
    });
    return failure ? Result<projects::Tokeniser>(Error{file.string(), failure->text}) : tokeniser;
}

DataSummary summaryOf(const projects::Project& project, const std::filesystem::path& projectDirectory,
                      const Dataset& dataset)
{
    DataSummary summary = summaryWithoutFiles(dataset, project.training);
    summary.readings = readingsOf(project, projectDirectory);
    std::visit(
        [&](const auto& source) {
            if constexpr (requires { source.path; }) {
                if (source.path.empty()) { // a built-in world
                    return;
                }
                std::ranges::move(notesOnUnused(source, projectDirectory), std::back_inserter(summary.notes));
            }
        },
        project.data.source);
    return summary;
}

Result<DataSummary> summariseData(const projects::Project& project, const std::filesystem::path& projectDirectory)
{
    // Generated data are counted without generating them.
    if (const std::optional<Result<DataOutline>> generated = Dataset::outline(project)) {
        return *generated ? Result<DataSummary>(summaryOf(**generated)) : generated->error();
    }
    Result<DataSummary> summary = DataSummary{};
    const auto failure = attemptStandard([&] {
        const Result<std::unique_ptr<Dataset>> opened = Dataset::open(project, projectDirectory);
        if (!opened) {
            summary = opened.error();
            return;
        }
        summary = summaryOf(project, projectDirectory, **opened);
    });
    return failure ? Result<DataSummary>(Error{"data", failure->text}) : summary;
}

std::vector<std::string> otherDataOf(const std::vector<TrainedProject>& runs,
                                     const std::filesystem::path& projectDirectory)
{
    struct Known {
        const projects::Project* project;
        ReadingVersion reading;
        Result<DataFingerprint> now;
    };
    std::vector<Known> known; // members of a sweep share data
    std::vector<std::string> differences;
    for (const TrainedProject& run : runs) {
        std::string& difference = differences.emplace_back();
        const Result<RunFile> file = readRunFile(run.run);
        if (!file || !file->data) {
            continue;
        }
        const ReadingVersion reading = file->info.reading;
        const auto same = [&](const Known& entry) {
            return entry.project->data == run.project->data && entry.project->seeds.data == run.project->seeds.data &&
                   entry.reading == reading;
        };
        auto found = std::ranges::find_if(known, same);
        if (found == known.end()) {
            known.push_back({run.project, reading,
                             fingerprintOf(*run.project, projectDirectory, {}, LargeFiles::AsKnown, reading)});
            found = std::prev(known.end());
        }
        const auto differs = found->now ? differenceOf(*file->data, *found->now) : std::nullopt;
        difference = differs ? differs->text() : std::string();
    }
    return differences;
}

Result<DataPreview> previewData(const projects::Project& project, const std::filesystem::path& projectDirectory,
                                const std::function<bool()>& wanted)
{
    Result<DataPreview> preview = DataPreview{};
    const auto failure = attemptStandard([&] {
        const Result<std::unique_ptr<Dataset>> opened =
            Dataset::open(project, projectDirectory, [&wanted](double) { return !wanted || wanted(); });
        if (!opened) {
            preview = opened.error();
            return;
        }
        const Dataset& dataset = **opened;
        preview->summary = summaryOf(project, projectDirectory, dataset);
        const projects::ExampleSchema& examples = preview->summary.examples;
        const std::int64_t count = examples.input().isTokens() ? 1 : kPreviewed;
        Batch batch;
        if (const Status filled = dataset.fillShown(batch, Split::Train, count); !filled) {
            preview = filled.error();
            return;
        }
        if (examples.input().isTokens()) {
            preview->tokens = tokensOf(batch, examples);
        }
        preview->first = fedBatch(dataset, batch, project.data, count);
    });
    return failure ? Result<DataPreview>(Error{"data", failure->text}) : preview;
}

} // namespace residua::engine
