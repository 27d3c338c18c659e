// SPDX-License-Identifier: GPL-3.0-or-later
// Replaces the weights of a trained network's blocks by two factors each. The fits go layer by layer, to the inputs
// that the preceding factored layers give (NLRA, remark 4.1, for a trained weight instead of a drawn one).
#include "engine/compute/queries/base/query.h"

#include "engine/compute/init/parameter_fits.h"
#include "engine/compute/queries/branches/transferred_run.h"
#include "engine/compute/train/fit_inputs.h"
#include "engine/compute/train/tensor_io.h"
#include "engine/compute/train/transfer_plan.h"
#include "engine/runs/store/run_files.h"
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

/// Returns the weight's layer, or 0. Only weights of blocks are factored.
std::int64_t layerOf(const FactoredWeight& weight)
{
    return projects::parameterNameFrom(weight.name).layer;
}

class FactoriseQuery final : public TransferQuery<FactoriseQuery, FactoriseRequest, FactoriseReady> {
public:
    using TransferQuery::TransferQuery;

    std::optional<Event> takeNews() override
    {
        const bool isNew = std::exchange(m_told, m_layer) != m_layer;
        return isNew ? std::optional<Event>(
                           QueryProgress{tag(), static_cast<double>(m_layer) / static_cast<double>(m_layers.size())})
                     : std::nullopt;
    }

private:
    std::span<const Stage> stages() const override
    {
        static constexpr Stage kStages[] = {&FactoriseQuery::open,     &FactoriseQuery::check,
                                            &FactoriseQuery::compile,  &FactoriseQuery::startFactors,
                                            &FactoriseQuery::fitLayer, &FactoriseQuery::measureAfter,
                                            &FactoriseQuery::write};
        return kStages;
    }
    bool hasMore(Stage stage) const override { return stage == &FactoriseQuery::fitLayer && m_layer < m_layers.size(); }

    /// Checks the documents.
    Status check()
    {
        RESIDUA_TRY(checkStepsLeft(m_request.steps, checkpoint().state.step));
        if (!projects::traitsOf(m_request.method).approximates) {
            return Error{"method", projects::keyOf(m_request.method) +
                                       " draws the factors and forgets what was learned; expected one of " +
                                       projects::approximationWords()};
        }
        if (!std::holds_alternative<projects::FullRank>(m_opened->run.project.network.rank)) {
            return Error{"network · rank of weights", "the run's weights are in factors already"};
        }
        if (std::holds_alternative<projects::FullRank>(m_request.rank)) {
            return Error{"rank", "got the full one, expected a number or a share"};
        }
        m_after = m_opened->run.project;
        m_after.network.rank = m_request.rank;
        m_after.initialisation.lowRank = m_request.method;
        m_after.initialisation.lowRankInputs = m_request.inputs;
        goOnTo(m_after, m_request.steps.value_or(m_opened->run.info.steps), nullptr);
        return checkView(m_after);
    }

    /// Compiles both networks with the weights that evaluations of the run use; in the new network, factors are drawn.
    Status compile()
    {
        const TensorFiles& stored = m_opened->evaluated();
        auto before = RESIDUA_TRY(compiledView(m_opened->run.project));
        RESIDUA_TRY(loadParameters(stored, before->parameters()));
        Project drawn = m_after;
        drawn.initialisation.lowRank = projects::LowRankMethod::Baseline;
        m_network = RESIDUA_TRY(compiledView(drawn));
        for (const NamedParameter& parameter : m_network->parameters()) {
            if (stored.tensors().contains(parameter.name)) {
                m_kept.copy(parameter.name, Moments::Carried);
            }
        }
        RESIDUA_TRY(m_kept.apply(stored, *m_network, watch()));
        for (const FactoredWeight& weight : m_network->initPlan().factored()) {
            if (stored.tensors().contains(weight.name)) {
                m_weights.push_back(weight);
            }
        }
        if (m_weights.empty()) {
            return Error{"network", "no layer has a weight that can be of lower rank: expected a linear, an attention "
                                    "or a conv2d node of full rank in a block"};
        }
        m_ready.lossBefore = RESIDUA_TRY(lossOf(*before));
        m_ready.parametersBefore = countOf(before->parameters());
        m_ready.parametersAfter = countOf(m_network->parameters());
        return Done{};
    }

    /// Fits all factors: by the method if the data are not used; else by the spectral start, for a later fit layer by
    /// layer.
    Status startFactors()
    {
        const bool looksAtData =
            m_request.inputs == LowRankInputs::Data && m_request.method != projects::LowRankMethod::Spectral;
        std::vector<FactorFit> fits;
        for (const FactoredWeight& weight : m_weights) {
            RESIDUA_TRY(addFit(weight, at::Tensor(), fits));
            const std::int64_t layer = layerOf(weight);
            if (looksAtData && (m_layers.empty() || m_layers.back() != layer)) {
                m_layers.push_back(layer);
            }
        }
        return fit(fits, looksAtData ? projects::LowRankMethod::Spectral : m_request.method);
    }

