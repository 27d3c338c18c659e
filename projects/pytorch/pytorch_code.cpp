// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/pytorch/pytorch_code.h"

#include "projects/base/mapped.h"
#include "projects/base/text.h"
#include "projects/depth/depth_names.h"
#include "projects/model/parameter_name.h"
#include "projects/nodes/example_schema.h"
#include "projects/nodes/ffn_site.h"
#include "projects/nodes/resolved_graph.h"
#include "projects/nodes/towers.h"
#include "projects/pytorch/graph_code.h"
#include "projects/pytorch/topology_code.h"
#include "projects/pytorch/tower_code.h"
#include "projects/pytorch/visit_products.h"
#include "projects/pytorch/visited_layers.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace residua::projects {
namespace {

/// Returns the names at the top of the module, which no class of a block may use.
std::set<std::string> topNames()
{
    std::set<std::string> names = helperNames();
    names.insert({"Network", "Topology", "Stem",           "Head", "Path",   "SOURCES",
                  "MIXES",   "TERMS",    "FROZEN",         "HELD", "BEGINS", "ENDS",
                  "ROWS",    "LEARNED",  "MIDDLE",         "CODE", "load",   "read_safetensors",
                  "json",    "partial",  "SimpleNamespace"});
    return names;
}

/// Returns the most tokens that the learned positions of the stem allow, or 0 if it has none or reads no tokens.
std::int64_t longestIn(const ResolvedGraph& stem)
{
    std::int64_t longest = 0;
    for (const ResolvedNode& node : stem.nodes) {
        const bool limits = node.kind->key == "position_embedding" && node.in[0].dims[1] == kTime;
        const std::int64_t length = limits ? paramInt(node.params, "length") : 0;
        longest = longest == 0 || (limits && length < longest) ? length : longest;
    }
    return longest;
}

class NetworkWriter {
public:
    /// `variables` are those of the values. `alone` is false for a tower of several.
    NetworkWriter(const Project& project, VisitedLayers layers, const ValueVariables& variables, bool alone)
        : m_project(project),
          m_variables(variables),
          m_alone(alone),
          m_helpers(PythonNames(topNames())),
          m_layers(std::move(layers))
    {
    }

    /// `code.model` is the whole module of a network alone, too.
    Result<TowerCode> write()
    {
        m_tied = tiedNodes(m_project.network);
        if (m_alone) {
            for (const auto& [label, shape] : examplesOf(m_project).furtherOutputs()) {
                m_labels.insert(label);
            }
        }
        for (const auto part : {&NetworkWriter::addStem, &NetworkWriter::addBlocks, &NetworkWriter::addHead}) {
            RESIDUA_TRY((this->*part)());
        }
        const TopologySetting setting{m_project, m_project.network.depth(), m_layers.present(),
                                      m_helpers, m_layers.leavesOut(),      m_layers.visits};
        if (learnsVariance(m_project, m_project.network)) { // the loss reads it
            m_conditions.insert(kTimestep);
            m_arguments.emplace(kTimestep, kTimestep);
            m_helpers.use(Helper::NoiseLoss);
        }
        m_topology = codeOf(setting);
        m_code.names.insert(m_topology.names.begin(), m_topology.names.end());
        writeNetwork();
        m_code.layers = m_layers.present();
        m_code.stored = m_layers.stored;
        m_code.longest = longestIn(resolveGraph(m_project, GraphRef::stem()));
        m_code.conditions.assign(m_conditions.begin(), m_conditions.end());
        m_code.labels.assign(m_labels.begin(), m_labels.end());
        const std::string body =
            m_helpers.text() + m_graphs + "\n\n" + m_topology.text.text() + "\n\n" + m_network.text();
        if (m_alone) {
            finish(m_code, moduleOf({"The network of the project " + plainText(m_project.name) + ".",
                                     "Written by Residua. It needs PyTorch 2.5 or newer and nothing else: network = "
                                     "load(folder)."},
                                    body, true));
        } else {
            m_code.model = moduleOf({"The tower " + plainText(m_project.network.name) + " of the project " +
                                         plainText(m_project.name) + ".",
                                     "Written by Residua. model.py puts the towers together."},
                                    body, false);
        }
        return TowerCode{std::move(m_code), std::move(m_arguments), std::move(m_values), regularises()};
    }

private:
    /// Adds the class, whose parameters the network has once under each prefix.
    Status add(const GraphClass& made, const std::vector<std::string>& prefixes)
    {
        const GraphCode code = RESIDUA_TRY(codeOf(m_project, made, m_helpers));
        m_graphs += "\n\n" + code.text;
        m_readsDepth |= code.readsDepth;
        for (const std::string& prefix : prefixes) {
            for (const auto& [ours, theirs] : code.names) {
                m_code.names[prefix + ours] = prefix + theirs;
            }
        }
        return Done{};
    }

