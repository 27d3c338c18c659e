// SPDX-License-Identifier: GPL-3.0-or-later
// The matrix: its model alone, and its gestures in frames that nobody shows.
#include "editor/canvas/canvas.h"
#include "editor/canvas/paint_tools.h"
#include "editor/scenes/live_weights.h"
#include "editor/scenes/matrix_scene.h"
#include "editor/shortcuts/port_row.h"
#include "projects/depth/depth_names.h"
#include "tests/editor/canvas_driver.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace residua;
using namespace residua::editor;
using projects::DepthMix;
using projects::MixPort;
using projects::Shortcut;

namespace {

projects::Document documentOf(std::int64_t layers, projects::Wiring wiring)
{
    projects::Document document;
    document.project.network.blocks.push_back({"mlp", "mlp", {}});
    document.project.stack().segments = {{"mlp", layers}};
    document.project.stack().topology.wiring = std::move(wiring);
    return document;
}

DepthMix learned(projects::SourceSet sources = projects::AllSources{})
{
    DepthMix mix;
    mix.weight = projects::WeightKind::Scalar;
    mix.sources = std::move(sources);
    return mix;
}

DepthMix& mixOf(projects::Document& document)
{
    return std::get<DepthMix>(document.project.stack().topology.wiring);
}

MatrixScene matrixOf(const projects::Document& document)
{
    MatrixScene scene;
    scene.rebuild(document.project);
    return scene;
}

} // namespace

class TestMatrix : public QObject {
    Q_OBJECT

private slots:
    /// The key explains hatched cells if there are any.
    void hatchedCellsHaveAKey()
    {
        const auto texts = [](projects::Wiring wiring) {
            const auto canvas = makeMatrixCanvas();
            canvas->setDocument(std::make_shared<const projects::Document>(documentOf(4, std::move(wiring))));
            CanvasDriver driver(*canvas);
            return driver.textsOfAFrame();
        };
        const std::string key = "in the running sum, without a weight of its own";
        QVERIFY(texts(projects::topologyPresets(4).front().wiring).contains(key)); // plain
        QVERIFY(!texts(learned()).contains(key));
    }

    void cellsSayWhatTheTopologyReads()
    {
        DepthMix mix = learned(projects::ExplicitSources{{{0, 1}, {0, 3}, {1, 3}}});
        mix.states[{1, 3}] = projects::ShortcutState::Frozen;
        mix.states[{0, 3}] = projects::ShortcutState::Pruned;
        const MatrixScene scene = matrixOf(documentOf(3, mix));
        QCOMPARE(scene.size(), std::int64_t{4});
        QCOMPARE(scene.cell({0, 1}), MatrixCell::Learned);
        QCOMPARE(scene.cell({0, 2}), MatrixCell::Empty);
        QCOMPARE(scene.cell({0, 3}), MatrixCell::Pruned);
        QCOMPARE(scene.cell({1, 3}), MatrixCell::Frozen);
        QCOMPARE(scene.cell({3, 4}), MatrixCell::Empty);
        QCOMPARE(scene.cell({2, 2}), MatrixCell::Outside);
        QCOMPARE(scene.cell({0, 5}), MatrixCell::Outside);
    }

    void withoutAFinalMixTheLastRowIsClosed()
    {
        DepthMix mix = learned();
        mix.finalMix = false;
        const MatrixScene scene = matrixOf(documentOf(3, mix));
        QCOMPARE(scene.cell({0, 4}), MatrixCell::Outside);
        QCOMPARE(scene.cell({0, 3}), MatrixCell::Learned);
    }

    void theSummedMiddleShows()
    {
        DepthMix mix = learned(projects::FirstAndLast{2});
        mix.states[{1, 7}] = projects::ShortcutState::Pruned; // with it all of the sum
        const MatrixScene scene = matrixOf(documentOf(8, mix));
        QCOMPARE(scene.cell({1, 7}), MatrixCell::Pruned);
        QCOMPARE(scene.cell({3, 7}), MatrixCell::Empty);
        QCOMPARE(scene.cell({0, 8}), MatrixCell::Learned);
        QCOMPARE(scene.cell({3, 8}), MatrixCell::Summed);
        QCOMPARE(scene.cell({7, 8}), MatrixCell::Learned);
    }

