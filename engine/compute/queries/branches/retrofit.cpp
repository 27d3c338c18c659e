// SPDX-License-Identifier: GPL-3.0-or-later
// Retrofit: a trained network under another topology that computes the same function, or if it is measured another one.
// A topology that starts as the plain network by its document (projects/transfer/retrofit.h) takes the weights
// unchanged; for others, the weights of the wiring are computed from the learned ones. In both cases the function is
// compared on the run's data before anything is written.
#include "engine/compute/queries/base/query.h"

#include "engine/compute/queries/branches/transferred_run.h"
#include "engine/compute/queries/branches/visit_weights.h"
#include "engine/compute/train/batches.h"
#include "engine/compute/train/tensor_io.h"
#include "engine/compute/train/transfer_plan.h"
#include "engine/runs/results/run_upkeep.h"
#include "projects/base/mapped.h"
#include "projects/base/text.h"
#include "projects/model/parameter_name.h"
#include "projects/nodes/node_kinds.h"
#include "projects/transfer/prune.h"
#include "projects/transfer/retrofit.h"
#include "projects/transfer/ties.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

namespace residua::engine {
namespace {

using projects::Precision;
using projects::Project;

/// Relative to the outputs: the effect of another summation order, amplified by the layers.
constexpr double kSameInDouble = 1e-10;
constexpr std::int64_t kSequences = 2;
constexpr int kToldDigits = 3; ///< of outputs in errors
constexpr int kLossDigits = 5; ///< of losses in the event
constexpr std::int64_t kVectors = 64;

bool isOfTopology(std::string_view parameter)
{
    return projects::parameterNameFrom(parameter).part == projects::NetworkPart::Topology;
}

/// Maps "layers.3.norm_k.weight" to "layers.3.norm.weight" if norm_k shares the weights of norm in the document; a
/// topology with separate norms makes them its own. Empty if nothing is shared.
std::string sharedSource(const Project& project, const std::string& name)
{
    projects::ParameterName parameter = projects::parameterNameFrom(name);
    const projects::Block* const block = project.network.blockOfStored(parameter.layer);
    if (block == nullptr) {
        return {};
    }
    const std::string_view node = parameter.node();
    const auto found = std::ranges::find(block->graph.nodes, node, &projects::Node::name);
    const std::string owner = found == block->graph.nodes.end() ? "" : weightOwnerOf(*found);
    if (owner.empty()) {
        return {};
    }
    const std::string inside = owner + std::string(parameter.rest.substr(node.size()));
    parameter.rest = inside;
    return textOf(parameter);
}

/// Returns the source of each parameter of `project`'s network. If the topology's weights are computed, no stored ones
/// are kept: parameters that `computed` lacks start afresh.
TransferPlan planFor(const TensorFiles& stored, const std::optional<TopologyWeights>& computed, const Project& project,
                     const std::vector<NamedParameter>& parameters)
{
    TransferPlan plan;
    for (const NamedParameter& parameter : parameters) {
        if (computed && isOfTopology(parameter.name)) {
            if (const auto found = computed->find(parameter.name); found != computed->end()) {
                plan.start(parameter.name, found->second);
            }
        } else if (stored.tensors().contains(parameter.name)) {
            plan.copy(parameter.name, Moments::Carried);
        } else if (const std::string shared = sharedSource(project, parameter.name);
                   stored.tensors().contains(shared)) {
            plan.add({.tensor = {shared, {parameter.name}}});
        }
    }
    return plan;
}

/// Returns the source of each parameter of the network of `after` if it may compute another function than that of
/// `before`: by name and shape, and of the wiring's parameters by the meaning of their rows.
Result<TransferPlan> measuredPlanFor(const TensorFiles& stored, const Project& before, const Project& after,
                                     const LayerSources& sources, const std::vector<NamedParameter>& parameters,
                                     const PreparationWatch& watch)
{
    TransferPlan plan;
    VisitWeights layers(stored, before, after, sources, watch);
    const auto wiring = projects::carriedRows(before, after, sources.layers);
    for (const NamedParameter& parameter : parameters) {
        Transfer row{.tensor = {parameter.name, {parameter.name}}, .moments = Moments::Carried};
        if (const auto carried = wiring.find(parameter.name); carried != wiring.end()) {
            row.tensor.name = carried->second.from;
            row.rows = carried->second.rows;
            row.dimension = carried->second.dimension;
        } else if (isOfTopology(parameter.name)) {
            continue;
        } else if (const projects::ParameterName name = projects::parameterNameFrom(parameter.name); name.layer > 0) {
            RESIDUA_TRY(layers.take(row, name, parameter.tensor.sizes()));
        }
        if (!stored.tensors().contains(row.tensor.name) && !row.computed.defined()) {
            row.tensor.name = sharedSource(after, parameter.name);
            row.moments = Moments::Fresh;
        }
        const auto found = stored.tensors().find(row.tensor.name);
        if (found == stored.tensors().end() && !row.computed.defined()) {
            continue;
        }
        std::vector<std::int64_t> shape =
            row.computed.defined() ? row.computed.sizes().vec() : found->second.place.shape;
        if (!row.rows.empty()) {
            shape[static_cast<std::size_t>(row.dimension)] = std::ssize(row.rows);
        }
        if (at::IntArrayRef(shape) == parameter.tensor.sizes()) {
            plan.add(std::move(row));
        }
    }
    return plan;
}

/// A network with the weights from a plan.
struct Transferred {
    std::unique_ptr<CompiledNetwork> network;
    TransferPlan plan;
    // All are sorted.
    std::vector<std::string> kept;    ///< parameters that keep their optimiser moments
    std::vector<std::string> added;   ///< parameters that start: afresh, computed, or from stored ones without moments
    std::vector<std::string> dropped; ///< stored tensors without a counterpart among the parameters
};

/// Fills the lists of kept, added and dropped parameters.
void tellInto(Transferred& made, const TensorFiles& stored)
{
    std::vector<NamedParameter>& parameters = made.network->parameters();
    made.kept = made.plan.carried();
    auto names = mapped(parameters, &NamedParameter::name);
    std::ranges::sort(names);
    std::ranges::set_difference(names, made.kept, std::back_inserter(made.added));
    const std::vector<std::string> unused = made.plan.match(stored, parameters).unused;
    std::ranges::set_difference(unused, names, std::back_inserter(made.dropped));
}

/// The distance between the outputs of two networks.
struct Distance {
    double largest = 0;
    double size = 0; ///< the largest output
};

Distance distanceOf(const at::Tensor& a, const at::Tensor& b)
{
    return {(a - b).abs().max().item<double>(), a.abs().max().item<double>()};
}

class RetrofitQuery final : public TransferQuery<RetrofitQuery, RetrofitRequest, RetrofitReady> {
public:
    using TransferQuery::TransferQuery;

private:
    std::span<const Stage> stages() const override
    {
        static constexpr Stage kStages[] = {&RetrofitQuery::open, &RetrofitQuery::check, &RetrofitQuery::compare,
                                            &RetrofitQuery::write};
        return kStages;
    }