    /// Adds a method whose arguments are the mixes of these ports.
    void addMethod(GraphClass& made, GraphMethod method, const std::vector<MixPort>& ports) const
    {
        for (const Node& node : method.graph.nodes) {
            if (roleOf(node) == NodeRole::GraphInput) {
                const std::string port = graphPortOf(node);
                const MixPort fed = mixPortFrom(port).value_or(MixPort::Input);
                method.argumentOf[port] =
                    isFedByStack(node) ? method.arguments[mixFor(ports, fed).value_or(0)] : variableOf(port);
            }
        }
        made.methods.push_back(std::move(method));
    }

    /// Adds the class of the stem or the head, and returns the conditions that it takes in `conditions`.
    Status addEnd(GraphClass made, const Graph& graph, const char* prefix, std::string argument,
                  std::vector<std::string>& conditions)
    {
        Graph run = graphAsRun(m_project.stack().topology.wiring, graph);
        conditions = conditionsOf({&run});
        addMethod(made, {"forward", "", std::move(run), {std::move(argument)}, {}, conditions}, {MixPort::Input});
        return add(made, {prefix});
    }

    [[nodiscard]] bool readsTokens() const { return enteringShapeOf(m_project).element == Element::Token; }
    /// Returns the variable of a condition or a value.
    [[nodiscard]] std::string variableOf(const std::string& name) const
    {
        const auto found = m_variables.find(name);
        return found == m_variables.end() ? conditionVariable(name) : found->second;
    }
    /// Returns the variables of a graph's outputs; its main one is `main`.
    [[nodiscard]] std::string outputsOf(const GraphRef& ref, const std::string& main) const
    {
        return joinedText(resolveGraph(m_project, ref).outputPorts, ", ", [&](const OutputPort& port) {
            return port.name == kOutputPort ? main : variableOf(valueOf(m_project.network, port.name));
        });
    }
    [[nodiscard]] bool regularises() const { return m_topology.regularises || decaysProducts(); }
    [[nodiscard]] std::string entering() const { return readsTokens() ? "tokens" : "x"; }

    Status addStem()
    {
        GraphClass made{.name = "Stem",
                        .ref = GraphRef::stem(),
                        .doc = {"What makes the stack's input: " +
                                std::string(readsTokens() ? "tokens [batch, time] to " : "vectors to ") + "values of " +
                                std::to_string(m_project.stack().width) + " features."},
                        .methods = {}};
        if (m_tied) {
            made.kept = m_tied->embedding;
            m_table = m_project.network.stem.find(m_tied->embedding)->name;
        }
        return addEnd(std::move(made), m_project.network.stem, kStemPrefix, entering(), m_stemConditions);
    }

    Status addHead()
    {
        GraphClass made{.name = "Head",
                        .ref = GraphRef::head(),
                        .doc = {"What leaves the stack as the network's output."},
                        .methods = {}};
        if (m_tied) {
            made.tied = m_tied->linear;
            made.doc.emplace_back("Its last linear map takes the stem's embedding table as its weight.");
        }
        return addEnd(std::move(made), m_project.network.head, kHeadPrefix, "x", m_headConditions);
    }

