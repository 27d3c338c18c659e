// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/depth_scene.h"
#include "editor/viewport.h"
#include "projects/project.h"

#include <QTest>

#include <cmath>

using namespace residua::editor;
using residua::projects::Block;
using residua::projects::DepthMix;
using residua::projects::ExplicitSources;
using residua::projects::Project;
using residua::projects::Shortcut;
using residua::projects::ShortcutState;

namespace {

Project stackOf(std::int64_t layers, DepthMix mix)
{
    Project project;
    project.network.blocks.push_back(Block{"mlp", "mlp", {}});
    project.network.stack = {{"mlp", layers}};
    project.topology.wiring = std::move(mix);
    return project;
}

DepthMix allLearned()
{
    DepthMix mix;
    mix.weight = residua::projects::WeightKind::Scalar;
    return mix;
}

DepthScene sceneOf(const Project& project)
{
    DepthScene scene;
    scene.rebuild(project);
    return scene;
}

} // namespace

class TestDepthScene : public QObject {
    Q_OBJECT
private slots:
    void plainSumIsDrawnAsAStream()
    {
        const DepthScene scene = sceneOf(stackOf(3, DepthMix{}));
        QCOMPARE(scene.boxes().size(), std::size_t{5});
        QCOMPARE(scene.arcs().size(), std::size_t{4});
        for (const Arc& arc : scene.arcs()) {
            QCOMPARE(arc.kind, ShortcutKind::Stream);
            QCOMPARE(arc.shortcut.target, arc.shortcut.source + 1);
        }
        QVERIFY(!scene.chained());
    }

    void learnedMixDrawsEveryShortcut()
    {
        const std::int64_t depth = 12;
        const DepthScene scene = sceneOf(stackOf(depth, allLearned()));
        QCOMPARE(scene.arcs().size(), static_cast<std::size_t>((depth + 1) * (depth + 2) / 2));
    }

    void arcsStayAboveTheRow()
    {
        const DepthScene scene = sceneOf(stackOf(24, allLearned()));
        for (const Arc& arc : scene.arcs()) {
            QVERIFY(arc.left < arc.right);
            for (int i = 0; i <= 20; ++i) {
                QVERIFY(arc.at(static_cast<float>(i) / 20).y <= 0);
            }
        }
    }

    void arcsWithAnEndInCommonDoNotCross()
    {
        const DepthScene scene = sceneOf(stackOf(8, allLearned()));
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
        const DepthScene scene = sceneOf(stackOf(3, mix));
        QCOMPARE(scene.arc({0, 3})->kind, ShortcutKind::Pruned);
        QCOMPARE(scene.arc({1, 3})->kind, ShortcutKind::Frozen);
        QCOMPARE(scene.arc({2, 3})->kind, ShortcutKind::Learned);
    }

    void hitTestFindsWhatIsDrawn()
    {
        DepthMix mix = allLearned();
        mix.sources = ExplicitSources{{{0, 2}, {0, 5}, {3, 6}}};
        mix.finalMix = false;
        const DepthScene scene = sceneOf(stackOf(6, mix));
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
        QCOMPARE(layer.layer, std::int64_t{4});
        const Hit handle = scene.hitTest(DepthScene::handleOf(*scene.box(2)), 3);
        QCOMPARE(handle.kind, Hit::Kind::Handle);
        QCOMPARE(handle.layer, std::int64_t{2});
        QCOMPARE(scene.hitTest({-500, -500}, 3).kind, Hit::Kind::Nothing);
        // Nothing can be drawn from the head.
        QCOMPARE(scene.hitTest(DepthScene::handleOf(*scene.box(7)), 3).kind, Hit::Kind::Layer);
    }

    void unchangedLayersDoNotMove()
    {
        DepthMix mix = allLearned();
        const DepthScene before = sceneOf(stackOf(6, mix));
        mix.states[{0, 4}] = ShortcutState::Pruned;
        const DepthScene after = sceneOf(stackOf(9, mix));
        for (const LayerBox& box : before.boxes()) {
            QCOMPARE(after.box(box.layer)->rect.left, box.rect.left);
        }
    }

    void boxSelectionTakesArcsByTheirTops()
    {
        DepthMix mix = allLearned();
        mix.sources = ExplicitSources{{{0, 2}, {3, 6}}};
        mix.finalMix = false;
        const DepthScene scene = sceneOf(stackOf(6, mix));
        const Point top = scene.arc({3, 6})->at(0.5F);
        const auto found = scene.shortcutsIn({top.x - 5, top.y - 5, top.x + 5, top.y + 5});
        QCOMPARE(found.size(), std::size_t{1});
        QCOMPARE(found.front(), (Shortcut{3, 6}));
        const Rect first = scene.box(1)->rect;
        QCOMPARE(scene.layersIn(first), std::vector<std::int64_t>{1});
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
        const DepthScene scene = sceneOf(stackOf(96, allLearned()));
        Viewport view;
        view.fit(scene.bounds(), 1280, 720, 40, 1.3F);
        const Rect shown = view.rectToScreen(scene.bounds());
        QVERIFY(shown.left >= 39 && shown.right <= 1241);
        QVERIFY(shown.top >= 39 && shown.bottom <= 681);
    }
};

QTEST_APPLESS_MAIN(TestDepthScene)
#include "tst_depth_scene.moc"
