// SPDX-License-Identifier: GPL-3.0-or-later
// The record of a run that is resumed, and the work that it repeats after an error of the data.
#include "run_harness.h"

#include "engine/base/api/environment.h"
#include "engine/data/sets/dataset.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/run_upkeep.h"
#include "engine/runs/store/run_files.h"
#include "engine/runs/store/run_writer.h"
#include "projects/library/presets.h"
#include "projects/shipped/examples.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <future>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace residua;
using namespace residua::engine;
using residua::tests::kRun;
using residua::tests::SessionProbe;
namespace fs = std::filesystem;

class TestResumedRecord : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { qputenv("XDG_CACHE_HOME", m_cache.path().toUtf8()); }

    void init()
    {
        m_temporary = std::make_unique<QTemporaryDir>();
        QVERIFY(m_temporary->isValid());
        m_folder = m_temporary->path().toStdString();
        writeTexts();
    }

    /// A resumed run uses its recorded number of threads, and reports it if another was requested.
    void theNumberOfThreadsIsKept()
    {
        const fs::path run = m_folder / "run-1";
        QVERIFY(tests::trainTo(tests::quickLanguage(6), run, 2));
        auto file = readRunFile(run);
        QVERIFY(file.ok() && file->info.threads > 0);
        const std::int64_t usual = file->info.threads;
        file->info.threads = usual + 2;
        QVERIFY(writeRunFile(run, *file).ok());
        SessionProbe probe;
        ResumeRun command;
        command.run = kRun;
        command.of.runDirectory = run;
        probe.post(command);
        QVERIFY(probe.waitFor<RunEnded>());
        QCOMPARE(readRunFile(run)->info.threads, usual + 2);
        StartRun fresh = tests::startIn(m_folder, RunId{2}, tests::quickLanguage(1));
        probe.post(fresh);
        QVERIFY(probe.waitUntil([](const Event& event) {
            const auto* ended = std::get_if<RunEnded>(&event);
            return ended != nullptr && ended->run == RunId{2};
        }));
        QCOMPARE(readRunFile(fresh.runDirectory)->info.threads, usual);
    }

    /// With all augmentations and mixup, losses, confusion matrix and F1 equal those of an uninterrupted run. The class
    /// names are recorded.
    void mixedPicturesGoOnAsIfNeverStopped()
    {
        projects::Project project = projects::findExample("small-vit")->project;
        project.data.source = projects::DrawnPictures{.size = 32, .samples = 40};
        project.data.augmentation = {.padding = 2, .flip = true, .operations = 2, .magnitude = 7, .mixup = 0.4};
        project.stack().segments.front().repeat = 1;
        project.training.steps = 6;
        project.training.batch = 4;
        project.training.validateEvery = 3;
        project.training.checkpointEvery = 2;
        const auto losses = tests::lossesOf(project, m_folder / "whole");
        QCOMPARE(losses.size(), std::size_t{6});
        QVERIFY(tests::trainTo(project, m_folder / "parts", 2));
        QCOMPARE(tests::resumeToEnd(m_folder / "parts"), std::string());
        QCOMPARE(tests::recordedLosses(m_folder / "parts"), losses);
        const auto whole = RunReader::open(m_folder / "whole");
        const auto parts = RunReader::open(m_folder / "parts");
        QVERIFY(whole && parts);
        QCOMPARE(whole->matrixSteps(matrix::kConfusion), (std::vector<std::int64_t>{3, 6}));
        for (const std::int64_t step : {3, 6}) {
            const auto confusion = whole->matrix(matrix::kConfusion, step);
            QVERIFY(confusion && confusion->rows == 10 && confusion->columns == 10);
            QCOMPARE(std::accumulate(confusion->values.begin(), confusion->values.end(), 0.0F), 4.0F); // 10 % of 40
            QCOMPARE(parts->matrix(matrix::kConfusion, step)->values, confusion->values);
        }
        QCOMPARE(whole->metric("macro_f1/validation").size(), std::size_t{2});
        QVERIFY(whole->metric("macro_f1/validation") == parts->metric("macro_f1/validation"));
        QVERIFY(whole->metric("f1/validation").empty()); // ten classes
        QCOMPARE(std::ssize(whole->info()->classes), 10);
        QCOMPARE(whole->info()->classes.front(), std::string("disc+ring"));
        QVERIFY(parts->info()->classes == whole->info()->classes);
        project.data.augmentation.mixup = 0;
        QVERIFY(tests::lossesOf(project, m_folder / "unmixed").at(1) != losses.at(1));
    }

    /// Steps after the checkpoint are dropped from the store and from run.json.
    void anEarlierStepsNumbersAreItsOwn_data()
    {
        QTest::addColumn<qint64>("step");
        QTest::newRow("after a validation") << qint64{4};
        QTest::newRow("before the first") << qint64{2};
    }
    void anEarlierStepsNumbersAreItsOwn()
    {
        QFETCH(qint64, step);
        projects::Project project = tests::quickLanguage(6);
        project.training.checkpointEvery = 2;
        project.training.validateEvery = 3;
        const auto losses = tests::lossesOf(project, m_folder / "run");
        QCOMPARE(losses.size(), std::size_t{6});
        const auto validations = validationsOf("run");
        QCOMPARE(validations.size(), std::size_t{2});
        const RunInfo info = infoAtStartOf(resumeOf("run", step));
        QCOMPARE(info.step, step);
        QCOMPARE(info.loss(), losses.at(step));
        QCOMPARE(std::isnan(info.validationLoss()), step < 3);
        QVERIFY(step < 3 || info.validationLoss() == validations[0].value);
    }

    void aFirstStepThatFailsLeavesTheCheckpointsNumbers()
    {
        projects::Project project = mixture(6);
        project.training.checkpointEvery = 2;
        QVERIFY(trainUndisturbed(project, "run"));
        const auto losses = tests::recordedLosses(m_folder / "run");
        std::promise<RunEnded> ended;
        Session session([&](const Event& event) {
            if (std::holds_alternative<RunStarted>(event)) {
                cutOff(m_folder / "letters.txt");
                cutOff(m_folder / "digits.txt");
            } else if (const auto* end = std::get_if<RunEnded>(&event)) {
                ended.set_value(*end);
            }
        });
        session.post(resumeOf("run", 2));
        const RunEnded end = waitFor(ended);
        QVERIFY(end.status == RunStatus::Failed);
        QCOMPARE(end.step, std::int64_t{2});
        const RunInfo info = readRunFile(m_folder / "run")->info;
        QCOMPARE(info.step, std::int64_t{2});
        QCOMPARE(info.loss(), losses.at(2));
    }

    /// No initialisation reproduces the weights that it began with.
    void aBranchWithoutItsCheckpointDoesNotBeginAgain()
    {
        QVERIFY(tests::trainTo(tests::quickLanguage(6), m_folder / "run", 4));
        QVERIFY(forkRun(m_folder / "run", 4, m_folder / "fork").ok());
        fs::remove_all(m_folder / "fork" / "checkpoints");
        const std::string said = tests::resumeToEnd(m_folder / "fork");
        QVERIFY2(said.find("has lost the weights that it began with, those of step 4 of " +
                           (m_folder / "run").string()) != std::string::npos,
                 said.c_str());
        QCOMPARE(tests::recordedLosses(m_folder / "fork").size(), std::size_t{4}); // nothing was dropped
    }

    void aRunWithLoadedWeightsDoesNotBeginAgainEither()
    {
        QVERIFY(tests::trainTo(tests::quickLanguage(6), m_folder / "run", 2));
        {
            auto writer = RunWriter::reopen(m_folder / "run", 2);
            writer->event({0, RunEventKind::Imported, "weights from elsewhere"});
            QVERIFY(writer->flush().ok());
        }
        fs::remove_all(m_folder / "run" / "checkpoints");
        const std::string said = tests::resumeToEnd(m_folder / "run");
        QVERIFY2(said.find("began with, weights from elsewhere: it has no checkpoint") != std::string::npos,
                 said.c_str());
    }

    /// Reading the data fails between a step and the measurements due after it.
    void missedMeasurementsAreRepeated_data()
    {
        QTest::addColumn<qint64>("step");
        QTest::newRow("in the middle") << qint64{3};
        QTest::newRow("after the last step") << qint64{6};
    }
    void missedMeasurementsAreRepeated()
    {
        QFETCH(qint64, step);
        projects::Project project = mixture(6);
        project.training.validateEvery = 3;
        project.training.stabilityEvery = 3;
        drawn(project, {{step - 1, 'a'}}); // while a validation goes through both texts
        QVERIFY(trainUndisturbed(project, "whole"));
        const RunEnded end = trainWithoutDigitsAfter(project, "run", step - 1);
        QVERIFY(end.status == RunStatus::Failed);
        QCOMPARE(end.step, step);
        QCOMPARE(validationsOf("run").size(), static_cast<std::size_t>(step / 3 - 1));
        QCOMPARE(resumed("run"), std::string());
        QCOMPARE(validationsOf("run"), validationsOf("whole"));
        QCOMPARE(tests::recordedLosses(m_folder / "run"), tests::recordedLosses(m_folder / "whole"));
        QCOMPARE(RunReader::open(m_folder / "run")->matrixSteps(matrix::kStability), (std::vector<std::int64_t>{3, 6}));
    }

    /// If the validation fails again, the run stays failed and keeps its checkpoint.
    void aRunIsNotFinishedWithoutItsLastValidation()
    {
        projects::Project project = mixture(6);
        project.training.validateEvery = 6;
        drawn(project, {{5, 'a'}});
        QVERIFY(trainWithoutDigitsAfter(project, "run", 5).status == RunStatus::Failed);
        writeTexts();
        std::promise<RunEnded> ended;
        Session session([&](const Event& event) {
            if (std::holds_alternative<RunStarted>(event)) {
                cutOff(m_folder / "digits.txt");
            } else if (const auto* end = std::get_if<RunEnded>(&event)) {
                ended.set_value(*end);
            }
        });
        session.post(resumeOf("run", std::nullopt));
        const RunEnded end = waitFor(ended);
        QVERIFY(end.status == RunStatus::Failed);
        QVERIFY2(end.error.text().find("step 6 is complete") != std::string::npos, end.error.text().c_str());
    }

    /// The data fail in the first step after a border, when the new layers exist already. A checkpoint would be taken
    /// for one before the border, and the network would grow twice.
    void noCheckpointIsKeptOfANetworkThatHasJustGrown_data()
    {
        QTest::addColumn<qint64>("every");
        QTest::addColumn<QString>("said");
        QTest::newRow("no checkpoint") << qint64{0} << "there is no checkpoint yet";
        QTest::newRow("an earlier one") << qint64{3} << "the checkpoint of step 3 is complete";
        QTest::newRow("one of before the border") << qint64{2} << "the checkpoint of step 4 is complete";
    }
    void noCheckpointIsKeptOfANetworkThatHasJustGrown()
    {
        QFETCH(qint64, every);
        QFETCH(QString, said);
        projects::Project project = growing();
        project.training.checkpointEvery = every;
        drawn(project, {{8, 'a'}, {9, '0'}}); // the micro-batches of the fifth step
        QVERIFY(trainUndisturbed(project, "whole"));
        const RunEnded end = trainWithoutDigitsAfter(project, "run", 4);
        QVERIFY(end.status == RunStatus::Failed);
        QCOMPARE(end.step, std::int64_t{4});
        const QString text = QString::fromStdString(end.error.text());
        QVERIFY2(text.contains("no checkpoint was written of the network that has just grown; " + said),
                 qPrintable(text));
        QCOMPARE(resumed("run"), std::string());
        QCOMPARE(tests::recordedLosses(m_folder / "run"), tests::recordedLosses(m_folder / "whole"));
    }

