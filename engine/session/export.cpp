// SPDX-License-Identifier: GPL-3.0-or-later
// A checkpoint as PyTorch code, with what the engine computes on a few examples beside it.
#include "engine/runs/checkpoint.h"
#include "engine/session/queries.h"
#include "engine/session/run_use.h"
#include "engine/train/batches.h"
#include "engine/train/precision.h"
#include "engine/train/tensor_io.h"
#include "engine/transfer/pytorch_folder.h"

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

private:
    std::optional<Event> work() override
    {
        Result<ExportReady> ready = write();
        return ready ? Event(std::move(*ready)) : Event(QueryFailed{m_request.tag, ready.error()});
    }

    Result<ExportReady> write()
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
            m_request.folder,
            {*sound, **network, *sample, {name, checkpoint.state.step, opened->run.info.steps, 0, 0}});
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
};

} // namespace

std::unique_ptr<Query> Query::make(const ExportRequest& request)
{
    return std::make_unique<ExportQuery>(request);
}

} // namespace residua::engine
