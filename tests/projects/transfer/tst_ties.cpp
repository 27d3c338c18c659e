// SPDX-License-Identifier: GPL-3.0-or-later
// Loops whose visits become layers and layers that become visits: the documents, and where their weights come from.
#include "projects/check/validate.h"
#include "projects/depth/depth_names.h"
#include "projects/edit/edit.h"
#include "projects/shipped/examples.h"
#include "projects/transfer/prune.h"
#include "projects/transfer/retrofit.h"
#include "projects/transfer/ties.h"
#include "tests/support/test_program.h"

#include <QtTest>

using namespace residua;
using namespace residua::projects;

namespace {

using LayerList = std::vector<std::int64_t>;

/// A plain network of the blocks a and b.
Project networkOf(std::vector<StackSegment> segments, std::vector<Loop> loops)
{
    Project project = findExample("plain-language")->project;
    Block block = project.network.blocks.front();
    block.name = "a";
    project.network.blocks = {block};
    block.name = "b";
    project.network.blocks.push_back(block);
    project.stack().segments = std::move(segments);
    project.stack().loops = std::move(loops);
    project.stack().schedule = {};
    return project;
}

QString blocksIn(const Project& project)
{
    QString names;
    for (std::int64_t layer = 1; layer <= project.network.depth(); ++layer) {
        names += QString::fromStdString(project.network.blockOfLayer(layer)->name);
    }
    return names;
}

std::string tieRefusalOf(const Result<RetiedProject>& made)
{
    return made ? std::string() : made.error().text();
}

} // namespace

class TestTies : public QObject {
    Q_OBJECT

private slots:
    void visitsBecomeLayers_data()
    {
        QTest::addColumn<int>("order");
        QTest::addColumn<QList<int>>("sources");
        QTest::addRow("cycle") << static_cast<int>(VisitOrder::Cycle) << QList<int>{1, 2, 3, 2, 3, 2, 3, 4, 4};
        QTest::addRow("in place") << static_cast<int>(VisitOrder::InPlace) << QList<int>{1, 2, 2, 2, 3, 3, 3, 4, 4};
    }
    void visitsBecomeLayers()
    {
        QFETCH(int, order);
        QFETCH(QList<int>, sources);
        const Project project = networkOf(
            {{"a", 2}, {"b", 2}}, {{.first = 2, .last = 3, .visits = 3, .order = static_cast<VisitOrder>(order)},
                                   {.first = 4, .last = 4, .visits = 2}});
        const auto made = untied(project);
        QVERIFY2(made.ok(), tieRefusalOf(made).c_str());
        QVERIFY(made->project.stack().loops.empty());
        QCOMPARE(made->project.stack().stored(), project.stack().depth());
        QCOMPARE(blocksIn(made->project), blocksIn(project));
        QVERIFY(made->project.stack().topology == project.stack().topology);
        for (qsizetype i = 0; i < sources.size(); ++i) {
            QCOMPARE(made->made.at(static_cast<std::size_t>(i)), LayerList{sources[i]});
            QCOMPARE(made->layers.at(static_cast<std::size_t>(i)), i + 1);
        }
    }

    /// Parameters of a visit beside its layers stay in loops of one visit, with its row of the loop's parameters.
    void visitsKeepTheirEmbeddingsAndNorms()
    {
        Loop loop{.first = 2, .last = 3, .visits = 3, .embedding = true, .gate = true, .norm = LoopNorm::Exit};
        loop.scale = 0.5;
        const Project project = networkOf({{"a", 4}}, {loop});
        const auto made = untied(project);
        QVERIFY2(made.ok(), tieRefusalOf(made).c_str());
        const std::vector<Loop>& loops = made->project.stack().loops;
        QCOMPARE(loops.size(), std::size_t{3});
        for (std::size_t i = 0; i < 3; ++i) {
            QCOMPARE(loops[i].first, static_cast<std::int64_t>(2 + 2 * i));
            QCOMPARE(loops[i].visits, std::int64_t{1});
            QCOMPARE(loops[i].scale, 0.5);
            QCOMPARE(loops[i].norm == LoopNorm::Exit, i == 2);
        }
        const auto rows = carriedRows(project, made->project, made->layers);
        QCOMPARE(rows.at("topology.loop.3.embedding").from, std::string("topology.loop.1.embedding"));
        QCOMPARE(rows.at("topology.loop.3.embedding").rows, LayerList{2});
        QCOMPARE(rows.at("topology.loop.2.gate").rows, LayerList{1});
        QCOMPARE(rows.at("topology.loop.3.norm.weight").from, std::string("topology.loop.1.norm.weight"));
    }

