// SPDX-License-Identifier: GPL-3.0-or-later
// The depth canvas by pointer and request, in frames that nobody shows.
#include "editor/canvas/canvas.h"
#include "editor/depth/shortcut_drag.h"
#include "editor/scenes/depth_scene.h"
#include "editor/scenes/live_weights.h"
#include "editor/shortcuts/port_row.h"
#include "projects/shipped/examples.h"
#include "tests/editor/canvas_driver.h"
#include "tests/editor/depth_stacks.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <limits>
#include <vector>

using namespace residua;
using namespace residua::editor;
using projects::DepthMix;
using projects::Shortcut;

class TestDepthCanvas : public QObject {
    Q_OBJECT

private slots:
    void aDoubleClickOpensWhatIsInside()
    {
        load(stackOf(3));
        CanvasDriver driver(*m_canvas);
        driver.doubleClick(*m_canvas->locate(LayerTarget{2, LayerPart::Centre}));
        auto opened = driver.take<OpenBlock>();
        QCOMPARE(opened.size(), std::size_t{1});
        QCOMPARE(opened.front().graph, projects::GraphRef::block("mlp"));
        driver.doubleClick(*m_canvas->locate(LayerTarget{0, LayerPart::Centre}));
        QCOMPARE(driver.take<OpenBlock>().back().graph, projects::GraphRef::stem());
        driver.doubleClick(*m_canvas->locate(LayerTarget{4, LayerPart::Centre}));
        QCOMPARE(driver.take<OpenBlock>().back().graph, projects::GraphRef::head());
    }

    /// A right click is about what is under it, or about the selection that it is a part of.
    void aRightClickAsksForTheMenuOfWhatIsUnderIt()
    {
        load(stackOf(4));
        CanvasDriver driver(*m_canvas);
        const auto rightClick = [&](const Target& target) {
            driver.moveTo(*m_canvas->locate(target));
            driver.press(ImGuiMouseButton_Right);
            driver.release(ImGuiMouseButton_Right);
        };
        projects::Selection chosen;
        const auto take = [&] {
            std::size_t menus = 0;
            for (const Request& request : driver.takeAll()) {
                if (const auto* change = std::get_if<SelectionChanged>(&request)) {
                    chosen = change->selection;
                }
                menus += std::holds_alternative<OpenMenu>(request) ? 1 : 0;
            }
            return menus;
        };
        rightClick(LayerTarget{2, LayerPart::Centre});
        QCOMPARE(take(), std::size_t{1});
        QCOMPARE(chosen, (projects::Selection{.layers = {2}}));
        rightClick(Shortcut{1, 4});
        QCOMPARE(take(), std::size_t{1});
        QCOMPARE(chosen, (projects::Selection{.shortcuts = {{1, 4}}}));
        m_canvas->setState({.selection = {.layers = {1, 3}}, .hovered = {}, .folds = {}});
        chosen = {.layers = {1, 3}};
        rightClick(LayerTarget{3, LayerPart::Centre});
        QCOMPARE(take(), std::size_t{1});
        QCOMPARE(chosen, (projects::Selection{.layers = {1, 3}})); // both stay
    }

    /// Σ of a row's shares is 1 whatever its weights are, signs are dropped, and what is not read has none.
    void rowSharesSayWhatALayerReadsMost()
    {
        const float none = std::numeric_limits<float>::quiet_NaN();
        const std::vector<float> weights{4, none, 1, -3};
        LiveWeights live;
        LiveValues values;
        values.mix = weights;
        values.rows = values.columns = 2;
        live.take(values, {.centre = 0, .low = -4, .high = 4});
        const LiveWeights shares = live.rowShares();
        QVERIFY(shares.areShares() && !live.areShares());
        const PortWeights port = shares.port(projects::MixPort::Input);
        QCOMPARE(*port.of({0, 1}), 1.0F);
        QCOMPARE(*port.of({0, 2}), 0.25F);
        QCOMPARE(*port.of({1, 2}), 0.75F);
        QVERIFY(!port.of({1, 1}));
        QVERIFY(!shares.scale().centre);
        QCOMPARE(shares.scale().high, 1.0);
        QCOMPARE(*live.port(projects::MixPort::Input).of({1, 2}), -3.0F);
    }

