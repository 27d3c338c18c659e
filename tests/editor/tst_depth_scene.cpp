// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/depth/depth_paint.h"
#include "editor/scenes/depth_scene.h"
#include "editor/scenes/viewport.h"
#include "projects/layers/shortcut_cost.h"
#include "projects/layers/shortcut_edits.h"
#include "projects/model/project.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace residua::editor;
using residua::projects::Block;
using residua::projects::DepthMix;
using residua::projects::ExplicitSources;
using residua::projects::GateKind;
using residua::projects::MixFeeds;
using residua::projects::Project;
using residua::projects::Shortcut;
using residua::projects::ShortcutKind;
using residua::projects::ShortcutState;

namespace {

Project projectOf(std::int64_t layers, DepthMix mix)
{
    Project project;
    project.network.blocks.push_back(Block{"mlp", "mlp", {}});
    project.stack().segments = {{"mlp", layers}};
    project.stack().topology.wiring = std::move(mix);
    return project;
}

DepthMix allLearned()
{
    DepthMix mix;
    mix.weight = residua::projects::WeightKind::Scalar;
    return mix;
}

/// ANCRe between the inputs of all attentions and FFNs.
Project bothSites(std::int64_t layers)
{
    DepthMix mix = allLearned();
    mix.entry = residua::projects::StackEntry::Full;
    mix.feeds = residua::projects::MixFeeds::ResidualBesideBranch;
    mix.sites = residua::projects::MixSites::Both;
    mix.sitePairs = residua::projects::SitePairs::Any;
    return projectOf(layers, mix);
}

DepthScene depthOf(const Project& project)
{
    DepthScene scene;
    scene.rebuild(project);
    return scene;
}

} // namespace

class TestDepthScene : public QObject {
    Q_OBJECT
private slots:
    /// A wiring other than a depth mix has a drawing of its own.
    void everyWiringHasItsPicture()
    {
        const auto sceneOf = [](const char* preset) {
            Project project = projectOf(4, {});
            const auto presets = residua::projects::topologyPresets(4);
            project.stack().topology = {
                preset,
                std::ranges::find(presets, std::string(preset), &residua::projects::TopologyPreset::name)->wiring};
            DepthScene scene;
            scene.rebuild(project);
            return scene;
        };
        const DepthScene streams = sceneOf("mhc");
        const auto lanes = [](const DepthScene& scene) {
            return std::ranges::count_if(scene.lanes().strokes,
                                         [](const auto& stroke) { return stroke.colour.has_value(); });
        };
        QCOMPARE(lanes(streams), 4);
        QVERIFY(!streams.chained());
        QCOMPARE(streams.bounds().top, -streams.lanes().height);
        const auto ties = streams.lanes().strokes.size() - 4;
        QCOMPARE(ties,
                 std::size_t(2 * 8 + 2)); // each half of a layer reads and writes, the stem writes, the head reads
        const DepthScene dense = sceneOf("densenet");
        QVERIFY(dense.lanes().strokes[1].width > dense.lanes().strokes[0].width);
        const std::pair<const char*, std::size_t> gates[] = {{"highway", 8},   {"rezero", 8},    {"laurel-rw", 4},
                                                             {"laurel-lr", 4}, {"laurel-pa", 4}, {"laurel-rw-lr-pa", 4},
                                                             {"post-norm", 8}};
        for (const auto& [gated, marks] : gates) { // at each half of a layer, or at the layer
            QCOMPARE(sceneOf(gated).lanes().marks.size(), marks);
            QVERIFY(sceneOf(gated).chained());
        }
        QCOMPARE(lanes(sceneOf("value-residual")), 1);
        QVERIFY(sceneOf("value-residual").note().find("first layer") != std::string::npos);
        QVERIFY(sceneOf("grn-v1").lanes().strokes.empty());
    }

