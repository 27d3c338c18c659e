// SPDX-License-Identifier: GPL-3.0-or-later
// The background engine: its run outlives the programs that connect, one after the other, and that are killed or cut.
#include "engine/link/wire/messages.h"
#include "engine/runs/results/remotes.h"
#include "engine/runs/results/run_reader.h"
#include "tests/engine/compute/session/run_harness.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/address_space_limit.h"
#include "tests/support/background_engine.h"
#include "tests/support/frame_header.h"
#include "tests/support/full_disk.h"
#include "tests/support/sanitizers.h"
#include "tests/support/test_program.h"

#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;

namespace {

constexpr int kKills = 10;                  ///< RESIDUA_FUZZ_ROUNDS by hand
constexpr std::int64_t kStepsOfAKill = 100; ///< so that the run lasts as long as the kills
constexpr int kCuts = 60;                   ///< RESIDUA_FUZZ_ROUNDS by hand
constexpr int kLongestLife = 150;           ///< of a program that is killed, in milliseconds
constexpr std::int64_t kEndless = 1'000'000;

/// A program that starts the run in the folder, or finds it unless it has ended, and waits to be killed.
int waitToBeKilled(int /*argc*/, char** argv)
{
    SessionProbe probe(backgroundRemote());
    const std::filesystem::path folder = argv[1];
    if (!std::filesystem::exists(folder)) {
        StartRun start;
        start.run = kRun;
        start.project = quickLanguage(std::atoll(argv[2]));
        start.runDirectory = folder;
        probe.post(start);
    } else {
        probe.post(ListDevices{QueryTag{1}});
    }
    probe.waitUntil([](const Event& event) {
        return std::holds_alternative<RunStarted>(event) || std::holds_alternative<DevicesListed>(event);
    });
    std::puts(probe.all<RunStarted>().empty() ? "nothing" : "found");
    std::fflush(stdout);
    probe.waitFor<RunEnded>();
    return 0;
}
const UnitEntry kClient("waits_to_be_killed.cpp", &waitToBeKilled);

/// The bytes that a program sends first: its greeting, and commands.
std::string bytesOf(const std::vector<Frame>& frames)
{
    const QTemporaryDir folder;
    const std::string path = folder.filePath("bytes").toStdString();
    const FileDescriptor file = createNewFile(path);
    for (const Frame& frame : frames) {
        [[maybe_unused]] const Status written = writeFrame(file.get(), frame);
    }
    QFile bytes(QString::fromStdString(path));
    return bytes.open(QIODevice::ReadOnly) ? bytes.readAll().toStdString() : std::string();
}

class TestBackgroundEngine : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        qputenv("XDG_RUNTIME_DIR", m_folder->path().toUtf8());
    }

    void cleanup()
    {
        endBackgroundEngine();
        QTRY_VERIFY(!hasBackgroundEngine());
    }

    /// The next session finds the run, and gives it every command.
    void theNextSessionHasTheRun()
    {
        const StartRun start = startIn(folder(), kRun, quickLanguage(kEndless));
        {
            SessionProbe first(backgroundRemote());
            first.post(start);
            QVERIFY(first.waitFor<Progress>());
            first.close();
            QVERIFY(first.all<RunEnded>().empty());
        }
        QCOMPARE(backgroundRun(), start.runDirectory);
        SessionProbe second(backgroundRemote());
        second.post(ListDevices{QueryTag{1}});
        QVERIFY(second.waitFor<RunStarted>());
        const RunStarted found = second.all<RunStarted>()[0];
        QCOMPARE(found.run, kFoundRun);
        QCOMPARE(found.runDirectory, start.runDirectory);
        QVERIFY(found.firstStep > 0);
        second.post(Pause{kFoundRun});
        QVERIFY(second.waitFor<RunPaused>());
        const std::int64_t paused = second.all<RunPaused>()[0].step;
        second.close();

        SessionProbe third(backgroundRemote());
        third.post(ListDevices{QueryTag{1}});
        QVERIFY(third.waitFor<RunPaused>());
        QCOMPARE(third.all<RunPaused>()[0].run, kFoundRun);
        // All steps since the last write to the store come first, so that none is missing between both.
        const auto losses = third.losses(kFoundRun);
        QVERIFY(!losses.empty());
        QCOMPARE(losses.rbegin()->first, paused);
        QCOMPARE(losses.begin()->first, std::int64_t{1});
        third.post(Step{kFoundRun, 3});
        QVERIFY(third.waitUntil([&](const Event& event) {
            const auto* const again = std::get_if<RunPaused>(&event);
            return again != nullptr && again->step == paused + 3;
        }));
        third.post(WriteCheckpoint{kFoundRun});
        QVERIFY(third.waitFor<CheckpointWritten>());
        third.post(Continue{kFoundRun});
        QVERIFY(third.waitFor<RunContinued>());
        third.post(Stop{kFoundRun});
        QVERIFY(third.waitFor<RunEnded>());
        QCOMPARE(third.all<RunEnded>()[0].status, RunStatus::Stopped);
        QVERIFY(backgroundRun().empty());
    }

    /// Programs that are killed at random moments change no bit of the losses.
    void killedProgramsChangeNothing()
    {
        const int kills = fuzz::rounds(kKills);
        const std::int64_t steps = kStepsOfAKill * kills;
        const auto whole = lossesOf(quickLanguage(steps), folder() / "whole");
        QCOMPARE(std::ssize(whole), steps);
        const std::filesystem::path run = folder() / "run";
        std::mt19937_64 random(randomSeed());
        int found = 0;
        for (int kill = 0; kill < kills; ++kill) {
            QProcess client;
            client.start(QCoreApplication::applicationFilePath(),
                         {"waits_to_be_killed", QString::fromStdString(run.string()), QString::number(steps)});
            QVERIFY(client.waitForStarted());
            QVERIFY(client.waitForReadyRead(kPatience));
            found += client.readLine() == "found\n" ? 1 : 0;
            client.waitForFinished(static_cast<int>(fuzz::below(random, kLongestLife)));
            client.kill();
            QVERIFY(client.state() == QProcess::NotRunning ||
                    client.waitForFinished(kPatience)); // the run may have ended
        }
        qInfo("%d of %d kills within the run", found, kills);
        QVERIFY(found > 1);
        QTRY_COMPARE(statusOf(run), RunStatus::Finished);
        QCOMPARE(recordedLosses(run), whole);
    }

    /// A connection that ends after any byte, and one that reads nothing, hold up no step.
    void cutConnectionsChangeNothing()
    {
        constexpr std::int64_t kSteps = 300;
        const auto whole = lossesOf(quickLanguage(kSteps), folder() / "whole");
        const StartRun start = startIn(folder(), kRun, quickLanguage(kSteps));
        {
            SessionProbe first(backgroundRemote());
            first.post(start);
            QVERIFY(first.waitFor<RunStarted>());
        }
        const std::string sent = bytesOf({frameOf(Hello{buildIdentity(), 0, {}}), frameOf(Command(Pause{RunId{7}})),
                                          frameOf(Command(ListDevices{QueryTag{1}})),
                                          frameOf(Command(startIn(folder(), RunId{7}, quickLanguage(1))))});
        std::mt19937_64 random(randomSeed());
        const BackgroundFiles files = *backgroundFiles();
        for (int cut = 0; cut < fuzz::rounds(kCuts); ++cut) {
            const auto socket = connectToBackground(files);
            QVERIFY(socket.ok() && socket->isOpen());
            const std::string part = sent.substr(0, fuzz::below(random, sent.size() + 1));
            QVERIFY(writeBytes(socket->get(), asBytes(part)) || errno == EPIPE);
            std::string got(fuzz::below(random, 4000), '\0');
            [[maybe_unused]] const ssize_t count = recv(socket->get(), got.data(), got.size(), MSG_DONTWAIT);
        }
        QTRY_COMPARE(statusOf(start.runDirectory), RunStatus::Finished);
        QCOMPARE(recordedLosses(start.runDirectory), whole);
        SessionProbe last(backgroundRemote());
        last.post(ListDevices{QueryTag{1}});
        QVERIFY(last.waitFor<DevicesListed>());
    }

    /// There is no memory for a message that the protocol allows: the run goes on.
    void aMessageWithoutRoomEndsItsProgramAlone()
    {
        if (tests::kSanitized) {
            QSKIP(tests::kSanitizedMemory);
        }
        {
            SessionProbe first(backgroundRemote());
            first.post(startIn(folder(), kRun, quickLanguage(kEndless)));
            QVERIFY(first.waitFor<RunStarted>());
        }
        const pid_t engine = backgroundEngine();
        {
            const AddressSpaceLimit limit(kRoomForHalfAMessage, engine);
            QVERIFY(limit.isSet());
            const auto socket = connectToBackground(*backgroundFiles());
            QVERIFY(socket.ok() && socket->isOpen());
            QVERIFY(writeFrame(socket->get(), frameOf(Hello{buildIdentity(), 0, {}})).ok());
            QVERIFY(writeBytes(socket->get(), asBytes(headerOf(2, kMostNumberBytes))));
            const std::string part(1U << 20, '\0');
            std::size_t sent = 0;
            for (ssize_t count = 1; sent < kMostNumberBytes && count > 0; sent += part.size()) {
                count = send(socket->get(), part.data(), part.size(), MSG_NOSIGNAL);
            }
            QVERIFY(sent < kMostNumberBytes);
        }
        SessionProbe second(backgroundRemote());
        second.post(ListDevices{QueryTag{1}});
        QVERIFY(second.waitFor<RunStarted>());
        QCOMPARE(backgroundEngine(), engine);
        second.post(Stop{kFoundRun});
        QVERIFY(second.waitFor<RunEnded>());
        QCOMPARE(second.all<RunEnded>()[0].status, RunStatus::Stopped);
    }

    void aReaderThatStandsStillHoldsUpNoStep()
    {
        constexpr int kAnswers = 5000; // many more than a socket's buffer holds
        const StartRun start = startIn(folder(), RunId{1}, quickLanguage(50));
        SessionProbe starter(backgroundRemote()); // starts the engine
        starter.post(ListDevices{QueryTag{1}});
        QVERIFY(starter.waitFor<DevicesListed>());
        starter.close();
        const auto socket = connectToBackground(*backgroundFiles());
        QVERIFY(socket.ok() && socket->isOpen());
        QVERIFY(writeFrame(socket->get(), frameOf(Hello{buildIdentity(), 0, {}})).ok());
        for (int answer = 1; answer <= kAnswers; ++answer) {
            QVERIFY(writeFrame(socket->get(), frameOf(Command(ListDevices{static_cast<QueryTag>(answer)}))).ok());
        }
        QVERIFY(writeFrame(socket->get(), frameOf(Command(start))).ok());
        QTRY_COMPARE(statusOf(start.runDirectory), RunStatus::Finished);
    }

    void queriesOfAProgramThatLeavesAreGivenUp_data()
    {
        QTest::addColumn<bool>("fits");
        QTest::newRow("a long text") << false;
        QTest::newRow("fits of large weights") << true;
    }

    /// A query that would take hours ends with its connection: the engine rests, and answers the next program.
    void queriesOfAProgramThatLeavesAreGivenUp()
    {
        QFETCH(bool, fits);
        const std::filesystem::path run = folder() / "run";
        QVERIFY(!lossesOf(quickLanguage(2), run).empty());
        {
            SessionProbe first(backgroundRemote());
            first.post(fits ? endlessFits() : endlessText(run));
            first.post(ListDevices{QueryTag{2}});
            QVERIFY(first.waitFor<DevicesListed>());
            QVERIFY(first.all<QueryFailed>().empty());
            QVERIFY(!rests());
        }
        QVERIFY(QTest::qWaitFor([] { return rests(); }, kPatience)); // asks no second time
        SessionProbe second(backgroundRemote());
        EvaluateRequest evaluate;
        evaluate.tag = QueryTag{1};
        evaluate.of.runDirectory = run;
        second.post(evaluate);
        QVERIFY(second.waitFor<EvaluationReady>());
    }

    void aSecondProgramIsRefusedUntilTheFirstHasGone()
    {
        SessionProbe first(backgroundRemote());
        first.post(ListDevices{QueryTag{1}});
        QVERIFY(first.waitFor<DevicesListed>());
        SessionProbe second(backgroundRemote());
        second.post(ListDevices{QueryTag{1}});
        QVERIFY(second.waitFor<QueryFailed>());
        QVERIFY(second.all<QueryFailed>()[0].error.message.find("another window or terminal") != std::string::npos);
        first.close();
        second.post(ListDevices{QueryTag{2}});
        QVERIFY(second.waitFor<DevicesListed>());
    }

    /// Each side names both builds.
    void anotherBuildIsRefused()
    {
        const BackgroundFiles files = *backgroundFiles();
        {
            const auto listener = listenInBackground(files);
            std::thread other([&] {
                FileDescriptor client;
                while (!client.isOpen()) {
                    client = FileDescriptor(accept4(listener->get(), nullptr, nullptr, SOCK_CLOEXEC));
                }
                [[maybe_unused]] const Status sent = writeFrame(client.get(), frameOf(Hello{"of another day", 0, {}}));
            });
            SessionProbe probe(backgroundRemote());
            probe.post(ListDevices{QueryTag{1}});
            QVERIFY(probe.waitFor<QueryFailed>());
            other.join();
            const std::string message = probe.all<QueryFailed>()[0].error.message;
            QVERIFY2(message.find("of another day") != std::string::npos &&
                         message.find(buildIdentity()) != std::string::npos,
                     message.c_str());
        }
        SessionProbe probe(backgroundRemote());
        probe.post(ListDevices{QueryTag{1}});
        QVERIFY(probe.waitFor<DevicesListed>());
        probe.close();
        const auto socket = connectToBackground(files);
        QVERIFY(writeFrame(socket->get(), frameOf(Hello{"of another day", 0, {}})).ok());
        const auto greeting = readFrame(socket->get());
        QVERIFY(greeting.ok() && greeting->has_value());
        QCOMPARE(helloFrom(**greeting)->build, std::string(buildIdentity()));
        const auto end = readFrame(socket->get());
        QVERIFY(!end.ok() || !end->has_value());
    }

    /// A killed engine interrupts its run, which another one resumes.
    void aKilledEngineLosesNothing()
    {
        constexpr std::int64_t kSteps = 100;
        const auto whole = lossesOf(quickLanguage(kSteps), folder() / "whole");
        StartRun start = startIn(folder(), kRun, quickLanguage(kSteps));
        start.project.training.checkpointEvery = 20;
        SessionProbe probe(backgroundRemote());
        probe.post(start);
        QVERIFY(probe.waitFor<CheckpointWritten>());
        ::kill(backgroundEngine(), SIGKILL);
        QVERIFY(probe.waitFor<RunEnded>());
        QCOMPARE(probe.all<RunEnded>()[0].status, RunStatus::Interrupted);
        ResumeRun resume;
        resume.run = RunId{2};
        resume.of.runDirectory = start.runDirectory;
        probe.post(resume);
        QTRY_COMPARE(statusOf(start.runDirectory), RunStatus::Finished);
        QCOMPARE(recordedLosses(start.runDirectory), whole);
    }

    /// The session ends before its engine has started.
    void aRunThatWaitsBeginsThoughTheSessionEnds()
    {
        const StartRun start = startIn(folder(), kRun, quickLanguage(3));
        {
            SessionProbe probe(backgroundRemote());
            probe.post(ListDevices{QueryTag{1}});
            probe.post(start);
        }
        QTRY_COMPARE(statusOf(start.runDirectory), RunStatus::Finished);
    }

    void aFailureThatTheRunCannotRecordIsInTheLog_data()
    {
        QTest::addColumn<QString>("cause");
        QTest::newRow("a full disk") << "full";
        QTest::newRow("a renamed run") << "renamed";
        QTest::newRow("a removed store") << "blocked";
    }
    void aFailureThatTheRunCannotRecordIsInTheLog()
    {
        QFETCH(QString, cause);
        StartRun start = startIn(folder(), kRun, quickLanguage(kEndless));
        start.project.training.checkpointEvery = 50;
        start.pauseAfter = 2;
        SessionProbe probe(backgroundRemote());
        probe.post(start);
        QVERIFY(probe.waitFor<RunPaused>());
        std::filesystem::path run = start.runDirectory;
        std::unique_ptr<FullDisk> full;
        if (cause == "full") {
            full = std::make_unique<FullDisk>(2000, backgroundEngine());
        } else if (cause == "renamed") {
            run = folder() / "elsewhere";
            std::filesystem::rename(start.runDirectory, run);
        } else {
            std::filesystem::remove_all(run / "checkpoints");
            std::ofstream(run / "checkpoints") << "in the way";
            std::filesystem::remove(run / "run.json.lock");
        }
        probe.post(Continue{kRun});
        QVERIFY(probe.waitFor<RunEnded>());
        const RunEnded ended = probe.all<RunEnded>()[0];
        QCOMPARE(ended.status, RunStatus::Failed);
        probe.close();
        const auto reader = RunReader::open(run);
        QVERIFY(reader);
        QTRY_COMPARE(reader->info()->status, RunStatus::Failed);
        QCOMPARE(reader->info()->message, ended.error.text());
        full.reset();
        SessionProbe next(backgroundRemote()); // resumed, and killed: no failure
        ResumeRun resume;
        resume.run = kRun;
        resume.of.runDirectory = run;
        next.post(resume);
        if (next.waitUntil([](const Event& event) {
                return std::holds_alternative<RunStarted>(event) || std::holds_alternative<RunEnded>(event);
            }) &&
            !next.all<RunStarted>().empty()) {
            ::kill(backgroundEngine(), SIGKILL);
            QVERIFY(next.waitFor<RunEnded>());
            QCOMPARE(reader->info()->status, RunStatus::Interrupted);
        }
    }

    /// It waits for its run, and then not much longer.
    void itEndsWhenItIsIdle()
    {
        QCOMPARE(QProcess::execute(RESIDUA_ENGINE_PROGRAM, {"--background", "--idle=3"}), 0);
        QVERIFY(hasBackgroundEngine());
        const StartRun start = startIn(folder(), kRun, quickLanguage(300));
        {
            SessionProbe probe(backgroundRemote());
            probe.post(start);
            QVERIFY(probe.waitFor<RunStarted>());
        }
        QTRY_COMPARE(statusOf(start.runDirectory), RunStatus::Finished);
        QTRY_VERIFY(!hasBackgroundEngine());
        QVERIFY(!std::filesystem::exists(backgroundFiles()->socket()));
    }

    void placesAreKeptByName()
    {
        qputenv("XDG_CONFIG_HOME", m_folder->path().toUtf8());
        QVERIFY(namedRemotes()->empty());
        EngineRemote gpu{"gpu1", EngineRemote::Kind::CommandLine, "ssh gpu1 residua-engine --stdio", "/data/runs"};
        QVERIFY(keepNamedRemotes({gpu}).ok());
        QCOMPARE(*namedRemotes(), std::vector{gpu});
        QCOMPARE(chooseRemote("gpu1")->place, gpu);
        QVERIFY(!keepNamedRemotes({gpu, gpu}).ok());
        gpu.name = "background";
        QVERIFY(!keepNamedRemotes({gpu}).ok());
        gpu = {"x", EngineRemote::Kind::CommandLine, "", {}};
        QVERIFY(!keepNamedRemotes({gpu}).ok());
        QCOMPARE(namedRemotes()->size(), std::size_t{1});
    }

private:
    [[nodiscard]] std::filesystem::path folder() const { return m_folder->path().toStdString(); }

    static Command endlessText(const std::filesystem::path& run)
    {
        SampleRequest request;
        request.tag = QueryTag{1};
        request.of.runDirectory = run;
        request.tokens = kMostSampledTokens;
        return request;
    }

    static Command endlessFits()
    {
        GapRequest request;
        request.tag = QueryTag{1};
        request.project = quickLanguage(1);
        request.project.stack().width = 1024;
        request.project.stack().segments.front().repeat = 64;
        request.rank = projects::RankScale{0.5};
        request.methods = {projects::LowRankMethod::Lfai};
        return request;
    }

    static RunStatus statusOf(const std::filesystem::path& run)
    {
        const auto reader = RunReader::open(run);
        return reader && reader->info() ? reader->info()->status : RunStatus::Failed;
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

} // namespace

RESIDUA_TEST_IN(QCoreApplication, TestBackgroundEngine)
#include "tst_background_engine.moc"
