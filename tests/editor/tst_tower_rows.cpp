// SPDX-License-Identifier: GPL-3.0-or-later
// The towers of a document as rows around the shown stack: their order and wires, and what a click in them requests.
#include "editor/canvas/canvas.h"
#include "editor/scenes/tower_rows.h"
#include "projects/nodes/towers.h"
#include "tests/editor/canvas_driver.h"
#include "tests/editor/depth_stacks.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

using namespace residua;
using namespace residua::editor;

namespace {

projects::Tower towerOf(const std::string& name, const std::string& input, std::int64_t layers)
{
    projects::Tower tower{stackOf(layers).project.network};
    tower.network.name = name;
    tower.network.input = input;
    return tower;
}

/// The first tower continues "lower", and is compared with a frozen teacher.
projects::Document joined()
{
    projects::Document document = stackOf(3);
    document.project.network.input = "lower.output";
    document.project.towers = {towerOf("lower", "", 2), towerOf("teacher", "", 5)};
    document.project.towers[1].network.frozen = true;
    projects::Loss loss;
    loss.name = "soft";
    loss.output = "network.output";
    loss.target = "teacher.output";
    document.project.losses = {loss};
    return document;
}

} // namespace

class TestTowerRows : public QObject {
    Q_OBJECT

private slots:
    void aTowerContinuesTheRowThatItReads()
    {
        TowerRows rows;
        rows.rebuild(joined().project, 0);
        QCOMPARE(rows.rows().size(), std::size_t{2});
        QCOMPARE(rows.rows()[0].name, std::string("lower › network"));
        QCOMPARE(rows.rows()[1].name, std::string("teacher (frozen)"));
        QCOMPARE(rows.shownRow(), std::size_t{0});
        QCOMPARE(rows.stacks().size(), std::size_t{2});
        rows.rebuild(projects::viewOf(joined().project, 1), 1); // another shown tower leaves the rows as they are
        QCOMPARE(rows.rows()[0].name, std::string("lower › network"));
        QVERIFY(std::ranges::none_of(rows.stacks(), [](const SmallStack& each) { return each.tower == 1; }));
        rows.rebuild(joined().project, std::nullopt);
        QVERIFY(rows.empty());
        rows.rebuild(stackOf(3).project, 0);
        QVERIFY(rows.empty());
    }

    /// No stack overlaps another one or the shown one, whichever is shown.
    void stacksLieApart()
    {
        for (std::size_t shown = 0; shown < 3; ++shown) {
            const projects::Project view = projects::viewOf(joined().project, shown);
            DepthScene scene;
            scene.rebuild(view);
            TowerRows rows;
            rows.rebuild(view, shown);
            rows.place(scene);
            std::vector<Rect> areas{scene.bounds()};
            for (const SmallStack& stack : rows.stacks()) {
                QVERIFY(std::ranges::none_of(areas, [&](const Rect& area) { return area.overlaps(stack.area); }));
                areas.push_back(stack.area);
                QVERIFY(rows.bounds().contains({stack.area.left, stack.area.top}) &&
                        rows.bounds().contains({stack.area.right, stack.area.bottom}));
            }
        }
    }

    void wiresJoinValuesAndTheirReaders()
    {
        projects::Document document = joined();
        projects::Graph& block = document.project.network.blocks.front().graph;
        block.nodes.push_back({projects::NodeId{1}, "input", {}, {{"port", std::string("teacher.states")}}});
        DepthScene scene;
        scene.rebuild(document.project);
        TowerRows rows;
        rows.rebuild(document.project, 0);
        rows.place(scene);
        const auto wire = [&](const std::string& text) {
            const auto found = std::ranges::find(rows.wires(), text, &ValueWire::text);
            return found == rows.wires().end() ? ValueWire{} : *found;
        };
        QCOMPARE(rows.wires().size(), std::size_t{3});
        const ValueWire joint = wire("lower.output is read by network");
        QCOMPARE(joint.path.back(), (Point{0, DepthScene::kBoxHeight / 2})); // at the shown stem
        const ValueWire cross = wire("teacher.states is read by network");
        QCOMPARE(cross.fromLayer, std::int64_t{5});
        QCOMPARE(cross.toLayer, std::int64_t{1});
        const ValueWire loss = wire("loss soft: network.output against teacher.output");
        QVERIFY(loss.isOfLoss);
        QCOMPARE(loss.fromLayer, std::int64_t{6}); // the head of the teacher
        const Point middle{(loss.path[1].x + loss.path[2].x) / 2, (loss.path[1].y + loss.path[2].y) / 2};
        const TowerSpot spot = rows.hitTest(middle, 1);
        QCOMPARE(spot.kind, TowerSpot::Kind::Wire);
        QCOMPARE(rows.describe(spot), loss.text);
    }

