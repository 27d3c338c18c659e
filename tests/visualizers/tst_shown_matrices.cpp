// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/test_program.h"
#include "tests/visualizers/begun_run.h"
#include "visualizers/heatmap/shown_matrices.h"

#include <QSignalSpy>
#include <QTest>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

using residua::engine::Matrix;
namespace engine = residua::engine;
using residua::projects::MixPort;
using namespace residua::visualizers;

namespace {

Matrix named(const char* name, std::int64_t step)
{
    Matrix matrix = triangle(step, 0.5F);
    matrix.name = name;
    return matrix;
}

} // namespace

class TestShownMatrices : public QObject {
    Q_OBJECT
private slots:
    void nothingIsShownAtFirst()
    {
        const ShownMatrices matrices;
        QVERIFY(!matrices.any());
        QCOMPARE(matrices.step(), std::optional<std::int64_t>());
        QVERIFY(matrices.framesShown().empty());
    }

    void namesTheRunOfTheMatrices()
    {
        ShownRuns runs;
        ShownMatrices matrices;
        matrices.follow(runs);
        QVERIFY(matrices.whose().startsWith("No run is in front"));
        runs.bringToFront("a");
        QCOMPARE(matrices.whose(), QString("The run is being read."));
        runs.begin("a", {.name = "first", .wiring = "GRN-v1"});
        QCOMPARE(matrices.whose(), QString("first · GRN-v1 · nothing recorded · stored"));
        runs.add("a", {.matrices = {triangle(0, 0.5F), triangle(1000, 0.5F)}});
        runs.setGrowing({"a"});
        QCOMPARE(matrices.whose(), QString("first · GRN-v1 · step 1,000 · live"));
        matrices.showFrame(0);
        QCOMPARE(matrices.whose(), QString("first · GRN-v1 · step 0, the newest is 1,000 · live"));
        runs.rename("a", "renamed");
        QVERIFY(matrices.whose().startsWith("renamed · "));
        runs.bringToFront("b"); // nothing of the former run is said of it
        QCOMPARE(matrices.whose(), QString("The run is being read."));
        runs.bringToFront({});
        QVERIFY(matrices.whose().startsWith("No run is in front"));
    }

    /// Matrices of further towers begin with their names, and are those of the shown tower alone.
    void matricesAreThoseOfTheShownTower()
    {
        ShownRuns runs;
        ShownMatrices matrices;
        matrices.follow(runs);
        const engine::Progress both{
            .matrices = {named("mix", 0), named("teacher.mix", 0), named("teacher.mix/q", 0), named("other.mix", 0)}};
        runs.bringToFront("a");
        runs.begin("a", {.name = "first"});
        runs.add("a", both);
        QCOMPARE(matrices.kinds(), std::vector<std::string>{"mix"});
        QVERIFY(matrices.ports().empty());
        runs.begin("a", {.name = "first", .tower = "teacher"});
        runs.add("a", both);
        QCOMPARE(matrices.kinds(), std::vector<std::string>{"mix"});
        QCOMPARE(matrices.ports(), std::vector<MixPort>{MixPort::Query});
        QCOMPARE(matrices.frames().names().size(), std::size_t{2});
        runs.begin("a", {.name = "first"}); // shown as the first tower again
        QVERIFY(!matrices.any());
    }

    void theNewestIsFollowedWhileItIsShown()
    {
        ShownMatrices matrices;
        matrices.append({triangle(0, 0.5F), triangle(10, 0.5F)});
        QCOMPARE(matrices.step(), std::optional<std::int64_t>(10));
        QSignalSpy changed(&matrices, &ShownMatrices::changed);
        matrices.showFrame(0);
        QCOMPARE(changed.count(), 1);
        matrices.showFrame(0);
        QCOMPARE(changed.count(), 1);
        matrices.append({triangle(20, 0.5F), named("spread", 5)});
        QCOMPARE(matrices.step(), std::optional<std::int64_t>(0));
        QCOMPARE(matrices.framesShown().size(), std::size_t(2));
        matrices.showFrame(99); // the newest, where there is no such
        matrices.append({triangle(30, 0.5F)});
        QCOMPARE(matrices.step(), std::optional<std::int64_t>(30));
        matrices.append({triangle(10, 0.5F)}); // resumed: what was later is gone
        QCOMPARE(matrices.frame(), std::size_t(1));
        QCOMPARE(matrices.step(), std::optional<std::int64_t>(10));
    }

