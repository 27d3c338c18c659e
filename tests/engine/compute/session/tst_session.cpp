// SPDX-License-Identifier: GPL-3.0-or-later
// The interface of the engine, without a torch header: which events come for which commands.
#include "run_harness.h"

#include "engine/base/api/data_summary.h"
#include "engine/base/api/matrix_name.h"
#include "engine/base/api/row_curves.h"
#include "engine/runs/results/run_reader.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <future>
#include <map>
#include <vector>

using namespace residua;
using namespace residua::engine;
using residua::tests::quickLanguage;
using residua::tests::quickVectors;
using residua::tests::SessionProbe;

namespace {

constexpr RunId kFirst{7};
constexpr RunId kSecond{8};

class TestSession : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        QVERIFY(m_folder->isValid());
    }

    void trainsAndTellsInOrder()
    {
        projects::Project project = quickLanguage(12);
        project.training.validateEvery = 6;
        project.training.checkpointEvery = 5;
        SessionProbe probe;
        probe.post(start(kFirst, project));
        QVERIFY(probe.waitFor<RunEnded>());

        const RunStarted started = probe.all<RunStarted>().at(0);
        QCOMPARE(started.firstStep, 0);
        QCOMPARE(started.steps, 12);
        QCOMPARE(started.unitsPerStep, 4 * 16);
        QVERIFY(started.parameters > 0);
        const RunEnded ended = probe.all<RunEnded>().at(0);
        QVERIFY2(ended.status == RunStatus::Finished, ended.error.text().c_str());
        QCOMPARE(ended.step, 12);
        std::vector<std::int64_t> steps;
        std::vector<std::int64_t> validated;
        std::map<MatrixName, std::vector<std::int64_t>> observed;
        for (const Progress& progress : probe.all<Progress>()) {
            QVERIFY(progress.run == kFirst);
            for (const StepRecord& record : progress.steps) {
                steps.push_back(record.step);
                QCOMPARE(record.tokens, record.step * 64);
                QVERIFY(record.gradientNorm > 0);
            }
            for (const MetricRow& row : progress.rows) {
                if (row.name == metric::kValidationLoss) {
                    validated.push_back(row.step);
                }
            }
            for (const Matrix& matrix : progress.matrices) {
                observed[matrix.name].push_back(matrix.step);
            }
        }
        QCOMPARE(steps, (std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
        QCOMPARE(validated, (std::vector<std::int64_t>{6, 12}));
        const auto reader = RunReader::open(started.runDirectory);
        QVERIFY(reader.ok());
        QVERIFY(reader->matrixNames().size() > 1);
        for (const MatrixName& name : reader->matrixNames()) { // every one that is stored is told
            QCOMPARE(observed[name], reader->matrixSteps(name));
            QCOMPARE(observed[name].back(), 12);
        }
        std::vector<std::int64_t> written;
        for (const CheckpointWritten& checkpoint : probe.all<CheckpointWritten>()) {
            written.push_back(checkpoint.step);
            QVERIFY(std::filesystem::exists(checkpoint.path));
        }
        QCOMPARE(written, (std::vector<std::int64_t>{5, 10, 12}));
    }

    void recordsWhatItTells()
    {
        projects::Project project = quickLanguage(10);
        project.training.validateEvery = 5;
        SessionProbe probe;
        probe.post(start(kFirst, project));
        QVERIFY(probe.waitFor<RunEnded>());
        const Result<RunReader> reader = RunReader::open(directory("run-7"));
        QVERIFY2(reader.ok(), reader ? "" : reader.error().text().c_str());
        QCOMPARE(tests::recordedLosses(directory("run-7")), probe.losses(kFirst));
        QCOMPARE(reader->metric(metric::kValidationLoss).size(), std::size_t{2});
        const Result<RunInfo> info = reader->info();
        QVERIFY(info.ok());
        QVERIFY(info->status == RunStatus::Finished);
        QCOMPARE(info->step, 10);
        QCOMPARE(info->loss(), probe.losses(kFirst).at(10));
        const std::vector<MatrixName> names = reader->matrixNames();
        QVERIFY(!names.empty());
        for (const MatrixName& name : names) { // else no view knows what it is
            QVERIFY2(name.isOfShortcuts() || isDrawnAsCurves(name), name.text().c_str());
        }
        QCOMPARE(reader->matrixSteps(names.front()), (std::vector<std::int64_t>{0, 5, 10}));
        QCOMPARE(reader->matrixSteps(matrix::kLayerMagnitudes),
                 (std::vector<std::int64_t>{5, 10})); // magnitudes need a pass, so there are none at step 0
        const Result<Matrix> norms = reader->matrix(matrix::kLayerMagnitudes, 10);
        QVERIFY(norms.ok());
        QCOMPARE(norms->columns, project.network.depth());
        QVERIFY(std::ranges::all_of(norms->values, [](float norm) { return norm > 0; }));
        for (const char* const name : {matrix::kReadRanks, matrix::kLayerGradients}) { // curves while it trains
            QCOMPARE(reader->matrixSteps(name), (std::vector<std::int64_t>{5, 10}));
            QCOMPARE(reader->matrix(name, 10)->columns, project.network.depth());
            QVERIFY(hasRowCurves(*reader->matrix(name, 10)));
        }
    }

    void pausesStepsAndContinues()
    {
        SessionProbe probe;
        StartRun command = start(kFirst, quickLanguage(20));
        command.pauseAfter = 3;
        probe.post(command);
        QVERIFY(probe.waitUntil(pausedAt(3)));
        QCOMPARE(probe.losses(kFirst).rbegin()->first, 3); // the last one is told before the pause
        probe.post(Step{kFirst, 4});
        QVERIFY(probe.waitUntil(pausedAt(7)));
        probe.post(Continue{kFirst});
        QVERIFY(probe.waitFor<RunEnded>());
        QCOMPARE(probe.all<RunEnded>().at(0).step, 20);
        QCOMPARE(probe.all<RunContinued>().size(), std::size_t{2});
        // Pausing changes nothing of what is computed.
        QCOMPARE(probe.losses(kFirst), tests::lossesOf(quickLanguage(20), directory("straight")));
    }

    void stopsAfterACheckpoint()
    {
        SessionProbe probe;
        StartRun command = start(kFirst, quickLanguage(1'000'000));
        probe.post(command);
        QVERIFY(probe.waitFor<Progress>());
        probe.post(Stop{RunId{99}}); // of no run: nothing happens
        probe.post(Stop{kFirst});
        QVERIFY(probe.waitFor<RunEnded>());
        const RunEnded ended = probe.all<RunEnded>().at(0);
        QVERIFY(ended.status == RunStatus::Stopped);
        QCOMPARE(probe.all<CheckpointWritten>().at(0).step, ended.step);
        probe.post(start(kSecond, quickLanguage(2))); // the next run may begin
        QVERIFY(probe.waitUntil(endedRun(kSecond)));
    }

    /// A stop posted with the start takes effect before the run is prepared.
    void oneThatIsStoppedAtOnceIsNotPrepared()
    {
        StartRun invalid = start(kFirst, quickLanguage(2));
        invalid.project.stack().segments.clear();
        std::vector<Event> told; // of the engine's thread, until `ended`
        std::promise<RunEnded> ended;
        Session session([&](Event event) {
            const auto* const end = std::get_if<RunEnded>(&event);
            if (end && end->run == kFirst) {
                session.post(start(kSecond, quickLanguage(1'000'000)));
                session.post(Stop{kSecond});
            } else if (end) {
                ended.set_value(*end);
            } else {
                told.push_back(std::move(event));
            }
        });
        session.post(invalid);
        std::future<RunEnded> second = ended.get_future();
        QVERIFY(second.wait_for(std::chrono::minutes(1)) == std::future_status::ready);
        const RunEnded stopped = second.get();
        QVERIFY(stopped.run == kSecond);
        QVERIFY2(stopped.status == RunStatus::Stopped, stopped.error.text().c_str());
        QCOMPARE(stopped.step, 0);
        QVERIFY(told.empty());
        QVERIFY(!std::filesystem::exists(directory("run-8")));
    }

    void refusesASecondRun()
    {
        SessionProbe probe;
        StartRun first = start(kFirst, quickLanguage(1'000'000));
        probe.post(first);
        probe.post(start(kSecond, quickLanguage(2)));
        QVERIFY(probe.waitUntil(endedRun(kSecond)));
        const RunEnded refused = probe.all<RunEnded>().at(0);
        QVERIFY(refused.status == RunStatus::Failed);
        QVERIFY2(refused.error.message.find("another run is active") != std::string::npos,
                 refused.error.text().c_str());
        QVERIFY(!std::filesystem::exists(directory("run-8")));
        probe.post(Stop{kFirst});
        QVERIFY(probe.waitUntil(endedRun(kFirst)));
    }

    void endsWithACheckpointWhenItIsDestroyed()
    {
        SessionProbe probe;
        probe.post(start(kFirst, quickLanguage(1'000'000)));
        QVERIFY(probe.waitFor<Progress>());
        probe.close();
        const std::vector<RunEnded> ended = probe.all<RunEnded>();
        QCOMPARE(ended.size(), std::size_t{1});
        QVERIFY(ended[0].status == RunStatus::Stopped);
        QCOMPARE(probe.all<CheckpointWritten>().at(0).step, ended[0].step);
    }

    void refusesToStart_data()
    {
        QTest::addColumn<int>("what");
        QTest::addColumn<QString>("said");
        QTest::newRow("an invalid project") << 0 << "no layers";
        QTest::newRow("data that is not there") << 1 << "missing.txt";
        QTest::newRow("an unknown device") << 2 << "unknown device \"tpu\"";
        QTest::newRow("a directory that exists") << 3 << "exist";
        QTest::newRow("more memory than there is") << 4 << "make the network smaller";
    }
    void refusesToStart()
    {
        QFETCH(int, what);
        QFETCH(QString, said);
        StartRun command = start(kFirst, quickLanguage(2));
        if (what == 0) {
            command.project.stack().segments.clear();
        } else if (what == 1) {
            command.project.data.source = projects::TextData{.path = "missing.txt", .tokeniser = {}};
        } else if (what == 2) {
            command.device = "tpu";
        } else if (what == 3) {
            std::filesystem::create_directories(command.runDirectory / "of another");
        } else {
            command.project.stack().width = 1'000'000;
        }
        SessionProbe probe;
        probe.post(command);
        QVERIFY(probe.waitFor<RunEnded>());
        const RunEnded ended = probe.all<RunEnded>().at(0);
        QVERIFY(ended.status == RunStatus::Failed);
        const QString text = QString::fromStdString(ended.error.text());
        QVERIFY2(what == 0 ? !text.isEmpty() : text.contains(said), qPrintable(text));
        QCOMPARE(std::filesystem::exists(command.runDirectory), what == 3);
        QVERIFY(probe.all<RunStarted>().empty());
    }

    void endsAtALossThatIsNotFinite()
    {
        projects::Project project = quickVectors(1000);
        project.training.optimiser = projects::Sgd{};
        project.training.learningRate = {.peak = 1e6, .warmupSteps = 0, .curve = projects::RateCurve::Constant};
        project.training.clipNorm = 0;
        project.training.checkpointEvery = 1;
        SessionProbe probe;
        probe.post(start(kFirst, project));
        QVERIFY(probe.waitFor<RunEnded>());
        const RunEnded ended = probe.all<RunEnded>().at(0);
        QVERIFY(ended.status == RunStatus::Failed);
        QVERIFY2(ended.error.message.find("lower the rate") != std::string::npos, ended.error.text().c_str());
        QCOMPARE(ended.error.place, "step " + std::to_string(ended.step + 1));
        QCOMPARE(probe.losses(kFirst).rbegin()->first, ended.step);
        QCOMPARE(probe.all<CheckpointWritten>().back().step, ended.step); // the last good one is there
        const Result<RunReader> reader = RunReader::open(directory("run-7"));
        QVERIFY(reader.ok());
        QVERIFY(reader->info()->status == RunStatus::Failed);
        QCOMPARE(reader->info()->message, ended.error.text());
        QCOMPARE(reader->checkpoints().back(), ended.step);
    }

    /// Neither of that step, nor of any that may follow it.
    void recordsNothingAfterALossThatIsNotFinite()
    {
        projects::Project project = quickVectors(1000);
        project.training.optimiser = projects::Sgd{};
        project.training.learningRate = {.peak = 1e6, .warmupSteps = 0, .curve = projects::RateCurve::Constant};
        project.training.clipNorm = 0;
        project.training.checkpointEvery = 0;
        project.training.observeEvery = 1;
        SessionProbe probe;
        probe.post(start(kFirst, project));
        QVERIFY(probe.waitFor<RunEnded>());
        const RunEnded ended = probe.all<RunEnded>().at(0);
        QVERIFY(ended.status == RunStatus::Failed);
        const Result<RunReader> reader = RunReader::open(directory("run-7"));
        QVERIFY(reader.ok());
        QCOMPARE(reader->metric(metric::kLoss).back().step, ended.step);
        QVERIFY(!reader->matrixNames().empty());
        for (const MatrixName& name : reader->matrixNames()) {
            QCOMPARE(reader->matrixSteps(name).back(), ended.step);
        }
        for (const RunEvent& event : reader->events()) {
            QVERIFY(event.step <= ended.step);
        }
    }

    void failsWhereACheckpointCannotBeWritten()
    {
        SessionProbe probe;
        StartRun command = start(kFirst, quickLanguage(50));
        command.pauseAfter = 2;
        probe.post(command);
        QVERIFY(probe.waitFor<RunPaused>());
        std::filesystem::remove_all(directory("run-7") / "checkpoints");
        std::ofstream(directory("run-7") / "checkpoints") << "in the way";
        probe.post(WriteCheckpoint{kFirst});
        QVERIFY(probe.waitFor<RunEnded>());
        const RunEnded ended = probe.all<RunEnded>().at(0);
        QVERIFY(ended.status == RunStatus::Failed);
        QVERIFY2(ended.error.text().find("checkpoints") != std::string::npos, ended.error.text().c_str());
    }

    /// The data fail first, and then the checkpoint that would keep what they had taught.
    void tellsBothWhereTheLastCheckpointFailsToo()
    {
        std::ofstream text(directory("t.txt"));
        for (int i = 0; i < 4000; ++i) {
            text << "line " << i << "\n";
        }
        text.close();
        StartRun command = start(kFirst, quickLanguage(1'000'000));
        command.project.data.source = projects::TextData{.path = "t.txt", .tokeniser = {}};
        command.pauseAfter = 2;
        SessionProbe probe;
        probe.post(command);
        QVERIFY(probe.waitFor<RunPaused>());
        std::filesystem::resize_file(directory("t.txt"), 10);
        std::filesystem::remove_all(directory("run-7") / "checkpoints");
        std::ofstream(directory("run-7") / "checkpoints") << "in the way";
        probe.post(Continue{kFirst});
        QVERIFY(probe.waitFor<RunEnded>());
        const RunEnded ended = probe.all<RunEnded>().at(0);
        QVERIFY(ended.status == RunStatus::Failed);
        const std::string said = ended.error.text();
        QVERIFY2(said.find("t.txt] was changed while it was in use") != std::string::npos, said.c_str());
        QVERIFY2(said.find("; nor is there a checkpoint of what it had come to: [") != std::string::npos, said.c_str());
        QVERIFY2(said.find("checkpoints") != std::string::npos, said.c_str());
    }

    void summarisesData()
    {
        const Result<DataSummary> data = summariseData(quickLanguage(1), directory(""));
        QVERIFY(data.ok());
        QCOMPARE(data->examples.input().vocabulary, 24);
        QCOMPARE(data->train + data->validation + data->test, 4000);
        projects::Project project = quickLanguage(1);
        project.data.source = projects::TextData{.path = "missing.txt", .tokeniser = {}};
        QVERIFY(!summariseData(project, directory("")).ok());
        const projects::ExampleSchema unknown = DataSummary{}.examples; // may be asked too
        QCOMPARE(unknown.input().vocabulary, 0);
        QVERIFY(unknown.target().isTokens());
    }

private:
    std::filesystem::path directory(const std::string& name) const
    {
        return std::filesystem::path(m_folder->path().toStdString()) / name;
    }
    StartRun start(RunId run, const projects::Project& project) const
    {
        return tests::startIn(m_folder->path().toStdString(), run, project);
    }
    static std::function<bool(const Event&)> pausedAt(std::int64_t step)
    {
        return [step](const Event& event) {
            const auto* paused = std::get_if<RunPaused>(&event);
            return paused != nullptr && paused->step == step;
        };
    }
    static std::function<bool(const Event&)> endedRun(RunId run)
    {
        return [run](const Event& event) {
            const auto* ended = std::get_if<RunEnded>(&event);
            return ended != nullptr && ended->run == run;
        };
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

} // namespace

RESIDUA_TEST(TestSession)
#include "tst_session.moc"