    /// The arc of a shared entry begins at the last module in that entry.
    void sharedEntriesLeaveTheirLastLayer()
    {
        DepthMix mix = allLearned();
        mix.blockLayers = 2;
        const DepthScene scene = depthOf(projectOf(4, mix));
        const auto left = [&](const Shortcut& shortcut) { return scene.boxes()[scene.arc(shortcut)->from].layer; };
        QCOMPARE(left({1, 2}), std::int64_t{1});
        QCOMPARE(left({1, 3}), std::int64_t{2});
        QCOMPARE(left({2, 4}), std::int64_t{3});
        QCOMPARE(left({2, 5}), std::int64_t{4});
        const auto* const from = scene.box(4);
        QVERIFY(scene.arc({2, 5})->left > from->rect.left && scene.arc({2, 5})->left < from->rect.right);
    }

    /// A reader that passes the newest entry through without a weight is drawn as connected.
    void unweightedPassesHaveAnArc()
    {
        DepthMix mix = allLearned();
        mix.entry = residua::projects::StackEntry::Full;
        mix.sources = residua::projects::Dilated{1, 2, residua::projects::DilatedReaders::OnPeriod};
        const DepthScene scene = depthOf(projectOf(4, mix));
        QVERIFY(scene.arc({1, 2}) != nullptr);
        QVERIFY(scene.arc({1, 2})->kind == ShortcutKind::Stream);
        QVERIFY(scene.arc({0, 2}) == nullptr);
    }

    /// With q, k and v shown together, each mix is drawn once. A layer has three. The final output has one, without a
    /// port's colour.
    void theFinalMixIsDrawnOnce()
    {
        DepthMix mix = allLearned();
        mix.ports = residua::projects::MixPorts::Qkv;
        const Project project = projectOf(4, mix);
        const DepthScene scene = depthOf(project);
        PortRow row;
        row.follow(project.stack().topology, residua::resources::Theme::Light);
        QCOMPARE(row.ports().size(), std::size_t{3});
        const Viewport view;
        const LiveWeights weights;
        const residua::projects::Selection none;
        const auto inks = inksOf({scene, view, none, weights, project, row.ports(), {}, {}});
        const auto final = std::ranges::count_if(scene.arcs(), [](const Arc& arc) { return arc.shortcut.target == 5; });
        QCOMPARE(final, 5);
        QCOMPARE(inks.size(), (scene.arcs().size() - 5) * 3 + 5);
        const auto muted = residua::resources::themeColours(residua::resources::Theme::Light).muted;
        QCOMPARE(std::ranges::count(inks, muted, &ArcInk::colour), 5);
    }

    /// The box of the head names what the objective predicts, independent of the data.
    void theHeadSaysWhatIsPredicted()
    {
        Project project = projectOf(3, DepthMix{});
        for (const auto& objective : residua::projects::kObjectives) {
            project.network.objective = objective.objective;
            QCOMPARE(depthOf(project).boxes().back().subtitle, std::string(objective.predicts));
        }
        project.network.objective = residua::projects::Objective::NextToken;
        QCOMPARE(depthOf(project).boxes().back().subtitle, std::string("next token"));
        project.network.objective = residua::projects::Objective::MeanSquaredError;
        QCOMPARE(depthOf(project).boxes().back().subtitle, std::string("output"));
    }

    void plainSumIsDrawnAsAStream()
    {
        const DepthScene scene = depthOf(projectOf(3, DepthMix{}));
        QCOMPARE(scene.boxes().size(), std::size_t{5});
        QCOMPARE(scene.arcs().size(), std::size_t{4});
        for (const Arc& arc : scene.arcs()) {
            QCOMPARE(arc.kind, ShortcutKind::Stream);
            QCOMPARE(arc.shortcut.target, arc.shortcut.source + 1);
        }
        QVERIFY(!scene.chained());
    }

