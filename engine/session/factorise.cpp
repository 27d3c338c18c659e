// SPDX-License-Identifier: GPL-3.0-or-later
// A trained network with the weights of its blocks in two factors, fitted layer by layer to the inputs that the
// factored layers before make (NLRA, remark 4.1, at a trained weight instead of a drawn one).
#include "engine/session/factorise.h"

#include "engine/graph/factor_fits.h"
#include "engine/graph/fit_cache.h"
#include "engine/graph/weight_inputs.h"
#include "engine/results/run_branch.h"
#include "engine/runs/checkpoint.h"
#include "engine/runs/gap_record.h"
#include "engine/session/run_use.h"
#include "engine/train/batches.h"
#include "engine/train/evaluation.h"
#include "engine/train/optimiser.h"
#include "engine/train/precision.h"
#include "engine/transfer/transfer_plan.h"
#include "projects/model/parameter_name.h"
#include "projects/schema/method_keys.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/matmul.h>

#include <algorithm>
#include <utility>

namespace residua::engine {
namespace {

using projects::LowRankInputs;
using projects::Project;

/// Whose weight it is: only those of blocks become factors.
std::int64_t layerOf(const FactoredWeight& weight)
{
    return projects::parameterNameFrom(weight.name).layer;
}

std::int64_t countOf(std::vector<NamedParameter>& parameters)
{
    std::int64_t count = 0;
    for (const NamedParameter& parameter : parameters) {
        count += parameter.tensor.numel();
    }
    return count;
}

class FactoriseQuery final : public Query {
public:
    explicit FactoriseQuery(FactoriseRequest request) : m_request(std::move(request)) { m_ready.tag = m_request.tag; }
    QueryTag tag() const override { return m_request.tag; }

private:
    using Stage = Status (FactoriseQuery::*)();

    std::optional<Event> work() override
    {
        constexpr Stage kStages[] = {&FactoriseQuery::open,     &FactoriseQuery::check,
                                     &FactoriseQuery::compile,  &FactoriseQuery::startFactors,
                                     &FactoriseQuery::fitLayer, &FactoriseQuery::measureAfter,
                                     &FactoriseQuery::write};
        if (const Status done = (this->*kStages[m_stage])(); !done) {
            return QueryFailed{m_request.tag, done.error()};
        }
        if (kStages[m_stage] == &FactoriseQuery::fitLayer && m_layer < m_layers.size()) {
            return std::nullopt;
        }
        return ++m_stage == std::size(kStages) ? std::optional<Event>(m_ready) : std::nullopt;
    }

    Status open()
    {
        Result<OpenedCheckpoint> opened =
            openCheckpoint({m_request.runDirectory, m_request.projectDirectory, m_request.otherData}, m_request.step);
        if (!opened) {
            return opened.error();
        }
        m_opened = std::move(opened->run);
        m_checkpoint.emplace(std::move(opened->checkpoint));
        m_dataset = std::move(opened->dataset);
        return Done{};
    }

    /// What the documents alone tell.
    Status check()
    {
        const std::int64_t done = m_checkpoint->state.step;
        if (m_request.steps && *m_request.steps <= done) {
            return Error{"steps", "got " + std::to_string(*m_request.steps) + ", expected more than the " +
                                      std::to_string(done) + " that are done"};
        }
        if (!projects::traitsOf(m_request.method).approximates) {
            return Error{"method", projects::keyOf(m_request.method) +
                                       " draws the factors and forgets what was learned; expected one of " +
                                       projects::approximationWords()};
        }
        if (!std::holds_alternative<projects::FullRank>(m_opened.project.network.rank)) {
            return Error{"network · rank of weights", "the run's weights are in factors already"};
        }
        if (std::holds_alternative<projects::FullRank>(m_request.rank)) {
            return Error{"rank", "got the full one, expected a number or a share"};
        }
        m_after = m_opened.project;
        m_after.network.rank = m_request.rank;
        m_after.initialisation.lowRank = m_request.method;
        m_after.initialisation.lowRankInputs = m_request.inputs;
        goOnTo(m_after, m_request.steps.value_or(m_opened.info.steps), nullptr);
        return checkProject(m_after);
    }

