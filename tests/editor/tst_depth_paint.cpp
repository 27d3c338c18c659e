// SPDX-License-Identifier: GPL-3.0-or-later
// The drawing of the depth canvas, by the vertices of frames that nobody shows.
#include "editor/canvas/canvas.h"
#include "editor/canvas/paint_tools.h"
#include "editor/depth/depth_paint.h"
#include "editor/scenes/depth_scene.h"
#include "editor/scenes/live_weights.h"
#include "editor/scenes/words.h"
#include "editor/shortcuts/port_row.h"
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
    /// Half layers are narrower than the stem, so their numbers may not fit where the stem's number does.
    void halvesWithoutRoomHaveTheirNumbersBelow()
    {
        auto document = stackOf(18);
        auto& mix = std::get<DepthMix>(document.project.stack().topology.wiring);
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
        row.follow(document.project.stack().topology, Theme::Light);
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

    /// If there are few arcs, an arc with its initial weight is drawn as opaque as any other.
    void anArcAtItsStartStandsOut()
    {
        const auto document = stackOf(6);
        DepthScene scene;
        scene.rebuild(document.project, {}, {});
        PortRow row;
        row.follow(document.project.stack().topology, Theme::Light);
        const std::vector<float> weights(49, 0.0F);
        LiveWeights live;
        live.take({.mix = weights, .rows = 7, .columns = 7, .active = {}}, {.centre = 0, .low = -1, .high = 1});
        const Viewport view;
        const projects::Selection selection;
        const auto inks = inksOf({scene, view, selection, live, document.project, row.ports(), {}, {}});
        for (std::size_t i = 0; i < inks.size(); ++i) {
            if (scene.arcs()[i].kind != projects::ShortcutKind::Stream) {
                QCOMPARE(inks[i].colour, resources::diverging(0, Theme::Light)); // whose contrast has its own test
                QCOMPARE(inks[i].alpha(1), 1.0);
                QVERIFY(inks[i].width >= 1.5F);
            }
        }
        QVERIFY(inks.size() > 20);
    }

    /// The arc under the pointer is drawn opaque and the others are faded, however many there are.
    void theArcUnderThePointerStandsOut()
    {
        load(stackOf(16)); // more arcs than are told apart at once
        CanvasDriver driver(*m_canvas);
        const std::vector<float> weights(17 * 17, 1.0F);
        LiveWeights live;
        live.take({.mix = weights, .rows = 17, .columns = 17, .active = {}}, {.centre = 0, .low = -100, .high = 100});
        m_canvas->setLive(std::make_shared<const LiveWeights>(live));
        driver.frame();
        const ImU32 opaque = imColour(weightColour(live.scale(), 1, Theme::Light));
        const auto countOf = [](ImU32 colour) {
            std::size_t count = 0;
            const ImDrawData& data = *ImGui::GetDrawData();
            for (int list = 0; list < data.CmdListsCount; ++list) {
                const auto& vertices = data.CmdLists[list]->VtxBuffer;
                count += static_cast<std::size_t>(
                    std::ranges::count_if(vertices, [colour](const ImDrawVert& v) { return v.col == colour; }));
            }
            return count;
        };
        const std::size_t before = countOf(opaque); // of the legend, if any
        m_canvas->setState({.selection = {}, .hovered = Shortcut{3, 12}, .folds = {}});
        driver.frame();
        QVERIFY(countOf(opaque) >= before + 24);
    }

    /// The legend tells whether the colours show weights or their change.
    void theLegendNamesWhatIsShown()
    {
        load(stackOf(3));
        CanvasDriver driver(*m_canvas);
        const std::vector<float> weights(16, 0.5F);
        const auto says = [&](const LiveValues& values, const char* text) {
            LiveWeights live;
            live.take(values, {.centre = 0, .low = -0.25, .high = 0.25});
            m_canvas->setLive(std::make_shared<const LiveWeights>(live));
            return driver.textsOfAFrame().contains(text);
        };
        const LiveValues plain{.mix = weights, .rows = 4, .columns = 4, .active = {}};
        QVERIFY(says(plain, "mixing weight"));
        LiveValues change = plain;
        change.title = "change since step 0";
        LiveWeights live;
        live.take(change, {});
        QCOMPARE(nameOfValue(live), std::string("change since step 0"));
    }

    /// A selected arc keeps the colour of its weight, in a halo of the accent colour.
    void aSelectedArcKeepsItsColour()
    {
        load(stackOf(6));
        CanvasDriver driver(*m_canvas);
        const std::vector<float> weights(49, 0.75F);
        LiveWeights live;
        live.take({.mix = weights, .rows = 7, .columns = 7, .active = {}}, {.centre = 0, .low = -1, .high = 1});
        m_canvas->setLive(std::make_shared<const LiveWeights>(live));
        driver.frame();
        const ImU32 learned = imColour(weightColour(live.scale(), 0.75, Theme::Light));
        const ImU32 accent = imColour(resources::themeColours(Theme::Light).accent);
        const std::size_t before = verticesOf(learned);
        const std::size_t accents = verticesOf(accent);
        m_canvas->setState({.selection = {.shortcuts = {Shortcut{1, 5}}}, .hovered = {}, .folds = {}});
        driver.frame();
        QCOMPARE(verticesOf(learned), before);
        QVERIFY(verticesOf(accent) >= accents + 24);
    }

    /// Very many learned arcs would cover each other, so the weakest are left out. Every port remains visible.
    void manyArcsAreThinnedOut()
    {
        const auto document = stackOf(96, projects::MixPorts::Qkv);
        DepthScene scene;
        scene.rebuild(document.project);
        PortRow row;
        row.follow(document.project.stack().topology, Theme::Light);
        LiveWeights live;
        const Viewport view;
        const projects::Selection selection;
        const DepthPicture picture{scene, view, selection, live, document.project, row.ports(), {}, {}};
        std::vector<ArcInk> unweighed = inksOf(picture);
        const std::size_t all = unweighed.size();
        QVERIFY(all > 10'000);
        QVERIFY(!thinOut(unweighed));
        QCOMPARE(unweighed.size(), all);

        std::vector<float> weights(97 * 97);
        for (std::size_t i = 0; i < weights.size(); ++i) {
            weights[i] = static_cast<float>((i * 7919) % 1000) / 1000;
        }
        for (const DepthPort& port : row.ports()) {
            live.take({.port = port.port, .mix = weights, .rows = 97, .columns = 97, .active = {}},
                      {.centre = std::nullopt, .low = 0, .high = 1});
        }
        std::vector<ArcInk> inks = inksOf(picture);
        inks.front().halo = resources::themeColours(Theme::Light).accent; // as if it was selected
        const auto thinned = thinOut(inks);
        QVERIFY(thinned);
        QVERIFY(thinned->drawn <= 2 * kMostStrokes && thinned->drawn >= kMostStrokes);
        QVERIFY(thinned->all > 10'000);
        QVERIFY(inks.front().halo);
        for (const DepthPort& port : row.ports()) {
            QVERIFY(!port.shown || std::ranges::count(inks, port.colour, &ArcInk::colour) > 50);
        }
        for (const ArcInk& ink : inks) {
            QVERIFY(!ink.weighed || ink.halo || ink.strength >= static_cast<float>(thinned->least));
            QVERIFY(ink.width <= 3.5F || !ink.weighed); // the ports of a shortcut stand beside each other
        }
    }

    /// The legend of weights is shown if an arc has the colour of a weight. If no arc is drawn, the reason is shown.
    void theLegendIsOfColoursThatAreThere()
    {
        const std::vector<float> weights(49, 0.5F);
        LiveWeights live;
        live.take({.mix = weights, .rows = 7, .columns = 7, .active = {}},
                  {.centre = std::nullopt, .low = 0, .high = 1});
        auto document = stackOf(6);
        load(document);
        CanvasDriver driver(*m_canvas);
        m_canvas->setLive(std::make_shared<const LiveWeights>(live));
        QVERIFY(driver.textsOfAFrame().contains("%1 at step %2"));
        document.project.stack().topology.wiring = projects::BranchGate{};
        m_canvas->setDocument(std::make_shared<const projects::Document>(document));
        QVERIFY(!driver.textsOfAFrame().contains("%1 at step %2"));
        LiveWeights none;
        none.setAbsence("wired otherwise");
        m_canvas->setLive(std::make_shared<const LiveWeights>(LiveWeights()));
        const int without = driver.frame();
        m_canvas->setLive(std::make_shared<const LiveWeights>(none));
        QVERIFY(driver.frame() > without);
    }

    /// The row of layers keeps its position on the screen if the topology changes.
    void theRowStaysWhereItIs()
    {
        auto document = stackOf(8);
        load(document);
        CanvasDriver driver(*m_canvas);
        driver.frame();
        const float before = m_canvas->locate(LayerTarget{1})->y;
        for (const projects::TopologyPreset& preset : projects::topologyPresets(8)) {
            document.project.stack().topology = {preset.name, preset.wiring};
            m_canvas->setDocument(std::make_shared<const projects::Document>(document));
            driver.frame();
            driver.frame();
            const float now = m_canvas->locate(LayerTarget{1})->y;
            QVERIFY2(std::abs(now - before) < 2, (preset.name + ": " + std::to_string(now - before)).c_str());
        }
    }

    void countsAreTranslated()
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

    /// The legend in the lower corner would otherwise cover the numbers.
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
        // The share of heads or MLP parts that a layer runs has a shade and a line of its own.
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
    static std::size_t verticesOf(ImU32 colour)
    {
        std::size_t count = 0;
        const ImDrawData& data = *ImGui::GetDrawData();
        for (int list = 0; list < data.CmdListsCount; ++list) {
            const auto& vertices = data.CmdLists[list]->VtxBuffer;
            count += static_cast<std::size_t>(
                std::ranges::count_if(vertices, [colour](const ImDrawVert& v) { return v.col == colour; }));
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