    /// They take the place of the weights of every port, signed about no effect; the weights themselves stay.
    void effectsAreColoursOfTheirOwn()
    {
        const std::vector<float> weights{4, 1, 1, 3};
        LiveWeights live;
        LiveValues values;
        values.mix = weights;
        values.rows = values.columns = 2;
        values.step = 9;
        live.take(values, {});
        QVERIFY(!live.hasEffects() && live.effect({0, 1}) == nullptr);
        live.setEffects({{{0, 1}, {0.25, 0.01}}, {{1, 2}, {-0.5, std::numeric_limits<double>::quiet_NaN()}}}, 7);
        const LiveWeights effects = live.byEffect();
        QVERIFY(effects.areEffects() && !live.areEffects() && !live.rowShares().areEffects());
        const PortWeights port = effects.port(projects::MixPort::Input);
        QCOMPARE(*port.of({0, 1}), 0.25F);
        QCOMPARE(*port.of({1, 2}), -0.5F);
        QVERIFY(!port.of({0, 2})); // was not measured
        QCOMPARE(*effects.scale().centre, 0.0);
        QVERIFY(effects.scale().low <= -0.5 && effects.scale().high >= 0.5);
        QCOMPARE(effects.step(), std::int64_t{7}); // of the measured checkpoint
        QCOMPARE(nameOfValue(effects), std::string("loss rise without it"));
        QCOMPARE(effectText(live, {0, 1}), std::string("loss +0.25 ± 0.01 without it (step 7)"));
        QCOMPARE(effectText(live, {1, 2}), std::string("loss -0.5 without it (step 7)"));
        QCOMPARE(effectText(live, {0, 2}), std::string());
        LiveWeights fixed; // whose weights are not recorded
        fixed.setEffects({{{0, 1}, {0.25, 0.01}}}, 7);
        QVERIFY(fixed.empty() && !fixed.byEffect().empty());
        live.clear();
        QVERIFY(!live.hasEffects());
    }

    void keysGoFromPortToPort()
    {
        PortRow row;
        row.follow(stackOf(3, projects::MixPorts::Qkv).project.stack().topology, Theme::Light);
        const auto shown = [&row] {
            std::string names;
            for (const DepthPort& port : row.ports()) {
                names += port.shown ? nameOf(port.port) : std::string_view();
            }
            return names;
        };
        for (const char* expected : {"q", "k", "v", "qkv", "q"}) {
            row.step(1);
            QCOMPARE(shown(), std::string(expected));
        }
        row.step(-1);
        QCOMPARE(shown(), std::string("qkv"));
        row.step(-1);
        QCOMPARE(shown(), std::string("v"));
    }

    /// An undo may take away what lies under the pressed button.
    void aGestureEndsWithItsDocument_data()
    {
        QTest::addColumn<int>("began");
        QTest::newRow("on the head") << 0;
        QTest::newRow("on a bracket") << 1;
        QTest::newRow("as a drag from a handle") << 2;
    }
    void aGestureEndsWithItsDocument()
    {
        QFETCH(const int, began);
        auto document = stackOf(6);
        document.layout.groups = {{"early", 1, 2}};
        load(std::move(document));
        CanvasDriver driver(*m_canvas);
        const ScreenPoint first = *m_canvas->locate(LayerTarget{1});
        const float zoom = (m_canvas->locate(LayerTarget{2})->x - first.x) / DepthScene::kPitch;
        const ScreenPoint places[] = {*m_canvas->locate(LayerTarget{7}),
                                      {first.x, first.y + zoom * (DepthScene::kBoxHeight / 2 + 26)},
                                      *m_canvas->locate(LayerTarget{6, LayerPart::Handle})};
        driver.click(places[1]);
        driver.frame();
        QCOMPARE(driver.take<SelectionChanged>().back().selection.layers, (std::set<std::int64_t>{1, 2}));
        select({});
        driver.moveTo(places[began]);
        driver.press();
        if (began == 2) {
            driver.moveTo(*m_canvas->locate(LayerTarget{7}));
        }
        driver.takeAll();
        began == 1 ? m_document.layout.groups.clear() : m_document.project.stack().segments.clear();
        show();
        driver.frame();
        if (began == 2) {
            driver.moveTo(*m_canvas->locate(LayerTarget{1})); // the head
            driver.frame();
        }
        driver.release();
        for (const Request& request : driver.takeAll()) {
            QVERIFY(std::holds_alternative<HoverShortcut>(request));
        }
    }