    /// Both networks with what the run has learned; of the new one the factors are drawn.
    Status compile()
    {
        const StoredTensors& stored = m_checkpoint->model.tensors();
        auto before = CompiledNetwork::compile(m_opened.project, m_dataset->schema(), "cpu");
        if (!before) {
            return before.error();
        }
        if (Status loaded = loadParameters(stored, (*before)->parameters()); !loaded) {
            return loaded;
        }
        Project drawn = m_after;
        drawn.initialisation.lowRank = projects::LowRankMethod::Baseline;
        auto after = CompiledNetwork::compile(drawn, m_dataset->schema(), "cpu");
        if (!after) {
            return after.error();
        }
        m_network = std::move(*after);
        for (const NamedParameter& parameter : m_network->parameters()) {
            if (stored.contains(parameter.name)) {
                m_kept.copy(parameter.name, Moments::Carried);
            }
        }
        if (Status applied = m_kept.apply(stored, *m_network); !applied) {
            return applied;
        }
        for (const FactoredWeight& weight : m_network->initPlan()->factored()) {
            if (stored.contains(weight.name)) {
                m_weights.push_back(weight);
            }
        }
        if (m_weights.empty()) {
            return Error{"network", "no layer has a weight that can be of lower rank: expected a linear, an attention "
                                    "or a conv2d node of full rank in a block"};
        }
        const Result<double> loss = lossOf(**before);
        if (!loss) {
            return loss.error();
        }
        m_ready.lossBefore = *loss;
        m_ready.parametersBefore = countOf((*before)->parameters());
        m_ready.parametersAfter = countOf(m_network->parameters());
        return Done{};
    }

    /// All of them: by the method where the data are not looked at, else spectral, to be fitted layer by layer.
    Status startFactors()
    {
        const bool looksAtData =
            m_request.inputs == LowRankInputs::Data && m_request.method != projects::LowRankMethod::Spectral;
        std::vector<FactorFit> fits;
        for (const FactoredWeight& weight : m_weights) {
            addFit(weight, at::Tensor(), fits);
            const std::int64_t layer = layerOf(weight);
            if (looksAtData && (m_layers.empty() || m_layers.back() != layer)) {
                m_layers.push_back(layer);
            }
        }
        return fit(fits, looksAtData ? projects::LowRankMethod::Spectral : m_request.method);
    }

    /// The weights of one layer, to what the layers before it make now of the first training batch.
    Status fitLayer()
    {
        if (m_layer >= m_layers.size()) {
            return Done{};
        }
        const projects::TrainingPlan& plan = m_after.training;
        Batch batch;
        if (const Status filled = m_dataset->fillSequential(batch, Split::Train, 0, plan.batch); !filled) {
            return filled;
        }
        if (batch.batch == 0) {
            return Error{"data", "there is no example to fit the weights to"};
        }
        WeightInputs inputs;
        Pass pass = passAfter(m_checkpoint->state.step);
        pass.weightInputs = &inputs;
        const at::Tensor input = upload(batch, m_dataset->schema(), at::kCPU, parameterType(plan.precision)).input;
        {
            const at::NoGradGuard noGrad;
            (void)m_network->forward(input, pass);
        }
        std::vector<FactorFit> fits;
        for (const FactoredWeight& weight : m_weights) {
            if (layerOf(weight) == m_layers[m_layer]) {
                addFit(weight, inputs.momentsOf(m_network->parameters()[weight.u].tensor), fits);
            }
        }
        ++m_layer;
        return fit(fits, m_request.method);
    }

    void addFit(const FactoredWeight& weight, const at::Tensor& moments, std::vector<FactorFit>& fits)
    {
        const at::NoGradGuard noGrad;
        const at::Tensor whole = wholeOf(weight);
        const NamedParameter& u = m_network->parameters()[weight.u];
        if (!whole.any().item<bool>()) {
            u.tensor.zero_(); // the drawn v lets it learn
            return;
        }
        fits.push_back({.name = weight.name,
                        .u = u.tensor,
                        .v = m_network->parameters()[weight.v].tensor,
                        .whole = whole,
                        .inputMoments = moments,
                        .follows = weight.start.follows,
                        .seed = streamKey(m_after.seeds.init, weight.name),
                        .epochs = m_after.initialisation.lowRankEpochs});
    }

    Status fit(const std::vector<FactorFit>& fits, projects::LowRankMethod method)
    {
        Result<FitsReport> report = fitAll(fits, method, userFitCache(), {});
        if (!report) {
            return report.error();
        }
        for (std::string& note : report->notes) {
            const bool ofLayer = m_layer > 0;
            m_ready.notes.push_back(
                ofLayer
                    ? textOf(projects::ParameterName{projects::kLayersPart, m_layers[m_layer - 1], {}}) + ": " + note
                    : std::move(note));
        }
        keep(report->gap);
        return Done{};
    }

    /// What the last fit of each weight has left.
    void keep(const Gap& gap)
    {
        m_gap.methods = {m_request.method};
        m_gap.outputs = {std::nullopt};
        m_gap.step = m_checkpoint->state.step;
        m_gap.inputs = m_layers.empty() ? LowRankInputs::Gaussian : LowRankInputs::Data;
        for (std::size_t i = 0; i < gap.weights.size(); ++i) {
            const auto found = std::ranges::find(m_gap.weights, gap.weights[i].name, &GapWeight::name);
            if (found == m_gap.weights.end()) {
                m_gap.weights.push_back(gap.weights[i]);
                m_gap.fits.push_back(gap.fits[i]);
            } else {
                m_gap.fits[static_cast<std::size_t>(found - m_gap.weights.begin())] = gap.fits[i];
            }
        }
    }

