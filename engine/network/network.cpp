// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/network/network.h"

#include "engine/depth/trunk.h"
#include "engine/graph/graph_program.h"
#include "engine/graph/layer_norms.h"
#include "engine/ops/loss.h"
#include "engine/runtime/device.h"
#include "projects/cost/cost.h"
#include "projects/nodes/ffn_site.h"
#include "projects/nodes/resolved_graph.h"

#include <ATen/TensorOperators.h>

#include <algorithm>
#include <optional>

namespace residua::engine {
namespace {

using projects::Project;
using projects::Shape;

class Network final : public CompiledNetwork {
public:
    Network(const Compute& compute, projects::Objective objective) : m_compute(compute), m_objective(objective) {}

    [[nodiscard]] at::Tensor forward(const at::Tensor& input) override
    {
        const bool tokens = input.scalar_type() == at::kLong;
        const at::Tensor entering[] = {tokens ? input : input.to(m_compute.parameterType)};
        const at::Tensor inside[] = {m_trunk->run(m_stem->run(entering, m_mode), m_mode)};
        return m_head->run(inside, m_mode);
    }

    [[nodiscard]] at::Tensor loss(const DeviceBatch& batch) override
    {
        at::Tensor loss = objective(m_objective, forward(batch.input), batch.target);
        if (m_mode == Mode::Train) {
            if (const at::Tensor regulariser = m_trunk->regulariser(); regulariser.defined()) {
                loss = loss + regulariser;
            }
        }
        return loss;
    }

    void setTraining(bool training) override { m_mode = training ? Mode::Train : Mode::Evaluate; }
    [[nodiscard]] std::vector<NamedParameter>& parameters() override { return m_parameters; }
    [[nodiscard]] std::vector<Matrix> coefficients(std::int64_t step) override { return m_trunk->coefficients(step); }
    void watchNorms(bool on) override { m_norms->watch(on); }
    [[nodiscard]] std::optional<Matrix> norms(std::int64_t step) const override { return m_norms->matrix(step); }

private:
    friend class NetworkCompiler;

    Compute m_compute;
    projects::Objective m_objective;
    Mode m_mode = Mode::Train;
    std::shared_ptr<LayerNorms> m_norms = std::make_shared<LayerNorms>();
    std::optional<GraphProgram> m_stem;
    std::unique_ptr<Trunk> m_trunk;
    std::optional<GraphProgram> m_head;
    std::vector<NamedParameter> m_parameters;
};

class NetworkCompiler {
public:
    NetworkCompiler(const Project& project, const DataShape& data, const Compute& compute)
        : m_project(project),
          m_data(data),
          m_compute(compute),
          m_parameters(compute, project.initialisation, project.seeds.init, project.network.depth())
    {
    }

    Result<std::unique_ptr<CompiledNetwork>> run()
    {
        Result<projects::Sizes> sizes = sizesOf();
        if (!sizes) {
            return sizes.error();
        }
        m_sizes = std::move(*sizes);
        auto network = std::make_unique<Network>(m_compute, m_project.network.objective);
        for (const auto part : {&NetworkCompiler::addStem, &NetworkCompiler::addTrunk, &NetworkCompiler::addHead}) {
            if (const Status added = (this->*part)(*network); !added) {
                return added.error();
            }
        }
        network->m_parameters = std::move(m_parameters.all());
        return std::unique_ptr<CompiledNetwork>(std::move(network));
    }

private:
    /// The document's sizes, which the data must agree with.
    [[nodiscard]] Result<projects::Sizes> sizesOf() const
    {
        if (projects::isLanguage(m_project.data) != m_data.language) {
            return Error{"data", "the data and the document disagree on whether examples are tokens or vectors"};
        }
        Result<projects::Sizes> sizes = projects::sizesOf(m_project);
        if (!sizes) {
            return sizes;
        }
        if (m_data.language && sizes->named.at("vocab") < m_data.vocabulary) {
            return Error{"data · vocabulary", "the data has " + std::to_string(m_data.vocabulary) +
                                                  " different tokens, the document " +
                                                  std::to_string(sizes->named.at("vocab"))};
        }
        return sizes;
    }

    [[nodiscard]] Result<GraphProgram> compile(const projects::GraphRef& ref, const std::string& prefix,
                                               const Shape& entering)
    {
        const projects::Graph* const graph = projects::findGraph(m_project, ref);
        if (!graph) {
            return Error{ref, "there is no such graph"};
        }
        return compile(*graph, ref, prefix, entering, projects::Activations::Keep);
    }

    [[nodiscard]] Result<GraphProgram> compile(projects::Graph graph, const projects::GraphRef& ref,
                                               const std::string& prefix, const Shape& entering,
                                               projects::Activations activations)
    {
        const auto* const mix = std::get_if<projects::DepthMix>(&m_project.topology.wiring);
        for (projects::Node& node : graph.nodes) {
            if (mix && mix->separateNorms) {
                node.params.erase("share");
            }
        }
        GraphSetting setting{.ref = ref,
                             .prefix = prefix,
                             .sizes = m_sizes,
                             .entering = entering,
                             .parameters = m_parameters,
                             .rotaryTables = m_rotaryTables,
                             .activations = activations,
                             .tiedNode = {},
                             .tied = {}};
        if (const auto tied = projects::tiedNodes(m_project.network); tied && ref == "head") {
            setting.tiedNode = tied->linear;
            setting.tied = tableOf(*projects::findGraph(m_project, "stem")->find(tied->embedding));
        }
        return GraphProgram::compile(graph, setting);
    }