    void playingGoesFromTheFirstToTheNewest()
    {
        ShownMatrices matrices;
        matrices.append({triangle(0, 0.5F), triangle(10, 0.5F)});
        matrices.play(true); // from the end: it begins anew
        QCOMPARE(matrices.frame(), std::size_t(0));
        matrices.append({triangle(20, 0.5F)});
        matrices.playOn();
        QCOMPARE(matrices.frame(), std::size_t(1));
        QVERIFY(matrices.isPlaying());
        matrices.playOn();
        QCOMPARE(matrices.frame(), std::size_t(2));
        QVERIFY(!matrices.isPlaying());
    }

    void requestedMatrixIsChosen()
    {
        ShownMatrices matrices;
        matrices.append({named("coefficient/final", 0)});
        QCOMPARE(matrices.series().text(), std::string("coefficient/final"));
        matrices.append({named("coefficient/q", 0), named("mix/q", 0), named("mix/k", 0)});
        QCOMPARE(matrices.series().text(), std::string("mix/q"));
        matrices.setKind("coefficient");
        matrices.setPort(MixPort::Final);
        matrices.append({named("coefficient/final", 10)});
        QCOMPARE(matrices.series().text(), std::string("coefficient/final"));
        QCOMPARE(matrices.kinds(), (std::vector<std::string>{"coefficient", "mix"}));
        QCOMPARE(matrices.ports(), (std::vector<MixPort>{MixPort::Final, MixPort::Query, MixPort::Key}));
    }

    /// A chosen matrix is shown once it has been read.
    void aFeatureIsChosenAppendedAndDropped()
    {
        ShownMatrices matrices;
        matrices.append({triangle(0, 0.5F), triangle(10, 0.5F)});
        QSignalSpy wanted(&matrices, &ShownMatrices::featureWanted);
        matrices.wantFeature(7);
        QCOMPARE(wanted.takeFirst(), QVariantList{7});
        QCOMPARE(matrices.wantedFeature(), std::optional(7));
        QCOMPARE(matrices.feature(), std::optional<int>());
        matrices.setFeature(7, {triangle(5, 0.9F)});
        QCOMPARE(matrices.feature(), std::optional(7));
        QCOMPARE(matrices.series().text(), std::string("feature"));
        matrices.appendFeature({triangle(10, 0.8F)});
        QCOMPARE(matrices.step(), std::optional<std::int64_t>(10));
        QCOMPARE(matrices.frames().frame("feature", 1).values.back(), 0.8F);
        matrices.wantFeature(8);
        QCOMPARE(matrices.feature(), std::optional(7)); // whose weights are shown meanwhile
        matrices.setFeature(8, {});                     // there is none
        QCOMPARE(matrices.wantedFeature(), std::optional<int>());
        QCOMPARE(matrices.kinds(), std::vector<std::string>{"mix"});
        QCOMPARE(matrices.series().text(), std::string("mix"));
        matrices.setFeature(7, {triangle(5, 0.9F)});
        matrices.wantFeature(std::nullopt);
        QCOMPARE(matrices.feature(), std::optional<int>());
        QCOMPARE(matrices.frames().count("feature"), std::size_t(0));
        QCOMPARE(wanted.count(), 1); // the 8
    }

    /// By default, only weights that start apart from the centre of their colours are shown as changes.
    void everyMatrixHasTheValueAndTheTitleOfItsKind()
    {
        ShownMatrices matrices;
        matrices.setRun(residua::projects::DepthMix());
        matrices.append({triangle(0, 0.5F), triangle(10, 0.75F), named("spread", 0), named("spread", 10)});
        matrices.setFeature(3, {triangle(5, 0.25F), triangle(10, 0.75F)});
        const auto titles = [&matrices] {
            std::map<std::string, QString> found;
            for (const HeatmapFrames::Shown& shown : matrices.framesShown()) {
                found[shown.matrix.name.kind] = matrices.titleOf(shown.value, shown.matrix.name);
            }
            return found;
        };
        using Titles = std::map<std::string, QString>;
        QCOMPARE(titles(), (Titles{{"mix", "change since step 0"}, {"spread", ""}, {"feature", ""}}));
        for (const HeatmapFrames::Shown& shown : matrices.framesShown()) {
            const std::string& kind = shown.matrix.name.kind;
            QCOMPARE(shown.matrix.values.back(), kind == "mix" ? 0.25F : kind == "spread" ? 0.5F : 0.75F);
        }
        matrices.setValue(CellValue::SinceStart);
        QCOMPARE(titles(), (Titles{{"mix", "change since step 0"},
                                   {"spread", "change since step 0"},
                                   {"feature", "change since step 5"}}));
    }

