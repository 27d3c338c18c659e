// SPDX-License-Identifier: GPL-3.0-or-later
// The weights of a network that a rank is about, whole, with all that a fit of their factors needs: drawn as the
// document says, or as a run has learned them.
#include "engine/graph/weight_inputs.h"
#include "engine/runs/checkpoint.h"
#include "engine/runtime/philox.h"
#include "engine/session/queries.h"
#include "engine/session/run_use.h"
#include "engine/train/batches.h"
#include "engine/train/fit_inputs.h"
#include "engine/train/precision.h"
#include "engine/train/tensor_io.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <utility>

namespace residua::engine {
namespace {

using projects::LowRankInputs;
using projects::LowRankMethod;
using projects::Project;

std::vector<double> hostNumbers(const at::Tensor& tensor)
{
    if (!tensor.defined()) {
        return {};
    }
    const at::Tensor host = tensor.detach().to(at::kCPU, at::kDouble).contiguous();
    const double* const data = host.const_data_ptr<double>();
    return {data, data + host.numel()};
}

class LowRankWeightsQuery final : public Query {
public:
    explicit LowRankWeightsQuery(LowRankWeightsRequest request) : m_request(std::move(request))
    {
        m_ready.tag = m_request.tag;
    }
    QueryTag tag() const override { return m_request.tag; }

private:
    std::optional<Event> work() override
    {
        using Stage = Status (LowRankWeightsQuery::*)();
        constexpr Stage kStages[] = {&LowRankWeightsQuery::open, &LowRankWeightsQuery::compile,
                                     &LowRankWeightsQuery::readInputs, &LowRankWeightsQuery::collect};
        if (const Status done = (this->*kStages[m_stage])(); !done) {
            return QueryFailed{m_request.tag, done.error()};
        }
        return ++m_stage == std::size(kStages) ? std::optional<Event>(std::move(m_ready)) : std::nullopt;
    }

    [[nodiscard]] bool ofRun() const { return !m_request.runDirectory.empty(); }

    Status open()
    {
        Project project = m_request.project;
        std::filesystem::path directory = m_request.projectDirectory;
        if (ofRun()) {
            Result<OpenedRun> opened =
                openRun({m_request.runDirectory, m_request.projectDirectory, m_request.otherData});
            if (!opened) {
                return opened.error();
            }
            Result<LoadedCheckpoint> checkpoint =
                loadCheckpoint(m_request.runDirectory, m_request.step, &opened->notes);
            if (!checkpoint) {
                return checkpoint.error();
            }
            m_checkpoint.emplace(std::move(*checkpoint));
            m_ready.step = m_checkpoint->state.step;
            m_ready.notes = opened->notes;
            project = std::move(opened->project);
            directory = opened->projectDirectory;
        }
        if (m_request.rank) {
            project.network.rank = *m_request.rank;
        }
        m_inputs = m_request.inputs.value_or(project.initialisation.lowRankInputs);
        project.initialisation.lowRank = LowRankMethod::Baseline; // the factors' own draw, no fit
        if (const Status sound = checkProject(project); !sound) {
            return sound.error();
        }
        Result<std::unique_ptr<Dataset>> dataset = Dataset::open(project, directory);
        if (!dataset) {
            return dataset.error();
        }
        m_project = std::move(project);
        m_dataset = std::move(*dataset);
        return Done{};
    }

    /// The network with its weights in factors, as drawn: it knows which they are and what follows each.
    Status compile()
    {
        auto network = CompiledNetwork::compile(m_project, m_dataset->schema(), "cpu");
        if (!network) {
            return network.error();
        }
        m_network = std::move(*network);
        if (const InitPlan* const plan = m_network->initPlan()) {
            std::ranges::copy_if(plan->factored(), std::back_inserter(m_weights), [this](const FactoredWeight& weight) {
                return !ofRun() || m_checkpoint->model.tensors().contains(weight.name);
            });
        }
        if (m_weights.empty()) {
            return Error{"network", ofRun()
                                        ? "the run holds no weight whole that is of lower rank here: expected a rank "
                                          "for a run of full rank, or the project of a factored run"
                                        : "no weight is below full rank: expected a rank, of the network or of a node"};
        }
        return m_network->initialise({}, {});
    }

    /// The second moments of what each weight reads, in the network of full rank.
    Status readInputs()
    {
        if (m_inputs == LowRankInputs::Gaussian) {
            return Done{};
        }
        auto full = CompiledNetwork::compile(fullRank(m_project), m_dataset->schema(), "cpu");
        if (!full) {
            return full.error();
        }
        const Status weights = ofRun() ? loadParameters(m_checkpoint->model.tensors(), (*full)->parameters())
                                       : (*full)->initialise({}, {});
        if (!weights) {
            return weights.error();
        }
        Batch batch;
        const projects::TrainingPlan& plan = m_project.training;
        if (const Status filled = m_dataset->fillSequential(batch, Split::Train, 0, plan.batch); !filled) {
            return filled.error();
        }
        if (batch.batch == 0) {
            return Error{"data", "there is no example whose inputs the weights could be fitted to"};
        }
        WeightInputs inputs;
        Pass pass = passAfter(m_ready.step);
        pass.weightInputs = &inputs;
        const at::NoGradGuard noGrad;
        const DeviceBatch uploaded = upload(batch, m_dataset->schema(), at::kCPU, parameterType(plan.precision));
        (void)(*full)->forward(uploaded.input, pass);
        for (const NamedParameter& parameter : (*full)->parameters()) {
            if (const at::Tensor of = inputs.momentsOf(parameter.tensor); of.defined()) {
                m_moments.emplace(parameter.name, of);
            }
        }
        return Done{};
    }

    Status collect()
    {
        const at::NoGradGuard noGrad;
        for (const FactoredWeight& weight : m_weights) {
            const at::Tensor whole = (ofRun() ? viewOf(m_checkpoint->model.tensors().at(weight.name))
                                              : m_network->initPlan()->wholeOf(weight))
                                         .to(at::kDouble)
                                         .flatten(1);
            const NamedParameter& u = m_network->parameters()[weight.u];
            LowRankWeight& told = m_ready.weights.emplace_back();
            told.name = weight.name;
            told.out = whole.size(0);
            told.in = whole.size(1);
            told.rank = u.tensor.size(1);
            told.follows = weight.start.follows;
            told.values = hostNumbers(whole);
            told.drawnLeft = hostNumbers(u.tensor);
            told.drawnRight = hostNumbers(m_network->parameters()[weight.v].tensor);
            told.seed = streamKey(m_project.seeds.init, weight.name);
            if (const auto moments = m_moments.find(weight.name); moments != m_moments.end()) {
                told.inputMoments = hostNumbers(moments->second);
            }
        }
        return Done{};
    }

    LowRankWeightsRequest m_request;
    LowRankWeightsReady m_ready;
    std::size_t m_stage = 0;
    Project m_project;
    LowRankInputs m_inputs{};
    std::optional<LoadedCheckpoint> m_checkpoint;
    std::unique_ptr<Dataset> m_dataset;
    std::unique_ptr<CompiledNetwork> m_network;
    std::vector<FactoredWeight> m_weights;
    std::map<std::string, at::Tensor> m_moments; ///< by the whole weight's name
};

} // namespace

std::unique_ptr<Query> Query::make(const LowRankWeightsRequest& request)
{
    return std::make_unique<LowRankWeightsQuery>(request);
}

} // namespace residua::engine