    /// Returns the variables of the conditions and values that any of the graphs reads, in the order of their names,
    /// and notes that the network takes those that its own stem does not make.
    [[nodiscard]] std::vector<std::string> conditionsOf(const std::vector<const Graph*>& graphs)
    {
        std::vector<std::string> names;
        const std::vector<std::string> own = furtherPorts(m_project.network.stem);
        for (const auto& [name, shape] : residua::projects::conditionsOf(m_project)) {
            const auto reads = [&](const Graph* graph) {
                return std::ranges::any_of(graph->nodes, [&](const Node& node) {
                    return roleOf(node) == NodeRole::GraphInput && graphPortOf(node) == name;
                });
            };
            if (std::ranges::any_of(graphs, reads)) {
                names.push_back(variableOf(name));
                const bool isOwn = std::ranges::any_of(
                    own, [&](const std::string& port) { return name == valueOf(m_project.network, port); });
                if (!isOwn) {
                    m_conditions.insert(names.back());
                    m_arguments.emplace(names.back(), name);
                }
            }
        }
        return names;
    }

    /// Returns the arguments of a call for these conditions: ", mask=mask".
    [[nodiscard]] static std::string given(const std::vector<std::string>& conditions)
    {
        std::string text;
        for (const std::string& name : conditions) {
            text += ", " + name + "=" + name;
        }
        return text;
    }

    [[nodiscard]] bool hasLoops() const { return m_project.network.depth() > m_project.stack().stored(); }
    [[nodiscard]] bool scales() const { return m_layers.scales(); }

    Status addBlocks()
    {
        std::map<std::string, std::vector<std::int64_t>> layersOf;
        std::vector<std::string> order;
        std::vector<const Graph*> blocks;
        for (std::int64_t layer = 1; layer <= m_layers.stored; ++layer) {
            const std::string& name = m_project.network.blockOfStored(layer)->name;
            if (layersOf[name].empty()) {
                order.push_back(name);
                blocks.push_back(&m_project.network.findBlock(name)->graph);
            }
            layersOf[name].push_back(layer);
        }
        m_layerConditions = conditionsOf(blocks); // each layer takes them all, so that all are called alike
        for (const std::string& name : order) {
            RESIDUA_TRY(addBlock(*m_project.network.findBlock(name), layersOf[name]));
        }
        return Done{};
    }

    /// Adds the class of a block, which the stored layers `layers` are of.
    Status addBlock(const Block& block, const std::vector<std::int64_t>& layers)
    {
        const Wiring& wiring = m_project.stack().topology.wiring;
        const auto* const gate = std::get_if<BranchGate>(&wiring);
        GraphClass made{.name = m_helpers.names().classOf(block.name),
                        .ref = GraphRef::block(block.name),
                        .doc = {"The branch of a layer of the block " + plainText(block.name) +
                                ". What is added to it, and what it reads, the topology says."},
                        .methods = {}};
        made.takesFactor = scales();
        made.mixesValues = gate && gate->gate == BranchGateKind::ValueResidual;
        const std::vector<Graph> graphs = RESIDUA_TRY(graphsAsRun(wiring, block));
        const std::vector<MixPort> ports = portsOf(m_project.stack().topology);
        const auto addMethodOf = [&](const char* name, const char* doc, const Graph& graph) {
            GraphMethod method{name, doc, graph, {}, {}, m_layerConditions};
            for (const MixPort port : ports) {
                method.arguments.emplace_back(port == MixPort::Input ? "x" : nameOf(port));
            }
            addMethod(made, std::move(method), ports);
        };
        if (graphs.size() == 1) {
            addMethodOf("forward", "", graphs.front());
        } else {
            addMethodOf("attend", "a(x), the first half.", graphs.front());
            addMethodOf("feed_forward", "f(x), the second half, which reads h + a(h).", graphs.back());
        }
        m_classOf[block.name] = made.name;
        auto prefixes = mapped(layers, layerPrefix);
        RESIDUA_TRY(add(made, prefixes));
        for (const std::int64_t layer : layers) {
            nameProducts(m_project, made.ref, layer, m_code.names);
        }
        return Done{};
    }

    // ---- Network ----

