// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/random_document.h"

#include "projects/edit/edit.h"
#include "projects/schema/json_write.h"
#include "tests/support/draws.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>

namespace residua::tests {

using namespace projects;

namespace {

/// Draws values of every type that a document holds.
class Draw {
public:
    Draw(std::mt19937& engine, Values values) : m_engine(engine), m_values(values) {}

    /// In 0..count-1.
    std::size_t below(std::size_t count) { return tests::below(m_engine, count); }
    bool chance(std::size_t percent) { return below(100) < percent; }
    template <class Items>
    auto& oneOf(Items& items)
    {
        return tests::oneOf(m_engine, items);
    }

    void fill(bool& value) { value = chance(50); }

    void fill(std::int64_t& value)
    {
        constexpr std::array<std::int64_t, 6> kExtremes{
            0, -1, -7, std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min(), 1LL << 53};
        value = wild() ? oneOf(kExtremes) : static_cast<std::int64_t>(below(64)) + 1;
    }

    void fill(double& value)
    {
        constexpr std::array<double, 8> kExtremes{-0.0,   1e-8,      0.1,  -1e300,
                                                  5e-324, 1.0 / 3.0, 1e22, std::numeric_limits<double>::max()};
        value = wild() ? oneOf(kExtremes) : static_cast<double>(below(1000)) / 1000.0;
    }

    void fill(std::string& value)
    {
        static const std::vector<std::string> kOdd{
            "",       "say \"hi\"", "back\\slash", "two\nlines\tand tab",
            "größer", "深度",       "🙂",        std::string("nul\0 inside", 11)};
        value = wild() ? oneOf(kOdd) : word();
    }

    template <Named E>
    void fill(E& value)
    {
        value = static_cast<E>(below(kNamesOf<E>.size()));
    }

    void fill(ParamValue& value)
    {
        switch (below(5)) {
        case 0:
            fill(value.emplace<bool>());
            break;
        case 1:
            fill(value.emplace<std::int64_t>());
            break;
        case 2:
            fill(value.emplace<double>());
            break;
        case 3:
            value = std::string("4*d");
            break;
        default:
            fill(value.emplace<std::string>());
            break;
        }
    }

    void fill(FieldValue& value)
    {
        static const std::vector<std::string> kForms{
            "0.5", "-3", "true", "null", "\"plain\"", "[1, 2]", "{\"kind\": \"all\"}"};
        value.json = oneOf(kForms);
    }

    void fill(Shortcut& value)
    {
        value.source = static_cast<std::int64_t>(below(12));
        value.target = value.source + 1 + static_cast<std::int64_t>(below(12));
    }

    void fill(ShortcutState& value)
    {
        fill(value.kind);
        value = ShortcutState(value.kind); // without what an earlier kind held
        if (value == ShortcutState::Frozen && chance(60)) {
            double number = 0;
            fill(number);
            value = chance(50) ? ShortcutState::frozenAt(number) : ShortcutState::frozenAsLearned();
        }
    }

    void fill(Position& value)
    {
        fill(value.x);
        fill(value.y);
    }

    void fill(Graph& graph)
    {
        graph = {};
        std::set<std::string> names;
        std::uint32_t id = 0;
        for (std::size_t count = below(7); count > 0; --count) {
            Node node;
            id += 1 + static_cast<std::uint32_t>(below(3));
            node.id = NodeId{id};
            node.kind = chance(80) ? "linear" : word();
            do {
                fill(node.name);
            } while (!names.insert(node.name).second);
            fill(node.params);
            graph.nodes.insert(graph.nodes.begin() + static_cast<std::ptrdiff_t>(below(graph.nodes.size() + 1)), node);
        }
        std::set<Wire> wires;
        for (std::size_t count = graph.nodes.empty() ? 0 : below(8); count > 0; --count) {
            wires.insert(wire(graph));
        }
        graph.wires.assign(wires.begin(), wires.end());
    }

