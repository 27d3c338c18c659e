// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/network/tower.h"

#include "engine/compute/network/network.h"
#include "projects/base/mapped.h"
#include "projects/base/text.h"
#include "projects/depth/depth_parameters.h"
#include "projects/model/parameter_name.h"
#include "projects/nodes/ffn_site.h"
#include "projects/nodes/resolved_graph.h"
#include "projects/schedule/stage_schedule.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/log_sigmoid.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

namespace residua::engine {
namespace {

using projects::Project;
using projects::Shape;

/// Returns the factor on the start of the blocks' outputs to the residual: √n under Hyper-Connections (Zhu et al.,
/// section 4.1).
double residualFactor(const Project& project)
{
    const auto* const streams = std::get_if<projects::MultiStream>(&project.stack().topology.wiring);
    const bool scales = streams && streams->scaleOutputs && streams->state == projects::StreamState::Copies;
    return scales ? std::sqrt(static_cast<double>(streams->streams)) : 1;
}

} // namespace

class TowerCompiler {
public:
    TowerCompiler(const Project& view, const projects::ExampleSchema& examples, const std::string& scope,
                  InitPlan& plan, RotaryTables& rotaryTables)
        : m_project(view),
          m_scope(scope),
          m_conditions(projects::conditionsOf(view)),
          m_plan(plan),
          m_rotaryTables(rotaryTables),
          m_tower(new CompiledTower(view, examples, plan.compute()))
    {
    }

    Result<std::unique_ptr<CompiledTower>> run()
    {
        m_sizes = RESIDUA_TRY(projects::sizesOf(m_project));
        const bool isShared = !m_project.network.weights.empty();
        m_plan.enter(m_scope, {m_project.stack().evaluatedDepth(), residualFactor(m_project)},
                     isShared ? InitPlan::Weights::Shared : InitPlan::Weights::Own);
        m_tower->m_parameters.first = m_plan.all().size();
        for (const auto part : {&TowerCompiler::addStem, &TowerCompiler::addStack, &TowerCompiler::addHead}) {
            RESIDUA_TRY((this->*part)());
        }
        m_tower->m_parameters.second = m_plan.all().size();
        decayProducts();
        if (isShared) {
            m_tower->m_regularisers.clear(); // those of the tower that has the weights count once
        }
        return std::move(m_tower);
    }

private:
    /// A product with weight decay, and the executed layers that use it; none if it belongs to no layer.
    struct DecayedProduct {
        Weight weight;
        std::vector<std::int64_t> layers;
    };

    /// Returns Σ ‖u·v‖_F² of the weights that the pass runs: a layer that it leaves out, or that does not exist yet,
    /// gets no gradient.
    [[nodiscard]] static at::Tensor sumOfRunning(const std::vector<DecayedProduct>& products,
                                                 const std::vector<LayerUse>& layers)
    {
        at::Tensor sum = at::zeros({}, products.front().weight.u.options().requires_grad(false));
        for (const DecayedProduct& product : products) {
            if (product.layers.empty() || layers.empty() || anyRuns(product.layers, layers)) {
                sum = sum + squaredNorm(product.weight);
            }
        }
        return sum;
    }

    /// Adds Frobenius decay, λ/2·‖u·v‖_F² of each factored weight that runs, to the objective, and excludes the factors
    /// from weight decay.
    void decayProducts()
    {
        const projects::TrainingPlan& training = m_project.training;
        std::vector<DecayedProduct> products;
        for (const FactoredWeight& weight : m_plan.factored()) {
            if (weight.v < m_tower->m_parameters.first) {
                continue; // of another tower
            }
            std::vector<NamedParameter>& all = m_plan.all();
            const std::string_view name = std::string_view(weight.name).substr(m_scope.size());
            products.push_back({{{}, all[weight.u].tensor, all[weight.v].tensor},
                                m_project.stack().visitsOf(projects::parameterNameFrom(name).layer)});
            if (training.factorDecay == projects::FactorDecay::Product) {
                all[weight.u].decay = Decay::No;
                all[weight.v].decay = Decay::No;
            }
        }
        if (training.factorDecay != projects::FactorDecay::Product || products.empty()) {
            return;
        }
        m_tower->m_regularisers.push_back({[products, factor = training.frobeniusDecay / 2](const Pass& pass) {
            return sumOfRunning(products, pass.layers) * factor;
        }});
    }