    void factorsAloneNeedOneLoop()
    {
        Loop loop{.first = 1, .last = 2, .visits = 3, .order = VisitOrder::InPlace};
        loop.scale = 0.25;
        const auto made = untied(networkOf({{"a", 3}}, {loop}));
        QVERIFY2(made.ok(), tieRefusalOf(made).c_str());
        QCOMPARE(made->project.stack().loops.size(), std::size_t{1});
        QCOMPARE(made->project.stack().loops[0].last, std::int64_t{6});
        QCOMPARE(made->project.stack().loops[0].scale, 0.25);
    }

    void drawnVisitsBecomeThoseOfAnEvaluation()
    {
        Loop loop{.first = 2, .last = 2, .visits = 8, .draw = VisitDraw::Poisson, .mean = 3};
        const auto made = untied(networkOf({{"a", 3}}, {loop}));
        QVERIFY2(made.ok(), tieRefusalOf(made).c_str());
        QCOMPARE(made->project.network.depth(), std::int64_t{5});
        QCOMPARE(made->layers, (LayerList{1, 2, 3, 4, 10}));
    }

    void anEditUntiesOneLoop()
    {
        Document document{networkOf({{"a", 4}}, {{.first = 1, .last = 1}, {.first = 3, .last = 4}}), {}};
        document.project.losses.resize(2);
        document.project.losses[0].output = "network.output@1@2";
        document.project.losses[1].output = "network.output@4@2";
        const auto edit = untieEdit(document, 0);
        QVERIFY(edit.ok() && applyEdit(document, *edit).ok());
        QCOMPARE(document.project.stack().stored(), std::int64_t{5});
        QCOMPARE(document.project.stack().loops.size(), std::size_t{1});
        QCOMPARE(document.project.stack().loops[0].first, std::int64_t{4});
        QCOMPARE(document.project.losses[0].output, std::string("network.output@2"));
        QCOMPARE(document.project.losses[1].output, std::string("network.output@5@2"));
        QVERIFY(!untieEdit(document, 1).ok());
        document.project.stack().loops[0].injection = LoopInjection::Add;
        const auto refused = untieEdit(document, 0);
        QVERIFY(!refused.ok() && refused.error().text().find("a loop without injection") != std::string::npos);
        document.project.stack().loops[0].exitGate = true;
        const auto gated = untieEdit(document, 0);
        QVERIFY(!gated.ok() && gated.error().text().find("without exit_gate") != std::string::npos);
    }