    [[nodiscard]] at::Tensor tableOf(const projects::Node& embedding)
    {
        const std::string name = "stem." + embedding.name + ".weight";
        return std::ranges::find(m_parameters.all(), name, &NamedParameter::name)->tensor;
    }

    /// What enters the layers and the head.
    [[nodiscard]] Shape inside() const
    {
        const std::int64_t width = m_project.network.width;
        return m_data.language ? Shape{{projects::kBatch, projects::kTime, width}} : Shape{{projects::kBatch, width}};
    }

    [[nodiscard]] Status addStem(Network& network)
    {
        const Shape entering = m_data.language ? Shape{{projects::kBatch, projects::kTime}, projects::Element::Token}
                                               : Shape{{projects::kBatch, m_data.inputs}};
        Result<GraphProgram> stem = compile("stem", "stem.", entering);
        if (!stem) {
            return stem.error();
        }
        if (stem->outputShape() != inside()) {
            return Error{"stem", "ends with " + stem->outputShape().text() + ", expected " + inside().text()};
        }
        network.m_stem = std::move(*stem);
        return Done{};
    }

    /// What a layer of the block runs as: its graph, or the two halves of it.
    [[nodiscard]] Result<std::vector<projects::Graph>> partsOf(const projects::Block& block) const
    {
        const auto* const mix = std::get_if<projects::DepthMix>(&m_project.topology.wiring);
        if (!mix || !projects::splitsLayers(*mix)) {
            return std::vector{block.graph};
        }
        Result<projects::BlockHalves> halves = projects::splitAtFfn(block);
        if (!halves) {
            return halves.error();
        }
        return std::vector{std::move(halves->attention), std::move(halves->feedForward)};
    }

    [[nodiscard]] Status addTrunk(Network& network)
    {
        std::vector<GraphProgram> layers;
        for (std::int64_t layer = 1; layer <= m_project.network.depth(); ++layer) {
            const std::string place = "layers." + std::to_string(layer);
            const projects::Block* const block = m_project.network.blockOfLayer(layer);
            if (!block) {
                return Error{place, "its block does not exist"};
            }
            const Result<std::vector<projects::Graph>> parts = partsOf(*block);
            if (!parts) {
                return parts.error();
            }
            for (const projects::Graph& part : *parts) {
                Result<GraphProgram> program =
                    compile(part, "block:" + block->name, place + ".", inside(), m_project.training.activations);
                if (!program) {
                    return program.error();
                }
                if (program->outputShape() != inside()) {
                    return Error{"block " + block->name,
                                 "ends with " + program->outputShape().text() + ", expected " + inside().text()};
                }
                program->tell(network.m_norms);
                layers.push_back(std::move(*program));
            }
        }
        Result<std::unique_ptr<Trunk>> trunk =
            Trunk::create(m_project.topology.wiring, std::move(layers), m_project.network.width, m_parameters);
        if (!trunk) {
            return trunk.error();
        }
        network.m_trunk = std::move(*trunk);
        return Done{};
    }

    [[nodiscard]] Status addHead(Network& network)
    {
        Result<GraphProgram> head = compile("head", "head.", inside());
        if (!head) {
            return head.error();
        }
        const std::int64_t expected = m_data.language ? m_sizes.named.at("vocab") : m_data.outputs;
        if (head->outputShape().features() != expected) {
            return Error{"head", "ends with " + head->outputShape().text() + ", expected " + std::to_string(expected) +
                                     " features"};
        }
        network.m_head = std::move(*head);
        return Done{};
    }

    const Project& m_project;
    const DataShape& m_data;
    Compute m_compute;
    projects::Sizes m_sizes;
    Parameters m_parameters;
    RotaryTables m_rotaryTables;
};

/// Told before anything is allocated: a kernel may promise more memory than there is, and end the program that uses it.
Status checkWeights(const projects::SoundProject& project, const std::string& device)
{
    const Result<c10::Device> opened = openDevice(device);
    if (!opened) {
        return opened.error();
    }
    const double needed = projects::costOf(project).total.weightBytes;
    const auto there = static_cast<double>(memoryOf(*opened).totalBytes);
    if (there > 0 && needed > there) {
        return Error{"device " + device, "the weights alone take " + projects::bytesText(needed) + ", the device has " +
                                             projects::bytesText(there) +
                                             " of memory in all: make the network smaller"};
    }
    return Done{};
}

} // namespace

Result<std::unique_ptr<CompiledNetwork>> CompiledNetwork::compile(const Project& project, const DataShape& data,
                                                                  const std::string& device)
{
    if (const Result<projects::SoundProject> sound = projects::soundProject(project); !sound) {
        return sound.error();
    } else if (const Status fits = checkWeights(*sound, device); !fits) {
        return fits.error();
    }
    const Result<Compute> compute = Compute::create(device, project.training.precision);
    if (!compute) {
        return compute.error();
    }
    return NetworkCompiler(project, data, *compute).run();
}

} // namespace residua::engine