    [[nodiscard]] Result<GraphProgram> compile(const projects::GraphRef& ref, const std::string& prefix,
                                               const Shape& entering)
    {
        const projects::Graph* const graph = projects::findGraph(m_project, ref);
        if (!graph) {
            return Error{placeOf(ref), "there is no such graph"};
        }
        return compile(projects::graphAsRun(m_project.stack().topology.wiring, *graph), ref, prefix, entering, {});
    }

    /// Compiles one graph of the network.
    [[nodiscard]] Result<GraphProgram>
    compile(const projects::Graph& graph, const projects::GraphRef& ref, const std::string& prefix,
            const Shape& entering, std::set<projects::NodeId> residualWriters, std::set<projects::NodeId> scaled = {},
            std::optional<projects::HalfEnds> halves = {}, double depth = 0, projects::VisitAdapters adapters = {})
    {
        GraphSetting setting{.ref = ref,
                             .prefix = m_scope + prefix,
                             .sizes = m_sizes,
                             .entering = entering,
                             .fedByPass = m_conditions,
                             .residualWriters = std::move(residualWriters),
                             .halves = halves,
                             .scaled = std::move(scaled),
                             .startFactor =
                                 ref.isStem() || ref.isHead() ? 1 : projects::postNormFactors(m_project.stack()).start,
                             .depth = depth,
                             .adapters = adapters,
                             .plan = m_plan,
                             .rotaryTables = m_rotaryTables,
                             .tiedNode = {},
                             .tied = {}};
        if (const auto tied = projects::tiedNodes(m_project.network); tied && ref.isHead()) {
            setting.tiedNode = tied->linear;
            const projects::Graph& stem = *projects::findGraph(m_project, projects::GraphRef::stem());
            setting.tied = declared(projects::kStemPrefix, *stem.find(tied->embedding));
        }
        Result<GraphProgram> program = GraphProgram::compile(graph, setting);
        if (program) {
            m_tower->m_drops |= std::ranges::any_of(program->operators(), &Operator::drops);
        }
        return program;
    }

    /// Returns the declared weight of a node.
    [[nodiscard]] at::Tensor declared(const std::string& prefix, const projects::Node& node)
    {
        const std::string name = m_scope + prefix + node.name + ".weight";
        return std::ranges::find(m_plan.all(), name, &NamedParameter::name)->tensor;
    }

    /// Returns the shape of the inputs of layers and head: that of the stem's output.
    [[nodiscard]] const Shape& inside() const { return m_tower->m_stem->outputShape(); }

    [[nodiscard]] Status addStem()
    {
        GraphProgram stem = RESIDUA_TRY(
            compile(projects::GraphRef::stem(), projects::kStemPrefix, projects::enteringShapeOf(m_project)));
        if (const Shape expected = projects::stackShapeOf(m_project); stem.outputShape() != expected) {
            return Error{"stem", "ends with " + stem.outputShape().text() + ", expected " + expected.text()};
        }
        m_tower->m_stem = std::move(stem);
        for (const std::string& port : m_tower->m_stem->outputPorts()) {
            if (port != projects::kOutputPort) {
                m_tower->m_stemValues.push_back(projects::valueOf(m_project.network, port));
            }
        }
        return Done{};
    }

    /// Returns the nodes of a layer whose outputs are multiplied by 1/p (PLD, algorithm 2): a and f of a block with
    /// both halves, if they run together. If empty, the factor applies to the branch, or to the half that runs.
    [[nodiscard]] std::set<projects::NodeId> scaledInside(const projects::Block& block) const
    {
        const bool byProbability = m_project.stack().schedule.scaling == projects::DropScaling::InverseProbability;
        if (!byProbability || projects::grows(m_project.stack().schedule) ||
            projects::splitsLayers(m_project.stack().topology.wiring)) {
            return {};
        }
        const std::optional<projects::HalfEnds> ends = projects::halfEndsOf(block);
        return ends ? std::set{ends->attention, ends->feedForward} : std::set<projects::NodeId>();
    }

