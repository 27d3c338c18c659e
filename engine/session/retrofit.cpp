// SPDX-License-Identifier: GPL-3.0-or-later
// Retrofit: a trained network under another topology that computes the same function. What starts as the plain network
// by its document (projects/transfer/retrofit.h) takes the weights as they are; for another, the weights of its wiring
// are computed from the learned ones. Either is measured, on the run's own data, before anything is written.
#include "engine/session/retrofit.h"

#include "engine/results/run_branch.h"
#include "engine/runs/checkpoint.h"
#include "engine/session/run_use.h"
#include "engine/session/start_weights.h"
#include "engine/train/batches.h"
#include "engine/train/optimiser.h"
#include "engine/train/precision.h"
#include "engine/transfer/transfer_plan.h"
#include "projects/model/parameter_name.h"
#include "projects/nodes/node_kinds.h"
#include "projects/transfer/retrofit.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

namespace residua::engine {
namespace {

using projects::Precision;
using projects::Project;

constexpr double kSameInDouble = 1e-10; ///< of the outputs' size: another order of sums, amplified by the layers
constexpr std::int64_t kSequences = 2;
constexpr std::int64_t kVectors = 64;

/// "layers.3.norm_k.weight" → "layers.3.norm.weight" where the document says that norm_k shares the weights of norm; a
/// topology with separate norms makes them its own. Empty where nothing is shared.
std::string sharedSource(const Project& project, const std::string& name)
{
    projects::ParameterName parameter = projects::parameterNameFrom(name);
    const projects::Block* const block = project.network.blockOfLayer(parameter.layer);
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

/// Where each parameter of a network of `project` comes from. Where the topology's are computed, none of its own is
/// kept: what `computed` does not name starts fresh.
TransferPlan planFor(const StoredTensors& stored, const std::optional<TopologyWeights>& computed,
                     const Project& project, const std::vector<NamedParameter>& parameters)
{
    TransferPlan plan;
    for (const NamedParameter& parameter : parameters) {
        if (computed && parameter.name.starts_with(projects::kTopologyPrefix)) {
            if (const auto found = computed->find(parameter.name); found != computed->end()) {
                plan.add({parameter.name, ComputedStart{found->second}});
            }
        } else if (stored.contains(parameter.name)) {
            plan.copy(parameter.name, Moments::Carried);
        } else if (const std::string shared = sharedSource(project, parameter.name); stored.contains(shared)) {
            plan.add({parameter.name, StoredStart{shared}});
        }
    }
    return plan;
}

/// A network with the weights that a plan gives it.
struct Transferred {
    std::unique_ptr<CompiledNetwork> network;
    TransferPlan plan;
    TransferReport report;
};

bool hasTopologyParameter(const std::vector<std::string>& names)
{
    return std::ranges::any_of(names,
                               [](const std::string& name) { return name.starts_with(projects::kTopologyPrefix); });
}

/// How far apart the outputs of two networks are.
struct Distance {
    double largest = 0;
    double size = 0; ///< the largest output
};

Distance distanceOf(const at::Tensor& a, const at::Tensor& b)
{
    return {(a - b).abs().max().item<double>(), a.abs().max().item<double>()};
}

class RetrofitQuery final : public Query {
public:
    explicit RetrofitQuery(RetrofitRequest request) : m_request(std::move(request)) { m_ready.tag = m_request.tag; }
    QueryTag tag() const override { return m_request.tag; }

private:
    std::optional<Event> work() override
    {
        constexpr Status (RetrofitQuery::*kStages[])() = {&RetrofitQuery::open, &RetrofitQuery::check,
                                                          &RetrofitQuery::compare, &RetrofitQuery::write};
        if (const Status done = (this->*kStages[m_stage])(); !done) {
            return QueryFailed{m_request.tag, done.error()};
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
        m_steps = m_request.steps.value_or(m_opened.info.steps);
        m_before = m_opened.project;
        m_checkpoint.emplace(std::move(opened->checkpoint));
        m_dataset = std::move(opened->dataset);
        return Done{};
    }

    /// What the documents alone tell.
    Status check()
    {
        const std::int64_t done = m_checkpoint->state.step;
        if (m_request.steps && m_steps <= done) {
            return Error{"steps", "got " + std::to_string(m_steps) + ", expected more than the " +
                                      std::to_string(done) + " that are done"};
        }
        Result<Project> after = projects::rewired(m_before, m_request.topology);
        if (!after) {
            return after.error();
        }
        if (after->topology.wiring == m_before.topology.wiring) {
            return Error{"topology", "is the run's own already"};
        }
        if (m_request.steps) {
            goOnTo(*after, m_steps, nullptr);
        }
        if (Status valid = checkProject(*after); !valid) {
            return valid;
        }
        m_after = std::move(*after);
        m_departure = projects::departureFromPlain(m_after.topology.wiring, m_after.network.depth());
        return Done{};
    }

    /// A network of `project` with the checkpoint's weights, converted to the precision's type.
    Result<Transferred> transferredTo(const Project& project, Precision precision)
    {
        Project typed = project;
        typed.training.precision = precision;
        Result<std::unique_ptr<CompiledNetwork>> network = CompiledNetwork::compile(typed, m_dataset->schema(), "cpu");
        if (!network) {
            return network.error();
        }
        const StoredTensors& stored = m_checkpoint->model.tensors();
        const bool isNew = &project == &m_after;
        std::vector<NamedParameter>& parameters = (*network)->parameters();
        TransferPlan plan = planFor(stored, isNew ? m_computed : std::nullopt, project, parameters);
        if (const Status written = plan.apply(stored, **network); !written) {
            return Error{"topology · " + written.error().place,
                         "is not what the run has learned: " + written.error().message};
        }
        TransferReport report = plan.report(stored, parameters);
        return Transferred{std::move(*network), std::move(plan), std::move(report)};
    }

    Result<at::Tensor> outputOf(const Project& project, Precision precision)
    {
        const Result<Transferred> made = transferredTo(project, precision);
        return made ? runOn(*made->network, precision) : Result<at::Tensor>(made.error());
    }

    /// The network's outputs on the first examples, in double; of one that grows, as it is after the checkpoint's step.
    Result<at::Tensor> runOn(CompiledNetwork& network, Precision precision)
    {
        const at::NoGradGuard noGrad;
        Batch batch;
        const projects::ExampleSchema schema = m_dataset->schema();
        const std::int64_t count = schema.hasTime() ? kSequences : kVectors;
        if (const Status filled = m_dataset->fillSequential(batch, Split::Train, 0, count); !filled) {
            return filled.error();
        }
        if (batch.batch == 0) {
            return Error{"data", "there is no example to compare the networks on"};
        }
        const at::Tensor input = upload(batch, schema, at::kCPU, parameterType(precision)).input;
        return network.forward(input, passAfter(m_checkpoint->state.step)).to(at::kDouble);
    }

    Result<Distance> distanceIn(Precision precision)
    {
        const Result<at::Tensor> before = outputOf(m_before, precision);
        const Result<at::Tensor> after = before ? outputOf(m_after, precision) : before;
        return after ? Result<Distance>(distanceOf(*before, *after)) : Result<Distance>(after.error());
    }

    /// The learned weights as they are, or else those that are computed from them.
    Status compare()
    {
        const Status asTheyAre = compareAsCarried();
        if (asTheyAre) {
            return asTheyAre;
        }
        Result<TopologyWeights> computed = weightsThatKeep(m_before, m_checkpoint->model.tensors(), m_after);
        if (!computed) {
            const bool fromPlain = m_departure && !learnedOfDepth();
            return fromPlain ? *m_departure : computed.error();
        }
        m_computed = std::move(*computed);
        return compareAsCarried();
    }

    /// Whether the run has learned anything of its topology.
    [[nodiscard]] bool learnedOfDepth() const
    {
        return std::ranges::any_of(m_checkpoint->model.tensors(), [](const auto& entry) {
            return entry.first.starts_with(projects::kTopologyPrefix);
        });
    }

    /// Both networks on examples, in double precision, where only the order of sums may show.
    Status compareAsCarried()
    {
        const Precision precision = m_after.training.precision;
        const Result<Transferred> made = transferredTo(m_after, precision);
        if (!made) {
            return made.error();
        }
        // Weights that go on mean what they meant; those that start must start as the plain network.
        const bool goesOn = hasTopologyParameter(made->report.kept) && !hasTopologyParameter(made->report.added);
        if (m_departure && !goesOn && !m_computed) {
            return *m_departure;
        }
        const Result<Distance> exact = distanceIn(Precision::Fp64);
        const Result<Distance> own = precision == Precision::Fp64 ? exact : distanceIn(precision);
        if (!exact || !own) {
            return exact ? own.error() : exact.error();
        }
        if (!(exact->largest <= kSameInDouble * (1 + exact->size))) {
            std::ostringstream text;
            text << "would change the outputs by up to " << exact->largest << " (they reach " << exact->size
                 << "): the run's own, " << m_before.topology.preset << ", computes another function";
            return Error{"topology", text.str()};
        }
        m_ready.differenceInDouble = exact->largest;
        m_ready.difference = own->largest;
        return Done{};
    }

    Status write()
    {
        Result<Transferred> made = transferredTo(m_after, m_after.training.precision);
        if (!made) {
            return made.error();
        }
        const std::int64_t step = m_checkpoint->state.step;
        RunBranch branch;
        branch.parent = m_request.runDirectory;
        branch.step = step;
        branch.directory = m_request.newRun;
        branch.project = m_after;
        branch.steps = m_steps;
        branch.event = {step, RunEventKind::Retrofitted,
                        m_request.runDirectory.filename().string() + ": " + m_before.topology.preset + " to " +
                            m_after.topology.preset};
        // Weights that are made for each token are known once they were made.
        if (const Result<at::Tensor> output = runOn(*made->network, m_after.training.precision); !output) {
            return output.error();
        }
        branch.matrices = made->network->coefficients(step);
        branch.source = {m_opened.projectDirectory, m_opened.data};
        if (m_opened.otherData) {
            branch.events.push_back({step, RunEventKind::OtherData, *m_opened.otherData});
        }
        const Result<std::filesystem::path> written =
            makeBranch(branch, [&](const std::filesystem::path& directory) { return writeWeights(directory, *made); });
        if (!written) {
            return written.error();
        }
        m_ready.runDirectory = *written;
        m_ready.notes = m_opened.notes;
        m_ready.step = step;
        m_ready.kept = std::move(made->report.kept);
        m_ready.added = std::move(made->report.added);
        m_ready.dropped = std::move(made->report.dropped);
        return Done{};
    }

    /// The checkpoint of the new run: the optimiser's state of what is kept is the old one's, byte for byte.
    Status writeWeights(const std::filesystem::path& directory, const Transferred& made)
    {
        const auto optimiser = Optimiser::make(m_after.training, made.network->parameters());
        const HostTensors fresh = optimiser->state();
        const Result<HostTensors> state = made.plan.optimiserState(m_checkpoint->optimiser.tensors(), fresh);
        if (!state) {
            return state.error();
        }
        const HostTensors model = hostTensors(made.network->parameters());
        return writeCheckpoint(directory, m_checkpoint->state, model.stored(), state->stored(), {});
    }

    RetrofitRequest m_request;
    RetrofitReady m_ready;
    std::size_t m_stage = 0;
    OpenedRun m_opened;
    Project m_before;
    Project m_after;
    std::int64_t m_steps = 0;
    std::optional<LoadedCheckpoint> m_checkpoint;
    std::unique_ptr<Dataset> m_dataset;
    std::optional<Error> m_departure; ///< of the new topology from the plain network
    std::optional<TopologyWeights> m_computed;
};

} // namespace

std::unique_ptr<Query> queryFor(const RetrofitRequest& request)
{
    return std::make_unique<RetrofitQuery>(request);
}

} // namespace residua::engine
