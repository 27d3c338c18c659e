// SPDX-License-Identifier: GPL-3.0-or-later
// Training in a world: what is acted when, resuming to the bit, and episodes that judge.
#include "engine/base/api/matrix_name.h"
#include "engine/compute/train/acting.h"
#include "engine/compute/train/trainer.h"
#include "projects/shipped/recipes.h"
#include "tests/support/test_program.h"
#include "trainer_harness.h"

#include <ATen/Parallel.h>
#include <ATen/ops/equal.h>

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <vector>

using namespace residua;
using namespace residua::engine;
using residua::tests::trainerOf;

namespace {

projects::Project quickMaze()
{
    projects::Project project = projects::contrastiveLearning({.path = {},
                                                               .environments = 4,
                                                               .episode = 30,
                                                               .unroll = 5,
                                                               .updates = 3,
                                                               .prefill = 40,
                                                               .replay = 60,
                                                               .judged = 6},
                                                              1, 8);
    project.training.batch = 16;
    project.training.steps = 12;
    return project;
}

projects::WorldData& worldOf(projects::Project& project)
{
    return std::get<projects::WorldData>(project.data.source);
}

void train(Trainer& trainer, int steps)
{
    for (int i = 0; i < steps; ++i) {
        if (const Status stepped = trainer.step(); !stepped) {
            throw std::runtime_error(stepped.error().text());
        }
    }
}

bool haveEqualWeights(Trainer& a, Trainer& b)
{
    return std::ranges::equal(a.network().parameters(), b.network().parameters(),
                              [](const auto& one, const auto& other) {
                                  return one.name == other.name && at::equal(one.tensor, other.tensor);
                              });
}

} // namespace

class TestActing : public QObject {
    Q_OBJECT

private Q_SLOTS:
    // Networks this small gain nothing from threads, and lose much where tests run side by side.
    void initTestCase() { at::set_num_threads(1); }
    void actsBeforeEverySoManySteps();
    void resumesToTheBit_data();
    void resumesToTheBit();
    void onlyTheNewestCheckpointHasTheBuffer();
    void judgesByEpisodesWithoutNoise();
    void changesOnlyTrainedTowers();
};

void TestActing::actsBeforeEverySoManySteps()
{
    projects::Project project = quickMaze();
    const projects::WorldData& world = worldOf(project);
    QCOMPARE(projects::stepsActedBefore(world, 1), std::int64_t{45});
    QCOMPARE(projects::stepsActedBefore(world, 3), std::int64_t{45});
    QCOMPARE(projects::stepsActedBefore(world, 4), std::int64_t{50});
    QCOMPARE(projects::stepsActedBefore(world, 12), std::int64_t{60});
}

void TestActing::resumesToTheBit_data()
{
    QTest::addColumn<bool>("isKept");
    QTest::newRow("kept") << true;
    QTest::newRow("collected anew") << false;
}

/// With the buffer in the checkpoint, the resumed run equals one that was never interrupted. Without it, it fills the
/// buffer anew, and is another run.
void TestActing::resumesToTheBit()
{
    QFETCH(bool, isKept);
    const QTemporaryDir folder;
    const std::filesystem::path directory = folder.path().toStdString();
    projects::Project project = quickMaze();
    worldOf(project).onResume = isKept ? projects::ReplayOnResume::Kept : projects::ReplayOnResume::Collected;
    Trainer whole = trainerOf(project);
    train(whole, 7);
    QVERIFY(whole.writeCheckpoint(directory).ok());
    train(whole, 5);
    Trainer again = trainerOf(project);
    train(again, 12);
    QVERIFY(haveEqualWeights(whole, again));

    Trainer resumed = trainerOf(project);
    const auto checkpoint = findCheckpoint(directory, 7, nullptr);
    QVERIFY(checkpoint.ok());
    QCOMPARE(checkpoint->optimiser.tensors().contains("worlds/replay.states"), isKept);
    QVERIFY(resumed.restore(*checkpoint).ok());
    QCOMPARE(resumed.whyCollectedAnew().empty(), isKept);
    train(resumed, 5);
    QCOMPARE(haveEqualWeights(whole, resumed), isKept);
}

void TestActing::onlyTheNewestCheckpointHasTheBuffer()
{
    const QTemporaryDir folder;
    const std::filesystem::path directory = folder.path().toStdString();
    Trainer trainer = trainerOf(quickMaze());
    for (int i = 0; i < 3; ++i) {
        train(trainer, 2);
        QVERIFY(trainer.writeCheckpoint(directory).ok());
    }
    const auto newest = findCheckpoint(directory, 6, nullptr);
    const auto older = findCheckpoint(directory, 4, nullptr);
    QVERIFY(newest.ok() && older.ok());
    QCOMPARE(newest->optimiser.tensors().size() - older->optimiser.tensors().size(), std::size_t{5});
    Trainer resumed = trainerOf(quickMaze());
    QVERIFY(resumed.restore(*newest).ok());
    QCOMPARE(resumed.whyCollectedAnew(), std::string());
    QVERIFY(resumed.restore(*older).ok());
    QVERIFY(resumed.whyCollectedAnew().ends_with("only the newest checkpoint of a run has it"));
    QVERIFY(resumed.step().ok());
}

void TestActing::judgesByEpisodesWithoutNoise()
{
    const projects::Project project = quickMaze();
    Trainer trainer = trainerOf(project);
    const auto rowsOf = [&] { return trainer.measure(residua::tests::measureOf(kTimeAtGoal)).value(); };
    const Measured first = rowsOf();
    QCOMPARE(first.rows.size(), std::size_t{3});
    QCOMPARE(first.rows[0].name, std::string("time_at_goal/validation"));
    QVERIFY(first.rows[0].value >= 0 && first.rows[0].value <= 30);
    QCOMPARE(first.rows[2].value, 45.0 * 4);
    const std::vector<float>& picture = first.matrices.front().values;
    QCOMPARE(std::ssize(picture), matrix::kRolloutSide * matrix::kRolloutSide);
    QCOMPARE(picture.front(), matrix::kWall);
    QVERIFY(std::ranges::count(picture, matrix::kPath) > 0);
    QVERIFY(std::ranges::count(picture, matrix::kGoal) > 0);
    const Measured second = rowsOf();
    QCOMPARE(first.rows[0].value, second.rows[0].value);
    QVERIFY(first.matrices.front().values == second.matrices.front().values);
    train(trainer, 3);
    QVERIFY(first.matrices.front().values != rowsOf().matrices.front().values);
    const projects::Judge& judge = projects::traitsOf(project.network.objective).judge;
    QCOMPARE(std::string(judge.quantity) + "/validation", first.rows[0].name);
    QVERIFY(judge.prefers(2, 1)); // more time at the goal is better
}

/// A document whose losses train the towers of the critic leaves the actor as it is.
void TestActing::changesOnlyTrainedTowers()
{
    projects::Project project = quickMaze();
    project.losses.resize(1);
    Trainer trainer = trainerOf(project);
    Trainer started = trainerOf(project);
    train(trainer, 2);
    for (std::size_t i = 0; i < trainer.network().parameters().size(); ++i) {
        const NamedParameter& after = trainer.network().parameters()[i];
        const bool isOfCritic = after.name.starts_with("steps.") || after.name.starts_with("goals.");
        QCOMPARE(!at::equal(after.tensor, started.network().parameters()[i].tensor), isOfCritic);
    }
}

RESIDUA_TEST(TestActing)
#include "tst_acting.moc"