    void writeNetwork()
    {
        PythonText& out = m_network;
        out.beginClass("Network",
                       {"A stem, " + std::to_string(m_layers.stored) + (m_layers.stored == 1 ? " layer" : " layers") +
                        " of " + std::to_string(m_project.stack().width) +
                        " features wired by the topology, and a head." +
                        (hasLoops() ? " Loops visit layers several times with the same weights." : "")});
        writeNames("conditions", m_alone ? m_conditions : std::set<std::string>());
        writeNames("labels", m_labels);
        out.define("__init__(self)");
        out.line("super().__init__()");
        out.line("self.stem = Stem()");
        writeLayers(out, m_project.stack(), m_layers, m_classOf);
        for (const std::string& line : productLines(m_project.stack(), m_layers.stored, m_code.names)) {
            m_helpers.use(Helper::VisitLinear);
            out.line(line);
        }
        if (m_readsDepth) {
            out.comment("The place of each layer, from 0 to 1.");
            out.lines(R"(
for j, layer in enumerate(self.layers.values()):
    layer.depth = j / max(1, len(self.layers) - 1))");
        }
        writeOrder(out, m_helpers, m_project.stack(), m_layers);
        out.line("self.topology = Topology()");
        out.line("self.head = Head()");
        writeHeadNorms();
        const std::string arguments = entering() + furtherArguments();
        out.define("forward(self, " + arguments + ")",
                   m_alone ? std::vector<std::string>() : std::vector<std::string>{resultsText()});
        if (!m_labels.empty()) {
            out.line("return self.outputs(" + arguments + ")[0]");
            out.define("outputs(self, " + arguments + ")",
                       {"The output, and the logits of the further labels: " + joinedText(m_labels) + "."});
        }
        out.line(outputsOf(GraphRef::stem(), "x") + " = self.stem(" + entering() + given(m_stemConditions) + ")");
        writeStack();
        const std::string head = "self.head(x" +
                                 (m_tied ? ", self." + m_code.names.at(kStemPrefix + m_table + ".weight") : "") +
                                 given(m_headConditions) + ")";
        const bool single = furtherPorts(m_project.network.head).empty();
        out.line("return " + (m_alone ? "" : outputsOf(GraphRef::stem(), "x") + (single ? ", " : ", *")) + head);
        if (m_alone) {
            writeExits(arguments);
            writeLoss();
        }
        if (regularises()) {
            writeRegulariser();
        }
    }

    /// Notes the values that a tower returns, and returns a line about them.
    std::string resultsText()
    {
        const auto add = [&](const GraphRef& ref, const std::string& main) {
            for (const OutputPort& port : resolveGraph(m_project, ref).outputPorts) {
                m_values.push_back(valueOf(m_project.network, port.name == kOutputPort ? main : port.name));
            }
        };
        add(GraphRef::stem(), "states");
        add(GraphRef::head(), kOutputPort);
        return "The values " + joinedText(m_values) + ".";
    }

    /// Writes the method that gives the outputs of all visits of a loop with an exit gate.
    void writeExits(const std::string& arguments)
    {
        if (!gatedLoop(m_project.stack())) {
            return;
        }
        PythonText& out = m_network;
        out.define("exits(self, " + arguments + ")",
                   {"The output after each visit, and the probability that it is the last one, [..., visits]."});
        out.line("exits = []");
        out.line(outputsOf(GraphRef::stem(), "x") + " = self.stem(" + entering() + given(m_stemConditions) + ")");
        writeStack(", exits");
        out.lines(
            "outputs = [self.head(h%1%2) for h in [h for h, _ in exits[:-1]] + [x]]",
            {m_tied ? ", self." + m_code.names.at(kStemPrefix + m_table + ".weight") : "", given(m_headConditions)});
        out.lines(R"(
shares, stays = [], 1
for _, leaves in exits[:-1]:
    shares.append(stays * leaves)
    stays = stays * (1 - leaves)
return outputs, torch.cat(shares + [stays], dim=-1))",
                  {});
    }

