// SPDX-License-Identifier: GPL-3.0-or-later
// A run at a place that sees none of this machine's folders: trained, recorded here, used, interrupted and resumed.
#include "engine/base/api/environment.h"
#include "engine/runs/results/effects.h"
#include "engine/runs/results/remotes.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/run_upkeep.h"
#include "engine/runs/store/run_directory.h"
#include "engine/runs/store/run_files.h"
#include "tests/engine/link/remote/remote_harness.h"
#include "tests/support/child_processes.h"
#include "tests/support/full_disk.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <csignal>
#include <memory>
#include <span>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;
namespace fs = std::filesystem;

namespace {

constexpr QueryTag kQuestion{5};

auto endOf(RunId run)
{
    return [run](const Event& event) {
        const auto* const ended = std::get_if<RunEnded>(&event);
        return ended != nullptr && ended->run == run;
    };
}

/// Returns the bytes of the values, by which NaN equals NaN.
std::string bytesOf(const Matrix& matrix)
{
    const auto bytes = std::as_bytes(std::span(matrix.values));
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The answer to kQuestion in a session of its own; fails the test if another one comes.
template <class Ready, class Request>
Ready answerTo(Request request, const fs::path& run, const EngineRemote& place = {})
{
    request.tag = kQuestion;
    if constexpr (requires { request.of; }) {
        request.of.runDirectory = run;
    } else {
        request.runDirectory = run;
    }
    SessionProbe probe(place);
    probe.post(request);
    const bool came = probe.waitUntil([](const Event& event) {
        return std::holds_alternative<Ready>(event) || std::holds_alternative<QueryFailed>(event);
    });
    const std::vector<Ready> answers = came ? probe.all<Ready>() : std::vector<Ready>();
    if (answers.empty()) {
        const auto failed = probe.all<QueryFailed>();
        qWarning("%s", failed.empty() ? "no answer" : failed[0].error.text().c_str());
        return {};
    }
    return answers[0];
}

class TestRemoteRun : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_temporary = std::make_unique<QTemporaryDir>();
        qputenv("XDG_CONFIG_HOME", m_temporary->filePath("config").toUtf8());
        QVERIFY(keepNamedRemotes({placeIn(there())}).ok());
    }

    void aRunIsThatOfThisMachine()
    {
        const projects::Project project = textProject(here(), 20);
        const fs::path own = trained(project, "own", {});
        const fs::path run = trained(project, "run", placeIn(there()));
        QCOMPARE(recordedLosses(run), recordedLosses(own));
        QCOMPARE(recordedLosses(run).size(), std::size_t{20});
        const auto one = RunReader::open(own);
        const auto other = RunReader::open(run);
        QVERIFY(one && other);
        QVERIFY(!one->matrixNames().empty());
        for (const MatrixName& name : one->matrixNames()) {
            QCOMPARE(other->matrixSteps(name), one->matrixSteps(name));
            for (const std::int64_t step : one->matrixSteps(name)) {
                QVERIFY(bytesOf(*other->matrix(name, step)) == bytesOf(*one->matrix(name, step)));
            }
        }
        QCOMPARE(other->info()->status, RunStatus::Finished);
        QCOMPARE(other->info()->threads, one->info()->threads);
        QVERIFY(*other->project() == project);
        QVERIFY(other->checkpoints().empty()); // until they are fetched

        const Result<RunFile> file = readRunFile(run);
        QVERIFY(file && file->remote && file->data);
        QVERIFY((*file->remote == RemoteRun{"other", "place", file->remote->directory}));
        QVERIFY(contentOf(run / "run.json").find("residua-engine") == std::string::npos); // no command line
        QCOMPARE(*file->data, *readRunFile(own)->data);
        const fs::path remote = there() / "place" / file->remote->directory;
        QVERIFY(contentOf(remote / "run.json").find(here().string()) == std::string::npos);
        QVERIFY(holdsWholeFiles(there() / "place"));
        QCOMPARE(std::distance(fs::directory_iterator(there() / "place/files"), fs::directory_iterator()), 1);
    }

