// SPDX-License-Identifier: GPL-3.0-or-later
// The errors of factored weights against the full ones, by method, for weights drawn by the document or learned by a
// run. The fits have threads of their own, so that a run can continue beside them.
#include "engine/compute/queries/base/query.h"

#include "engine/compute/init/parameter_fits.h"
#include "engine/compute/queries/base/run_use.h"
#include "engine/compute/queries/base/staged_query.h"
#include "engine/compute/train/batches.h"
#include "engine/compute/train/fit_inputs.h"
#include "engine/compute/train/tensor_io.h"
#include "engine/compute/train/transfer_plan.h"
#include "projects/model/parameter_name.h"
#include "projects/nodes/towers.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

namespace residua::engine {
namespace {

using projects::LowRankInputs;
using projects::Project;

constexpr std::chrono::milliseconds kTell{100};

/// Returns the errors of an attention's features from those of its heads, or a failure if one has failed.
GapFit gapOfHeads(const std::vector<Result<Fitted>>& heads)
{
    GapFit sum{.state = GapFit::State::Fitted};
    for (const Result<Fitted>& head : heads) {
        if (!head) {
            return {.state = GapFit::State::Failed, .note = head.error().text()};
        }
        sum.functionError += head->gap.functionError;
        sum.fullFunction += head->gap.fullFunction;
        sum.weightError += head->gap.weightError;
        sum.meanCorrelation += head->gap.meanCorrelation;
        sum.seconds += head->gap.seconds;
        if (!head->gap.converged) {
            sum.converged = false;
            sum.note = "of a head: " + head->gap.note;
        }
    }
    sum.meanCorrelation /= static_cast<double>(heads.size());
    return sum;
}

class GapQuery final : public StagedQuery<GapQuery, GapRequest, GapReady> {
public:
    using StagedQuery::StagedQuery;
    bool waits() const override { return m_running != nullptr; }

    std::optional<Event> takeNews() override
    {
        const auto now = std::chrono::steady_clock::now();
        if (!m_told || now < m_tellAt) {
            return std::nullopt;
        }
        m_told = false;
        m_tellAt = now + kTell;
        return GapProgress{m_request.tag, m_gap};
    }

private:
    std::span<const Stage> stages() const override
    {
        static constexpr Stage kStages[] = {&GapQuery::open,      &GapQuery::compile,  &GapQuery::runFull,
                                            &GapQuery::startFits, &GapQuery::takeFits, &GapQuery::tryMethod};
        return kStages;
    }
    bool hasMore(Stage stage) const override
    {
        return stage == &GapQuery::takeFits ? m_running != nullptr
                                            : stage == &GapQuery::tryMethod && m_method < m_gap.methods.size();
    }

    [[nodiscard]] bool ofRun() const { return !m_request.of.runDirectory.empty(); }

    Status open()
    {
        if (m_request.methods.empty()) {
            return Error{"methods", "names none, expected spectral, exact or the like"};
        }
        Project project = m_request.project;
        if (ofRun()) {
            OpenedCheckpoint opened = RESIDUA_TRY(openCheckpoint(m_request.of, watch(), m_request.tower));
            m_checkpoint.emplace(std::move(opened.checkpoint));
            if (opened.averaged) {
                m_checkpoint->model = std::move(*opened.averaged);
            }
            m_dataset = std::move(opened.dataset);
            m_tower = opened.tower;
            m_gap.step = m_checkpoint->state.step;
            m_gap.notes = std::move(opened.run.notes);
            project = std::move(opened.run.project);
        } else {
            m_tower = RESIDUA_TRY(projects::chosenTower(project, m_request.tower));
            project = projects::viewOf(std::move(project), m_tower);
        }
        m_fullProject = ofRun() ? project : fullRank(project);
        if (m_request.rank) {
            project.network.rank = *m_request.rank;
        }
        m_gap.inputs = m_request.inputs.value_or(project.initialisation.lowRankInputs);
        m_gap.methods = m_request.methods;
        m_gap.outputs.resize(m_gap.methods.size());
        project = unfitted(std::move(project));
        const Project document = projects::viewOf(project, m_tower);
        RESIDUA_TRY(checkProject(document));
        if (!ofRun()) {
            m_dataset = RESIDUA_TRY(Dataset::open(document, m_request.of.projectDirectory, watch()));
        }
        m_project = std::move(project);
        return Done{};
    }

    /// Compiles a view of the tower.
    [[nodiscard]] Result<std::unique_ptr<CompiledNetwork>> compiledView(const Project& view) const
    {
        const Result<projects::SoundProject> sound = projects::soundProject(projects::viewOf(view, m_tower));
        return sound ? CompiledNetwork::compile(*sound, m_dataset->schema(), "cpu", SumOrder::ByHalf, {m_tower, {}})
                     : Result<std::unique_ptr<CompiledNetwork>>(sound.error());
    }
    /// Returns the name in the document of a weight of the view.
    [[nodiscard]] std::string inDocument(const std::string& name) const
    {
        return projects::nameOfView(m_project, m_tower, name);
    }
    /// True if the parameter is of the tower.
    [[nodiscard]] static bool isOfTower(const std::string& name)
    {
        return projects::parameterNameFrom(name).part != projects::NetworkPart::Other;
    }