    void theSameDocumentAgainEndsNoGesture()
    {
        auto document = stackOf(6);
        std::get<DepthMix>(document.project.stack().topology.wiring).sources = projects::ExplicitSources{};
        load(std::move(document));
        CanvasDriver driver(*m_canvas);
        driver.moveTo(*m_canvas->locate(LayerTarget{1, LayerPart::Handle}));
        driver.press();
        show();
        driver.moveTo(*m_canvas->locate(LayerTarget{4}));
        driver.release();
        QCOMPARE(driver.take<RequestEdit>().size(), std::size_t{1});
    }

    void aClickOnAHandleSelectsItsLayer()
    {
        load(stackOf(6));
        CanvasDriver driver(*m_canvas);
        driver.click(*m_canvas->locate(LayerTarget{2, LayerPart::Handle}));
        const auto chosen = driver.take<SelectionChanged>();
        QCOMPARE(chosen.size(), std::size_t{1});
        QCOMPARE(chosen.front().selection.layers, (std::set<std::int64_t>{2}));
    }

    void everyLayerOfADeepStackIsClicked()
    {
        load(stackOf(120));
        CanvasDriver driver(*m_canvas);
        for (const std::int64_t layer : {0, 1, 57, 120, 121}) {
            driver.click(*m_canvas->locate(LayerTarget{layer}));
            QCOMPARE(driver.take<SelectionChanged>().back().selection.layers, (std::set<std::int64_t>{layer}));
        }
    }

    void aDoubleClickOnEmptyGroundAsksForText()
    {
        load(stackOf(3));
        CanvasDriver driver(*m_canvas);
        driver.doubleClick({30, CanvasDriver::kHeight - 20});
        const auto asked = driver.take<AskTyping>();
        QCOMPARE(asked.size(), std::size_t{1});
        QCOMPARE(asked.front().at.x, 30.0F);
        QVERIFY(!asked.front().node); // it is no graph
    }

    void foldingIsAStateOfTheView()
    {
        load(stackOf(8));
        CanvasDriver driver(*m_canvas);
        const ScreenPoint first = *m_canvas->locate(LayerTarget{1});
        select({.layers = {3, 4, 5}});
        fold();
        driver.frame();
        QVERIFY(driver.take<RequestEdit>().empty());
        QVERIFY(m_canvas->locate(LayerTarget{4, LayerPart::Fold}).has_value());
        QVERIFY(!m_canvas->locate(LayerTarget{2, LayerPart::Fold}).has_value());
        QVERIFY(!m_canvas->locate(Shortcut{3, 4}).has_value());
        show(); // an edit elsewhere leaves it folded
        driver.frame();
        driver.click(*m_canvas->locate(LayerTarget{3, LayerPart::Fold}));
        driver.frame();
        QVERIFY(driver.take<FoldsChanged>().back().folds.empty());
        QVERIFY(!m_canvas->locate(LayerTarget{4, LayerPart::Fold}).has_value());
        QCOMPARE(m_canvas->locate(LayerTarget{1})->x, first.x);
        m_state = {};
        fold();
        QVERIFY(m_canvas->locate(LayerTarget{8, LayerPart::Fold}).has_value());
        fold();
        QVERIFY(!m_canvas->locate(LayerTarget{8, LayerPart::Fold}).has_value());
    }

    /// The folds that a host keeps may be of another stack.
    void foldsOfUnlikeLayersAreNotShown()
    {
        load(stackOf(4));
        CanvasDriver driver(*m_canvas);
        fold();
        QVERIFY(m_canvas->locate(LayerTarget{4, LayerPart::Fold}).has_value());
        m_document.project.network.blocks.push_back({"other", "", {}});
        m_document.project.stack().segments = {{"mlp", 2}, {"other", 2}};
        show();
        QVERIFY(!m_canvas->locate(LayerTarget{4, LayerPart::Fold}).has_value());
    }

    void aDragSaysWhatTheShortcutCosts()
    {
        projects::Project project = projects::findExample("linear-ancre")->project;
        std::get<DepthMix>(project.stack().topology.wiring).sources = projects::ExplicitSources{{{0, 1}, {1, 2}}};
        DepthScene scene;
        scene.rebuild(project);
        ShortcutDrag drag;
        drag.begin(std::make_shared<const projects::Project>(project), 0);
        const DragPreview preview = drag.preview(scene, project, scene.box(3));
        QVERIFY(preview.valid);
        QCOMPARE(preview.lines.front(), std::string("0:3"));
        QCOMPARE(preview.lines.at(1), std::string("+1 parameter"));
        QVERIFY(!drag.preview(scene, project, scene.box(1)).valid); // is there
    }

