// SPDX-License-Identifier: GPL-3.0-or-later
// A checkpoint as PyTorch code, with what the engine computes on a few examples beside it, as what is made of that
// code, or as a model of transformers.
#include "engine/files/safetensors_header.h"
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
#include "projects/huggingface/custom_model.h"
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
    QueryTag tag() const override { return m_request.tag; }
    bool waits() const override { return m_graph.has_value(); }

private:
    using Stage = Status (ExportQuery::*)();

    /// Nothing is at its place before the last stage, so that what is given up before leaves nothing.
    std::optional<Event> work() override
    {
        constexpr Stage kStages[] = {&ExportQuery::open,  &ExportQuery::choose,    &ExportQuery::compile,
                                     &ExportQuery::write, &ExportQuery::makeGraph, &ExportQuery::keep};
        if (const Status done = (this->*kStages[m_stage])(); !done) {
            return QueryFailed{m_request.tag, done.error()};
        }
        if (m_graph) {
            return std::nullopt; // until it has ended
        }
        return ++m_stage == std::size(kStages) ? std::optional<Event>(std::move(m_ready)) : std::nullopt;
    }

    Status open()
    {
        Result<NewFolder> making = NewFolder::begin(m_request.folder);
        if (!making) {
            return making.error();
        }
        m_making.emplace(std::move(*making));
        Result<OpenedCheckpoint> opened =
            openCheckpoint({m_request.runDirectory, m_request.projectDirectory, m_request.otherData}, m_request.step);
        if (!opened) {
            return opened.error();
        }
        m_opened.emplace(std::move(*opened));
        Result<projects::SoundProject> sound = projects::soundProject(m_opened->run.project);
        if (!sound) {
            return sound.error();
        }
        m_sound.emplace(std::move(*sound));
        return Done{};
    }

    /// Of transformers' models, whether it is one of its own.
    Status choose()
    {
        if (m_request.format != ExportFormat::HuggingFace) {
            return Done{};
        }
        if (!projects::isLanguage((*m_sound)->data)) {
            return Error{"data", "the run is no language model, and transformers has models of language; expected "
                                 "--to pytorch"};
        }
        m_type = weightTypeFrom(m_request.type);
        if (!m_type && !m_request.type.empty()) {
            return Error{"type", "got \"" + m_request.type + "\", expected " + weightTypeNames()};
        }
        Result<Companions> companions = tokeniserCompanions((*m_sound)->data.source, m_opened->run.projectDirectory);
        if (!companions) {
            return companions.error();
        }
        Result<projects::FoundDecoder> found = decoderIn(*m_opened, *m_sound);
        if (found) {
            m_model.emplace(Model{std::move(*found), std::move(*companions)});
            return Done{};
        }
        if (m_type) {
            return Error{"type", "a model with code of its own keeps the checkpoint's type: " + found.error().text()};
        }
        m_use = CustomModel{found.error().message, std::move(*companions)};
        return Done{};
    }

    /// The network and the examples whose outputs are recorded beside code.
    Status compile()
    {
        if (m_model) {
            return Done{};
        }
        projects::Project project = m_opened->run.project;
        if (project.training.precision == projects::Precision::Bf16) {
            project.training.precision = projects::Precision::Fp32; // as its parameters are
        }
        Result<std::unique_ptr<CompiledNetwork>> network =
            CompiledNetwork::compile(project, m_opened->dataset->schema(), "cpu");
        if (!network) {
            return network.error();
        }
        m_network = std::move(*network);
        if (Status loaded = loadParameters(m_opened->checkpoint.model.tensors(), m_network->parameters()); !loaded) {
            return loaded;
        }
        Result<DeviceBatch> sample = sampleOf(*m_opened->dataset, project, m_batch);
        if (!sample) {
            return sample.error();
        }
        m_sample = std::move(*sample);
        return Done{};
    }

    Status write()
    {
        m_ready.tag = m_request.tag;
        m_ready.folder = m_request.folder;
        m_ready.step = m_opened->checkpoint.state.step;
        m_ready.notes = m_opened->run.notes;
        return m_model ? writeModel() : writeCode();
    }

    Status writeModel()
    {
        Result<std::optional<ImportRecord>> imported = readImport(m_request.runDirectory);
        if (!imported) {
            return imported.error();
        }
        Result<HuggingFaceFolder> folder = writeHuggingFaceFolder(
            m_making->path(), {*m_sound, m_model->found, m_opened->checkpoint.model.tensors(), std::move(*imported),
                               m_type, exportedRun(), m_model->companions});
        if (!folder) {
            return folder.error();
        }
        m_ready.architecture = folder->architecture;
        m_ready.layers = m_model->found.decoder.layers;
        m_ready.parameters = folder->parameters;
        m_ready.notes.insert(m_ready.notes.end(), folder->notes.begin(), folder->notes.end());
        return Done{};
    }

    Status writeCode()
    {
        m_ready.ownCode = std::holds_alternative<CustomModel>(m_use);
        m_ready.architecture = m_ready.ownCode ? projects::kOwnArchitecture : "";
        const Result<PyTorchFolder> folder =
            writePyTorchFolder(m_making->path(), {*m_sound, *m_network, m_sample, exportedRun(), std::move(m_use)});
        if (!folder) {
            return folder.error();
        }
        m_ready.layers = folder->layers;
        m_ready.parameters = folder->parameters;
        m_ready.leftOut = folder->leftOut;
        return Done{};
    }

    /// Begins it, and later looks whether it has ended.
    Status makeGraph()
    {
        if (m_request.format != ExportFormat::Onnx) {
            return Done{};
        }
        if (!m_graph) {
            Result<OnnxGraph> graph = OnnxGraph::begin(m_making->path());
            if (!graph) {
                return graph.error();
            }
            m_graph.emplace(std::move(*graph));
            return Done{};
        }
        std::optional<Status> ended = m_graph->ended();
        if (!ended) {
            return Done{};
        }
        m_graph.reset();
        return *ended;
    }

    Status keep() { return m_making->keep(); }

    /// Of a network that is there as a whole.
    static Result<projects::FoundDecoder> decoderIn(const OpenedCheckpoint& opened, const projects::SoundProject& sound)
    {
        const projects::StageSchedule& schedule = sound->schedule;
        const bool parts = !projects::trainsAll(schedule) && opened.checkpoint.state.step < opened.run.info.steps;
        const bool byShare = schedule.scaling == projects::DropScaling::Evaluation ||
                             schedule.scaling == projects::DropScaling::EvaluationInverse;
        const bool weighs = byShare && !projects::trainsAll(schedule);
        if (parts || weighs) {
            return Error{"schedule", "its schedule gives layers a part of their own in evaluation"};
        }
        return projects::decoderOf(sound);
    }

    [[nodiscard]] projects::ExportedRun exportedRun() const
    {
        const std::string name = std::filesystem::path(m_request.runDirectory).filename().string();
        return {name, m_opened->checkpoint.state.step, m_opened->run.info.steps, 0, 0};
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

    /// A network that is one of transformers' own.
    struct Model {
        projects::FoundDecoder found;
        Companions companions;
    };

    ExportRequest m_request;
    ExportReady m_ready;
    std::size_t m_stage = 0;
    std::optional<NewFolder> m_making;
    std::optional<OpenedCheckpoint> m_opened;
    std::optional<projects::SoundProject> m_sound;
    std::optional<StoredType> m_type; ///< that was asked for
    std::optional<Model> m_model;     ///< else it becomes code
    std::variant<PlainPyTorch, CustomModel> m_use = PlainPyTorch{};
    std::unique_ptr<CompiledNetwork> m_network;
    Batch m_batch; ///< whose memory the sample may view
    DeviceBatch m_sample;
    std::optional<OnnxGraph> m_graph; ///< that is being made; goes before m_making, where it writes
};

} // namespace

std::unique_ptr<Query> Query::make(const ExportRequest& request)
{
    return std::make_unique<ExportQuery>(request);
}

} // namespace residua::engine