    /// Compiles the network with its weights in factors, as drawn. It lists the weights and the activation after each.
    Status compile()
    {
        m_network = RESIDUA_TRY(compiledView(m_project));
        std::ranges::copy_if(
            m_network->initPlan().factored(), std::back_inserter(m_weights), [this](const FactoredWeight& weight) {
                return isOfTower(weight.name) && (!ofRun() || m_checkpoint->model.tensors().contains(weight.name));
            });
        std::ranges::copy_if(m_network->initPlan().attentions(), std::back_inserter(m_attentions),
                             [this](const AttentionFeatures& attention) {
                                 return isOfTower(m_network->parameters()[attention.parameter].name);
                             });
        if (m_weights.empty() && m_attentions.empty()) {
            return Error{"network", ofRun()
                                        ? "the run holds no weight whole that is of lower rank here: expected a rank "
                                          "for a run of full rank, or the project of a factored run"
                                        : "no weight is below full rank: expected a rank, of the network or of a node"};
        }
        if (!ofRun()) {
            return m_network->initialise(watch(), {});
        }
        TransferPlan kept;
        for (const NamedParameter& parameter : m_network->parameters()) {
            if (m_checkpoint->model.tensors().contains(parameter.name)) {
                kept.copy(parameter.name, Moments::Fresh);
            }
        }
        return kept.apply(m_checkpoint->model, *m_network, watch());
    }

    /// Runs the network of full weights: its outputs on held-out data, and its weights' inputs on the training data.
    Status runFull()
    {
        auto full = RESIDUA_TRY(compiledView(m_fullProject));
        RESIDUA_TRY(ofRun() ? loadParameters(m_checkpoint->model, full->parameters()) : full->initialise(watch(), {}));
        m_inputs.length = fitLengthOf(m_project);
        if (m_gap.inputs == LowRankInputs::Data) {
            m_inputs = RESIDUA_TRY(readInputs(*full, *m_dataset, m_project, at::kCPU, passAfter(m_gap.step)));
        }
        m_fullOutput = RESIDUA_TRY(outputOf(*full));
        return Done{};
    }

    /// Returns the output on the first batch of the validation split, or of the training split if there is no
    /// validation split.
    Result<at::Tensor> outputOf(CompiledNetwork& network)
    {
        const at::NoGradGuard noGrad;
        const Split split = m_dataset->size(Split::Validation) > 0 ? Split::Validation : Split::Train;
        SplitBatches batches(*m_dataset, split, m_project.training, at::kCPU, 1);
        const std::optional<DeviceBatch> batch = RESIDUA_TRY(batches.next());
        if (!batch) {
            return Error{"data", "there is no example to compare the networks' outputs on"};
        }
        return network.forward(*batch, passAfter(m_gap.step));
    }

    Status startFits()
    {
        const at::NoGradGuard noGrad;
        InitPlan& plan = m_network->initPlan();
        std::vector<NamedFit> fits;
        for (const FactoredWeight& weight : m_weights) {
            const at::Tensor whole = RESIDUA_TRY(ofRun() ? readTensor(m_checkpoint->model, weight.name)
                                                         : Result<at::Tensor>(plan.wholeOf(weight)));
            const std::optional<FactorFit> fit = plan.fitOf(weight, whole, m_inputs.momentsOf(weight.name));
            if (!fit) {
                continue; // its factors are exact by every method
            }
            m_gap.weights.push_back(gapWeightOf(*fit));
            m_gap.weights.back().name = inDocument(m_gap.weights.back().name);
            m_targets.push_back({fit->u, fit->v});
            for (const LowRankMethod method : m_gap.methods) {
                fits.push_back(fitBy(method, *fit));
            }
        }
        for (const AttentionFeatures& attention : m_attentions) {
            const NamedParameter& features = m_network->parameters()[attention.parameter];
            const at::IntArrayRef sizes = features.tensor.sizes();
            m_gap.weights.push_back({inDocument(features.name), GapFeatures{sizes[0], sizes[1], sizes[2]}});
            m_startFeatures.push_back(features.tensor.detach().clone());
        }
        plan.setFits({.inputs = m_inputs});
        m_gap.fits.resize(m_gap.weights.size() * m_gap.methods.size());
        m_factors.resize(fits.size());
        m_running = std::make_unique<RunningFits>(std::move(fits), m_cache);
        m_told = true;
        return Done{};
    }

    Status takeFits()
    {
        for (RunningFits::Ended& ended : m_running->take()) {
            GapFit& gap = m_gap.fits[ended.index];
            if (ended.fit) {
                gap = std::move(ended.fit->gap);
                m_factors[ended.index] = *std::move(ended.fit);
            } else {
                gap.state = GapFit::State::Failed;
                gap.note = ended.fit.error().text();
            }
            m_told = true;
        }
        noteFaults();
        if (m_gap.done() == m_factors.size()) {
            m_running.reset();
        }
        return Done{};
    }