    /// Writes a member of the class with these names, if there are any.
    void writeNames(const std::string& member, const std::set<std::string>& names)
    {
        if (!names.empty()) {
            m_network.line();
            m_network.line(member + " = (" +
                           joinedText(names, ", ", [](const std::string& name) { return '"' + name + '"'; }) + ",)");
        }
    }

    /// Returns the arguments of forward() after the input: ", mask".
    [[nodiscard]] std::string furtherArguments() const
    {
        return m_conditions.empty() ? "" : ", " + joinedText(m_conditions);
    }

    /// Writes the call of the topology with the layers, which are given their conditions, and a further argument.
    void writeStack(const std::string& argument = {})
    {
        const bool binds = !m_layerConditions.empty();
        const auto bound = [&](const std::string& call) {
            return binds ? "partial(" + call + given(m_layerConditions) + ")" : call;
        };
        const MixSites sites = sitesOf(m_project.stack().topology.wiring);
        std::string all = "self.layers.values()";
        if (hasLoops()) {
            all = "layers";
            const bool visits = addsProducts(m_project.stack());
            m_network.line("layers = [" +
                           std::string(visits ? "AtVisit(self.layers[str(j)], at)" : "self.layers[str(j)]") +
                           (m_layers.leavesOut() ? " if j else None" : "") +
                           (visits ? " for j, at in zip(self.order, self.visits)]" : " for j in self.order]"));
        }
        if (m_layers.leavesOut()) {
            m_helpers.use(Helper::Absent);
        }
        const std::string orAbsent = m_layers.leavesOut() ? " if layer else absent" : "";
        if (sites == MixSites::Both) {
            const std::string halves = m_layers.leavesOut()
                                           ? "((layer.attend, layer.feed_forward) if layer else (None, None))"
                                           : "(layer.attend, layer.feed_forward)";
            all = "[" + bound("half") + orAbsent + " for layer in " + all + " for half in " + halves + "]";
        } else if (!binds && !m_layers.leavesOut()) {
            all = hasLoops() ? "" : "list(" + all + ")";
        } else if (sites == MixSites::Ffn) {
            all = "[SimpleNamespace(attend=" + bound("layer.attend") + ", feed_forward=" + bound("layer.feed_forward") +
                  ") for layer in " + all + "]";
        } else {
            all = "[" + bound("layer") + orAbsent + " for layer in " + all + "]";
        }
        m_network.lines("%1", {all.empty() ? "" : "layers = " + all});
        m_network.line("x = self.topology(x, layers" + argument + ")");
    }

    /// Gives the loops that end with the head's norm that module.
    void writeHeadNorms()
    {
        const std::vector<Loop>& loops = m_project.stack().loops;
        const Node* const norm = headNormOf(m_project.network);
        for (std::size_t i = 0; i < loops.size() && norm != nullptr; ++i) {
            if (m_project.stack().isSound(i) && loops[i].norm == LoopNorm::Head) {
                const std::string weight = m_code.names.at(kHeadPrefix + norm->name + ".weight");
                m_network.line("self.topology.loop[\"" + std::to_string(i + 1) + "\"].of_head.append(self." +
                               std::string(ownerOf(weight)) + ")");
            }
        }
    }

    /// Returns the names of the used classes with factors u and v.
    [[nodiscard]] std::vector<std::string> lowRankClasses() const
    {
        std::vector<std::string> names;
        for (const auto& [helper, name] :
             {std::pair(Helper::LowRankLinear, "LowRankLinear"), std::pair(Helper::LowRankConv2d, "LowRankConv2d"),
              std::pair(Helper::LowRankConv2dBySide, "LowRankConv2dBySide")}) {
            if (m_helpers.uses(helper)) {
                names.emplace_back(name);
            }
        }
        return names;
    }

    [[nodiscard]] bool decaysProducts() const
    {
        return !lowRankClasses().empty() && m_project.training.factorDecay == FactorDecay::Product;
    }

