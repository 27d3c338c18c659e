// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/session/training_loop.h"

#include "engine/base/api/values.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/store/recorder.h"
#include "engine/runs/store/run_files.h"
#include "projects/base/whole_file.h"
#include "projects/library/presets.h"
#include "tests/engine/compute/network/network_double.h"
#include "tests/engine/compute/session/run_harness.h"
#include "tests/engine/compute/train/trainer_harness.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>

#include <QTemporaryDir>
#include <QtTest>

#include <filesystem>
#include <memory>
#include <numeric>
#include <set>
#include <vector>

using namespace residua;
using namespace residua::engine;
using residua::tests::quickVectors;
using residua::tests::trainerOf;

namespace {

/// Diverges in its second step. The first layer is in every step: what it becomes in the first one is in the loss of
/// the second.
projects::Project diverging()
{
    projects::Project project = quickVectors(20);
    const std::int64_t depth = project.network.depth();
    for (const projects::TopologyPreset& preset : projects::topologyPresets(depth)) {
        if (preset.name == "plain") {
            project.stack().topology = {preset.name, preset.wiring};
        }
    }
    project.stack().schedule.stages = {{0, 2, {1}}, {1, 2.5, {1}}, {8, static_cast<double>(depth), {1}}};
    project.data.validationFraction = 0.5;
    project.training.optimiser = projects::Sgd{};
    project.training.learningRate = {.peak = 1e200, .warmupSteps = 0, .curve = projects::RateCurve::Constant};
    project.training.clipNorm = 0;
    project.training.observeEvery = 1;
    project.training.validateEvery = 1;
    project.training.checkpointEvery = 0;
    return project;
}

/// The loop without what keeps its records.
class TestTrainingLoop : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// Only the step's number and the plan decide what is due.
    void workDueAfterAStep_data()
    {
        QTest::addColumn<qint64>("step");
        QTest::addColumn<bool>("observation");
        QTest::addColumn<bool>("validation");
        QTest::addColumn<bool>("stability");
        QTest::addColumn<bool>("checkpoint");
        QTest::addColumn<bool>("last");
        QTest::addColumn<bool>("reading");
        QTest::newRow("nothing") << qint64{1} << false << false << false << false << false << false;
        QTest::newRow("one of them") << qint64{2} << true << false << false << false << false << false;
        QTest::newRow("all") << qint64{12} << true << true << true << true << false << true;
        QTest::newRow("no more can wait") << qint64{256} << true << false << false << true << false << true;
        QTest::newRow("the last step") << qint64{301} << true << true << true << false << true
                                       << true; // its checkpoint is the end's
        QTest::newRow("beyond") << qint64{304} << true << true << true << false << true << true;
    }
    void workDueAfterAStep()
    {
        QFETCH(qint64, step);
        QFETCH(bool, observation);
        QFETCH(bool, validation);
        QFETCH(bool, stability);
        QFETCH(bool, checkpoint);
        QFETCH(bool, last);
        QFETCH(bool, reading);
        projects::TrainingPlan plan;
        plan.steps = 301;
        plan.observeEvery = 2;
        plan.validateEvery = 3;
        plan.stabilityEvery = 6;
        plan.checkpointEvery = 4;
        std::vector<const Measure*> measures;
        for (const Measure& measure : kMeasures) {
            const bool isStability = std::string_view(measure.record) == matrix::kStability;
            if (isStability ? stability : validation) {
                measures.push_back(&measure);
            }
        }
        QVERIFY(dueAfter(plan, step) == (Due{observation, measures, checkpoint, last, reading}));
        plan.observeEvery = plan.validateEvery = plan.stabilityEvery = plan.checkpointEvery = 0;
        const bool ringIsFull = step % Trainer::kMostWaiting == 0;
        QVERIFY(dueAfter(plan, step) == (Due{false, {}, false, last, last || ringIsFull}));
    }

    /// There are more steps than the buffer of losses has room for, and no caller reads them.
    void theLoopReadsLossesByItself()
    {
        projects::Project project = quickVectors(300);
        project.training.checkpointEvery = 0;
        TrainingLoop loop(std::make_unique<Trainer>(trainerOf(project)));
        std::vector<std::int64_t> steps;
        std::vector<std::int64_t> readings;
        while (loop.trainer().stepsDone() < 300) {
            const StepOutcome outcome = loop.advance();
            QVERIFY(outcome.status.ok());
            if (outcome.found) {
                QVERIFY(!outcome.found->diverged);
                readings.push_back(loop.trainer().stepsDone());
                for (const StepRecord& record : outcome.found->progress.steps) {
                    steps.push_back(record.step);
                }
            }
        }
        QCOMPARE(readings, (std::vector<std::int64_t>{256, 300}));
        std::vector<std::int64_t> all(300);
        std::iota(all.begin(), all.end(), 1);
        QCOMPARE(steps, all);
    }

