// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/scenes/block_node.h"

#include "editor/scenes/words.h"
#include "projects/base/text.h"
#include "projects/model/project.h"
#include "projects/nodes/node_kinds.h"
#include "projects/nodes/resolved_graph.h"

#include <algorithm>
#include <set>
#include <utility>

namespace residua::editor {
namespace {

using projects::Graph;
using projects::Node;
using projects::NodeKind;
using projects::ParamMap;
using projects::ParamSpec;
using projects::ParamType;
using projects::ParamValue;
using projects::PortRef;
using projects::Project;
using projects::Shape;
using projects::Wire;

std::string textOf(const ParamValue& value)
{
    if (const auto* whole = std::get_if<std::int64_t>(&value)) {
        return std::to_string(*whole);
    }
    if (const auto* real = std::get_if<double>(&value)) {
        return numberText(*real, 6);
    }
    const auto* text = std::get_if<std::string>(&value);
    return text ? *text : std::string{};
}

// Returns the text of a parameter on the node's line: for the first one always its value, for others only a value that
// differs from the default.
std::string wordFor(const ParamSpec& spec, const Node& node, const std::optional<ParamMap>& values, bool first)
{
    const auto own = node.params.find(spec.name());
    const ParamValue& given = own == node.params.end() ? spec.defaultValue : own->second;
    const bool usual = given == spec.defaultValue;
    if (spec.name() == projects::kShareParam) {
        const std::string owner = weightOwnerOf(node);
        return owner.empty() ? "" : filled(translate("Canvas", "shares %1"), {owner});
    }
    switch (spec.type) {
    case ParamType::Flag:
        return usual                       ? ""
               : given == ParamValue(true) ? spec.name()
                                           : filled(translate("Canvas", "no %1"), {spec.name()});
    case ParamType::Integer:
        return first || !usual ? spec.name() + " " + textOf(values ? values->at(spec.name()) : given) : "";
    case ParamType::Real:
        return !usual || spec.alwaysShown ? spec.name() + " " + textOf(given) : "";
    case ParamType::Rank: { // also shows the network's rank
        const ParamValue& rank = values ? values->at(spec.name()) : given;
        const bool full = rank == ParamValue(std::string(projects::kFullRank));
        return full || (usual && !values) ? "" : spec.name() + " " + textOf(rank);
    }
    case ParamType::Choice: // "all" alone would be unclear
    case ParamType::Text:
    case ParamType::Formula:
        break;
    }
    return first ? textOf(given) : usual ? "" : spec.name() + " " + textOf(given);
}

std::string detailOf(const NodeKind& kind, const Node& node, const std::optional<ParamMap>& values)
{
    std::string line;
    for (const ParamSpec& spec : kind.params) {
        const std::string word = wordFor(spec, node, values, &spec == &kind.params.front());
        line += word.empty() || line.empty() ? word : " · " + word;
    }
    return line == node.name ? "" : line;
}

BlockNode::Form formOf(const NodeKind& kind)
{
    const bool one =
        kind.params.size() == 1 && (kind.params[0].type == ParamType::Choice || kind.params[0].type == ParamType::Real);
    const projects::NodeRole role = kind.traits.role;
    const bool isPort = role == projects::NodeRole::GraphInput || role == projects::NodeRole::GraphOutput;
    return kind.params.empty() || one || isPort ? BlockNode::Form::Line : BlockNode::Form::Card;
}

std::size_t categoryOf(const NodeKind& kind)
{
    std::vector<std::string> seen;
    for (const NodeKind& each : projects::nodeKinds()) {
        if (seen.empty() || seen.back() != each.category) {
            seen.push_back(each.category);
        }
        if (each.category == kind.category) {
            break;
        }
    }
    return seen.size() - 1;
}

class Description {
public:
    Description(const Project& project, const projects::GraphRef& ref, const Graph& graph)
        : m_ref(ref), m_graph(graph), m_shapes(resolveGraph(project, ref)), m_sizes(sizesOf(project))
    {
        for (const Wire& wire : graph.wires) {
            m_fed.insert(wire.to);
            m_read.insert(wire.from);
        }
    }