    void sharedEntriesCloseTheirColumns()
    {
        DepthMix mix = learned();
        mix.blockLayers = 2;
        const MatrixScene scene = matrixOf(documentOf(4, mix));
        QCOMPARE(scene.cell({2, 4}), MatrixCell::Learned);
        QCOMPARE(scene.cell({3, 4}), MatrixCell::Outside);
        QCOMPARE(scene.columns(), std::int64_t{3}); // 0, layers 1 and 2, layers 3 and 4
        const auto document = documentOf(5, mix);
        QCOMPARE(entryName(document.project, 0), std::string("0"));
        QCOMPARE(entryName(document.project, 2), std::string("3–4"));
        QCOMPARE(entryName(document.project, 3), std::string("5"));
    }

    void unweightedPassesAreSummedCells()
    {
        DepthMix mix = learned(projects::Dilated{1, 2, projects::DilatedReaders::OnPeriod});
        mix.entry = projects::StackEntry::Full;
        const MatrixScene scene = matrixOf(documentOf(4, mix));
        QCOMPARE(scene.cell({1, 2}), MatrixCell::Summed);
        QCOMPARE(scene.cell({0, 2}), MatrixCell::Empty);
        QCOMPARE(scene.cell({0, 3}), MatrixCell::Learned);
    }

    void bothSitesHaveARowForEachHalf()
    {
        DepthMix mix = learned();
        mix.entry = projects::StackEntry::Full;
        mix.feeds = projects::MixFeeds::ResidualBesideBranch;
        mix.sites = projects::MixSites::Both;
        mix.sitePairs = projects::SitePairs::Any;
        const auto document = documentOf(3, mix);
        const MatrixScene scene = matrixOf(document);
        QCOMPARE(scene.size(), std::int64_t{7});
        QCOMPARE(scene.cell({5, 6}), MatrixCell::Learned);
        QCOMPARE(moduleName(document.project, 5), std::string("3a"));
        QCOMPARE(moduleName(document.project, 6), std::string("3f"));
        QCOMPARE(moduleName(document.project, 7), std::string("out"));
    }

    /// The grid has no empty row or column.
    void theGridEndsWithWhatIsRead()
    {
        DepthMix mix = learned();
        mix.finalMix = false;
        const MatrixScene scene = matrixOf(documentOf(3, mix));
        QCOMPARE(scene.size(), std::int64_t{3});
        QCOMPARE(scene.bounds().height(), 3 * MatrixScene::kCell);
        mix.finalMix = true;
        const MatrixScene withFinal = matrixOf(documentOf(3, mix));
        QCOMPARE(withFinal.size(), std::int64_t{4});
        QCOMPARE(withFinal.bounds().height(), 4 * MatrixScene::kCell + MatrixScene::kFinalGap);
    }

    void hitTestFindsEveryCell()
    {
        const MatrixScene scene = matrixOf(documentOf(12, learned()));
        for (std::int64_t target = 1; target <= 13; ++target) {
            for (std::int64_t source = 0; source < target; ++source) {
                QCOMPARE(scene.hitTest(scene.rectOf({source, target}).centre()),
                         (std::optional{Shortcut{source, target}}));
            }
        }
        QVERIFY(!scene.hitTest(scene.rectOf({5, 3}).centre()));
        QVERIFY(!scene.hitTest({-5, 10}));
        QVERIFY(!scene.hitTest({10, 1e6F}));
    }

    void aQuickStrokeLeavesNoCellOut()
    {
        const MatrixScene scene = matrixOf(documentOf(12, learned()));
        const auto passed = scene.stroke(scene.rectOf({0, 11}).centre(), scene.rectOf({10, 11}).centre());
        QCOMPARE(passed.size(), std::size_t{11});
    }

    void topologiesWithoutAMatrixSaySo()
    {
        const MatrixScene scene = matrixOf(documentOf(4, projects::Concatenation{}));
        QCOMPARE(scene.size(), std::int64_t{0});
        QVERIFY(scene.note().find("has no matrix") != std::string::npos);
        QVERIFY(!matrixOf(documentOf(0, learned())).note().empty());
        QVERIFY(!matrixOf(documentOf(MatrixScene::kDeepest + 1, learned())).note().empty());
    }