    /// Checks the documents.
    Status check()
    {
        m_steps = m_request.steps.value_or(m_opened->run.info.steps);
        m_before = m_opened->run.project;
        m_measured = m_request.measured || !m_request.prune.empty() || !m_request.ties.empty();
        RESIDUA_TRY(checkStepsLeft(m_request.steps, checkpoint().state.step));
        Project after = RESIDUA_TRY(wantedProject());
        if (m_request.steps) {
            goOnTo(after, m_steps, nullptr);
        }
        RESIDUA_TRY(checkView(after));
        m_after = std::move(after);
        m_departure = projects::departureFromPlain(m_after.stack().topology.wiring, m_after.stack());
        return Done{};
    }

    /// Returns the project of the new run, and sets the old number of each of its layers.
    Result<Project> wantedProject()
    {
        if (m_request.project) {
            RESIDUA_TRY(checkForkProject(viewOf(m_before), *m_request.project));
        }
        const Project own = m_request.project ? viewOf(*m_request.project) : m_before;
        if (!m_request.prune.empty()) {
            const Result<projects::Pruning> pruning = projects::pruningFrom(m_request.prune, own);
            projects::PrunedProject made = RESIDUA_TRY(pruning ? projects::pruned(own, *pruning)
                                                               : Result<projects::PrunedProject>(pruning.error()));
            m_sources.layers = std::move(made.layers);
            m_how = "without " + textOf(*pruning, own);
            return std::move(made.project);
        }
        if (!m_request.ties.empty()) {
            projects::RetiedProject made = RESIDUA_TRY(projects::retied(own, m_request.ties));
            m_sources = {std::move(made.layers), std::move(made.made)};
            m_how = m_request.ties == projects::kUntie ? "untied" : "tied: " + m_request.ties;
            return std::move(made.project);
        }
        Result<Project> after = projects::rewired(own, m_request.topology);
        m_sameWiring = after && after->stack().topology.wiring == m_before.stack().topology.wiring;
        if (m_sameWiring && !m_measured) {
            return Error{"topology", "is the run's own already"};
        }
        m_sources.layers.resize(static_cast<std::size_t>(m_before.network.depth()));
        std::iota(m_sources.layers.begin(), m_sources.layers.end(), 1);
        m_how =
            m_sameWiring ? "wired as before" : m_before.stack().topology.preset + " to " + m_request.topology.preset;
        return after;
    }