    void theButtonThatFoldsCoversNothing_data()
    {
        QTest::addColumn<float>("width");
        QTest::addColumn<float>("height");
        QTest::newRow("a large canvas") << CanvasDriver::kWidth << CanvasDriver::kHeight;
        QTest::newRow("of a screen at twice the size") << 500.0F << 95.0F;
        QTest::newRow("a small one") << 300.0F << 80.0F;
        QTest::newRow("a narrow one") << 260.0F << 400.0F;
    }
    void theButtonThatFoldsCoversNothing()
    {
        QFETCH(float, width);
        QFETCH(float, height);
        load(stackOf(8)); // its head mixes too
        CanvasDriver driver(*m_canvas);
        driver.resize(width, height);
        std::vector<Target> targets;
        for (std::int64_t layer = 0; layer <= 9; ++layer) {
            targets.emplace_back(LayerTarget{layer});
            for (std::int64_t source = 0; source < layer; ++source) {
                targets.emplace_back(Shortcut{source, layer});
            }
        }
        for (const Target& target : targets) {
            if (const auto at = m_canvas->locate(target)) {
                driver.click(*at);
            }
        }
        QVERIFY(driver.take<FoldsChanged>().empty());
        driver.click({width - 36, height - 18});
        QCOMPARE(driver.take<FoldsChanged>().size(), std::size_t{1});
    }

    void theButtonFoldsAndUnfolds()
    {
        load(stackOf(5));
        CanvasDriver driver(*m_canvas);
        const ScreenPoint button{CanvasDriver::kWidth - 36, CanvasDriver::kHeight - 18};
        driver.click(button);
        QVERIFY(m_canvas->locate(LayerTarget{3, LayerPart::Fold}).has_value());
        driver.click(button);
        QVERIFY(!m_canvas->locate(LayerTarget{3, LayerPart::Fold}).has_value());
        QVERIFY(driver.take<SelectionChanged>().empty());
    }

    void aClickOnAFoldedRunSelectsItWhole()
    {
        load(stackOf(5));
        CanvasDriver driver(*m_canvas);
        fold();
        driver.frame();
        driver.click(*m_canvas->locate(LayerTarget{3, LayerPart::Centre}));
        QCOMPARE(driver.take<SelectionChanged>().back().selection.layers, (std::set<std::int64_t>{1, 2, 3, 4, 5}));
    }

    void theControlsOfALoopChangeItsVisitsAndFoldIt()
    {
        projects::Document document = stackOf(5);
        document.project.stack().loops = {{.first = 2, .last = 3, .visits = 2}};
        load(std::move(document));
        CanvasDriver driver(*m_canvas);
        const auto press = [&](LoopPart part) {
            driver.click(*m_canvas->locate(LoopTarget{0, part}));
            driver.frame();
        };
        const auto visitsAsked = [&] {
            const std::vector<RequestEdit> asked = driver.take<RequestEdit>();
            projects::Document after = m_document;
            const bool done = asked.size() == 1 && asked.front().change.ok() &&
                              projects::applyEdit(after, asked.front().change->edit).ok();
            return done ? after.project.stack().loops.front().visits : 0;
        };
        press(LoopPart::More);
        QCOMPARE(visitsAsked(), std::int64_t{3});
        press(LoopPart::Fewer);
        QCOMPARE(visitsAsked(), std::int64_t{1});
        press(LoopPart::Visits);
        QCOMPARE(driver.take<FoldsChanged>().back().folds, (std::vector<LayerRun>{{2, 3}}));
        driver.click(*m_canvas->locate(LayerTarget{2}));
        QCOMPARE(driver.take<SelectionChanged>().back().selection.layers, (std::set<std::int64_t>{2, 4}));
        driver.key(ImGuiKey_RightArrow);
        QCOMPARE(driver.take<SelectionChanged>().back().selection.layers, (std::set<std::int64_t>{3, 5}));
    }

