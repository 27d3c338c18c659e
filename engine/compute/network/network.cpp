// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/network/network.h"

#include "engine/compute/depth/layer_dropping.h"
#include "engine/compute/depth/layer_wiring.h"
#include "engine/compute/graph/graph_program.h"
#include "engine/compute/network/objectives.h"
#include "engine/compute/runtime/device.h"
#include "engine/compute/runtime/rounded_weights.h"
#include "projects/base/text.h"
#include "projects/cost/cost.h"
#include "projects/depth/depth_parameters.h"
#include "projects/model/parameter_name.h"
#include "projects/nodes/ffn_site.h"
#include "projects/nodes/resolved_graph.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace residua::engine {
namespace {

using projects::Project;
using projects::Shape;

constexpr const char* kLossName = "loss";

/// Returns the factor on the start of the blocks' outputs to the residual: √n under Hyper-Connections (Zhu et al.,
/// section 4.1).
double residualFactor(const Project& project)
{
    const auto* const streams = std::get_if<projects::MultiStream>(&project.stack().topology.wiring);
    const bool scales = streams && streams->scaleOutputs && streams->state == projects::StreamState::Copies;
    return scales ? std::sqrt(static_cast<double>(streams->streams)) : 1;
}

class Network final : public CompiledNetwork {
public:
    Network(const Compute& compute, const Project& project, const projects::ExampleSchema& examples)
        : m_compute(compute),
          m_examples(examples),
          m_objective(objectiveEntryOf(project.network.objective)),
          m_smoothing(projects::traitsOf(project.network.objective).smooths ? project.network.labelSmoothing : 0),
          m_depth(static_cast<std::size_t>(project.network.depth())),
          m_plan(compute, project.initialisation, project.seeds.init, project.stack().evaluatedDepth(),
                 residualFactor(project))
    {
    }

    using CompiledNetwork::forward;

    [[nodiscard]] at::Tensor stackOutput(const DeviceBatch& batch, const Pass& pass) override
    {
        return stackOf(batch.input, passFor(batch, pass)).sum();
    }

    [[nodiscard]] std::vector<BatchMean> lossOf(const at::Tensor& stackOutput, const DeviceBatch& batch,
                                                const Pass& pass) override
    {
        const Pass whole = passFor(batch, pass);
        return lossTerms(headOf({stackOutput, {}}, whole), batch, whole);
    }

    [[nodiscard]] at::Tensor outputOf(const at::Tensor& stackOutput, const DeviceBatch& batch,
                                      const Pass& pass) override
    {
        return headOf({stackOutput, {}}, passFor(batch, pass)).front();
    }

    [[nodiscard]] at::Tensor forward(const DeviceBatch& batch, const Pass& pass) override
    {
        const Pass whole = passFor(batch, pass);
        return headOf(stackOf(batch.input, whole), whole).front();
    }

    [[nodiscard]] at::Tensor loss(const DeviceBatch& batch, const Pass& pass) override
    {
        const Pass whole = passFor(batch, pass);
        std::vector<BatchMean> terms = lossTerms(headOf(stackOf(batch.input, whole), whole), batch, whole);
        if (batch.weight.defined()) {
            terms.front().mean = terms.front().mean * batch.weight;
        }
        at::Tensor loss = sumOf(terms);
        if (pass.training()) {
            for (const Regulariser& regulariser : m_regularisers) {
                loss = loss + regulariser.term(whole);
            }
        }
        return loss;
    }

    [[nodiscard]] BatchQuantities quantities(const DeviceBatch& batch, const Pass& pass) override
    {
        const Pass whole = passFor(batch, pass);
        std::vector<at::Tensor> outputs = headOf(stackOf(batch.input, whole), whole);
        const at::Tensor& output = outputs.front();
        BatchQuantities quantities;
        for (const ObjectiveQuantity& quantity : m_objective.further) {
            if (const at::Tensor mean = quantity.mean(output, batch.target); mean.defined()) {
                quantities.means.push_back({quantity.name, mean, countOf(batch)});
            }
        }
        if (m_objective.confusion != nullptr) {
            quantities.confusion = m_objective.confusion(output, batch.target);
        }
        for (std::size_t i = 1; i < outputs.size(); ++i) {
            const std::string& port = m_head->outputPorts()[i];
            const ObjectiveEntry& labels = objectiveEntryOf(projects::Objective::Classification);
            quantities.means.push_back(
                {port + "_accuracy", labels.further.front().mean(outputs[i], whole.inputs.at(port))});
        }
        std::ranges::move(lossTerms(std::move(outputs), batch, whole), // may overwrite the output
                          std::back_inserter(quantities.means));
        return quantities;
    }