private:
    void writeTexts() const
    {
        std::ofstream letters(m_folder / "letters.txt", std::ios::trunc);
        std::ofstream digits(m_folder / "digits.txt", std::ios::trunc);
        for (int i = 0; i < 1000; ++i) {
            letters << static_cast<char>('a' + (i * i) % 7);
            digits << static_cast<char>('0' + (i * i) % 7);
        }
    }
    /// While it is in use, so that reading it is an error.
    static void cutOff(const fs::path& file) { fs::resize_file(file, 10); }

    /// An example a micro-batch, of one of two texts.
    static projects::Project mixture(std::int64_t steps)
    {
        projects::MixtureData texts;
        texts.parts.push_back({.path = "letters.txt", .weight = 1});
        texts.parts.push_back({.path = "digits.txt", .weight = 1});
        projects::Project project = tests::quickLanguage(steps);
        project.data.source = texts;
        project.training.batch = 1;
        return project;
    }

    /// From 2 over 3 to 4 layers, after 4 and 8 steps of two micro-batches, with no validation.
    static projects::Project growing()
    {
        projects::Project project = mixture(10);
        project.data.validationFraction = 0;
        project.training.accumulate = 2;
        project.stack().segments.front().repeat = 4;
        const auto presets = projects::topologyPresets(4);
        project.stack().topology = {"plain",
                                    std::ranges::find(presets, "plain", &projects::TopologyPreset::name)->wiring};
        project.stack().schedule.stages = {{0, 2, {}}, {4, 3, {}}, {8, 4, {}}};
        project.stack().schedule.sampling = projects::DropSampling::First;
        project.stack().schedule.growth = projects::GrowthSource::Adjacent;
        return project;
    }

    /// Gives the project a seed by which these micro-batches are of the text that the character belongs to.
    void drawn(projects::Project& project, const std::vector<std::pair<std::int64_t, char>>& wanted) const
    {
        const auto dataset = Dataset::open(project, m_folder);
        if (!dataset) {
            throw std::runtime_error(dataset.error().text());
        }
        const auto isOf = [&](const std::pair<std::int64_t, char>& want) {
            Batch batch;
            const Status filled =
                (*dataset)->fill(batch, Split::Train, project.seeds.order, want.first, project.training.batch);
            const bool isLetter = (*dataset)->decode(batch.values<std::int64_t>(0)).at(0) >= 'a';
            return filled.ok() && isLetter == (want.second >= 'a');
        };
        while (!std::ranges::all_of(wanted, isOf)) {
            ++project.seeds.order;
        }
    }

    bool trainUndisturbed(const projects::Project& project, const std::string& run) const
    {
        SessionProbe probe;
        probe.post(startOf(project, run));
        return probe.waitFor<RunEnded>() && probe.all<RunEnded>()[0].status == RunStatus::Finished;
    }

    /// Pauses the run after the step, cuts off the digits, and goes on to its end.
    RunEnded trainWithoutDigitsAfter(const projects::Project& project, const std::string& run, std::int64_t step) const
    {
        SessionProbe probe;
        StartRun start = startOf(project, run);
        start.pauseAfter = step;
        probe.post(start);
        probe.waitFor<RunPaused>();
        cutOff(m_folder / "digits.txt");
        probe.post(Continue{kRun});
        probe.waitFor<RunEnded>();
        return probe.all<RunEnded>().at(0);
    }

    /// With the data as they were. Why it failed, else nothing.
    std::string resumed(const std::string& run) const
    {
        writeTexts();
        return tests::resumeToEnd(m_folder / run);
    }

    StartRun startOf(const projects::Project& project, const std::string& run) const
    {
        StartRun start;
        start.run = kRun;
        start.project = project;
        start.projectDirectory = m_folder;
        start.runDirectory = m_folder / run;
        return start;
    }

    ResumeRun resumeOf(const std::string& run, std::optional<std::int64_t> step) const
    {
        ResumeRun resume;
        resume.run = kRun;
        resume.of.runDirectory = m_folder / run;
        resume.of.step = step;
        return resume;
    }

    /// run.json as it is when the resumed run announces itself.
    static RunInfo infoAtStartOf(const ResumeRun& resume)
    {
        std::promise<RunInfo> found;
        Session session([&](const Event& event) {
            if (std::holds_alternative<RunStarted>(event)) {
                found.set_value(readRunFile(resume.of.runDirectory)->info);
            }
        });
        session.post(resume);
        return waitFor(found);
    }

    template <class Value>
    static Value waitFor(std::promise<Value>& promise)
    {
        std::future<Value> future = promise.get_future();
        if (future.wait_for(std::chrono::minutes(1)) != std::future_status::ready) {
            throw std::runtime_error("it did not come");
        }
        return future.get();
    }

    std::vector<MetricPoint> validationsOf(const std::string& run) const
    {
        return RunReader::open(m_folder / run)->metric(metric::kValidationLoss);
    }

    QTemporaryDir m_cache;
    std::unique_ptr<QTemporaryDir> m_temporary;
    fs::path m_folder;
};

RESIDUA_TEST_IN(QCoreApplication, TestResumedRecord)
#include "tst_resumed_record.moc"