    void tiesAreRead_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("refusal");
        QTest::newRow("words") << "soon"
                               << "got \"soon\", expected layers and visits such as 3:10,4";
        QTest::newRow("no visits") << "3:10"
                                   << "expected layers";
        QTest::newRow("one visit") << "3:10,1"
                                   << "expected layers";
        QTest::newRow("backwards") << "10:3,2"
                                   << "expected layers";
        QTest::newRow("uneven") << "3:10,3"
                                << "8 layers are no multiple of 3 visits";
        QTest::newRow("unknown") << "3:10,4,mean"
                                 << "expected layers";
        QTest::newRow("no rank") << "3:10,4,rank=0"
                                 << "and rank=N";
        QTest::newRow("beyond") << "3:10,4"
                                << "are not all of the 6 stored layers";
        QTest::newRow("blocks") << "3:6,2"
                                << "layer 5 has the block b";
        QTest::newRow("in a loop") << "1:2,2"
                                   << "outside loops";
        QTest::newRow("none to untie") << "untied"
                                       << "expected layers";
    }
    void tiesAreRead()
    {
        QFETCH(QString, text);
        QFETCH(QString, refusal);
        Loop one{.first = 1, .last = 1, .visits = 2};
        const auto made = retied(networkOf({{"a", 4}, {"b", 2}}, {one}), text.toStdString());
        QVERIFY2(tieRefusalOf(made).find(refusal.toStdString()) != std::string::npos, tieRefusalOf(made).c_str());
    }

    void layersBecomeVisits_data()
    {
        QTest::addColumn<QString>("tie");
        QTest::addColumn<QList<QList<int>>>("sources"); // of layers 2 and 3
        QTest::newRow("average") << "2:7,3" << QList<QList<int>>{{2, 4, 6}, {3, 5, 7}};
        QTest::newRow("in place") << "2:7 3 in_place" << QList<QList<int>>{{2, 3, 4}, {5, 6, 7}};
        QTest::newRow("stepwise") << "2:7,3,stepwise" << QList<QList<int>>{{2}, {7}};
        QTest::newRow("products") << "2:7,3,rank=5" << QList<QList<int>>{{2, 4, 6}, {3, 5, 7}};
    }
    void layersBecomeVisits()
    {
        QFETCH(QString, tie);
        QFETCH(QList<QList<int>>, sources);
        const Project project = networkOf({{"a", 8}}, {});
        const auto made = retied(project, tie.toStdString());
        QVERIFY2(made.ok(), tieRefusalOf(made).c_str());
        QCOMPARE(made->project.stack().stored(), std::int64_t{4});
        QCOMPARE(made->project.network.depth(), std::int64_t{8});
        QCOMPARE(made->project.stack().loops.front().adapterRank, std::int64_t{tie.endsWith("rank=5") ? 5 : 0});
        QCOMPARE(made->made[0], LayerList{1});
        QCOMPARE(made->made[3], LayerList{8});
        for (std::size_t layer = 0; layer < 2; ++layer) {
            const QList<int>& of = sources[static_cast<qsizetype>(layer)];
            QCOMPARE(made->made[layer + 1], LayerList(of.begin(), of.end()));
        }
        const auto back = untied(made->project);
        QVERIFY2(back.ok(), tieRefusalOf(back).c_str());
        QVERIFY(back->project.stack().segments == project.stack().segments);
        QVERIFY(!untied(project).ok());
    }

    /// A layer of a loop is pruned with all its visits.
    void prunedLayersLeaveWithAllVisits()
    {
        const Project project = networkOf({{"a", 4}}, {{.first = 2, .last = 3, .visits = 2}});
        const auto pruning = pruningFrom("layer 4", project); // 2@2
        QVERIFY(pruning.ok());
        const auto made = pruned(project, *pruning);
        QVERIFY2(made.ok(), made ? "" : made.error().text().c_str());
        QCOMPARE(made->layers, (LayerList{1, 3, 5, 6}));
        QCOMPARE(made->project.network.depth(), std::int64_t{4});
        QCOMPARE(storedSources(project.stack(), made->project.stack(), made->layers, 2), LayerList{3});
        QCOMPARE(storedSources(project.stack(), made->project.stack(), made->layers, 3), LayerList{4});
        const auto between = pruningBetween(project, made->project, made->layers);
        QVERIFY2(between.ok(), between ? "" : between.error().text().c_str());
        QCOMPARE(between->layers, (LayerList{2, 4}));
        QVERIFY(!pruned(project, {{}, {1, 2, 3, 6}}).ok()); // no layer would be left
    }
};

RESIDUA_TEST(TestTies)
#include "tst_ties.moc"