    /// [out, in] in double.
    [[nodiscard]] at::Tensor wholeOf(const FactoredWeight& weight) const
    {
        return viewOf(m_checkpoint->model.tensors().at(weight.name)).to(at::kDouble).flatten(1);
    }

    /// On the batches of the run's own validations, or as many of the training split where there is no other.
    Result<double> lossOf(CompiledNetwork& network)
    {
        const projects::TrainingPlan& plan = m_after.training;
        const bool validates = m_dataset->size(Split::Validation) > 0;
        Evaluation evaluation(network, *m_dataset, validates ? Split::Validation : Split::Train, plan, at::kCPU,
                              std::max<std::int64_t>(plan.validationBatches, 1));
        while (!evaluation.atEnd()) {
            if (const Status added = evaluation.advance(passAfter(m_checkpoint->state.step)); !added) {
                return added.error();
            }
        }
        m_ready.batches = evaluation.batchesDone();
        return evaluation.mean();
    }

    Status measureAfter()
    {
        const Result<double> loss = lossOf(*m_network);
        if (!loss) {
            return loss.error();
        }
        m_ready.lossAfter = *loss;
        const at::NoGradGuard noGrad;
        for (const FactoredWeight& weight : m_weights) {
            const at::Tensor u = m_network->parameters()[weight.u].tensor.to(at::kDouble);
            const at::Tensor v = m_network->parameters()[weight.v].tensor.to(at::kDouble).flatten(1);
            const at::Tensor whole = wholeOf(weight);
            const double size = whole.norm().item<double>();
            const double rest = (at::matmul(u, v) - whole).norm().item<double>();
            m_ready.weights.push_back({weight.name, u.size(1), size > 0 ? rest / size : 0});
        }
        return Done{};
    }

    Status write()
    {
        const std::int64_t step = m_checkpoint->state.step;
        RunBranch branch;
        branch.parent = m_request.runDirectory;
        branch.step = step;
        branch.directory = m_request.newRun;
        branch.project = m_after;
        branch.steps = m_after.training.steps;
        branch.event = {step, RunEventKind::Forked,
                        m_request.runDirectory.filename().string() + ": " + std::to_string(m_weights.size()) +
                            " weights in factors, by " + projects::keyOf(m_request.method)};
        branch.matrices = m_network->coefficients(step);
        branch.source = {m_opened.projectDirectory, m_opened.data};
        if (m_opened.otherData) {
            branch.events.push_back({step, RunEventKind::OtherData, *m_opened.otherData});
        }
        const Result<std::filesystem::path> written =
            makeBranch(branch, [&](const std::filesystem::path& directory) { return writeWeights(directory); });
        if (!written) {
            return written.error();
        }
        m_ready.runDirectory = *written;
        m_ready.step = step;
        m_ready.notes.insert(m_ready.notes.begin(), m_opened.notes.begin(), m_opened.notes.end());
        return Done{};
    }

    /// The checkpoint of the new run: the optimiser's state of what is kept is the old one's, byte for byte.
    Status writeWeights(const std::filesystem::path& directory)
    {
        const auto optimiser = Optimiser::make(m_after.training, m_network->parameters());
        const HostTensors fresh = optimiser->state();
        const Result<HostTensors> state = m_kept.optimiserState(m_checkpoint->optimiser.tensors(), fresh);
        if (!state) {
            return state.error();
        }
        if (const Status written = writeGap(directory, m_gap); !written) {
            return written;
        }
        const HostTensors model = hostTensors(m_network->parameters());
        return writeCheckpoint(directory, m_checkpoint->state, model.stored(), state->stored(), {});
    }

    FactoriseRequest m_request;
    FactoriseReady m_ready;
    std::size_t m_stage = 0;
    OpenedRun m_opened;
    Project m_after;
    std::optional<LoadedCheckpoint> m_checkpoint;
    std::unique_ptr<Dataset> m_dataset;
    std::unique_ptr<CompiledNetwork> m_network; ///< of m_after
    TransferPlan m_kept;                        ///< what is the same in both
    std::vector<FactoredWeight> m_weights;
    std::vector<std::int64_t> m_layers; ///< in order; empty: nothing is fitted to the data
    std::size_t m_layer = 0;            ///< fitted so far
    Gap m_gap;
};

} // namespace

std::unique_ptr<Query> queryFor(const FactoriseRequest& request)
{
    return std::make_unique<FactoriseQuery>(request);
}

} // namespace residua::engine