    void commandsForTheRunGoToItsPlace()
    {
        const projects::Project project = textProject(here(), 20);
        const fs::path own = trained(project, "own", {});
        const fs::path run = trained(project, "run", placeIn(there()));
        fs::remove_all(here() / "data"); // what follows needs nothing of this machine but the second session's run

        const auto evaluation = answerTo<EvaluationReady>(EvaluateRequest{}, run);
        SampleRequest sample;
        sample.prompt = "abc";
        const auto sampled = answerTo<SampleReady>(sample, run, placeIn(there()));
        const auto stability = answerTo<StabilityReady>(StabilityRequest{}, run);
        const auto knockout =
            answerTo<KnockoutReady>(KnockoutRequest{.of = {}, .by = projects::KnockoutBy::Layer}, run);
        textProject(here(), 20);
        QVERIFY(!knockout.rows.empty() && knockout.rows.front().name == "layer 1");
        const auto kept = readEffects(run); // the record here keeps what was measured there
        QVERIFY(kept && kept->size() == 1 && kept->front().measured.rows.size() == knockout.rows.size());
        QCOMPARE(kept->front().measured.rows.front().rise, knockout.rows.front().rise);
        QCOMPARE(kept->front().key, *effectsKeyOf({.of = {run}, .by = projects::KnockoutBy::Layer}));
        QCOMPARE(evaluation.means, answerTo<EvaluationReady>(EvaluateRequest{}, own, placeIn(there())).means);
        QCOMPARE(evaluation.step, std::int64_t{20});
        QCOMPARE(sampled.text, answerTo<SampleReady>(sample, own).text);
        QVERIFY(!sampled.text.empty());
        QCOMPARE(stability.loss, answerTo<StabilityReady>(StabilityRequest{}, own).loss);
    }

    /// Somebody measures there. Results of other weights than the checkpoint's are measured anew.
    void resultsKeptThereAreSeenHere()
    {
        const fs::path run = trained(textProject(here(), 20), "run", placeIn(there()));
        KnockoutRequest request{.of = {}, .by = projects::KnockoutBy::Layer};
        const double measured = answerTo<KnockoutReady>(request, run).rows.at(0).rise;
        const auto first = [&request](const fs::path& of) {
            request.of.runDirectory = of;
            return keptEffects(of, *effectsKeyOf(request))->measured.rows.at(0).rise;
        };
        const fs::path remote = there() / "place" / readRunFile(run)->remote->directory;
        KeptEffects theirs = readEffects(remote)->at(0);
        theirs.measured.rows.at(0).rise = 42;
        QVERIFY(keepEffects(remote, theirs).ok());
        const auto kept = answerTo<KnockoutReady>(request, run);
        QCOMPARE(kept.rows.at(0).rise, 42.0);
        QVERIFY(!kept.notes.empty() && kept.notes[0].find("--again measures anew") != std::string::npos);
        QCOMPARE(first(run), 42.0);

        request.again = true;
        QCOMPARE(answerTo<KnockoutReady>(request, run).rows.at(0).rise, measured);
        QCOMPARE(first(run), measured);
        QCOMPARE(first(remote), measured);
        request.again = false;
        theirs.measured.checkpoint = std::string(64, 'a');
        QVERIFY(keepEffects(remote, theirs).ok());
        QVERIFY(keepEffects(run, theirs).ok());
        const auto anew = answerTo<KnockoutReady>(request, run);
        QCOMPARE(anew.rows.at(0).rise, measured);
        QVERIFY(!anew.notes.empty() && anew.notes.back().find("was trained again") != std::string::npos);
        QCOMPARE(first(run), measured);
    }