    [[nodiscard]] Status initialise(const PreparationWatch& watch,
                                    const std::function<bool(const std::string& name)>& wanted) override
    {
        return m_plan.fill(watch, wanted);
    }
    [[nodiscard]] InitPlan& initPlan() override { return m_plan; }
    [[nodiscard]] std::vector<LayerUse> layersOf(const Pass& pass) override { return m_dropping->draw(pass); }
    [[nodiscard]] bool drops() const override { return m_drops; }
    void noteTraining(const Pass& pass) override
    {
        m_lastLayers = pass.layers;
        if (m_compute.rounded) {
            m_compute.rounded->refresh();
        }
    }
    [[nodiscard]] std::string withoutKernels() const override { return m_compute.withoutKernels; }
    [[nodiscard]] std::vector<NamedParameter>& parameters() override { return m_plan.all(); }
    [[nodiscard]] std::vector<Matrix> coefficients(std::int64_t step) override
    {
        std::vector<Matrix> matrices = m_wiring->coefficients(step);
        if (!m_lastLayers.empty()) {
            matrices.push_back(activeLayers(m_lastLayers, step));
        }
        return matrices;
    }

private:
    friend class NetworkCompiler;

    /// Returns the output of the stack. The pass must define the use of the layers.
    [[nodiscard]] Residual stackOf(const at::Tensor& input, const Pass& pass)
    {
        const bool tokens = m_examples.input().isTokens();
        const at::Tensor entering[] = {tokens ? input : input.to(m_compute.parameterType)};
        return m_wiring->run(m_stem->run(entering, pass), pass);
    }

    /// Returns the head's outputs in the order of its ports: the network's output, and those for further labels.
    [[nodiscard]] std::vector<at::Tensor> headOf(const Residual& stackOutput, const Pass& pass)
    {
        return m_head->runAll(stackOutput, pass);
    }

    /// Returns the number of targets that the objective is a mean over; undefined if it is every unit.
    [[nodiscard]] at::Tensor countOf(const DeviceBatch& batch) const
    {
        return m_objective.count == nullptr ? at::Tensor() : m_objective.count(batch.target);
    }

    /// Returns the objective of the output, then the cross-entropy of each further label. The pass has the labels.
    [[nodiscard]] std::vector<BatchMean> lossTerms(std::vector<at::Tensor> outputs, const DeviceBatch& batch,
                                                   const Pass& pass) const
    {
        std::vector<BatchMean> terms;
        terms.push_back(
            {kLossName, m_objective.loss(std::move(outputs.front()), batch.target, m_smoothing, pass), countOf(batch)});
        for (std::size_t i = 1; i < outputs.size(); ++i) {
            terms.push_back(
                {kLossName, objectiveEntryOf(projects::Objective::Classification)
                                .loss(std::move(outputs[i]), pass.inputs.at(m_head->outputPorts()[i]), 0, pass)});
        }
        return terms;
    }

    [[nodiscard]] static at::Tensor sumOf(const std::vector<BatchMean>& terms)
    {
        at::Tensor sum = terms.front().mean;
        for (std::size_t i = 1; i < terms.size(); ++i) {
            sum = sum + terms[i].mean;
        }
        return sum;
    }

    /// Returns the pass with the batch's conditions as its inputs, and with the document's use of its layers unless the
    /// caller has set them.
    [[nodiscard]] Pass passFor(const DeviceBatch& batch, const Pass& pass)
    {
        Pass inside = pass;
        inside.inputs.insert(batch.conditions.begin(), batch.conditions.end());
        inside.draws = batch.draws.defined() ? batch.draws : pass.draws;
        if (pass.layers.empty()) {
            inside.layers = layersOf(pass);
        }
        if (pass.alteration && !pass.alteration->off.empty()) {
            inside.layers.resize(m_depth);
            for (const auto& [layer, part] : pass.alteration->off) {
                LayerUse& use = inside.layers.at(static_cast<std::size_t>(layer) - 1);
                use.runs &= part != projects::LayerPart::Whole;
                use.attention &= part != projects::LayerPart::Attention;
                use.feedForward &= part != projects::LayerPart::Ffn;
            }
        }
        if (pass.alteration && !pass.alteration->visits.empty()) {
            inside.layers.resize(m_depth);
            m_dropping->setVisits(inside.layers, pass.alteration->visits);
        }
        if (pass.training()) {
            noteTraining(inside);
        }
        return inside;
    }