    void learnedShortcutsBesideTheStreamHaveAnArc()
    {
        DepthMix mix;
        mix.states[{0, 3}] = ShortcutState::Learned;
        const DepthScene scene = depthOf(projectOf(3, mix));
        QCOMPARE(scene.arcs().size(), std::size_t{5});
        QVERIFY(scene.arc({0, 3}) != nullptr && scene.arc({0, 3})->kind == ShortcutKind::Learned);
        QVERIFY(scene.arc({0, 2}) == nullptr);
    }

    /// A fixed sum beside the branch or with a gate is trained through the stack. Its shortcuts are drawn, so the user
    /// can select and prune them.
    void fixedSumThatIsNoStreamIsDrawnAsShortcuts()
    {
        DepthMix beside;
        beside.feeds = MixFeeds::ResidualBesideBranch;
        DepthMix gated;
        gated.gate.kind = GateKind::Outside;
        for (const DepthMix& mix : {beside, gated}) {
            const DepthScene scene = depthOf(projectOf(3, mix));
            QVERIFY(!scene.arcs().empty());
            for (const Arc& arc : scene.arcs()) {
                QCOMPARE(arc.kind, ShortcutKind::Fixed);
            }
        }
    }

    void learnedMixDrawsEveryShortcut()
    {
        const std::int64_t depth = 12;
        const DepthScene scene = depthOf(projectOf(depth, allLearned()));
        QCOMPARE(scene.arcs().size(), static_cast<std::size_t>((depth + 1) * (depth + 2) / 2));
    }

    void arcsStayAboveTheRow()
    {
        const DepthScene scene = depthOf(projectOf(24, allLearned()));
        for (const Arc& arc : scene.arcs()) {
            QVERIFY(arc.left < arc.right);
            for (int i = 0; i <= 20; ++i) {
                QVERIFY(arc.at(static_cast<float>(i) / 20).y <= 0);
            }
        }
    }

    void arcsWithAnEndInCommonDoNotCross()
    {
        const DepthScene scene = depthOf(projectOf(8, allLearned()));
        for (const Arc& shorter : scene.arcs()) {
            for (const Arc& longer : scene.arcs()) {
                const bool sameSource = shorter.shortcut.source == longer.shortcut.source;
                if (sameSource && shorter.shortcut.target < longer.shortcut.target) {
                    QVERIFY(longer.left < shorter.left);
                    QVERIFY(longer.height > shorter.height);
                }
            }
        }
    }

    void statesShow()
    {
        DepthMix mix = allLearned();
        mix.states[{0, 3}] = ShortcutState::Pruned;
        mix.states[{1, 3}] = ShortcutState::Frozen;
        const DepthScene scene = depthOf(projectOf(3, mix));
        QCOMPARE(scene.arc({0, 3})->kind, ShortcutKind::Pruned);
        QCOMPARE(scene.arc({1, 3})->kind, ShortcutKind::Frozen);
        QCOMPARE(scene.arc({2, 3})->kind, ShortcutKind::Learned);
    }

    void hitTestFindsWhatIsDrawn()
    {
        DepthMix mix = allLearned();
        mix.sources = ExplicitSources{{{0, 2}, {0, 5}, {3, 6}}};
        mix.finalMix = false;
        const DepthScene scene = depthOf(projectOf(6, mix));
        QCOMPARE(scene.arcs().size(), std::size_t{3});
        for (const Arc& arc : scene.arcs()) {
            for (const float t : {0.1F, 0.5F, 0.97F}) {
                const Hit hit = scene.hitTest(arc.at(t), 3);
                QCOMPARE(hit.kind, Hit::Kind::Shortcut);
                QCOMPARE(hit.shortcut, arc.shortcut);
            }
        }
        const Hit layer = scene.hitTest(scene.box(4)->rect.centre(), 3);
        QCOMPARE(layer.kind, Hit::Kind::Layer);
        QCOMPARE(layer.module, std::int64_t{4});
        const Hit handle = scene.hitTest(DepthScene::handleOf(*scene.box(2)), 3);
        QCOMPARE(handle.kind, Hit::Kind::Handle);
        QCOMPARE(handle.module, std::int64_t{2});
        QCOMPARE(scene.hitTest({-500, -500}, 3).kind, Hit::Kind::Nothing);
        // Nothing can be drawn from the head.
        QCOMPARE(scene.hitTest(DepthScene::handleOf(*scene.box(7)), 3).kind, Hit::Kind::Layer);
    }