    void aClickOnAStackShowsItsTower()
    {
        load(joined(), 0);
        CanvasDriver driver(*m_canvas);
        driver.click(*m_canvas->locate(TowerSpot{TowerSpot::Kind::Stack, 2}));
        const auto shown = driver.take<ShowTower>();
        QCOMPARE(shown.size(), std::size_t{1});
        QCOMPARE(shown.front().tower, std::size_t{2});
        QVERIFY(shown.front().selection.empty());
        driver.doubleClick(*m_canvas->locate(TowerSpot{TowerSpot::Kind::Stack, 1}));
        QVERIFY(driver.take<AskTyping>().empty()); // the second click is not one beside the shown stack
    }

    void aJointIsSelectedAndOpened()
    {
        load(joined(), 1);
        CanvasDriver driver(*m_canvas);
        const ScreenPoint joint = *m_canvas->locate(TowerSpot{TowerSpot::Kind::Joint, 0});
        driver.click(joint);
        const auto shown = driver.take<ShowTower>();
        QCOMPARE(shown.size(), std::size_t{1});
        QCOMPARE(shown.front().tower, std::size_t{0});
        QCOMPARE(shown.front().selection, (projects::Selection{.layers = {0}}));
        driver.doubleClick(joint);
        const auto opened = driver.take<OpenBlock>();
        QCOMPARE(opened.size(), std::size_t{1});
        QCOMPARE(opened.front().graph, projects::GraphRef::stem());
        QVERIFY(!m_canvas->locate(TowerSpot{TowerSpot::Kind::Joint, 2})); // reads no tower
    }

    /// A document with one tower is drawn to the vertex as by a host that shows no other towers.
    void oneTowerIsDrawnAsBefore()
    {
        const auto drawn = [this](std::optional<std::size_t> tower) {
            load(stackOf(6), tower);
            CanvasDriver driver(*m_canvas);
            driver.frame();
            std::vector<ImVec2> points;
            const ImDrawData& data = *ImGui::GetDrawData();
            for (int list = 0; list < data.CmdListsCount; ++list) {
                for (const ImDrawVert& vertex : data.CmdLists[list]->VtxBuffer) {
                    points.push_back(vertex.pos);
                }
            }
            return points;
        };
        const auto isSame = [](ImVec2 a, ImVec2 b) { return a.x == b.x && a.y == b.y; };
        const std::vector<ImVec2> before = drawn(std::nullopt);
        QVERIFY(before.size() > 100);
        QVERIFY(std::ranges::equal(before, drawn(0), isSame));
    }

    /// Twelve towers of 64 layers, also with a loop in each, are all in sight.
    void manyDeepTowersAreInSight()
    {
        projects::Document document = stackOf(64);
        for (int i = 1; i < 12; ++i) {
            document.project.towers.push_back(towerOf("tower" + std::to_string(i), "", 64));
            document.project.towers.back().network.stack().loops = {{.first = 3, .last = 6, .visits = 4}};
        }
        load(document, 0);
        CanvasDriver driver(*m_canvas);
        driver.frame();
        for (std::size_t tower = 1; tower < 12; ++tower) {
            const auto at = m_canvas->locate(TowerSpot{TowerSpot::Kind::Stack, tower});
            QVERIFY(at && at->x > 0 && at->x < CanvasDriver::kWidth && at->y > 0 && at->y < CanvasDriver::kHeight);
        }
        const ScreenPoint top = *m_canvas->locate(projects::Shortcut{0, 65});
        const ScreenPoint row = *m_canvas->locate(LayerTarget{32});
        QVERIFY(row.y - top.y > 60); // the shown stack keeps room for its arcs
    }

private:
    void load(const projects::Document& whole, std::optional<std::size_t> tower)
    {
        m_canvas = makeDepthCanvas();
        m_canvas->setDocument(std::make_shared<const projects::Document>(
            projects::Document{projects::viewOf(whole.project, tower.value_or(0)), {}}));
        m_canvas->setState({.selection = {}, .hovered = {}, .folds = {}, .tower = tower});
    }

    std::unique_ptr<Canvas> m_canvas;
};

RESIDUA_TEST(TestTowerRows)
#include "tst_tower_rows.moc"