    Compute m_compute;
    projects::ExampleSchema m_examples;
    const ObjectiveEntry& m_objective;
    double m_smoothing;  ///< of labels, in training and evaluation alike
    std::size_t m_depth; ///< L
    std::vector<Regulariser> m_regularisers;
    std::optional<GraphProgram> m_stem;
    std::optional<LayerDropping> m_dropping;
    std::unique_ptr<LayerWiring> m_wiring;
    std::optional<GraphProgram> m_head;
    InitPlan m_plan;
    bool m_drops = false;               ///< true if one of its operators does
    std::vector<LayerUse> m_lastLayers; ///< of the last training pass; empty if it ran all
};

class NetworkCompiler {
public:
    NetworkCompiler(const Project& project, const projects::ExampleSchema& examples, const Compute& compute)
        : m_project(project),
          m_examples(examples),
          m_compute(compute),
          m_network(std::make_unique<Network>(compute, project, examples))
    {
    }

    Result<std::unique_ptr<CompiledNetwork>> run()
    {
        Result<projects::Sizes> sizes = sizesOf();
        if (!sizes) {
            return sizes.error();
        }
        m_sizes = std::move(*sizes);
        for (const auto part : {&NetworkCompiler::addStem, &NetworkCompiler::addStack, &NetworkCompiler::addHead}) {
            if (const Status added = (this->*part)(); !added) {
                return added.error();
            }
        }
        decayProducts();
        if (m_compute.rounded) {
            for (const NamedParameter& parameter : m_network->m_plan.all()) {
                m_compute.rounded->add(parameter.tensor);
            }
        }
        return std::unique_ptr<CompiledNetwork>(std::move(m_network));
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
        for (const FactoredWeight& weight : m_network->m_plan.factored()) {
            std::vector<NamedParameter>& all = m_network->m_plan.all();
            products.push_back({{{}, all[weight.u].tensor, all[weight.v].tensor},
                                m_project.stack().visitsOf(projects::parameterNameFrom(weight.name).layer)});
            if (training.factorDecay == projects::FactorDecay::Product) {
                all[weight.u].decay = Decay::No;
                all[weight.v].decay = Decay::No;
            }
        }
        if (training.factorDecay != projects::FactorDecay::Product || products.empty()) {
            return;
        }
        m_network->m_regularisers.push_back({[products, factor = training.frobeniusDecay / 2](const Pass& pass) {
            return sumOfRunning(products, pass.layers) * factor;
        }});
    }

    /// Returns the document's sizes; an error if the data do not match them.
    [[nodiscard]] Result<projects::Sizes> sizesOf() const
    {
        const std::vector<projects::ExampleField> expected = projects::examplesOf(m_project.data).fields;
        const auto same = [](const projects::ExampleField& a, const projects::ExampleField& b) {
            return a.role == b.role && a.shape == b.shape;
        };
        if (!std::ranges::equal(expected, m_examples.fields, same)) {
            return Error{"data", "the data and the document disagree on the fields of the examples"};
        }
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const projects::ExampleField& field = m_examples.fields[i];
            if (expected[i].vocabulary < field.vocabulary) {
                return Error{"data · vocabulary", "the data has " + std::to_string(field.vocabulary) + " different " +
                                                      field.name + ", the document " +
                                                      std::to_string(expected[i].vocabulary)};
            }
        }
        return projects::sizesOf(m_project);
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
    [[nodiscard]] Result<GraphProgram> compile(const projects::Graph& graph, const projects::GraphRef& ref,
                                               const std::string& prefix, const Shape& entering,
                                               std::set<projects::NodeId> residualWriters,
                                               std::set<projects::NodeId> scaled = {},
                                               std::optional<projects::HalfEnds> halves = {})
    {
        GraphSetting setting{.ref = ref,
                             .prefix = prefix,
                             .sizes = m_sizes,
                             .entering = entering,
                             .fedByPass = m_examples.conditions(),
                             .residualWriters = std::move(residualWriters),
                             .halves = halves,
                             .scaled = std::move(scaled),
                             .startFactor =
                                 ref.isStem() || ref.isHead() ? 1 : projects::postNormFactors(m_project.stack()).start,
                             .plan = m_network->m_plan,
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
            m_network->m_drops |= std::ranges::any_of(program->operators(), &Operator::drops);
        }
        return program;
    }

    /// Returns the declared weight of a node.
    [[nodiscard]] at::Tensor declared(const std::string& prefix, const projects::Node& node)
    {
        const std::string name = prefix + node.name + ".weight";
        return std::ranges::find(m_network->m_plan.all(), name, &NamedParameter::name)->tensor;
    }

    /// Returns the shape of the inputs of layers and head: that of the stem's output.
    [[nodiscard]] const Shape& inside() const { return m_network->m_stem->outputShape(); }