    /// On the CPU no step follows the one that diverged, whatever is due after it.
    void endsAtTheStepThatDiverges()
    {
        TrainingLoop loop(std::make_unique<Trainer>(trainerOf(diverging())));
        QVERIFY(!loop.advance().found);
        const StepOutcome outcome = loop.advance();
        QVERIFY(outcome.status.ok());
        QVERIFY(outcome.due.reading);
        QVERIFY(outcome.found && outcome.found->diverged);
        QCOMPARE(outcome.found->diverged->step, 2);
        QCOMPARE(loop.trainer().stepsDone(), 2);
    }

    /// The steps after a divergence are not recorded, however many were done.
    void nothingIsFoundOfWhatFollowsADivergence_data()
    {
        QTest::addColumn<int>("steps");
        QTest::newRow("a few") << 5;
        QTest::newRow("many, over two borders") << 10;
    }
    void nothingIsFoundOfWhatFollowsADivergence()
    {
        QFETCH(int, steps);
        const projects::Project project = diverging();
        TrainingLoop loop(std::make_unique<Trainer>(trainerOf(project)), LossLook::AtReadings);
        for (int i = 0; i < steps; ++i) {
            QVERIFY(!loop.advance().found);
        }
        const Findings found = loop.read();
        QVERIFY(found.diverged);
        QCOMPARE(found.diverged->step, 2);
        const auto stepsOf = [](const auto& records) {
            std::set<std::int64_t> all;
            for (const auto& record : records) {
                all.insert(record.step);
            }
            return all;
        };
        QCOMPARE(stepsOf(found.progress.steps), std::set<std::int64_t>{1});
        QCOMPARE(stepsOf(found.progress.matrices), std::set<std::int64_t>{1});
        QVERIFY(found.progress.last(metric::kValidationLoss) && found.progress.last(metric::kStageLoss));
        QCOMPARE(stepsOf(found.progress.rows), std::set<std::int64_t>{1});
        QCOMPARE(stepsOf(found.progress.stages), (std::set<std::int64_t>{0, 1}));
    }

    /// The store, run.json and TensorBoard's file have exactly the quantity that the network names.
    void aQuantityOfTheNetworkIsRecorded()
    {
        projects::Project project = quickVectors(4);
        project.data.validationFraction = 0.5;
        project.training.validateEvery = 2;
        project.training.observeEvery = 0;
        Result<TrainerParts> parts = openParts(project, {}, "cpu");
        QVERIFY(parts.ok());
        const auto loss = [](const at::Tensor& w, const DeviceBatch&) { return (w * w).sum(); };
        auto network = std::make_unique<tests::NetworkDouble>(
            at::ones({1}), [](const at::Tensor& w, const at::Tensor&) { return w; }, loss);
        network->further.emplace_back(
            "distance", [](const at::Tensor&, const DeviceBatch&) { return at::full({}, 0.25, at::kDouble); });
        parts->network = std::move(network);
        TrainingLoop loop(std::make_unique<Trainer>(std::move(*parts)));
        const QTemporaryDir folder;
        const std::filesystem::path run = std::filesystem::path(folder.path().toStdString()) / "run";
        auto writer = RunWriter::create(run, {}, project, run.parent_path());
        QVERIFY(writer.ok());
        Recorder recorder(std::move(*writer), "cpu", 1, 4);
        for (int step = 0; step < 4; ++step) {
            const StepOutcome outcome = loop.advance();
            QVERIFY2(outcome.status.ok(), outcome.status ? "" : outcome.status.error().text().c_str());
            if (outcome.found) {
                recorder.add(outcome.found->progress);
            }
        }
        QVERIFY(recorder.flush(RunStatus::Finished).ok());
        const char* const name = "distance/validation";
        const auto reader = RunReader::open(run);
        QCOMPARE(reader->metric(name), (std::vector<MetricPoint>{{2, 0.25}, {4, 0.25}}));
        QCOMPARE(reader->info()->last(name), 0.25);
        QCOMPARE(readRunFile(run)->info.last(name), 0.25);
        const std::vector<RunInfo> runs{*reader->info()};
        QCOMPARE(ratingColumns(runs).size(), std::size_t{1});
        QCOMPARE(ratingColumns(runs)[0].title, std::string("validation distance"));
        bool isInEvents = false;
        for (const auto& entry : std::filesystem::directory_iterator(run)) {
            const bool isEvents = entry.path().filename().string().starts_with("events.out.tfevents.");
            isInEvents |= isEvents && readFile(entry.path())->find(name) != std::string::npos;
        }
        QVERIFY(isInEvents);
    }
};

} // namespace

RESIDUA_TEST(TestTrainingLoop)
#include "tst_training_loop.moc"