    /// The pick tolerance is in pixels. It covers a long distance if boxes are small on the screen.
    void everyBoxIsHitFarAway()
    {
        constexpr float reach = kPickTolerance / 0.1F;
        for (const Project& project : {projectOf(100, allLearned()), bothSites(50)}) {
            const DepthScene scene = depthOf(project);
            for (const LayerBox& box : scene.boxes()) {
                for (const float x : {box.rect.left + 1, box.rect.centre().x}) {
                    const Hit hit = scene.hitTest({x, box.rect.centre().y}, reach);
                    QCOMPARE(hit.kind, Hit::Kind::Layer);
                    QCOMPARE(hit.module, box.module);
                }
                const bool last = box.layer > scene.layers();
                const Hit edge = scene.hitTest({box.rect.right - 1, box.rect.centre().y}, reach);
                QCOMPARE(edge.kind, last ? Hit::Kind::Layer : Hit::Kind::Handle);
                QCOMPARE(edge.module, box.module);
                if (!last && !box.joinsNext) { // between this one and the next
                    const Hit gap = scene.hitTest({box.rect.right + DepthScene::kGap - 1, box.rect.centre().y}, reach);
                    QCOMPARE(gap.kind, Hit::Kind::Handle);
                    QCOMPARE(gap.module, box.module);
                }
            }
        }
        DepthScene folded;
        folded.rebuild(projectOf(100, allLearned()), {}, {{2, 50}});
        QCOMPARE(folded.hitTest(folded.box(9)->rect.centre(), reach).kind, Hit::Kind::Layer);
    }

    void unchangedLayersDoNotMove()
    {
        DepthMix mix = allLearned();
        const DepthScene before = depthOf(projectOf(6, mix));
        mix.states[{0, 4}] = ShortcutState::Pruned;
        const DepthScene after = depthOf(projectOf(9, mix));
        for (const LayerBox& box : before.boxes()) {
            QCOMPARE(after.box(box.layer)->rect.left, box.rect.left);
        }
    }