    [[nodiscard]] Status addStem()
    {
        Result<GraphProgram> stem =
            compile(projects::GraphRef::stem(), projects::kStemPrefix, m_examples.input().shape);
        if (!stem) {
            return stem.error();
        }
        if (const Shape expected = projects::stackShapeOf(m_project); stem->outputShape() != expected) {
            return Error{"stem", "ends with " + stem->outputShape().text() + ", expected " + expected.text()};
        }
        m_network->m_stem = std::move(*stem);
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

    [[nodiscard]] Status addStack()
    {
        std::vector<GraphProgram> programs;
        for (std::int64_t layer = 1; layer <= m_project.stack().stored(); ++layer) {
            const std::string place = textOf(projects::ParameterName{projects::NetworkPart::Layers, layer, {}});
            const projects::Block* const block = m_project.network.blockOfStored(layer);
            if (!block) {
                return Error{place, "its block does not exist"};
            }
            const Result<std::vector<projects::Graph>> parts =
                projects::graphsAsRun(m_project.stack().topology.wiring, *block);
            if (!parts) {
                return parts.error();
            }
            const auto halves = parts->size() == 1 ? projects::halfEndsOf(*block) : std::nullopt;
            for (const projects::Graph& part : *parts) {
                Result<GraphProgram> program =
                    compile(part, projects::GraphRef::block(block->name), place + ".", inside(),
                            projects::residualWriters(block->graph), scaledInside(*block), halves);
                if (!program) {
                    return program.error();
                }
                if (program->outputShape() != inside()) {
                    return Error{"block " + block->name,
                                 "ends with " + program->outputShape().text() + ", expected " + inside().text()};
                }
                programs.push_back(std::move(*program));
            }
        }
        LayerStack layers(std::move(programs), m_project.stack(), m_project.training.activations, m_compute.sums);
        Result<std::unique_ptr<LayerWiring>> wiring =
            LayerWiring::create(m_project.stack(), std::move(layers), m_network->m_plan);
        if (!wiring) {
            return wiring.error();
        }
        m_network->m_wiring = std::move(*wiring);
        m_network->m_regularisers = m_network->m_wiring->regularisers();
        m_network->m_dropping.emplace(m_project);
        return Done{};
    }

    [[nodiscard]] Status addHead()
    {
        Result<GraphProgram> head = compile(projects::GraphRef::head(), projects::kHeadPrefix, inside());
        if (!head) {
            return head.error();
        }
        if (const Shape expected = projects::examplesOf(m_project.data).output(); head->outputShape() != expected) {
            return Error{"head", "ends with " + head->outputShape().text() + ", expected " + expected.text()};
        }
        std::vector<std::string> ports{projects::kOutputPort};
        for (const auto& [port, shape] : projects::examplesOf(m_project.data).furtherOutputs()) {
            ports.push_back(port);
        }
        if (head->outputPorts() != ports) {
            return Error{"head",
                         "has the outputs " + joinedText(head->outputPorts()) + ", expected " + joinedText(ports)};
        }
        if (const projects::Node* const norm = projects::headNormOf(m_project.network)) {
            const Result<projects::ParamMap> params = projects::evaluateParams(*norm, m_sizes);
            const at::Tensor weight = declared(projects::kHeadPrefix, *norm);
            m_network->m_wiring->setHeadNorm(
                {kernels::NormKind::rms, weight, {}, projects::paramDouble(*params, "epsilon")});
        }
        m_network->m_head = std::move(*head);
        return Done{};
    }

    const Project& m_project;
    const projects::ExampleSchema& m_examples;
    Compute m_compute;
    projects::Sizes m_sizes;
    RotaryTables m_rotaryTables;
    std::unique_ptr<Network> m_network;
};

/// Checks the size before allocating, because the kernel may overcommit memory and kill the process later.
Status checkWeights(const projects::SoundProject& project, const std::string& device)
{
    const Result<c10::Device> opened = openDevice(device);
    if (!opened) {
        return opened.error();
    }
    const double needed = projects::costOf(project).total.weightBytes;
    const auto there = static_cast<double>(memoryOf(*opened).totalBytes);
    if (there > 0 && needed > there) {
        return Error{"device " + device, "the weights alone take " + bytesText(needed) + ", the device has " +
                                             bytesText(there) + " of memory in all: make the network smaller"};
    }
    return Done{};
}

} // namespace

Result<std::unique_ptr<CompiledNetwork>> CompiledNetwork::compile(const Project& project,
                                                                  const projects::ExampleSchema& examples,
                                                                  const std::string& device, SumOrder sums)
{
    if (const Result<projects::SoundProject> sound = projects::soundProject(project); !sound) {
        return sound.error();
    } else if (const Status fits = checkWeights(*sound, device); !fits) {
        return fits.error();
    }
    Result<Compute> compute = Compute::create(device, project.training.precision, projects::carriedPrecision(project));
    if (!compute) {
        return compute.error();
    }
    compute->sums = sums;
    return NetworkCompiler(project, examples, *compute).run();
}

} // namespace residua::engine