    void aClickPrunesAndAnotherBringsBack()
    {
        load(documentOf(4, learned()));
        CanvasDriver driver(*m_canvas);
        driver.click(*m_canvas->locate(Shortcut{1, 3}));
        perform(driver);
        QCOMPARE(mixOf(m_document).states.at({1, 3}), projects::ShortcutState::Pruned);
        driver.click(*m_canvas->locate(Shortcut{1, 3}));
        perform(driver);
        QVERIFY(mixOf(m_document).states.empty());
    }

    void aDragAddsARowAsOneEdit()
    {
        load(documentOf(5, learned(projects::ExplicitSources{{{4, 5}}})));
        CanvasDriver driver(*m_canvas);
        driver.drag(*m_canvas->locate(Shortcut{0, 5}), *m_canvas->locate(Shortcut{4, 5}));
        QCOMPARE(perform(driver), std::size_t{1});
        const auto& sources = std::get<projects::ExplicitSources>(mixOf(m_document).sources).shortcuts;
        QCOMPARE(sources, (std::vector<Shortcut>{{0, 5}, {1, 5}, {2, 5}, {3, 5}, {4, 5}}));
    }

    void escapeGivesUpAStroke()
    {
        load(documentOf(5, learned()));
        CanvasDriver driver(*m_canvas);
        driver.moveTo(*m_canvas->locate(Shortcut{0, 5}));
        driver.press();
        QVERIFY(m_canvas->giveUp());
        driver.release();
        QVERIFY(driver.take<RequestEdit>().empty());
    }

    /// The stroke has cells of the previous document, so it is dropped. The cursor stays.
    void aStrokeEndsWithItsDocument()
    {
        load(documentOf(5, learned()));
        CanvasDriver driver(*m_canvas);
        driver.moveTo(*m_canvas->locate(Shortcut{0, 5}));
        driver.press();
        mixOf(m_document).states[{0, 5}] = projects::ShortcutState::Pruned;
        m_canvas->setDocument(std::make_shared<const projects::Document>(m_document));
        driver.release();
        QVERIFY(driver.take<RequestEdit>().empty());
        driver.key(ImGuiKey_Space); // brings back what the cursor is on
        perform(driver);
        QVERIFY(mixOf(m_document).states.empty());
    }

    void aNoteHasNoMinimap()
    {
        load(documentOf(4, projects::Concatenation{}));
        CanvasDriver driver(*m_canvas);
        driver.moveTo({100, 350});
        const int before = driver.frame();
        driver.drag({900, 350}, {100, 350}, ImGuiMouseButton_Middle);
        QCOMPARE(driver.frame(), before);
    }

    void aShareIsNotCalledAWeight()
    {
        load(documentOf(3, learned()));
        CanvasDriver driver(*m_canvas);
        const std::vector<float> values(16, 0.5F);
        LiveWeights live;
        live.take({.port = {}, .mix = values, .rows = 4, .columns = 4, .active = {}, .step = 1}, {});
        m_state.hovered = Shortcut{1, 3};
        m_canvas->setState(m_state);
        const auto says = [&](const LiveWeights& weights, const char* start) {
            m_canvas->setLive(std::make_shared<const LiveWeights>(weights));
            return std::ranges::any_of(driver.textsOfAFrame(),
                                       [start](const std::string& text) { return text.starts_with(start); });
        };
        QVERIFY(says(live, "mixing weight"));
        QVERIFY(!says(live.rowShares(), "mixing weight"));
        live.setEffects({{{1, 3}, {0.25, 0.01}}}, 1);
        QVERIFY(says(live, "loss %1 ± %2 without it")); // under the pointer
        QVERIFY(says(live, "mixing weight"));
        QVERIFY(says(live.byEffect(), "loss rise without it")); // the legend
        QVERIFY(!says(live.byEffect(), "mixing weight"));
        QVERIFY(says(live.rowShares(), "share of the row"));
        QCOMPARE(nameOfValue(live.rowShares(), LiveMeasure::Spread), std::string("spread"));
        LiveValues changes{.mix = values, .title = "change", .rows = 4, .columns = 4, .active = {}};
        changes.measure = LiveMeasure::Spread;
        live.take(changes, {});
        QCOMPARE(nameOfValue(live, LiveMeasure::Spread), std::string("spread, change"));
    }