    /// Adds the program of a visit to a stored layer, or those of its halves.
    [[nodiscard]] Status addLayer(const projects::LayerVisit& at, std::vector<GraphProgram>& programs)
    {
        const std::string place = textOf(projects::ParameterName{projects::NetworkPart::Layers, at.layer, {}});
        const projects::Block* const block = m_project.network.blockOfStored(at.layer);
        if (!block) {
            return Error{place, "its block does not exist"};
        }
        const std::vector<projects::Graph> parts =
            RESIDUA_TRY(projects::graphsAsRun(m_project.stack().topology.wiring, *block));
        const auto halves = parts.size() == 1 ? projects::halfEndsOf(*block) : std::nullopt;
        for (const projects::Graph& part : parts) {
            GraphProgram program = RESIDUA_TRY(compile(
                part, projects::GraphRef::block(block->name), place + ".", inside(),
                projects::residualWriters(block->graph), scaledInside(*block), halves,
                projects::depthOfStored(m_project.stack(), at.layer), projects::adaptersAt(m_project.stack(), at)));
            if (program.outputShape() != inside()) {
                return Error{"block " + block->name,
                             "ends with " + program.outputShape().text() + ", expected " + inside().text()};
            }
            programs.push_back(std::move(program));
        }
        return Done{};
    }

    [[nodiscard]] Status addStack()
    {
        std::vector<GraphProgram> programs;
        const projects::Stack& stack = m_project.stack();
        for (std::int64_t layer = 1; layer <= stack.stored(); ++layer) {
            RESIDUA_TRY(addLayer({layer, 1}, programs));
        }
        const InitPlan::Weights own = m_plan.weights();
        if (own == InitPlan::Weights::Own) { // visits share all but what they add
            m_plan.share(InitPlan::Weights::Visits);
        }
        for (const projects::LayerVisit& at : projects::executionOf(stack)) {
            if (at.visit > 1 && projects::adaptersAt(stack, at).rank > 0) {
                RESIDUA_TRY(addLayer(at, programs));
            }
        }
        m_plan.share(own);
        LayerStack layers(std::move(programs), m_project.stack(), m_project.training.activations,
                          m_plan.compute().sums);
        m_tower->m_wiring = RESIDUA_TRY(LayerWiring::create(m_project.stack(), std::move(layers), m_plan));
        m_tower->m_exits = projects::usedExits(m_project, m_project.network);
        auto exits = mapped(m_tower->m_exits, &projects::UsedExit::layer);
        m_tower->m_wiring->keepExits(exits);
        m_tower->m_regularisers = m_tower->m_wiring->regularisers();
        m_tower->m_dropping.emplace(m_project);
        m_tower->m_drops |= std::ranges::any_of(m_project.stack().loops, [](const projects::Loop& loop) {
            return loop.start == projects::LoopStart::Noise;
        });
        return Done{};
    }

    [[nodiscard]] Status addHead()
    {
        GraphProgram head = RESIDUA_TRY(compile(projects::GraphRef::head(), projects::kHeadPrefix, inside()));
        const projects::ExampleSchema examples = projects::examplesOf(m_project);
        if (m_project.network.ownLoss != projects::OwnLoss::None) {
            if (const Shape expected = examples.output(); head.outputShape() != expected) {
                return Error{"head", "ends with " + head.outputShape().text() + ", expected " + expected.text()};
            }
            for (const auto& [port, shape] : examples.furtherOutputs()) {
                const auto found = std::ranges::find(head.outputPorts(), port);
                if (found == head.outputPorts().end()) {
                    return Error{"head", "has the outputs " + joinedText(head.outputPorts()) +
                                             ", expected one at the port " + port};
                }
                m_tower->m_labels.push_back(static_cast<std::size_t>(found - head.outputPorts().begin()));
            }
        }
        if (const projects::Node* const norm = projects::headNormOf(m_project.network)) {
            const Result<projects::ParamMap> params = projects::evaluateParams(*norm, m_sizes);
            const at::Tensor weight = declared(projects::kHeadPrefix, *norm);
            m_tower->m_wiring->setHeadNorm(
                {kernels::NormKind::rms, weight, {}, projects::paramDouble(*params, "epsilon")});
        }
        m_tower->m_head = std::move(head);
        return Done{};
    }