    Wire wire(const Graph& graph)
    {
        constexpr std::array<const char*, 4> kInputs{"in", "q", "in1", "in2"};
        return {{oneOf(graph.nodes).id, "out"}, {oneOf(graph.nodes).id, oneOf(kInputs)}};
    }

    void fill(std::vector<Block>& blocks)
    {
        blocks.clear();
        for (std::size_t count = below(4); count > 0; --count) {
            Block block;
            fillFields(block);
            if (std::ranges::find(blocks, block.name, &Block::name) == blocks.end()) {
                blocks.push_back(std::move(block));
            }
        }
    }

    void fill(ExplicitSources& sources)
    {
        std::set<Shortcut> set;
        for (std::size_t count = below(6); count > 0; --count) {
            Shortcut shortcut;
            fill(shortcut);
            set.insert(shortcut);
        }
        sources.shortcuts.assign(set.begin(), set.end());
    }

    /// No deeper than a file may hold.
    void fill(StackSegment& segment)
    {
        fillFields(segment);
        segment.repeat = std::clamp<std::int64_t>(segment.repeat, -7, 1000);
    }

    void fill(Network& network)
    {
        fillFields(network);
        fillStack(network);
    }

    void fill(Tower& tower)
    {
        fillFields(tower);
        fillStack(tower.network);
        if (tower.network.depth() > kMaxLayers) {
            tower.network.stack().loops.clear(); // which files reject
        }
    }

    void fill(std::vector<Tower>& towers)
    {
        towers.clear();
        if (chance(25)) {
            fill(towers.emplace_back());
        }
    }

    void fill(DepthMix& mix)
    {
        fillFields(mix);
        if (m_values == Values::Plausible) { // where all layers share one entry there is next to nothing to add
            mix.blockLayers = 1 + static_cast<std::int64_t>(below(2));
        }
    }

    /// Makes the layers of known blocks, mostly.
    void fillStack(Network& network)
    {
        for (StackSegment& segment : network.stack().segments) {
            if (!network.blocks.empty() && chance(80)) {
                segment.block = oneOf(network.blocks).name;
            }
            if (m_values == Values::Plausible) {
                segment.repeat = 1 + static_cast<std::int64_t>(below(8));
            }
        }
    }

    template <Described T>
    void fill(T& value)
    {
        fillFields(value);
    }

    template <Alternating V>
    void fill(V& value)
    {
        fillAlternative(value, below(std::variant_size_v<V>), std::make_index_sequence<std::variant_size_v<V>>{});
    }

    template <class T>
    void fill(std::vector<T>& list)
    {
        list.assign(below(5), T{});
        for (T& item : list) {
            fill(item);
        }
    }

    template <class K, class T>
    void fill(std::map<K, T>& map)
    {
        map.clear();
        for (std::size_t count = below(4); count > 0; --count) {
            K key{};
            fill(key);
            fill(map[key]);
        }
    }

    template <class T>
    T any()
    {
        T value{};
        fill(value);
        return value;
    }

    std::string word()
    {
        static const std::vector<std::string> kWords{"up",   "down", "gate", "norm", "attention", "mix",
                                                     "head", "qkv",  "proj", "out",  "embed",     "logits"};
        return oneOf(kWords) + std::to_string(below(100));
    }

private:
    bool wild() { return m_values == Values::Any && chance(30); }

    template <class T>
    void fillFields(T& value)
    {
        Fields<T>::visit([&](const Field&, auto member) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(std::invoke(member, value))>, std::vector<Wire>>) {
                fill(std::invoke(member, value));
            }
        });
    }

    template <class V, std::size_t... I>
    void fillAlternative(V& value, std::size_t index, std::index_sequence<I...>)
    {
        ((I == index ? fill(value.template emplace<I>()) : void()), ...);
    }

    std::mt19937& m_engine;
    Values m_values;
};

template <class T>
FieldValue asJson(const T& value)
{
    return {lineOf(toTree(value))};
}

/// Proposes edits; some do not apply.
class Proposer {
public:
    Proposer(Draw& draw, const Document& document) : m_draw(draw), m_document(document) {}