    void aDragAddsAShortcutOnlyBetweenOpenLayers()
    {
        auto document = stackOf(6);
        std::get<DepthMix>(document.project.stack().topology.wiring).sources = projects::ExplicitSources{};
        load(std::move(document));
        CanvasDriver driver(*m_canvas);
        driver.drag(*m_canvas->locate(LayerTarget{1, LayerPart::Handle}),
                    *m_canvas->locate(LayerTarget{4, LayerPart::Centre}));
        QCOMPARE(driver.take<RequestEdit>().size(), std::size_t{1});
        select({.layers = {3, 4}});
        fold();
        driver.frame();
        driver.drag(*m_canvas->locate(LayerTarget{1, LayerPart::Handle}),
                    *m_canvas->locate(LayerTarget{4, LayerPart::Centre}));
        QVERIFY(driver.take<RequestEdit>().empty());
    }

    void additiveSelectionByClickAndBox()
    {
        load(stackOf(6));
        CanvasDriver driver(*m_canvas);
        driver.click(*m_canvas->locate(LayerTarget{2, LayerPart::Centre}));
        ImGui::GetIO().KeyShift = true;
        driver.click(*m_canvas->locate(LayerTarget{5, LayerPart::Centre}));
        QCOMPARE(driver.take<SelectionChanged>().back().selection.layers, (std::set<std::int64_t>{2, 5}));
        const ScreenPoint one = *m_canvas->locate(LayerTarget{1, LayerPart::Centre});
        driver.drag({one.x - 30, one.y + 60}, {one.x + 20, one.y + 5});
        QCOMPARE(driver.take<SelectionChanged>().back().selection.layers, (std::set<std::int64_t>{1, 2, 5}));
        ImGui::GetIO().KeyShift = false;
    }

    void portsAreShownApartAndHidden()
    {
        load(stackOf(4, projects::MixPorts::QkvResidual));
        CanvasDriver driver(*m_canvas);
        const int all = driver.frame();
        driver.click({30, 24}); // q's chip
        const int three = driver.frame();
        QVERIFY(three < all);
        ImGui::GetIO().KeyShift = true;
        driver.click({30, 24}); // q alone
        ImGui::GetIO().KeyShift = false;
        QVERIFY(driver.frame() < three);
        QVERIFY(driver.take<SelectionChanged>().empty());
    }

    void theArrowsReachEveryLayerAndShortcut()
    {
        load(stackOf(40));
        CanvasDriver driver(*m_canvas);
        driver.moveTo({500, 600});
        driver.wheel(10);
        driver.key(ImGuiKey_RightArrow); // the stem
        driver.key(ImGuiKey_RightArrow);
        driver.key(ImGuiKey_RightArrow);
        QCOMPARE(driver.take<SelectionChanged>().back().selection.layers, (std::set<std::int64_t>{2}));
        QVERIFY(m_canvas->locate(LayerTarget{2, LayerPart::Centre})->x > 0); // the view follows
        driver.key(ImGuiKey_UpArrow);
        QCOMPARE(driver.take<SelectionChanged>().back().selection.shortcuts, (std::set<Shortcut>{{1, 2}}));
        driver.key(ImGuiKey_UpArrow);
        driver.key(ImGuiKey_UpArrow); // no further
        QCOMPARE(driver.take<SelectionChanged>().back().selection.shortcuts, (std::set<Shortcut>{{0, 2}}));
        driver.key(ImGuiKey_DownArrow);
        driver.key(ImGuiKey_DownArrow);
        QCOMPARE(driver.take<SelectionChanged>().back().selection.layers, (std::set<std::int64_t>{2}));
        ImGui::GetIO().KeyShift = true;
        driver.key(ImGuiKey_RightArrow);
        ImGui::GetIO().KeyShift = false;
        QCOMPARE(driver.take<SelectionChanged>().back().selection.layers, (std::set<std::int64_t>{2, 3}));
        for (int i = 0; i < 60; ++i) {
            driver.key(ImGuiKey_RightArrow);
        }
        QCOMPARE(driver.take<SelectionChanged>().back().selection.layers, (std::set<std::int64_t>{41}));
        QVERIFY(m_canvas->locate(LayerTarget{41, LayerPart::Centre})->x < CanvasDriver::kWidth);
    }