    /// Returns a network of `project` with the checkpoint's weights, converted to the precision's type.
    Result<Transferred> transferredTo(const Project& project, Precision precision)
    {
        return transferredTo(project, precision, checkpoint().model, m_computed);
    }
    Result<Transferred> transferredTo(const Project& project, Precision precision, const TensorFiles& stored,
                                      const std::optional<TopologyWeights>& computed)
    {
        Project typed = project;
        typed.training.precision = precision;
        std::unique_ptr<CompiledNetwork> network = RESIDUA_TRY(compiledView(typed));
        const bool isNew = &project == &m_after;
        Transferred made{std::move(network), {}, {}, {}, {}};
        TransferPlan plan =
            RESIDUA_TRY(isNew && m_measured
                            ? measuredPlanFor(stored, m_before, project, m_sources, made.network->parameters(), watch())
                            : planFor(stored, isNew ? computed : std::nullopt, project, made.network->parameters()));
        made.plan = std::move(plan);
        if (const Status written = made.plan.apply(stored, *made.network, watch()); !written) {
            return Error{"topology · " + written.error().place,
                         "is not what the run has learned: " + written.error().message};
        }
        holdNumbers(project, made.network->parameters());
        tellInto(made, stored);
        return made;
    }

    Result<at::Tensor> outputOf(const Project& project, Precision precision)
    {
        const Result<Transferred> made = transferredTo(project, precision);
        return made ? runOn(*made->network, precision) : Result<at::Tensor>(made.error());
    }

    /// Returns the network's outputs on the first examples, in double; those of a growing network as it is after the
    /// checkpoint's step.
    Result<at::Tensor> runOn(CompiledNetwork& network, Precision precision)
    {
        const at::NoGradGuard noGrad;
        Batch batch;
        const projects::ExampleSchema schema = m_opened->dataset->schema();
        const std::int64_t count = schema.hasTime() ? kSequences : kVectors;
        RESIDUA_TRY(m_opened->dataset->fillSequential(batch, Split::Train, 0, count));
        if (batch.batch == 0) {
            return Error{"data", "there is no example to compare the networks on"};
        }
        const DeviceBatch examples = upload(batch, schema, at::kCPU, parameterType(precision));
        return network.forward(examples, passAfter(checkpoint().state.step)).to(at::kDouble);
    }

    Result<Distance> distanceIn(Precision precision)
    {
        const Result<at::Tensor> before = outputOf(m_before, precision);
        const Result<at::Tensor> after = before ? outputOf(m_after, precision) : before;
        return after ? Result<Distance>(distanceOf(*before, *after)) : Result<Distance>(after.error());
    }

    Status compare()
    {
        if (m_measured) {
            return measure();
        }
        const Status same = compareOutputs();
        const bool byTopology = !same && same.error().place.starts_with("topology");
        return byTopology ? Error{same.error().place, same.error().message + kGoOnMeasured} : same;
    }

    /// Measures the loss of both networks on the same batches, with the weights that evaluations use.
    Status measure()
    {
        const Result<HeldOutLoss> before = lossOf(m_before);
        const HeldOutLoss after = RESIDUA_TRY(before ? lossOf(m_after) : before);
        m_ready.lossBefore = before->mean;
        m_ready.lossAfter = after.mean;
        m_ready.batches = after.batches;
        m_how += "; loss " + numberText(before->mean, kLossDigits) + " before, " + numberText(after.mean, kLossDigits) +
                 " after";
        return Done{};
    }

    Result<HeldOutLoss> lossOf(const Project& project)
    {
        const Result<Transferred> made =
            transferredTo(project, project.training.precision, m_opened->evaluated(), std::nullopt);
        return made ? heldOutLoss(*made->network, *m_opened, m_before.training, watch())
                    : Result<HeldOutLoss>(made.error());
    }

    /// Compares with the learned weights unchanged, or else with weights computed from them.
    Status compareOutputs()
    {
        const Status asTheyAre = compareAsCarried();
        if (asTheyAre) {
            return asTheyAre;
        }
        Result<TopologyWeights> computed = weightsThatKeep(m_before, checkpoint().model, m_after);
        if (!computed) {
            const bool fromPlain = m_departure && !learnedOfDepth();
            return fromPlain ? *m_departure : computed.error();
        }
        m_computed = std::move(*computed);
        return compareAsCarried();
    }