    void nothingIsSentTwice()
    {
        fs::create_directories(there() / "sent");
        const EngineRemote place = placeIn(there(), "tee $(mktemp -p sent) | " RESIDUA_ENGINE_PROGRAM " --stdio");
        const projects::Project project = textProject(here(), 2, 500'000);
        const auto sent = [this] {
            std::uintmax_t bytes = 0;
            for (const auto& entry : fs::directory_iterator(there() / "sent")) {
                bytes += entry.file_size();
            }
            return bytes;
        };
        trained(project, "first", place);
        const std::uintmax_t first = sent();
        QVERIFY(first > 500'000);
        trained(project, "second", place);
        QVERIFY2(sent() - first < 100'000, std::to_string(sent() - first).c_str());
    }

    void aCheckpointIsFetched()
    {
        const fs::path run = trained(textProject(here(), 20), "run", placeIn(there()));
        ExportRequest request;
        request.folder = here() / "exported";
        request.of.runDirectory = run;
        request.tag = kQuestion;
        SessionProbe probe;
        probe.post(request);
        QVERIFY(probe.waitFor<QueryFailed>());
        QVERIFY(probe.all<QueryFailed>()[0].error.message.find("residua-cli fetch") != std::string::npos);

        const std::vector<std::int64_t> steps{10, 20};
        QCOMPARE(distantCheckpoints(run).place, std::string("other"));
        QCOMPARE(distantCheckpoints(run).steps, steps);
        const auto last = answerTo<CheckpointFetched>(FetchCheckpoint{}, run);
        QCOMPARE(distantCheckpoints(run).steps, std::vector<std::int64_t>{10});
        QCOMPARE(last.step, std::int64_t{20});
        QVERIFY(last.notes.empty());
        QCOMPARE(last.checkpoint, checkpointDirectory(run, 20));
        FetchCheckpoint earlier;
        earlier.step = 10;
        QCOMPARE(answerTo<CheckpointFetched>(earlier, run).step, std::int64_t{10});
        QVERIFY(distantCheckpoints(run).steps.empty());
        QCOMPARE(resumableSteps(run), steps);
        const fs::path remote = there() / "place" / readRunFile(run)->remote->directory;
        for (const std::int64_t step : {10, 20}) {
            for (const auto& entry : fs::directory_iterator(checkpointDirectory(remote, step))) {
                const fs::path copy = checkpointDirectory(run, step) / entry.path().filename();
                QVERIFY2(contentOf(copy) == contentOf(entry.path()), copy.c_str());
            }
        }
        QCOMPARE(answerTo<ExportReady>(request, run).step, std::int64_t{20});
        earlier.step = 15;
        earlier.tag = kQuestion;
        earlier.runDirectory = run;
        SessionProbe other;
        other.post(earlier);
        QVERIFY(other.waitFor<QueryFailed>());
    }

    void aLostEngineCostsNoStep()
    {
        const projects::Project project = textProject(here(), 60);
        const auto expected = recordedLosses(trained(project, "own", {}));
        SessionProbe probe(placeIn(there()));
        StartRun start = startAs("run", project);
        start.pauseAfter = 25;
        probe.post(start);
        QVERIFY(probe.waitFor<RunPaused>());
        for (const pid_t child : childProcesses()) {
            ::kill(child, SIGKILL);
        }
        QVERIFY(probe.waitUntil(endOf(kRun)));
        QCOMPARE(probe.all<RunEnded>()[0].status, RunStatus::Interrupted);
        const Result<RunFile> file = readRunFile(start.runDirectory);
        QCOMPARE(file->info.status, RunStatus::Interrupted);
        QVERIFY(file->info.message.find("signal 9") != std::string::npos);

        fs::remove(start.runDirectory / "store.sqlite"); // as if the last records had not arrived
        ResumeRun resume;
        resume.run = RunId{2};
        resume.of.runDirectory = start.runDirectory;
        probe.post(resume);
        QVERIFY(probe.waitUntil(endOf(RunId{2})));
        QCOMPARE(probe.all<RunEnded>()[1].error.text(), std::string());
        QCOMPARE(probe.all<RunEnded>()[1].status, RunStatus::Finished);
        QCOMPARE(recordedLosses(start.runDirectory), expected);
    }

    /// The connection is lost after the last step.
    void aRunThatHasFinishedThereFinishesHere()
    {
        const projects::Project project = textProject(here(), 20);
        const fs::path run = trained(project, "run", placeIn(there()));
        const auto expected = recordedLosses(run);
        RunFile file = *readRunFile(run);
        file.info.status = RunStatus::Interrupted;
        file.info.step = 12;
        QVERIFY(writeRunFile(run, file).ok());
        fs::remove(run / "store.sqlite");
        SessionProbe probe;
        ResumeRun resume;
        resume.run = kRun;
        resume.of.runDirectory = run;
        probe.post(resume);
        QVERIFY(probe.waitUntil(endOf(kRun)));
        QCOMPARE(probe.all<RunEnded>()[0].error.text(), std::string());
        QCOMPARE(probe.all<RunEnded>()[0].status, RunStatus::Finished);
        QCOMPARE(probe.all<RunStarted>()[0].firstStep, std::int64_t{20});
        QVERIFY(probe.all<RunStarted>()[0].parameters > 0 && probe.all<RunStarted>()[0].unitsPerStep == 64);
        QCOMPARE(readRunFile(run)->info.status, RunStatus::Finished);
        QCOMPARE(readRunFile(run)->info.step, std::int64_t{20});
        QCOMPARE(recordedLosses(run), expected);

        resume.run = RunId{2}; // now as any finished run
        probe.post(resume);
        QVERIFY(probe.waitUntil(endOf(RunId{2})));
        QVERIFY(probe.all<RunEnded>()[1].error.message.find("give a larger total") != std::string::npos);
        QCOMPARE(readRunFile(run)->info.status, RunStatus::Finished);
    }

    /// Somebody has put another run in its directory there.
    void anotherRunThereIsNotResumed()
    {
        const fs::path run = trained(textProject(here(), 20), "run", placeIn(there()));
        RunFile file = *readRunFile(run);
        file.identity = std::string(32, 'b');
        QVERIFY(writeRunFile(run, file).ok());
        const std::string record = contentOf(run / "run.json");
        const auto losses = recordedLosses(run);
        SessionProbe probe;
        ResumeRun resume;
        resume.run = kRun;
        resume.of.runDirectory = run;
        resume.steps = 30;
        probe.post(resume);
        QVERIFY(probe.waitUntil(endOf(kRun)));
        const RunEnded ended = probe.all<RunEnded>()[0];
        QCOMPARE(ended.status, RunStatus::Failed);
        QVERIFY2(ended.error.text().find("is another run than") != std::string::npos, ended.error.text().c_str());
        QCOMPARE(contentOf(run / "run.json"), record);
        QCOMPARE(recordedLosses(run), losses);
    }

    void aSessionThatEndsStopsItsRun()
    {
        const projects::Project project = textProject(here(), 5000);
        SessionProbe probe(placeIn(there()));
        const StartRun start = startAs("run", project);
        probe.post(start);
        QVERIFY(probe.waitFor<Progress>());
        probe.close();
        QCOMPARE(probe.all<RunEnded>()[0].status, RunStatus::Stopped);
        QCOMPARE(RunReader::open(start.runDirectory)->info()->status, RunStatus::Stopped);
        QCOMPARE(std::ssize(recordedLosses(start.runDirectory)), probe.all<RunEnded>()[0].step);
    }

    void anotherProcessMayAskForTheEnd()
    {
        SessionProbe probe(placeIn(there()));
        const StartRun start = startAs("run", textProject(here(), 100'000));
        probe.post(start);
        QVERIFY(probe.waitFor<Progress>());
        QVERIFY(writeStopRequest(start.runDirectory, 0).ok());
        QVERIFY(probe.waitUntil(endOf(kRun)));
        QCOMPARE(probe.all<RunEnded>()[0].status, RunStatus::Stopped);
        QVERIFY(!readStopRequest(start.runDirectory));
    }

    void aRunThatCannotBeRecordedHereIsStopped()
    {
        SessionProbe probe(placeIn(there()));
        const StartRun start = startAs("run", textProject(here(), 100'000));
        fs::create_directories(start.runDirectory / "something");
        probe.post(start);
        QVERIFY(probe.waitUntil(endOf(kRun)));
        QCOMPARE(probe.all<RunEnded>()[0].status, RunStatus::Failed);
        probe.close();
        QCOMPARE(probe.all<RunEnded>().size(), std::size_t{1});
        QVERIFY(probe.all<Progress>().empty());
    }

    void missingDataAreToldBeforeAnythingIsSent()
    {
        SessionProbe probe(placeIn(there()));
        const StartRun start = startAs("run", textProject(here(), 10));
        fs::remove(here() / "data/text.txt");
        probe.post(start);
        QVERIFY(probe.waitUntil(endOf(kRun)));
        QVERIFY(probe.all<RunEnded>()[0].error.text().find("text.txt") != std::string::npos);
        QVERIFY(!probe.all<RunEnded>()[0].noEngine);
        QVERIFY(!fs::exists(start.runDirectory));
    }

    void filesThatAreSentHoldUpNoOtherCommand_data()
    {
        QTest::addColumn<bool>("query");
        QTest::newRow("of a run") << false;
        QTest::newRow("of a query") << true;
    }
    /// The place's first connection works, and the next ones, for files, answer nothing.
    void filesThatAreSentHoldUpNoOtherCommand()
    {
        QFETCH(bool, query);
        const projects::Project project = textProject(here(), 20);
        const fs::path run = trained(project, "trained", placeIn(there()));
        textProject(here() / "other", 20);
        SessionProbe probe(placeIn(there(), "mkdir one 2>/dev/null && exec " RESIDUA_ENGINE_PROGRAM
                                            " --stdio || exec cat >/dev/null"));
        if (query) {
            EvaluateRequest evaluate;
            evaluate.tag = kQuestion;
            evaluate.of.runDirectory = run;
            evaluate.of.projectDirectory = here() / "other";
            probe.post(evaluate);
        } else {
            probe.post(startAs("run", project));
            probe.post(Pause{kRun}); // waits for the run's beginning
        }
        QTRY_COMPARE(childProcesses().size(), std::size_t{2});
        probe.post(ListDevices{QueryTag{9}});
        QVERIFY(probe.waitFor<DevicesListed>());
        EvaluateRequest evaluate;
        evaluate.tag = QueryTag{10};
        evaluate.of.runDirectory = run;
        probe.post(evaluate);
        QVERIFY(probe.waitFor<EvaluationReady>());
        QVERIFY(probe.all<RunEnded>().empty() && probe.all<QueryFailed>().empty());
        if (query) {
            probe.post(GiveUp{kQuestion});
            QVERIFY(probe.waitFor<QueryFailed>());
            QCOMPARE(probe.all<QueryFailed>()[0].error.text(), std::string("[query] was given up"));
        } else {
            StartRun second = startAs("second", project);
            second.run = RunId{2};
            probe.post(second);
            QVERIFY(probe.waitUntil(endOf(RunId{2})));
            probe.post(Stop{kRun});
            QVERIFY(probe.waitUntil(endOf(kRun)));
            QCOMPARE(probe.all<RunEnded>()[1].status, RunStatus::Stopped);
            QVERIFY(!fs::exists(startAs("run", project).runDirectory));
        }
        QTRY_COMPARE(childProcesses().size(), std::size_t{1});
        probe.post(startAs("run", project)); // hangs again
        QTRY_COMPARE(childProcesses().size(), std::size_t{2});
        probe.close();
        QVERIFY(childProcesses().empty());
    }

    /// A connection for files takes seconds over ssh.
    void aQueryDoesNotSendItsOwnProjectAgain()
    {
        const EngineRemote place = placeIn(there(), "echo x >> connections; exec " RESIDUA_ENGINE_PROGRAM " --stdio");
        const fs::path run = trained(textProject(here(), 20), "run", place);
        const auto connections = [this] { return contentOf(there() / "connections").size() / 2; };
        QCOMPARE(connections(), std::size_t{2});
        EvaluateRequest evaluate;
        evaluate.of.projectDirectory = here();
        const auto expected = answerTo<EvaluationReady>(EvaluateRequest{}, run, place).means;
        QCOMPARE(connections(), std::size_t{3});
        QCOMPARE(answerTo<EvaluationReady>(evaluate, run, place).means, expected);
        QCOMPARE(connections(), std::size_t{4});
        fs::remove_all(there() / "place/projects"); // to free space, as the help says
        fs::remove_all(there() / "place/files");
        QCOMPARE(answerTo<EvaluationReady>(evaluate, run, place).means, expected);
        QCOMPARE(connections(), std::size_t{6});
    }

    /// The disk here is full from the middle of the run on.
    void aFullDiskHereIsToldAtTheEnd()
    {
        projects::Project project = textProject(here(), 200);
        project.training.checkpointEvery = 100;
        const auto expected = recordedLosses(trained(project, "own", {}));
        SessionProbe probe(placeIn(there()));
        StartRun start = startAs("run", project);
        start.pauseAfter = 5;
        probe.post(start);
        QVERIFY(probe.waitFor<RunPaused>());
        {
            const FullDisk full(5000);
            probe.post(Continue{kRun});
            QVERIFY(probe.waitUntil(endOf(kRun)));
        }
        const RunEnded ended = probe.all<RunEnded>()[0];
        QCOMPARE(ended.status, RunStatus::Finished);
        QVERIFY(!ended.unrecorded.empty());
        QCOMPARE(std::ranges::count_if(
                     probe.all<Notice>(),
                     [](const Notice& notice) { return notice.text.find("waits in memory") != std::string::npos; }),
                 1);
        QVERIFY(recordedLosses(start.runDirectory).size() < expected.size());
        ResumeRun resume;
        resume.run = RunId{2};
        resume.of.runDirectory = start.runDirectory;
        probe.post(resume);
        QVERIFY(probe.waitUntil(endOf(RunId{2})));
        QCOMPARE(probe.all<RunEnded>()[1].status, RunStatus::Finished);
        QCOMPARE(probe.all<RunEnded>()[1].unrecorded, std::string());
        QCOMPARE(recordedLosses(start.runDirectory), expected);
    }

private:
    [[nodiscard]] fs::path here() const { return fs::path(m_temporary->path().toStdString()) / "here"; }
    [[nodiscard]] fs::path there() const { return fs::path(m_temporary->path().toStdString()) / "there"; }

    [[nodiscard]] StartRun startAs(const std::string& name, const projects::Project& project) const
    {
        StartRun start = startIn(here(), kRun, project);
        start.runDirectory = here() / "runs" / name;
        return start;
    }

    /// Trains to the end in a session of its own.
    fs::path trained(const projects::Project& project, const std::string& name, const EngineRemote& place)
    {
        SessionProbe probe(place);
        const StartRun start = startAs(name, project);
        probe.post(start);
        const bool ended = probe.waitUntil(endOf(kRun));
        if (!ended || probe.all<RunEnded>()[0].status != RunStatus::Finished) {
            qWarning("%s", ended ? probe.all<RunEnded>()[0].error.text().c_str() : "did not end");
        }
        return start.runDirectory;
    }

    std::unique_ptr<QTemporaryDir> m_temporary;
};

} // namespace

RESIDUA_TEST(TestRemoteRun)
#include "tst_remote_run.moc"