    /// The frames of the compared run use as much memory as those of the run in front.
    void aComparedRunHasTheMatricesToChooseFromAlone()
    {
        ShownMatrices shortcuts;
        ShownMatrices outputs(ShownMatrices::Of::Outputs);
        for (ShownMatrices* each : {&shortcuts, &outputs}) {
            each->appendCompared({triangle(0, 0.5F), named("ranks", 0)});
        }
        QCOMPARE(shortcuts.frames().comparedBytes(), bytesOf(triangle(0, 0.5F)));
        QCOMPARE(outputs.frames().comparedBytes(), std::size_t(0));
    }

    /// Removing frames over the limit does not change the shown step.
    void theStepOfAFeatureStaysWhenFramesAreRemoved()
    {
        constexpr std::int64_t kFull = 8;
        ShownMatrices matrices;
        // The limit of the window would need a minute to be reached.
        const_cast<HeatmapFrames&>(matrices.frames()).setByteLimit(kFull * bytesOf(triangle(0, 0.5F)));
        for (std::int64_t step = 0; step < kFull; ++step) {
            const std::vector<Matrix> next{triangle(step, 0.5F)};
            step == 0 ? matrices.setFeature(7, next) : matrices.appendFeature(next);
        }
        QCOMPARE(matrices.newest(), std::size_t(kFull - 1));
        matrices.showFrame(4);
        QCOMPARE(matrices.step(), std::optional<std::int64_t>(4));
        matrices.appendFeature({triangle(kFull, 0.5F)});
        QVERIFY(matrices.newest() < std::size_t(kFull));
        QCOMPARE(matrices.step(), std::optional<std::int64_t>(4));
    }

    /// Pinned frames belong to the run. The way that cells are shown stays.
    void anotherRunInFrontStartsAfresh()
    {
        ShownRuns runs;
        ShownMatrices matrices;
        matrices.follow(runs);
        runs.bringToFront("a");
        runs.begin("a", {.name = "first"});
        runs.add("a", {.matrices = {triangle(5, 0.5F), triangle(10, 0.75F)}});
        begin(runs, "b", {.name = "second"}); // beside it: compared
        runs.add("b", {.matrices = {triangle(5, 0.25F)}});
        QCOMPARE(matrices.run(), QString("first"));
        QCOMPARE(matrices.comparedRun(), QString("second"));
        QCOMPARE(matrices.frames().cells("mix", 1, CellValue::AgainstRun).back(), 0.5);
        matrices.pin();
        QCOMPARE(matrices.value(), CellValue::SincePinned);
        QCOMPARE(matrices.frames().pinned(), std::int64_t(10));
        matrices.showFrame(0);
        runs.bringToFront("b");
        QVERIFY(!matrices.any());
        QVERIFY(matrices.kinds().empty());
        QCOMPARE(matrices.comparedRun(), QString());
        QCOMPARE(matrices.frames().pinned(), std::int64_t(0));
        QCOMPARE(matrices.value(), CellValue::SincePinned);
        runs.begin("b", {.name = "second"});
        runs.add("b", {.matrices = {triangle(5, 0.25F), triangle(15, 0.25F)}});
        QCOMPARE(matrices.run(), QString("second"));
        QCOMPARE(matrices.step(), std::optional<std::int64_t>(15)); // the newest again
    }

    void renamedRunsAreNamedAnew()
    {
        ShownRuns runs;
        ShownMatrices matrices;
        matrices.follow(runs);
        runs.bringToFront("a");
        runs.begin("a", {.name = "first"});
        begin(runs, "b", {.name = "second"});
        QSignalSpy changed(&matrices, &ShownMatrices::changed);
        runs.rename("b", "other");
        QCOMPARE(matrices.comparedRun(), QString("other"));
        QCOMPARE(changed.count(), 1);
        runs.rename("a", "front");
        QCOMPARE(matrices.run(), QString("front"));
        QCOMPARE(changed.count(), 2);
    }
};

RESIDUA_TEST(TestShownMatrices)
#include "tst_shown_matrices.moc"