    /// True if the run has learned any parameter of its topology.
    [[nodiscard]] bool learnedOfDepth() const
    {
        return std::ranges::any_of(checkpoint().model.tensors(),
                                   [](const auto& entry) { return isOfTopology(entry.first); });
    }

    /// Compares both networks on examples in double precision, which hides all but the order of sums.
    Status compareAsCarried()
    {
        const Precision precision = m_after.training.precision;
        const Transferred made = RESIDUA_TRY(transferredTo(m_after, precision));
        // Kept weights have the same meaning in both; new weights must start as the plain network.
        const bool goesOn =
            std::ranges::any_of(made.kept, isOfTopology) && !std::ranges::any_of(made.added, isOfTopology);
        if (m_departure && !goesOn && !m_computed) {
            return *m_departure;
        }
        const Result<Distance> exact = distanceIn(Precision::Fp64);
        const Result<Distance> own = precision == Precision::Fp64 ? exact : distanceIn(precision);
        if (!exact || !own) {
            return exact ? own.error() : exact.error();
        }
        if (!(exact->largest <= kSameInDouble * (1 + exact->size))) {
            return Error{"topology", "would change the outputs by up to " + numberText(exact->largest, kToldDigits) +
                                         " (they reach " + numberText(exact->size, kToldDigits) + "): the run's own, " +
                                         m_before.stack().topology.preset + ", computes another function"};
        }
        m_ready.differenceInDouble = exact->largest;
        m_ready.difference = own->largest;
        return Done{};
    }

    Status write()
    {
        Transferred made = RESIDUA_TRY(transferredTo(m_after, m_after.training.precision));
        const bool retrofits = m_request.prune.empty() && m_request.ties.empty() && !m_sameWiring;
        const RunEventKind kind = retrofits ? RunEventKind::Retrofitted : RunEventKind::Forked;
        RunBranch branch = branchOf(m_request.of.runDirectory, *m_opened, m_after, kind, m_how);
        branch.directory = m_request.newRun;
        branch.steps = m_steps;
        if (m_measured && m_opened->dataset->size(Split::Validation) > 0) {
            branch.values[metric::kValidationLoss] = m_ready.lossAfter;
        }
        // Weights computed per token are known only after a forward pass.
        RESIDUA_TRY(runOn(*made.network, m_after.training.precision));
        branch.matrices = coefficientsOf(*made.network, branch.step);
        const std::unique_ptr<CompiledNetwork> averaged = RESIDUA_TRY(averagedNetwork());
        const WeightAverage average(m_after.training, (averaged ? *averaged : *made.network).parameters());
        m_ready.runDirectory = RESIDUA_TRY(makeBranch(branch, [&](const std::filesystem::path& directory) {
            return writeTransferred(directory, *m_opened, made.plan, m_after, *made.network, average);
        }));
        m_ready.notes = m_opened->run.notes;
        m_ready.step = branch.step;
        m_ready.kept = std::move(made.kept);
        m_ready.added = std::move(made.added);
        m_ready.dropped = std::move(made.dropped);
        for (std::vector<std::string>* const names : {&m_ready.kept, &m_ready.added, &m_ready.dropped}) {
            std::ranges::for_each(*names, [this](std::string& name) { toDocument(name); });
        }
        return Done{};
    }

    /// Returns the new network with weights that are made from the running mean of the old ones; null if it begins
    /// again.
    Result<std::unique_ptr<CompiledNetwork>> averagedNetwork()
    {
        if (!m_opened->averaged || !WeightAverage::isEvaluatedBy(m_after.training)) {
            return std::unique_ptr<CompiledNetwork>();
        }
        std::optional<TopologyWeights> computed;
        if (m_computed) {
            computed = RESIDUA_TRY(weightsThatKeep(m_before, *m_opened->averaged, m_after));
        }
        Result<Transferred> made = transferredTo(m_after, m_after.training.precision, *m_opened->averaged, computed);
        return made ? std::move(made->network) : Result<std::unique_ptr<CompiledNetwork>>(made.error());
    }

    Project m_before;
    Project m_after;
    std::int64_t m_steps = 0;
    bool m_measured = false;
    bool m_sameWiring = false;
    LayerSources m_sources;
    std::string m_how;                ///< the event's text
    std::optional<Error> m_departure; ///< of the new topology from the plain network
    std::optional<TopologyWeights> m_computed;
};

} // namespace

template <>
std::unique_ptr<Query> queryFor(const RetrofitRequest& request)
{
    return std::make_unique<RetrofitQuery>(request);
}

} // namespace residua::engine
