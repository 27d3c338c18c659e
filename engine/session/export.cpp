// SPDX-License-Identifier: GPL-3.0-or-later
// A checkpoint as PyTorch code, with what the engine computes on a few examples beside it, as what is made of that
// code, or as a model of transformers.
#include "engine/runs/checkpoint.h"
#include "engine/runs/import_record.h"
#include "engine/session/model_data.h"
#include "engine/session/queries.h"
#include "engine/session/run_use.h"
#include "engine/train/batches.h"
#include "engine/train/precision.h"
#include "engine/train/tensor_io.h"
#include "engine/transfer/huggingface_folder.h"
#include "engine/transfer/new_folder.h"
#include "engine/transfer/onnx_graph.h"
#include "engine/transfer/pytorch_folder.h"
#include "projects/schedule/stage_schedule.h"

#include <algorithm>
#include <utility>

namespace residua::engine {
namespace {

constexpr std::int64_t kRecordedExamples = 2;
constexpr std::int64_t kRecordedTokens = 32; ///< of each

class ExportQuery final : public Query {
public:
    explicit ExportQuery(ExportRequest request) : m_request(std::move(request)) {}
    ~ExportQuery() override { m_graph.reset(); } // it writes where m_making removes
    QueryTag tag() const override { return m_request.tag; }
    bool waits() const override { return m_graph.has_value(); }

private:
    std::optional<Event> work() override
    {
        if (m_graph) {
            return takeGraph();
        }
        if (m_request.format == ExportFormat::Onnx) {
            const Status begun = beginGraph();
            return begun ? std::nullopt : std::optional(Event(failed(begun.error())));
        }
        Result<ExportReady> ready = write(m_request.folder);
        return ready ? Event(std::move(*ready)) : Event(failed(ready.error()));
    }

    [[nodiscard]] QueryFailed failed(const Error& error) const { return QueryFailed{m_request.tag, error}; }

    /// Code and graph come together in a folder of their own, until all is there.
    Status beginGraph()
    {
        Result<NewFolder> making = NewFolder::begin(m_request.folder);
        if (!making) {
            return making.error();
        }
        m_making.emplace(std::move(*making));
        Result<ExportReady> ready = write(m_making->path());
        if (!ready) {
            return ready.error();
        }
        m_ready = std::move(*ready);
        Result<OnnxGraph> graph = OnnxGraph::begin(m_making->path());
        if (!graph) {
            return graph.error();
        }
        m_graph.emplace(std::move(*graph));
        return Done{};
    }

    std::optional<Event> takeGraph()
    {
        const std::optional<Status> ended = m_graph->ended();
        if (!ended) {
            return std::nullopt;
        }
        const Status kept = *ended ? m_making->keep() : *ended;
        return kept ? Event(std::move(m_ready)) : Event(failed(kept.error()));
    }

    Result<ExportReady> write(const std::filesystem::path& into)
    {
        Result<OpenedCheckpoint> opened =
            openCheckpoint({m_request.runDirectory, m_request.projectDirectory, m_request.otherData}, m_request.step);
        if (!opened) {
            return opened.error();
        }
        const Result<projects::SoundProject> sound = projects::soundProject(opened->run.project);
        if (!sound) {
            return sound.error();
        }
        if (m_request.format != ExportFormat::HuggingFace) {
            return writeCode(*opened, *sound, PlainPyTorch{}, into);
        }
        if (!projects::isLanguage((*sound)->data)) {
            return Error{"data", "the run is no language model, and transformers has models of language; expected "
                                 "--to pytorch"};
        }
        const Result<Companions> companions = tokeniserCompanions((*sound)->data.source, opened->run.projectDirectory);
        if (!companions) {
            return companions.error();
        }
        const Result<projects::FoundDecoder> found = decoderIn(*opened, *sound);
        if (found) {
            return writeModel(*opened, *sound, *found, *companions);
        }
        if (!m_request.type.empty()) {
            return Error{"type", "a model with code of its own keeps the checkpoint's type: " + found.error().text()};
        }
        return writeCode(*opened, *sound, CustomModel{found.error().message, *companions}, into);
    }

    /// Of a network that is there as a whole.
    static Result<projects::FoundDecoder> decoderIn(const OpenedCheckpoint& opened, const projects::SoundProject& sound)
    {
        const projects::StageSchedule& schedule = sound->schedule;
        const bool parts = !projects::trainsAll(schedule) && opened.checkpoint.state.step < opened.run.info.steps;
        const bool weighs = schedule.scaling == projects::DropScaling::Evaluation && !projects::trainsAll(schedule);
        if (parts || weighs) {
            return Error{"schedule", "its schedule gives layers a part of their own in evaluation"};
        }
        return projects::decoderOf(sound);
    }