    void noteFaults()
    {
        if (const std::string faults = m_cache.faults(); !faults.empty() && !std::exchange(m_faulty, true)) {
            m_gap.notes.push_back(faults);
        }
    }

    /// Executes a piece of one method's evaluation: its factors, its features, or its output.
    Status tryMethod()
    {
        if (m_running) {
            takeHeads();
            return Done{};
        }
        if (!std::exchange(m_isPlaced, true)) {
            placeFactors();
            return Done{};
        }
        if (m_attention < m_attentions.size()) {
            startHeads();
            return Done{};
        }
        RESIDUA_TRY(measureOutput());
        m_isPlaced = false;
        m_told = ++m_method < m_gap.methods.size(); // the answer includes the last method
        return Done{};
    }

    /// Writes the next method's factors into the network.
    void placeFactors()
    {
        m_isWhole = true;
        for (std::size_t weight = 0; weight < m_targets.size(); ++weight) {
            if (m_gap.fit(weight, m_method).state == GapFit::State::Fitted) {
                writeMatrices(m_factors[weight * m_gap.methods.size() + m_method], m_targets[weight]);
            } else {
                m_isWhole = false;
            }
        }
        m_attention = 0;
    }

    /// Starts the fits of an attention's heads, for the queries and keys of the method's factors, from the drawn or
    /// learned features. Features have one search, Adam on samples, for all methods that use the activation; the other
    /// methods keep the start.
    void startHeads()
    {
        const at::NoGradGuard noGrad;
        const AttentionFeatures& attention = m_attentions[m_attention];
        const bool searches = projects::traitsOf(m_gap.methods[m_method]).looksAtWhatFollows;
        m_network->parameters()[attention.parameter].tensor.copy_(m_startFeatures[m_attention]);
        FitJob (*const fit)(AttentionProblem) = &fitJob;
        std::vector<NamedFit> fits = fitsOf(m_network->initPlan().fitOf(attention), searches ? fit : &measureJob);
        m_heads.assign(fits.size(), Error{});
        m_headsLeft = fits.size();
        m_running = std::make_unique<RunningFits>(std::move(fits), m_cache);
    }

    void takeHeads()
    {
        for (RunningFits::Ended& ended : m_running->take()) {
            m_heads[ended.index] = std::move(ended.fit);
            --m_headsLeft;
        }
        noteFaults();
        if (m_headsLeft > 0) {
            return;
        }
        m_running.reset();
        GapFit& gap = m_gap.fit(m_targets.size() + m_attention, m_method);
        gap = gapOfHeads(m_heads);
        if (gap.state == GapFit::State::Fitted) {
            const std::vector<at::Tensor> features =
                m_network->parameters()[m_attentions[m_attention].parameter].tensor.detach().unbind();
            for (std::size_t head = 0; head < features.size(); ++head) {
                writeMatrices(*m_heads[head], {features[head]});
            }
        } else {
            m_isWhole = false;
        }
        ++m_attention;
        m_told = true;
    }

    /// Measures the output of the network with one method's factors. Unknown if one of the method's fits has failed.
    Status measureOutput()
    {
        if (!m_isWhole) {
            return Done{};
        }
        const at::Tensor output = RESIDUA_TRY(outputOf(*m_network));
        const at::NoGradGuard noGrad;
        const double full = m_fullOutput.to(at::kDouble).norm().item<double>();
        const double rest = (output - m_fullOutput).to(at::kDouble).norm().item<double>();
        if (full > 0) {
            m_gap.outputs[m_method] = rest * rest / (full * full);
        }
        return Done{};
    }

    Gap& m_gap = m_ready.gap;
    bool m_told = false; ///< there is news
    bool m_faulty = false;
    std::chrono::steady_clock::time_point m_tellAt{};
    Project m_project;     ///< the view of the tower, with its weights in factors
    Project m_fullProject; ///< with full weights in place of the factors
    std::optional<CheckpointFiles> m_checkpoint;
    std::unique_ptr<Dataset> m_dataset;
    std::unique_ptr<CompiledNetwork> m_network; ///< of m_project
    std::size_t m_tower = 0;
    std::vector<FactoredWeight> m_weights;
    std::vector<AttentionFeatures> m_attentions; ///< with features to fit
    FitInputs m_inputs;
    at::Tensor m_fullOutput;
    std::vector<std::vector<at::Tensor>> m_targets; ///< u and v of each weight
    std::vector<Fitted> m_factors;                  ///< of the weights' fits, as Gap::fits, without the errors
    std::vector<at::Tensor> m_startFeatures;        ///< for each attention with features, as drawn or learned
    std::size_t m_attention = 0;
    std::vector<Result<Fitted>> m_heads; ///< of this attention
    std::size_t m_headsLeft = 0;
    bool m_isPlaced = false; ///< the method's factors are in the network
    bool m_isWhole = true;   ///< all fits of the method have succeeded
    CachedFits m_cache{userFitCache()};
    std::unique_ptr<RunningFits> m_running;
    std::size_t m_method = 0; ///< the method whose output is measured next
};

} // namespace

template <>
std::unique_ptr<Query> queryFor(const GapRequest& request)
{
    return std::make_unique<GapQuery>(request);
}

} // namespace residua::engine