    /// Fits the weights of one layer to the inputs that the preceding layers now give for the first training batch.
    Status fitLayer()
    {
        if (m_layer >= m_layers.size()) {
            return Done{};
        }
        const FitInputs inputs = RESIDUA_TRY(
            readInputs(*m_network, *m_opened->dataset, m_after, at::kCPU, passAfter(checkpoint().state.step)));
        std::vector<FactorFit> fits;
        for (const FactoredWeight& weight : m_weights) {
            if (layerOf(weight) != m_layers[m_layer]) {
                continue;
            }
            const at::Tensor moments = inputs.momentsOf(m_network->parameters()[weight.u].name);
            RESIDUA_TRY(addFit(weight, moments, fits));
        }
        ++m_layer;
        return fit(fits, m_request.method);
    }

    Status addFit(const FactoredWeight& weight, const at::Tensor& moments, std::vector<FactorFit>& fits)
    {
        const at::Tensor whole = RESIDUA_TRY(readTensor(m_opened->evaluated(), weight.name));
        if (std::optional<FactorFit> fit = m_network->initPlan().fitOf(weight, whole, moments)) {
            fits.push_back(*std::move(fit));
        }
        return Done{};
    }

    Status fit(const std::vector<FactorFit>& fits, projects::LowRankMethod method)
    {
        FitsReport report = RESIDUA_TRY(fitAll(fits, method, userFitCache(), watch()));
        for (std::string& note : report.notes) {
            const bool ofLayer = m_layer > 0;
            m_ready.notes.push_back(
                ofLayer ? textOf(projects::ParameterName{projects::NetworkPart::Layers, m_layers[m_layer - 1], {}}) +
                              ": " + note
                        : std::move(note));
        }
        keep(report.gap);
        return Done{};
    }

    /// Stores the errors of the last fit of each weight.
    void keep(const Gap& gap)
    {
        m_gap.methods = {m_request.method};
        m_gap.outputs = {std::nullopt};
        m_gap.step = checkpoint().state.step;
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

    Result<double> lossOf(CompiledNetwork& network)
    {
        const HeldOutLoss loss = RESIDUA_TRY(heldOutLoss(network, *m_opened, m_after.training, watch()));
        m_ready.batches = loss.batches;
        return loss.mean;
    }

    Status measureAfter()
    {
        m_ready.lossAfter = RESIDUA_TRY(lossOf(*m_network));
        const at::NoGradGuard noGrad;
        for (const FactoredWeight& weight : m_weights) {
            const at::Tensor u = m_network->parameters()[weight.u].tensor.to(at::kDouble);
            const at::Tensor v = m_network->parameters()[weight.v].tensor.to(at::kDouble).flatten(1);
            const at::Tensor stored = RESIDUA_TRY(readTensor(m_opened->evaluated(), weight.name));
            const at::Tensor whole = unfolded(stored.to(at::kDouble), weight.unfolding);
            const double size = whole.norm().item<double>();
            const double rest = (at::matmul(u, v) - whole).norm().item<double>();
            m_ready.weights.push_back({weight.name, u.size(1), size > 0 ? rest / size : 0});
            toDocument(m_ready.weights.back().name);
        }
        return Done{};
    }

    Status write()
    {
        RunBranch branch =
            branchOf(m_request.of.runDirectory, *m_opened, m_after, RunEventKind::Forked,
                     std::to_string(m_weights.size()) + " weights in factors, by " + projects::keyOf(m_request.method));
        branch.directory = m_request.newRun;
        branch.steps = m_after.training.steps;
        branch.matrices = coefficientsOf(*m_network, branch.step);
        const WeightAverage average(m_after.training, m_network->parameters());
        if (m_opened->averaged) { // the run continues from the weights as trained, with these factors
            RESIDUA_TRY(m_kept.apply(checkpoint().model, *m_network, watch()));
        }
        m_ready.runDirectory = RESIDUA_TRY(makeBranch(branch, [&](const std::filesystem::path& directory) {
            const Status gap = writeGap(directory, m_gap);
            return gap ? writeTransferred(directory, *m_opened, m_kept, m_after, *m_network, average) : gap;
        }));
        m_ready.step = branch.step;
        m_ready.notes.insert(m_ready.notes.begin(), m_opened->run.notes.begin(), m_opened->run.notes.end());
        return Done{};
    }

    Project m_after;
    std::unique_ptr<CompiledNetwork> m_network; ///< of m_after
    TransferPlan m_kept;                        ///< the parameters that both networks share
    std::vector<FactoredWeight> m_weights;
    std::vector<std::int64_t> m_layers; ///< in order; empty if nothing is fitted to the data
    std::size_t m_layer = 0;            ///< the number of layers fitted so far
    std::size_t m_told = 0;             ///< the number of layers reported so far
    Gap m_gap;
};

} // namespace

template <>
std::unique_ptr<Query> queryFor(const FactoriseRequest& request)
{
    return std::make_unique<FactoriseQuery>(request);
}

} // namespace residua::engine