    [[nodiscard]] projects::ExportedRun exportedRun(const OpenedCheckpoint& opened) const
    {
        const std::string name = std::filesystem::path(m_request.runDirectory).filename().string();
        return {name, opened.checkpoint.state.step, opened.run.info.steps, 0, 0};
    }

    Result<ExportReady> writeModel(const OpenedCheckpoint& opened, const projects::SoundProject& sound,
                                   const projects::FoundDecoder& found, const Companions& companions)
    {
        Result<std::optional<ImportRecord>> imported = readImport(m_request.runDirectory);
        if (!imported) {
            return imported.error();
        }
        const std::optional<StoredType> type = weightTypeFrom(m_request.type);
        if (!type && !m_request.type.empty()) {
            return Error{"type", "got \"" + m_request.type + "\", expected F32, F16 or BF16"};
        }
        Result<HuggingFaceFolder> folder =
            writeHuggingFaceFolder(m_request.folder, {sound, found, opened.checkpoint.model.tensors(),
                                                      std::move(*imported), type, exportedRun(opened), companions});
        if (!folder) {
            return folder.error();
        }
        std::vector<std::string> notes = opened.run.notes;
        notes.insert(notes.end(), folder->notes.begin(), folder->notes.end());
        return ExportReady{m_request.tag,
                           folder->architecture,
                           m_request.folder,
                           opened.checkpoint.state.step,
                           found.decoder.layers,
                           folder->parameters,
                           0,
                           std::move(notes)};
    }

    Result<ExportReady> writeCode(const OpenedCheckpoint& opened, const projects::SoundProject& sound,
                                  std::variant<PlainPyTorch, CustomModel> use, const std::filesystem::path& into)
    {
        projects::Project project = opened.run.project;
        if (project.training.precision == projects::Precision::Bf16) {
            project.training.precision = projects::Precision::Fp32; // as its parameters are
        }
        const Dataset& dataset = *opened.dataset;
        const Result<std::unique_ptr<CompiledNetwork>> network =
            CompiledNetwork::compile(project, dataset.schema(), "cpu");
        if (!network) {
            return network.error();
        }
        if (const Status loaded = loadParameters(opened.checkpoint.model.tensors(), (*network)->parameters());
            !loaded) {
            return loaded.error();
        }
        Batch batch;
        const Result<DeviceBatch> sample = sampleOf(dataset, project, batch);
        if (!sample) {
            return sample.error();
        }
        const bool custom = std::holds_alternative<CustomModel>(use);
        const Result<PyTorchFolder> folder =
            writePyTorchFolder(into, {sound, **network, *sample, exportedRun(opened), std::move(use)});
        if (!folder) {
            return folder.error();
        }
        return ExportReady{m_request.tag,  custom ? "residua" : "", m_request.folder, opened.checkpoint.state.step,
                           folder->layers, folder->parameters,      folder->leftOut,  opened.run.notes};
    }

    /// A few examples of the validation split, or of the training split where there is no other.
    static Result<DeviceBatch> sampleOf(const Dataset& dataset, const projects::Project& project, Batch& batch)
    {
        const Split split = dataset.size(Split::Validation) > 0 ? Split::Validation : Split::Train;
        if (const Status filled = dataset.fillSequential(batch, split, 0, kRecordedExamples); !filled) {
            return filled.error();
        }
        if (batch.batch == 0) {
            return Error{"data", "there is no example to record outputs on"};
        }
        DeviceBatch sample = upload(batch, dataset.schema(), at::kCPU, parameterType(project.training.precision));
        if (dataset.schema().hasTime()) {
            const std::int64_t time = std::min(sample.input.size(1), kRecordedTokens);
            sample.input = sample.input.narrow(1, 0, time).contiguous();
            sample.target = sample.target.narrow(1, 0, time).contiguous();
        }
        return sample;
    }

    ExportRequest m_request;
    std::optional<NewFolder> m_making; ///< where an ONNX graph and its code come together
    ExportReady m_ready;
    std::optional<OnnxGraph> m_graph; ///< that is being made
};

} // namespace

std::unique_ptr<Query> Query::make(const ExportRequest& request)
{
    return std::make_unique<ExportQuery>(request);
}

} // namespace residua::engine