    void writeLoss()
    {
        const bool regularised = regularises();
        const ObjectiveTraits& objective = traitsOf(m_project.network.objective);
        PythonText& out = m_network;
        std::string outputs = "output";
        std::string given = objective.target == Element::Token ? "targets" : "target";
        std::string value = objectiveText(m_project, m_project.network, entering());
        for (const std::string& label : m_labels) {
            outputs += ", " + label;
            given += ", " + label + "_targets";
            value += " + F.cross_entropy(" + label + ", " + label + "_targets)";
        }
        out.define("loss(self, " + entering() + ", " + given + furtherArguments() + ")",
                   {std::string(objective.words) + (m_labels.empty() ? "" : "; plus that of each further label") +
                    (regularised ? "; in training with its regularisers." : ".")});
        out.line(outputs + " = self" + (m_labels.empty() ? "(" : ".outputs(") + entering() + furtherArguments() + ")");
        out.line((regularised ? "loss = " : "return ") + value);
        if (regularised) {
            out.line("return loss + self.regulariser() if self.training else loss");
        }
    }

    void writeRegulariser()
    {
        PythonText& out = m_network;
        out.define("regulariser(self)");
        const std::string entropy = m_topology.regularises ? "self.topology.regulariser()" : "";
        if (!decaysProducts()) {
            out.line("return " + entropy);
            return;
        }
        out.docstring({std::string("Frobenius decay, λ/2 Σ ‖u v‖² over the weights of low rank") +
                       (entropy.empty() ? "." : ", and the topology's own.")});
        const std::vector<std::string> kinds = lowRankClasses();
        out.line("low_rank = [m for m in self.modules() if isinstance(m, " +
                 (kinds.size() == 1 ? kinds[0] : "(" + joinedText(kinds) + ")") + ")]");
        out.line("squares = [((m.u.t() @ m.u) * (m.v.flatten(1) @ m.v.flatten(1).t())).sum() for m in low_rank]");
        out.line("return " + pythonReal(m_project.training.frobeniusDecay / 2) + " * sum(squares)" +
                 (entropy.empty() ? "" : " + " + entropy));
    }

    const Project& m_project;
    const ValueVariables& m_variables;
    bool m_alone;
    HelperCode m_helpers;
    VisitedLayers m_layers;
    std::optional<TiedNodes> m_tied;
    std::string m_table;                            ///< name of the embedding that the head shares
    std::map<std::string, std::string> m_classOf;   ///< by block
    std::set<std::string> m_conditions;             ///< that forward() takes
    std::map<std::string, std::string> m_arguments; ///< the names of these
    std::vector<std::string> m_values;              ///< that forward() returns, of a tower of several
    std::set<std::string> m_labels;                 ///< whose logits the head returns after the output
    std::vector<std::string> m_stemConditions;
    std::vector<std::string> m_layerConditions;
    std::vector<std::string> m_headConditions;
    std::string m_graphs;
    bool m_readsDepth = false; ///< a layer's module reads its place in the stack
    TopologyCode m_topology;
    PythonText m_network;
    PyTorchCode m_code;
};

} // namespace

Result<TowerCode> towerCodeOf(const Project& view, const std::vector<ExportedLayer>& layers,
                              const ValueVariables& variables)
{
    Result<VisitedLayers> visited = visitedLayers(view, layers);
    return visited ? NetworkWriter(view, *std::move(visited), variables, false).write()
                   : Result<TowerCode>(visited.error());
}

Result<PyTorchCode> pyTorchCodeOf(const SoundProject& project, const std::vector<std::vector<ExportedLayer>>& layers)
{
    const bool hasValues = furtherPorts(project->network.head).size() > examplesOf(*project).furtherOutputs().size();
    if (!project->towers.empty() || std::ranges::any_of(project->losses, isExported) || hasValues) {
        return codeOfTowers(*project, layers);
    }
    VisitedLayers visited =
        RESIDUA_TRY(visitedLayers(*project, layers.empty() ? std::vector<ExportedLayer>() : layers.front()));
    const ValueVariables variables = valueVariables(*project);
    Result<TowerCode> tower = NetworkWriter(*project, std::move(visited), variables, true).write();
    return tower ? Result<PyTorchCode>(std::move(tower->code)) : tower.error();
}

} // namespace residua::projects
