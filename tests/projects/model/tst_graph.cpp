// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/model/places.h"
#include "projects/model/project.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <limits>
#include <vector>

using namespace residua::projects;

class TestGraph : public QObject {
    Q_OBJECT

private slots:
    void findsNodesById()
    {
        Graph graph;
        graph.nodes = {{NodeId{7}, "linear", "up", {}}, {NodeId{2}, "linear", "down", {}}};
        QVERIFY(graph.find(NodeId{2}) == &graph.nodes[1]);
        QVERIFY(graph.find(NodeId{3}) == nullptr);
        QVERIFY(graph.nextId() == NodeId{8});
        QVERIFY(Graph{}.nextId() == NodeId{1});
    }

    void layersFollowTheSegments()
    {
        Network network;
        network.blocks = {{"a", "", {}}, {"b", "", {}}};
        network.stack().segments = {{"a", 2}, {"b", 1}, {"a", 1}, {"missing", 1}};
        QCOMPARE(network.depth(), std::int64_t{5});
        const Block* a = &network.blocks[0];
        const Block* b = &network.blocks[1];
        const std::vector<const Block*> expected{nullptr, a, a, b, a, nullptr, nullptr};
        for (std::size_t layer = 0; layer < expected.size(); ++layer) {
            QVERIFY2(network.blockOfLayer(static_cast<std::int64_t>(layer)) == expected[layer],
                     qPrintable(QString::number(layer)));
        }
    }

    void everyLayerHasAGraph()
    {
        Network network;
        network.blocks = {{"a", "", {}}};
        network.stack().segments = {{"a", 2}, {"missing", 1}};
        const std::vector<GraphRef> expected{GraphRef::stem(), GraphRef::block("a"), GraphRef::block("a"), GraphRef{},
                                             GraphRef::head()};
        for (std::size_t layer = 0; layer < expected.size(); ++layer) {
            QVERIFY2(graphOfLayer(network, static_cast<std::int64_t>(layer)) == expected[layer],
                     qPrintable(QString::number(layer)));
        }
    }

    void aGraphIsFoundAgainAfterAChange()
    {
        Project before;
        const Graph linear{.nodes = {{NodeId{1}, "linear", "up", {}}}, .wires = {}};
        before.network.blocks = {{"a", "", {}}, {"b", "", linear}};
        before.network.stack().segments = {{"a", 1}, {"b", 1}};
        const GraphRef b = GraphRef::block("b");
        QVERIFY(graphAfter(before, GraphRef::head(), Project{}) == GraphRef::head());
        QVERIFY(graphAfter(before, b, before) == b);
        Project after = before;
        after.network.blocks[1].name = after.network.stack().segments[1].block = "c";
        QVERIFY(graphAfter(before, b, after) == GraphRef::block("c"));
        QVERIFY(keptGraph(before, b, after) == GraphRef::block("c"));
        before.network.blocks[0].graph = after.network.blocks[0].graph = linear; // another one is alike
        QVERIFY(graphAfter(before, b, after) == GraphRef::block("c"));
        before.network.blocks[0].graph = {};
        after = before;
        after.network.blocks.pop_back();
        QVERIFY(keptGraph(before, b, after).empty());
        after.network.stack().segments.pop_back();
        QVERIFY(graphAfter(before, b, after) == GraphRef::block("a"));
        QVERIFY(graphAfter(before, b, Project{}) == GraphRef::head()); // of a network without layers
        after.network.blocks.push_back({"b", "", {}});                 // no layer is made of it any more
        QVERIFY(graphAfter(before, b, after) == GraphRef::block("a"));
        QVERIFY(graphAfter(after, b, after) == b); // none was before either
        after.network.blocks.clear();
        QVERIFY(graphAfter(before, b, after) == GraphRef::stem());
    }

    void absurdRepeatsSaturate()
    {
        constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
        Network network;
        network.blocks = {{"a", "", {}}};
        network.stack().segments = {{"a", -5}, {"a", kMost}, {"a", kMost}};
        QCOMPARE(network.depth(), kMost / 4);
        QVERIFY(network.blockOfLayer(kMost / 4) == network.blocks.data());
    }
};

RESIDUA_TEST(TestGraph)
#include "tst_graph.moc"