    void meanSpreadAndAFeatureAreShownInTurn()
    {
        load(documentOf(3, learned()));
        CanvasDriver driver(*m_canvas);
        LiveWeights expected;
        const auto tell = [&](LiveMeasure measure, float weight) {
            const std::vector<float> values(16, weight);
            LiveValues live;
            live.mix = values;
            live.rows = live.columns = 4;
            live.measure = measure;
            live.feature = 7;
            expected.take(live, {.centre = 0.0, .low = -2, .high = 2});
            m_canvas->setLive(std::make_shared<const LiveWeights>(expected));
        };
        const auto isDrawn = [&](LiveMeasure measure, float weight) {
            driver.frame();
            const ImU32 colour = imColour(weightColour(expected.scale(measure), weight, Theme::Light));
            const ImDrawData& data = *ImGui::GetDrawData();
            for (int i = 0; i < data.CmdListsCount; ++i) {
                for (const ImDrawVert& vertex : data.CmdLists[i]->VtxBuffer) {
                    if (vertex.col == colour) {
                        return true;
                    }
                }
            }
            return false;
        };
        tell(LiveMeasure::Mean, 1.5F);
        driver.key(ImGuiKey_End); // there is nothing else to be shown
        QVERIFY(isDrawn(LiveMeasure::Mean, 1.5F));
        tell(LiveMeasure::Spread, 0.25F);
        tell(LiveMeasure::Feature, -2);
        QVERIFY(isDrawn(LiveMeasure::Mean, 1.5F));
        driver.key(ImGuiKey_End);
        QVERIFY(isDrawn(LiveMeasure::Spread, 0.25F));
        QVERIFY(!isDrawn(LiveMeasure::Mean, 1.5F));
        driver.key(ImGuiKey_End);
        QVERIFY(isDrawn(LiveMeasure::Feature, -2));
        driver.key(ImGuiKey_Home);
        expected.clear(); // then the mean is all there is
        tell(LiveMeasure::Mean, 1.5F);
        QVERIFY(isDrawn(LiveMeasure::Mean, 1.5F));
    }

    void spaceMovesTheViewAndChangesNoCell()
    {
        load(documentOf(4, learned()));
        CanvasDriver driver(*m_canvas);
        driver.key(ImGuiKey_DownArrow); // the cursor stands on a cell
        driver.take<SelectionChanged>();
        const ScreenPoint before = *m_canvas->locate(Shortcut{1, 3});
        ImGui::GetIO().KeysDown[ImGuiKey_Space] = true;
        driver.drag(before, {before.x + 40, before.y + 24});
        ImGui::GetIO().KeysDown[ImGuiKey_Space] = false;
        driver.frame();
        QVERIFY(driver.take<RequestEdit>().empty());
        QCOMPARE(m_canvas->locate(Shortcut{1, 3})->x, before.x + 40);
        QCOMPARE(m_canvas->locate(Shortcut{1, 3})->y, before.y + 24);
    }

    void theKeyboardReachesEveryCell()
    {
        load(documentOf(3, learned()));
        CanvasDriver driver(*m_canvas);
        driver.key(ImGuiKey_DownArrow); // the cursor appears at 0:1
        driver.key(ImGuiKey_DownArrow);
        driver.key(ImGuiKey_DownArrow);
        driver.key(ImGuiKey_RightArrow);
        const auto selections = driver.take<SelectionChanged>();
        QVERIFY(!selections.empty());
        QCOMPARE(selections.back().selection.shortcuts, (std::set<Shortcut>{{1, 3}}));
        driver.key(ImGuiKey_Space);
        perform(driver);
        QCOMPARE(mixOf(m_document).states.at({1, 3}), projects::ShortcutState::Pruned);
        QVERIFY(m_state.selection.empty());
        driver.key(ImGuiKey_Space);
        perform(driver);
        QVERIFY(mixOf(m_document).states.empty());
        QCOMPARE(m_state.selection.shortcuts, (std::set<Shortcut>{{1, 3}})); // as after a click
        for (int i = 0; i < 9; ++i) {
            driver.key(ImGuiKey_RightArrow); // stops at the diagonal
        }
        QCOMPARE(driver.take<SelectionChanged>().back().selection.shortcuts, (std::set<Shortcut>{{2, 3}}));
    }