    Edit propose() { return proposeAt(m_draw.below(std::variant_size_v<Edit>)); }

private:
    Edit proposeAt(std::size_t kind)
    {
        switch (kind) {
        case 0:
            return setField();
        case 1:
            return SetSchedule{m_draw.any<StageSchedule>()};
        case 2:
            return SetTopology{m_draw.any<Topology>()};
        case 3:
            return AddShortcut{shortcut()};
        case 4:
            return RemoveShortcut{shortcut()};
        case 5:
            return SetShortcutState{shortcut(), state()};
        case 6:
            return SetStack{stack()};
        case 7:
            return PutBlock{block(), m_draw.below(4)};
        case 8:
            return RemoveBlock{blockName()};
        case 9:
            return RenameBlock{blockName(), m_draw.word()};
        case 10:
            return addNode();
        case 11:
            return RemoveNode{graph(), node()};
        case 12:
            return RenameNode{graph(), node(), m_draw.word()};
        case 13:
            return setParam();
        case 14:
            return addWire();
        case 15:
            return removeWire();
        case 16:
            return SetGraph{graph(), m_draw.any<Graph>()};
        case 17:
            return MoveNode{graph(), node(), position()};
        case 18:
            return SetSweeps{m_draw.any<std::vector<Sweep>>()};
        case 19:
            return SetLayerGroups{m_draw.any<std::vector<LayerGroup>>()};
        case 20:
            return AddTower{m_draw.any<Tower>(), {{}, m_draw.any<std::vector<LayerGroup>>()}};
        case 21:
            return RemoveTower{m_draw.below(2)};
        case 22:
            return SetLosses{m_draw.any<std::vector<Loss>>()};
        default:
            return EditGroup{"Several", {propose(), propose(), propose()}};
        }
    }

    Topology topology()
    {
        auto value = m_draw.any<Topology>();
        if (m_draw.chance(60)) { // the one with shortcuts to edit
            value.wiring = m_draw.any<DepthMix>();
        }
        return value;
    }

    /// One that the explicit set has, where there is such a set, or any.
    Shortcut shortcut()
    {
        const auto* const mix = std::get_if<DepthMix>(&m_document.project.stack().topology.wiring);
        if (mix != nullptr && m_draw.chance(50)) {
            const auto* listed = std::get_if<ExplicitSources>(&mix->sources);
            if (listed != nullptr && !listed->shortcuts.empty()) {
                return m_draw.oneOf(listed->shortcuts);
            }
        }
        const std::int64_t depth = std::min<std::int64_t>(m_document.project.network.depth(), 24);
        Shortcut value;
        value.target = 1 + static_cast<std::int64_t>(m_draw.below(static_cast<std::size_t>(depth) + 1));
        const std::int64_t newest = mix != nullptr ? newestEntryBefore(*mix, value.target) : value.target - 1;
        value.source = static_cast<std::int64_t>(m_draw.below(static_cast<std::size_t>(newest) + 1));
        return value;
    }

    std::optional<ShortcutState> state()
    {
        return m_draw.chance(30) ? std::nullopt : std::optional(m_draw.any<ShortcutState>());
    }

    std::optional<Position> position()
    {
        return m_draw.chance(30) ? std::nullopt : std::optional(m_draw.any<Position>());
    }

    std::vector<StackSegment> stack()
    {
        Network network = m_document.project.network;
        m_draw.fill(network.stack().segments);
        m_draw.fillStack(network);
        return network.stack().segments;
    }

    std::string blockName()
    {
        const auto& blocks = m_document.project.network.blocks;
        return blocks.empty() ? m_draw.word() : m_draw.oneOf(blocks).name;
    }

    Block block()
    {
        Block value = m_draw.any<Block>();
        if (m_draw.chance(40)) {
            value.name = blockName();
        } else if (const auto& segments = m_document.project.stack().segments; !segments.empty() && m_draw.chance(30)) {
            value.name = m_draw.oneOf(segments).block; // one that the stack names, there or not
        }
        return value;
    }