    void theMinimapMovesTheView()
    {
        load(stackOf(40));
        CanvasDriver driver(*m_canvas);
        const ScreenPoint corner{CanvasDriver::kWidth - 24, CanvasDriver::kHeight - 24};
        const float before = m_canvas->locate(LayerTarget{40, LayerPart::Centre})->x;
        driver.click({corner.x - 100, corner.y}); // all is in sight: there is no minimap
        driver.frame();
        QCOMPARE(m_canvas->locate(LayerTarget{40, LayerPart::Centre})->x, before);
        driver.moveTo({100, 500});
        driver.wheel(12);
        QVERIFY(m_canvas->locate(LayerTarget{40, LayerPart::Centre})->x > CanvasDriver::kWidth);
        driver.take<SelectionChanged>();
        driver.drag({corner.x - 60, corner.y}, corner);
        QVERIFY(m_canvas->locate(LayerTarget{40, LayerPart::Centre})->x < CanvasDriver::kWidth);
        QVERIFY(driver.take<SelectionChanged>().empty());
        m_canvas->show(Extent::Everything);
        driver.frame();
        QCOMPARE(m_canvas->locate(LayerTarget{40, LayerPart::Centre})->x, before);
    }

    /// A topology whose mixes are of halves of layers has a longer row and other arcs.
    void theRowKeepsItsHeightUnderAnotherTopology()
    {
        load(stackOf(8));
        CanvasDriver driver(*m_canvas);
        const auto first = [this] { return *m_canvas->locate(LayerTarget{0, LayerPart::Centre}); };
        const auto last = [this] { return *m_canvas->locate(LayerTarget{9, LayerPart::Centre}); };
        const ScreenPoint before = first();
        const float length = (last().x - before.x) / DepthScene::kPitch;
        auto& mix = std::get<DepthMix>(m_document.project.stack().topology.wiring);
        mix.entry = projects::StackEntry::Full;
        mix.feeds = projects::MixFeeds::ResidualBesideBranch;
        mix.sites = projects::MixSites::Both;
        mix.sitePairs = projects::SitePairs::Any;
        show();
        driver.frame();
        QCOMPARE(first().y, before.y);
        QVERIFY(first().x > 0 && last().x < CanvasDriver::kWidth);
        QVERIFY(m_canvas->locate(Shortcut{0, 17})->y > 0); // arcs become flatter if they have less room
        mix = {};
        show();
        driver.frame();
        QCOMPARE(first().y, before.y);
        QCOMPARE((last().x - first().x) / DepthScene::kPitch, length);
    }

    /// As on a small screen, where panels leave little room.
    void aLowCanvasShowsTheWholeRow()
    {
        load(stackOf(8));
        CanvasDriver driver(*m_canvas);
        for (const float height : {300.0F, 120.0F, 90.0F}) {
            driver.resize(440, height);
            for (const std::int64_t layer : {0, 9}) {
                const ScreenPoint at = *m_canvas->locate(LayerTarget{layer, LayerPart::Centre});
                QVERIFY(at.x > 0 && at.x < 440 && at.y > 0 && at.y < height);
            }
            QVERIFY(m_canvas->locate(Shortcut{0, 9})->y > 0);
        }
    }

    void zoomToSelectionShowsIt()
    {
        load(stackOf(96));
        CanvasDriver driver(*m_canvas);
        select({.layers = {90}});
        m_canvas->show(Extent::Selection);
        driver.frame();
        const ScreenPoint at = *m_canvas->locate(LayerTarget{90, LayerPart::Centre});
        QVERIFY(std::abs(at.x - CanvasDriver::kWidth / 2) < 2);
        QVERIFY(m_canvas->locate(LayerTarget{91, LayerPart::Centre})->x - at.x > 100);
    }

private:
    void load(projects::Document document)
    {
        m_canvas = makeDepthCanvas();
        m_document = std::move(document);
        m_state = {};
        show();
    }
    void show() { m_canvas->setDocument(std::make_shared<const projects::Document>(m_document)); }
    void select(projects::Selection selection)
    {
        m_state.selection = std::move(selection);
        m_canvas->setState(m_state);
    }
    /// As the command does it.
    void fold()
    {
        m_state.folds = toggled(m_document.project.network, m_state.folds, m_state.selection.layers);
        m_canvas->setState(m_state);
    }
    std::unique_ptr<Canvas> m_canvas;
    projects::Document m_document;
    ViewState m_state;
};

RESIDUA_TEST(TestDepthCanvas)
#include "tst_depth_canvas.moc"
