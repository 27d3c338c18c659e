// SPDX-License-Identifier: GPL-3.0-or-later
// A checkpoint as PyTorch code, with what the engine computes on a few examples beside it; and what is made of that
// code.
#include "engine/runs/checkpoint.h"
#include "engine/session/queries.h"
#include "engine/session/run_use.h"
#include "engine/train/batches.h"
#include "engine/train/precision.h"
#include "engine/train/tensor_io.h"
#include "engine/transfer/onnx_graph.h"
#include "engine/transfer/pytorch_folder.h"

#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kRecordedExamples = 2;
constexpr std::int64_t kRecordedTokens = 32; ///< of each

class ExportQuery final : public Query {
public:
    explicit ExportQuery(ExportRequest request) : m_request(std::move(request)) {}
    ~ExportQuery() override
    {
        m_graph.reset(); // it writes there
        if (!m_scratch.empty()) {
            std::error_code ignored;
            fs::remove_all(m_scratch, ignored);
        }
    }
    QueryTag tag() const override { return m_request.tag; }
    bool waits() const override { return m_graph.has_value(); }

private:
    std::optional<Event> work() override
    {
        const auto failed = [this](const Error& error) { return QueryFailed{m_request.tag, error}; };
        if (m_graph) {
            return takeGraph();
        }
        if (const Status free = checkFree(m_request.folder); !free) {
            return failed(free.error());
        }
        const bool further = m_request.format == ExportFormat::Onnx;
        if (further) { // in a folder of its own, until all is there
            m_scratch = m_request.folder.parent_path() /
                        ("." + m_request.folder.filename().string() + ".making-" + std::to_string(::getpid()));
        }
        Result<ExportReady> ready = write(further ? m_scratch : m_request.folder);
        if (!ready) {
            return failed(ready.error());
        }
        if (!further) {
            return std::move(*ready);
        }
        m_ready = std::move(*ready);
        Result<OnnxGraph> graph = OnnxGraph::begin(m_scratch);
        if (!graph) {
            return failed(graph.error());
        }
        m_graph.emplace(std::move(*graph));
        return std::nullopt;
    }

    std::optional<Event> takeGraph()
    {
        std::optional<Status> ended = m_graph->ended();
        if (!ended) {
            return std::nullopt;
        }
        std::error_code code;
        if (*ended) {
            fs::rename(m_scratch, m_request.folder, code); // takes the place of an empty folder
        }
        if (*ended && code) {
            ended = Error{m_request.folder.string(), "cannot be written: " + code.message()};
        }
        return *ended ? Event(std::move(m_ready)) : Event(QueryFailed{m_request.tag, ended->error()});
    }

    Result<ExportReady> write(const fs::path& into)
    {
        Result<OpenedCheckpoint> opened =
            openCheckpoint({m_request.runDirectory, m_request.projectDirectory, m_request.otherData}, m_request.step);
        if (!opened) {
            return opened.error();
        }
        const LoadedCheckpoint& checkpoint = opened->checkpoint;
        projects::Project project = opened->run.project;
        if (project.training.precision == projects::Precision::Bf16) {
            project.training.precision = projects::Precision::Fp32; // as its parameters are
        }
        const Result<projects::SoundProject> sound = projects::soundProject(opened->run.project);
        if (!sound) {
            return sound.error();
        }
        const Dataset& dataset = *opened->dataset;
        const Result<std::unique_ptr<CompiledNetwork>> network =
            CompiledNetwork::compile(project, dataset.schema(), "cpu");
        if (!network) {
            return network.error();
        }
        if (const Status loaded = loadParameters(checkpoint.model.tensors(), (*network)->parameters()); !loaded) {
            return loaded.error();
        }
        Batch batch;
        const Result<DeviceBatch> sample = sampleOf(dataset, project, batch);
        if (!sample) {
            return sample.error();
        }
        const std::string name = std::filesystem::path(m_request.runDirectory).filename().string();
        const Result<PyTorchFolder> folder = writePyTorchFolder(
            into, {*sound, **network, *sample, {name, checkpoint.state.step, opened->run.info.steps, 0, 0}});
        if (!folder) {
            return folder.error();
        }
        return ExportReady{m_request.tag,      m_request.folder, checkpoint.state.step, folder->layers,
                           folder->parameters, folder->leftOut,  opened->run.notes};
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
    fs::path m_scratch; ///< where what is made of the code comes together; removed
    ExportReady m_ready;
    std::optional<OnnxGraph> m_graph; ///< that is being made
};

} // namespace

std::unique_ptr<Query> Query::make(const ExportRequest& request)
{
    return std::make_unique<ExportQuery>(request);
}

} // namespace residua::engine