    BlockContents take()
    {
        BlockContents contents;
        for (const Node& node : m_graph.nodes) {
            contents.nodes.push_back(describe(node));
        }
        for (const Wire& wire : m_graph.wires) {
            const auto error = m_shapes.errors.find(wire.to.node);
            if (error != m_shapes.errors.end() && error->second.place == placeOf(m_ref, m_graph, wire)) {
                contents.faultyPorts.emplace(wire.to, error->second.message);
            }
        }
        contents.shapes = std::move(m_shapes.outputs);
        return contents;
    }

private:
    BlockNode describe(const Node& node) const
    {
        BlockNode shown;
        shown.id = node.id;
        shown.name = node.name;
        shown.kind = node.kind;
        if (const auto error = m_shapes.errors.find(node.id); error != m_shapes.errors.end()) {
            shown.error = error->second.message;
        }
        const NodeKind* kind = projects::findNodeKind(node.kind);
        if (kind == nullptr) {
            shown.summary = translate("Canvas", "a kind of node that this program does not know");
            return shown;
        }
        const auto resolved = std::ranges::find(m_shapes.nodes, node.id, &projects::ResolvedNode::id);
        const bool isResolved = resolved != m_shapes.nodes.end();
        const std::optional<ParamMap> values = isResolved ? resolved->params : evaluated(node);
        shown.kind = kind->title;
        shown.summary = kind->summary;
        shown.category = categoryOf(*kind);
        shown.form = formOf(*kind);
        shown.detail = detailOf(*kind, node, values);
        addPorts(shown, node, *kind);
        if (isResolved) {
            shown.weights = weightsOf(*resolved);
        }
        return shown;
    }

    /// Returns the parameters of a node with unknown shapes, if they can be evaluated.
    std::optional<ParamMap> evaluated(const Node& node) const
    {
        if (!m_sizes) {
            return std::nullopt;
        }
        auto params = evaluateParams(node, projects::sizesIn(*m_sizes, m_ref));
        return params ? std::optional(*std::move(params)) : std::nullopt;
    }

    void addPorts(BlockNode& shown, const Node& node, const NodeKind& kind) const
    {
        const std::optional<std::string> spare = nextInputPort(node, m_graph);
        for (const std::string& port : inputPortsOf(node, m_graph)) {
            const bool wired = m_fed.contains({node.id, port});
            shown.inputs.push_back({port, wired ? BlockPort::State::Wired : BlockPort::State::Empty, {}});
        }
        shown.namedPorts = !spare && shown.inputs.size() > 1;
        if (spare) {
            shown.inputs.push_back({*spare, BlockPort::State::Spare, {}});
        }
        for (const std::string& port : kind.outputs) {
            const bool read = m_read.contains({node.id, port});
            shown.outputs.push_back({port, read ? BlockPort::State::Wired : BlockPort::State::Free, {}});
        }
    }

    static std::string weightsOf(const projects::ResolvedNode& node)
    {
        constexpr std::int64_t kAnyContext = 1; // the number of parameters does not depend on it
        const std::int64_t count = costOf(*node.kind, node.params, node.in, node.out, kAnyContext).parameters;
        return count > 0 ? shortCount(static_cast<double>(count)) : std::string{};
    }

    const projects::GraphRef& m_ref;
    const Graph& m_graph;
    projects::ResolvedGraph m_shapes;
    Result<projects::Sizes> m_sizes;
    std::set<PortRef> m_fed;
    std::set<PortRef> m_read;
};

} // namespace

BlockContents describeBlock(const Project& project, const projects::GraphRef& ref)
{
    const Graph* graph = findGraph(project, ref);
    return graph != nullptr ? Description(project, ref, *graph).take() : BlockContents{};
}

std::string shortText(const Shape& shape)
{
    const auto textOf = [](std::int64_t dim) {
        return dim == projects::kBatch ? "B" : dim == projects::kTime ? "T" : std::to_string(dim);
    };
    const std::string begin = shape.element == projects::Element::Token ? translate("Canvas", "tokens") + " [" : "[";
    return begin + joinedText(shape.dims, ", ", textOf) + "]";
}

std::string shortCount(double count)
{
    const auto [number, prefix] = prefixed(count, Prefixes::Decimal);
    return numberText(number, 3) + std::string(prefix);
}

} // namespace residua::editor