    void hoverIsReported()
    {
        load(documentOf(4, learned()));
        CanvasDriver driver(*m_canvas);
        driver.moveTo(*m_canvas->locate(Shortcut{2, 4}));
        auto hovers = driver.take<HoverShortcut>();
        QCOMPARE(hovers.back().shortcut, (std::optional{Shortcut{2, 4}}));
        driver.moveTo({CanvasDriver::kWidth - 2, CanvasDriver::kHeight - 2});
        hovers = driver.take<HoverShortcut>();
        QVERIFY(!hovers.back().shortcut);
    }

    void shiftClickSelectsAndChangesNothing()
    {
        load(documentOf(4, learned()));
        CanvasDriver driver(*m_canvas);
        ImGui::GetIO().KeyShift = true;
        driver.click(*m_canvas->locate(Shortcut{2, 4}));
        driver.click(*m_canvas->locate(Shortcut{1, 4}));
        const auto selections = driver.take<SelectionChanged>();
        QCOMPARE(selections.back().selection.shortcuts, (std::set<Shortcut>{{1, 4}, {2, 4}}));
    }

    void portsArePickedByChipAndKey()
    {
        DepthMix mix = learned();
        mix.ports = projects::MixPorts::QkvResidual;
        load(documentOf(4, mix));
        CanvasDriver driver(*m_canvas);
        const float nan = std::numeric_limits<float>::quiet_NaN();
        const std::vector<float> one(25, 1.0F);
        const std::vector<float> none(25, nan);
        LiveWeights live;
        live.take({.port = MixPort::Query, .mix = none, .rows = 5, .columns = 5, .active = {}, .step = 1}, {});
        live.take({.port = MixPort::Key, .mix = one, .rows = 5, .columns = 5, .active = {}, .step = 1}, {});
        m_canvas->setLive(std::make_shared<const LiveWeights>(live));
        const int withoutNumbers = driver.frame();
        driver.key(ImGuiKey_PageDown); // k's weights are written into its cells
        QVERIFY(driver.frame() > withoutNumbers);
        driver.click({30, 24}); // q's chip
        driver.moveTo({5, 600});
        QCOMPARE(driver.frame(), withoutNumbers);
    }

    void aDeepMatrixIsDrawnInBlocks()
    {
        load(documentOf(1000, learned()));
        CanvasDriver driver(*m_canvas);
        QVERIFY(driver.frame() < 400000);
        driver.moveTo({600, 400});
        driver.wheel(40);
        QVERIFY(driver.frame() < 400000);
    }

private:
    void load(projects::Document document)
    {
        m_canvas = makeMatrixCanvas();
        m_document = std::move(document);
        m_canvas->setDocument(std::make_shared<const projects::Document>(m_document));
    }
    /// Applies what the canvas asked for, as its host does; how many edits that was.
    std::size_t perform(CanvasDriver& driver)
    {
        const auto edits = driver.take<RequestEdit>();
        for (const RequestEdit& request : edits) {
            const Status applied =
                request.change ? projects::applyEdit(m_document, request.change->edit) : Status(request.change.error());
            if (!applied) {
                QTest::qFail(applied.error().text().c_str(), __FILE__, __LINE__);
            } else if (request.change->selection) {
                m_state.selection = *request.change->selection;
            }
        }
        m_canvas->setDocument(std::make_shared<const projects::Document>(m_document));
        m_canvas->setState(m_state);
        return edits.size();
    }

    std::unique_ptr<Canvas> m_canvas;
    projects::Document m_document;
    ViewState m_state; ///< after the last edit that was asked for
};

RESIDUA_TEST(TestMatrix)
#include "tst_matrix.moc"
