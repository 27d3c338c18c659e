// SPDX-License-Identifier: GPL-3.0-or-later
// What the depth canvas draws, by the vertices of frames that nobody shows.
#include "editor/canvas/paint_tools.h"
#include "editor/canvas/words.h"
#include "editor/depth/depth_canvas.h"
#include "editor/depth/depth_paint.h"
#include "editor/depth/depth_scene.h"
#include "editor/shortcuts/live_weights.h"
#include "editor/shortcuts/port_row.h"
#include "editor/shortcuts/weight_legend.h"
#include "tests/editor/canvas_driver.h"
#include "tests/editor/depth_stacks.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <vector>

using namespace residua;
using namespace residua::editor;
using projects::DepthMix;
using projects::Shortcut;

class TestDepthPaint : public QObject {
    Q_OBJECT

private slots:
    /// Halves are narrower than the stem: they may have no room for their numbers where it has.
    void halvesWithoutRoomHaveTheirNumbersBelow()
    {
        auto document = stackOf(18);
        auto& mix = std::get<DepthMix>(document.project.topology.wiring);
        mix.entry = projects::StackEntry::Full;
        mix.feeds = projects::MixFeeds::ResidualBesideBranch;
        mix.sites = projects::MixSites::Both;
        mix.sitePairs = projects::SitePairs::Any;
        load(document);
        CanvasDriver driver(*m_canvas);
        driver.frame();
        const ScreenPoint left = *m_canvas->locate(LayerTarget{3});
        const ScreenPoint right = *m_canvas->locate(LayerTarget{16});
        const float zoom = (right.x - left.x) / (13 * (2 * DepthScene::kHalfWidth + DepthScene::kGap));
        QVERIFY(zoom > 0.23F && zoom < 0.3F);
        const float below = left.y + zoom * DepthScene::kBoxHeight / 2 + 2;
        QVERIFY(verticesIn({left.x, below, right.x, below + kTickRoom}) > 0);
        const ScreenPoint stem = *m_canvas->locate(LayerTarget{0}); // whose name is in its box
        QCOMPARE(verticesIn({stem.x - 8, below, stem.x + 8, below + kTickRoom}), std::size_t{0});
    }

    void arcsIntoAFoldedRunAreDimmedWhereNoneOfItRuns()
    {
        const auto document = stackOf(6);
        DepthScene scene;
        scene.rebuild(document.project, {}, {{2, 4}});
        PortRow row;
        row.follow(document.project.topology, Theme::Light);
        const auto place = static_cast<std::size_t>(scene.arc({0, 2}) - scene.arcs().data());
        const auto opacity = [&](const std::vector<float>& active) {
            const std::vector<float> weights(49, 1.0F);
            LiveWeights live;
            live.take({.port = {}, .mix = weights, .rows = 7, .columns = 7, .active = active, .step = 1}, {});
            const Viewport view;
            const projects::Selection selection;
            return inksOf({scene, view, selection, live, document.project, row.ports(), {}, {}}).at(place).opacity;
        };
        const float whole = opacity({1, 1, 1, 1, 1, 1});
        QCOMPARE(opacity({1, 0, 1, 1, 1, 1}), whole);
        QVERIFY(opacity({1, 0, 0, 0, 1, 1}) < whole);
    }

    void whatIsCountedIsTranslated()
    {
        load(stackOf(8));
        CanvasDriver driver(*m_canvas);
        m_canvas->setState({.selection = {}, .hovered = Shortcut{3, 7}, .folds = {{3, 5}}});
        QVERIFY(driver.textsOfAFrame().contains("%1 shortcuts between the same boxes"));
        useTranslator([](const char*, const char* text) { return std::string("translated: ") + text; });
        DepthScene scene;
        scene.rebuild(stackOf(1500).project);
        useTranslator(nullptr);
        QVERIFY2(scene.note().starts_with("translated: 1"), scene.note().c_str());
    }

    /// The legend stands in the corner below; it would cover them.
    void theNumbersBelowADeepStackStandAboveTheLegend()
    {
        load(stackOf(96));
        CanvasDriver driver(*m_canvas);
        QVERIFY(m_canvas->locate(LayerTarget{0, LayerPart::Centre})->y + kTickRoom <=
                CanvasDriver::kHeight - kLegendRoom + 1);
    }

    void leftOutLayersAreDimmed()
    {
        load(stackOf(3));
        CanvasDriver driver(*m_canvas);
        const std::vector<float> active{1, 0, 1};
        const std::vector<float> halves{1, 0.5F, 1};
        const std::vector<float> weights(16, 1.0F);
        LiveWeights live;
        const auto tell = [&](std::span<const float> leftOut, std::int64_t step) {
            live.take({.port = {}, .mix = weights, .rows = 4, .columns = 4, .active = leftOut, .step = step}, {});
            m_canvas->setLive(std::make_shared<const LiveWeights>(live));
        };
        tell({}, 1);
        driver.frame();
        const std::size_t before = opaqueVertices();
        tell(active, 2);
        driver.frame();
        QVERIFY(opaqueVertices() < before);
        // What a layer runs of its heads or MLP parts has a shade and a line of its own.
        tell({}, 3);
        live.clear();
        tell({}, 3);
        const std::int64_t plain = driver.frame();
        tell(halves, 4);
        QVERIFY(driver.frame() > plain);
        QCOMPARE(live.activeShare(2), 0.5);
        QVERIFY(live.isActive(2));
    }

    void deepStacksStayWithinAFrame()
    {
        load(stackOf(172)); // 15,051 arcs that cover each other
        CanvasDriver driver(*m_canvas);
        QVERIFY(driver.frame() < 900000);
        driver.moveTo({500, 560});
        for (int i = 0; i < 12; ++i) {
            driver.wheel(5);
            QVERIFY(driver.frame() < 900000);
        }
    }

private:
    void load(const projects::Document& document)
    {
        m_canvas = makeDepthCanvas();
        m_canvas->setDocument(std::make_shared<const projects::Document>(document));
    }
    static std::size_t verticesIn(const Rect& area)
    {
        std::size_t count = 0;
        const ImDrawData& data = *ImGui::GetDrawData();
        for (int list = 0; list < data.CmdListsCount; ++list) {
            const auto& vertices = data.CmdLists[list]->VtxBuffer;
            count += static_cast<std::size_t>(std::count_if(vertices.begin(), vertices.end(), [&](const ImDrawVert& v) {
                return area.contains({v.pos.x, v.pos.y});
            }));
        }
        return count;
    }
    static std::size_t opaqueVertices()
    {
        std::size_t count = 0;
        const ImDrawData& data = *ImGui::GetDrawData();
        for (int list = 0; list < data.CmdListsCount; ++list) {
            const auto& vertices = data.CmdLists[list]->VtxBuffer;
            count += static_cast<std::size_t>(std::count_if(vertices.begin(), vertices.end(),
                                                            [](const ImDrawVert& v) { return v.col >> 24U > 240; }));
        }
        return count;
    }

    std::unique_ptr<Canvas> m_canvas;
};

RESIDUA_TEST(TestDepthPaint)
#include "tst_depth_paint.moc"