    void bothSitesHaveABoxForEachHalf()
    {
        const DepthScene scene = depthOf(bothSites(3));
        QCOMPARE(scene.layers(), std::int64_t{3});
        QCOMPARE(scene.modules(), std::int64_t{6});
        QCOMPARE(scene.boxes().size(), std::size_t{8});
        QCOMPARE(scene.box(5)->title, std::string("3a"));
        QCOMPARE(scene.box(6)->title, std::string("3f"));
        QCOMPARE(scene.box(6)->layer, std::int64_t{3});
        QCOMPARE(scene.box(5)->rect.right, scene.box(6)->rect.left); // halves touch
        QCOMPARE(scene.boxesOf(2).size(), std::size_t{2});
        QCOMPARE(scene.boxesOf(4).front().title, std::string("head"));
        for (std::int64_t target = 1; target <= 6; ++target) {
            QVERIFY(scene.arc({0, target}) != nullptr);
            QCOMPARE(scene.hitTest(scene.box(target)->rect.centre(), 3).module, target);
        }
        QCOMPARE(scene.layersIn({-1e5F, 0, 1e5F, 60}), (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
    }

    void identicalNeighboursAreRuns()
    {
        Project project = projectOf(3, allLearned());
        project.stack().segments = {{"mlp", 2}, {"mlp", 3}, {"other", 1}, {"mlp", 2}};
        QCOMPARE(foldableRuns(project.network), (std::vector<LayerRun>{{1, 5}, {7, 8}}));
    }

    void aLoopHasARowForEachVisitOrIsFoldedToTheFirst()
    {
        Project project = projectOf(5, allLearned());
        project.stack().loops = {{.first = 2, .last = 3, .visits = 3}};
        QCOMPARE(foldableRuns(project.network), (std::vector<LayerRun>{{2, 3}, {4, 5}}));
        DepthScene scene;
        const auto titles = [&scene] {
            std::string all;
            for (const LayerBox& box : scene.boxes()) {
                all += box.title + " ";
            }
            return all;
        };
        scene.rebuild(project);
        QCOMPARE(titles(), std::string("0 1 2@1 3@1 2@2 3@2 2@3 3@3 4 5 head "));
        QCOMPARE(scene.loops().size(), std::size_t{1});
        const LoopBracket& open = scene.loops().front();
        QVERIFY(!open.folded);
        QCOMPARE(open.visits, std::string("×3"));
        QCOMPARE(open.begins.size(), std::size_t{2});
        QCOMPARE(open.rect.left, scene.box(2)->rect.left);
        QCOMPARE(open.rect.right, scene.box(7)->rect.right);
        QCOMPARE(scene.hitTest(open.rect.centre(), 2).kind, Hit::Kind::Loop);

        scene.rebuild(project, {{"all visits", 2, 7}}, toggled(project.network, {}, {6})); // its last visit
        QCOMPARE(titles(), std::string("0 1 2 3 4 5 head "));
        QVERIFY(scene.loops().front().folded);
        QVERIFY(scene.box(2) == scene.box(6));
        QCOMPARE(scene.box(4)->layers(), (std::vector<std::int64_t>{2, 4, 6}));
        QVERIFY(scene.box(3)->holdsOneOf({5}) && !scene.box(3)->holdsOneOf({4, 8}));
        for (const auto& rect : {scene.loops().front().rect, scene.brackets().front().rect}) {
            QCOMPARE(rect.left, scene.box(2)->rect.left);
            QCOMPARE(rect.right, scene.box(3)->rect.right);
        }
        for (const Arc& arc : scene.arcs()) {
            QVERIFY(arc.from < arc.to);
        }
        std::size_t drawn = 0;
        for (const Arc& arc : scene.arcs()) {
            drawn += arc.count;
        }
        for (const LayerBox& box : scene.boxes()) {
            drawn += static_cast<std::size_t>(box.inside);
        }
        QCOMPARE(drawn, std::size_t{10 * 11 / 2}); // into nine executed layers and the final output

        project.stack().loops.front().order = residua::projects::VisitOrder::InPlace;
        scene.rebuild(project, {}, {{2, 3}});
        QCOMPARE(titles(), std::string("0 1 2 3 4 5 head "));
        QCOMPARE(scene.box(2)->layers(), (std::vector<std::int64_t>{2, 3, 4}));
    }

    /// A fold is of stored layers, so that another number of visits leaves it and those behind it.
    void foldsStayWhenTheVisitsChange()
    {
        Project project = projectOf(6, allLearned());
        project.stack().loops = {{.first = 2, .last = 3, .visits = 2}};
        const std::vector<LayerRun> folds = toggled(project.network, {}, {});
        QCOMPARE(folds, (std::vector<LayerRun>{{2, 3}, {4, 6}}));
        project.stack().loops.front().visits = 7;
        QCOMPARE(stillFolded(project.network, folds), folds);
        project.stack().loops.front().last = 4; // a fold within a loop is the loop's
        QCOMPARE(stillFolded(project.network, folds), (std::vector<LayerRun>{{2, 4}}));
        project.stack().loops.clear();
        QCOMPARE(stillFolded(project.network, folds), folds);
    }

    void foldingBundlesArcsWithACount()
    {
        DepthScene scene;
        scene.rebuild(projectOf(6, allLearned()), {}, {{2, 4}});
        QCOMPARE(scene.boxes().size(), std::size_t{6}); // 0, 1, 2–4, 5, 6, head
        const LayerBox* folded = scene.box(3);
        QVERIFY(folded->folded());
        QCOMPARE(folded->title, std::string("2–4"));
        QCOMPARE(folded->inside, std::int64_t{3}); // 2:3, 2:4, 3:4
        const Arc* out = scene.arc({3, 6});
        QVERIFY(out == scene.arc({2, 6}));
        QCOMPARE(out->count, 3U);
        const auto members = scene.members(*out);
        QVERIFY(std::ranges::equal(members, std::vector<Shortcut>{{2, 6}, {3, 6}, {4, 6}}));
        QVERIFY(scene.arc({2, 4}) == nullptr);
        const Hit mark = scene.hitTest(DepthScene::foldMarkOf(*folded).centre(), 2);
        QCOMPARE(mark.kind, Hit::Kind::Fold);
        std::size_t drawn = 0;
        for (const Arc& arc : scene.arcs()) {
            drawn += arc.count;
        }
        QCOMPARE(drawn + 3, std::size_t{7 * 8 / 2});
    }

    void foldingMovesNothingBeforeIt()
    {
        const Project project = projectOf(9, allLearned());
        DepthScene scene;
        scene.rebuild(project);
        const DepthScene open = scene;
        scene.rebuild(project, {}, {{4, 6}});
        for (std::int64_t module = 0; module <= 4; ++module) {
            QCOMPARE(scene.box(module)->rect.left, open.box(module)->rect.left);
        }
        const float shift = open.box(7)->rect.left - scene.box(7)->rect.left;
        QCOMPARE(shift, 2 * DepthScene::kPitch);
        for (std::int64_t module = 7; module <= 10; ++module) { // what follows moves as one
            QCOMPARE(open.box(module)->rect.left - scene.box(module)->rect.left, shift);
        }
        scene.rebuild(project);
        QCOMPARE(scene.box(10)->rect.left, open.box(10)->rect.left);
    }

    void groupsStandBelowTheRowAndNeverOverlap()
    {
        DepthScene scene;
        scene.rebuild(projectOf(8, allLearned()), {{"early", 1, 4}, {"late", 5, 99}, {"odd", 3, 6}, {"gone", 20, 30}},
                      {{5, 6}});
        QCOMPARE(scene.brackets().size(), std::size_t{3});
        const auto& brackets = scene.brackets();
        QCOMPARE(brackets[1].group.last, std::int64_t{8});
        QCOMPARE(brackets[0].rect.top, brackets[1].rect.top);
        QVERIFY(brackets[2].rect.top > brackets[0].rect.bottom);
        QCOMPARE(brackets[0].rect.left, scene.box(1)->rect.left);
        QCOMPARE(brackets[2].rect.right, scene.box(6)->rect.right); // of the folded run
        const Hit hit = scene.hitTest(brackets[2].rect.centre(), 2);
        QCOMPARE(hit.kind, Hit::Kind::Group);
        QCOMPARE(hit.group, std::size_t{2});
        QVERIFY(scene.bounds().bottom >= brackets[2].rect.bottom);
    }

    void arcsRiseWithTheCanvasAndBoxesStay()
    {
        DepthScene scene = depthOf(projectOf(24, allLearned()));
        const DepthScene low = scene;
        const float rise = scene.riseFor(1200, 900);
        QVERIFY(rise > 1);
        scene.setRise(rise);
        QCOMPARE(scene.riseFor(1200, 900), rise);
        Viewport view;
        view.fit(scene.bounds(), 1200, 900, 0, 2);
        QVERIFY(view.rectToScreen(scene.bounds()).height() <= 901);
        for (std::size_t i = 0; i < scene.arcs().size(); ++i) {
            QVERIFY(std::abs(scene.arcs()[i].height - rise * low.arcs()[i].height) < 0.01F);
            QCOMPARE(scene.arcs()[i].left, low.arcs()[i].left);
        }
        QVERIFY(depthOf(projectOf(1, allLearned())).riseFor(200, 2000) < 1.3F);
    }

    void theSkylineIsTheUpperEdge()
    {
        DepthMix mix = allLearned();
        mix.sources = ExplicitSources{{{0, 2}, {0, 9}, {3, 6}, {20, 30}}};
        const DepthScene scene = depthOf(projectOf(30, mix));
        const std::vector<float> heights = scene.skyline(64);
        const float column = scene.bounds().right / 64;
        for (std::size_t i = 0; i < heights.size(); ++i) {
            const float x = (static_cast<float>(i) + 0.5F) * column;
            float highest = 0;
            for (const Arc& arc : scene.arcs()) {
                highest = std::max(highest, x < arc.left || x > arc.right ? 0 : -arc.at(arc.atX(x)).y);
            }
            QVERIFY(std::abs(heights[i] - highest) < 0.5F);
        }
        QVERIFY(*std::ranges::max_element(heights) > 0.9F * -scene.bounds().top);
    }

    void boxSelectionTakesArcsByTheirTops()
    {
        DepthMix mix = allLearned();
        mix.sources = ExplicitSources{{{0, 2}, {3, 6}}};
        mix.finalMix = false;
        const DepthScene scene = depthOf(projectOf(6, mix));
        const Point top = scene.arc({3, 6})->at(0.5F);
        const auto found = scene.shortcutsIn({top.x - 5, top.y - 5, top.x + 5, top.y + 5});
        QCOMPARE(found.size(), std::size_t{1});
        QCOMPARE(found.front(), (Shortcut{3, 6}));
        const Rect first = scene.box(1)->rect;
        QCOMPARE(scene.layersIn(first), std::vector<std::int64_t>{1});
    }

    void millionsOfArcsAreNotDrawn()
    {
        const DepthScene scene = depthOf(projectOf(residua::projects::kMaxLayers, allLearned()));
        QVERIFY(scene.arcs().empty());
        QVERIFY(scene.lanes().strokes.empty());
        QCOMPARE(scene.note(), std::string("8,394,753 shortcuts are too many to be drawn"));
        QCOMPARE(scene.boxes().size(), static_cast<std::size_t>(residua::projects::kMaxLayers + 2));
    }

    /// An error in a block does not prevent edits of its wiring.
    void shortcutsCanBeAddedToANetworkWithErrors()
    {
        DepthMix mix = allLearned();
        mix.finalMix = false;
        const Project faulty = projectOf(6, mix); // its block is empty
        const auto sound = residua::projects::soundProject(faulty);
        QVERIFY(!sound.ok());
        QVERIFY(costLines(faulty, std::nullopt, {1, 6}).possible);
        QVERIFY(!costLines(faulty, std::nullopt, {1, 7}).possible);
        QCOMPARE(costLines(faulty, std::nullopt, {1, 6}).lines.front(),
                 std::string("its cost is not known: the network has errors"));
    }

    void zoomKeepsThePointUnderThePointer()
    {
        Viewport view;
        view.fit({0, -200, 1000, 60}, 800, 400, 20, 2);
        const Point pointer{333, 222};
        const Point before = view.toScene(pointer);
        view.zoomAt(pointer, 1.7F);
        const Point after = view.toScene(pointer);
        QVERIFY(std::abs(before.x - after.x) < 0.01F);
        QVERIFY(std::abs(before.y - after.y) < 0.01F);
    }

    void fitShowsEverything()
    {
        const DepthScene scene = depthOf(projectOf(96, allLearned()));
        Viewport view;
        view.fit(scene.bounds(), 1280, 720, 40, 1.3F);
        const Rect shown = view.rectToScreen(scene.bounds());
        QVERIFY(shown.left >= 39 && shown.right <= 1241);
        QVERIFY(shown.top >= 39 && shown.bottom <= 681);
    }
};

RESIDUA_TEST(TestDepthScene)
#include "tst_depth_scene.moc"