    const Project& m_project;
    std::string m_scope;
    std::map<std::string, Shape> m_conditions; ///< what ports of graphs may read beside the entries
    projects::Sizes m_sizes;
    InitPlan& m_plan;
    RotaryTables& m_rotaryTables;
    std::unique_ptr<CompiledTower> m_tower;
};

Result<std::unique_ptr<CompiledTower>> CompiledTower::compile(const Project& view,
                                                              const projects::ExampleSchema& examples,
                                                              const std::string& scope, InitPlan& plan,
                                                              RotaryTables& rotaryTables)
{
    return TowerCompiler(view, examples, scope, plan, rotaryTables).run();
}

CompiledTower::CompiledTower(const Project& view, const projects::ExampleSchema& examples, const Compute& compute)
    : m_network(view.network),
      m_parameterType(compute.parameterType),
      m_takesTokens(view.network.input.empty() && examples.input().isTokens()),
      m_objective(&objectiveEntryOf(view.network.objective)),
      m_smoothing(projects::traitsOf(view.network.objective).smooths ? view.network.labelSmoothing : 0)
{
    if (projects::traitsOf(view.network.objective).diffuses) {
        m_diffusion = std::make_unique<DiffusionLoss>(view.data.diffusion);
    }
}

LossInputs CompiledTower::lossInputs(const DeviceBatch& batch) const
{
    return {batch.target, batch.input, m_smoothing, m_diffusion.get()};
}

bool CompiledTower::drawsLayers() const
{
    const projects::Stack& stack = m_network.stack();
    return !projects::trainsAll(stack.schedule) || std::ranges::any_of(stack.loops, [](const projects::Loop& loop) {
        return loop.draw != projects::VisitDraw::All;
    });
}

void CompiledTower::alter(Pass& pass) const
{
    if (!pass.alteration || (pass.alteration->off.empty() && pass.alteration->visits.empty())) {
        return;
    }
    pass.layers.resize(static_cast<std::size_t>(m_network.depth()));
    for (const auto& [layer, part] : pass.alteration->off) {
        LayerUse& use = pass.layers.at(static_cast<std::size_t>(layer) - 1);
        use.runs &= part != projects::LayerPart::Whole;
        use.attention &= part != projects::LayerPart::Attention;
        use.feedForward &= part != projects::LayerPart::Ffn;
    }
    if (!pass.alteration->visits.empty()) {
        m_dropping->setVisits(pass.layers, pass.alteration->visits);
    }
}

at::Tensor CompiledTower::stem(const at::Tensor& input, Pass& pass)
{
    const at::Tensor entering[] = {m_takesTokens ? input : input.to(m_parameterType)};
    std::vector<at::Tensor> outputs = m_stem->runAll(entering, pass);
    for (std::size_t i = 0; i < m_stemValues.size(); ++i) {
        pass.inputs.insert_or_assign(m_stemValues[i], outputs[i + 1]);
    }
    return std::move(outputs.front());
}

Residual CompiledTower::states(const at::Tensor& input, Pass& pass, std::vector<at::Tensor>* exits)
{
    const at::Tensor entering = stem(input, pass);
    return m_wiring->run(entering, pass, exits);
}

at::Tensor CompiledTower::logExitShares(const std::vector<at::Tensor>& exits) const
{
    const projects::Stack& stack = m_network.stack();
    const std::optional<std::size_t> gated = projects::gatedLoop(stack);
    if (!gated) {
        return {};
    }
    const projects::Loop& loop = stack.loops[*gated];
    std::vector<at::Tensor> shares;
    at::Tensor stays; // ln Π (1 − λ) of the visits so far
    for (std::int64_t visit = 1; visit < loop.visits; ++visit) {
        const std::int64_t layer = stack.numberOf({loop.last, visit});
        const auto at = std::ranges::find(m_exits, layer, &projects::UsedExit::layer) - m_exits.begin();
        const at::Tensor logit = m_wiring->exitLogit(*gated, exits[static_cast<std::size_t>(at)]);
        const at::Tensor leaves = at::log_sigmoid(logit);
        shares.push_back(stays.defined() ? stays + leaves : leaves);
        stays = stays.defined() ? stays + at::log_sigmoid(-logit) : at::log_sigmoid(-logit);
    }
    shares.push_back(stays);
    return at::stack(shares, -1);
}

std::vector<at::Tensor> CompiledTower::outputs(const Residual& states, const Pass& pass)
{
    return m_head->runAll(states, pass);
}

std::vector<at::Tensor> CompiledTower::regularisers(const Pass& pass) const
{
    return mapped(m_regularisers, [&](const Regulariser& regulariser) { return regulariser.term(pass); });
}

std::vector<Matrix> CompiledTower::coefficients(std::int64_t step)
{
    std::vector<Matrix> matrices = m_wiring->coefficients(step);
    if (!m_lastLayers.empty()) {
        matrices.push_back(activeLayers(m_lastLayers, step));
    }
    return matrices;
}

} // namespace residua::engine