    /// A whole part of the document, or one of its fields with the value of another document's.
    Edit setField()
    {
        switch (m_draw.below(6)) {
        case 0:
            return SetField{"/data", asJson(m_draw.any<DataSource>())};
        case 1:
            return SetField{"/initialisation", asJson(m_draw.any<Initialisation>())};
        case 2:
            return SetField{"/training", asJson(m_draw.any<TrainingPlan>())};
        case 3:
            return SetField{"/seeds", asJson(m_draw.any<Seeds>())};
        case 4:
            return SetField{"/description", asJson(m_draw.any<std::string>())};
        default:
            break;
        }
        const Project other = m_draw.any<Project>();
        const std::vector<FieldEntry> fields = fieldsOf(other);
        const FieldEntry& field = m_draw.oneOf(fields);
        const auto edit = fieldEdit(m_document.project, field.pointer, field.value);
        return edit ? *edit : Edit{SetField{field.pointer, {"null"}}};
    }

    /// The graph is drawn once, so that graph() and node() of one edit belong together in whatever order they are
    /// asked.
    const GraphRef& graph()
    {
        if (m_graph.empty()) {
            const std::size_t which = m_draw.below(m_document.project.network.blocks.size() + 2);
            m_graph = which == 0 ? GraphRef::stem() : which == 1 ? GraphRef::head() : GraphRef::block(blockName());
        }
        return m_graph;
    }

    const Graph& value() { return *findGraph(m_document.project, graph()); }

    NodeId node() { return value().nodes.empty() ? NodeId{1} : m_draw.oneOf(value().nodes).id; }

    Edit addNode()
    {
        Node fresh;
        m_draw.fill(fresh.params);
        fresh.kind = "linear";
        fresh.name = m_draw.word();
        fresh.id = value().nextId();
        return AddNode{graph(), fresh, position(), m_draw.below(6)};
    }

    Edit setParam()
    {
        const Node* known = value().find(node());
        if (known != nullptr && !known->params.empty() && m_draw.chance(60)) {
            const std::string name = known->params.begin()->first;
            return SetParam{graph(), known->id, name,
                            m_draw.chance(40) ? std::nullopt : std::optional(m_draw.any<ParamValue>())};
        }
        return SetParam{graph(), node(), m_draw.word(), m_draw.any<ParamValue>()};
    }

    Edit addWire()
    {
        const Graph& target = value();
        return AddWire{graph(),
                       target.nodes.empty() ? Wire{{NodeId{1}, "out"}, {NodeId{2}, "in"}} : m_draw.wire(target)};
    }

    Edit removeWire()
    {
        const Graph& target = value();
        return RemoveWire{graph(), target.wires.empty() ? Wire{} : m_draw.oneOf(target.wires)};
    }

    Draw& m_draw;
    const Document& m_document;
    GraphRef m_graph;
};

} // namespace

RandomDocument::RandomDocument(std::uint32_t seed, Values values) : m_engine(seed), m_values(values) {}

Document RandomDocument::document()
{
    Draw draw(m_engine, m_values);
    Document document{draw.any<Project>(), {}};
    if (document.project.stack().depth() > projects::kMaxLayers) {
        document.project.stack().loops.clear(); // which files reject
    }
    const auto place = [&](const GraphRef& ref, const Graph& graph) {
        for (const Node& node : graph.nodes) {
            if (draw.chance(60)) {
                document.layout.positions[ref].insert_or_assign(node.id, draw.any<Position>());
            }
        }
    };
    const Network& network = document.project.network;
    place(GraphRef::stem(), network.stem);
    place(GraphRef::head(), network.head);
    for (const Block& block : network.blocks) {
        place(GraphRef::block(block.name), block.graph);
    }
    return document;
}

Edit RandomDocument::edit(const Document& document)
{
    Draw draw(m_engine, m_values);
    for (;;) { // ends: renaming the project always applies
        Edit proposed = Proposer(draw, document).propose();
        Document copy = document;
        if (applyEdit(copy, proposed)) {
            return proposed;
        }
    }
}

} // namespace residua::tests
