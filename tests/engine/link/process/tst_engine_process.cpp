// SPDX-License-Identifier: GPL-3.0-or-later
// The engine's own process: it answers, ends with its session, and where it is killed, its run is resumed by another.
#include "engine/link/process/shown_errors.h"
#include "engine/runs/results/run_reader.h"
#include "tests/engine/compute/session/run_harness.h"
#include "tests/support/child_processes.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <csignal>
#include <filesystem>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;

namespace {

class TestEngineProcess : public QObject {
    Q_OBJECT

private slots:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void errorsOfARemoteAreShownSafely_data()
    {
        QTest::addColumn<QByteArrayList>("pieces");
        QTest::addColumn<QByteArray>("shown");
        QTest::newRow("plain") << QByteArrayList{"a\n", "b"} << QByteArray("a\nb");
        QTest::newRow("an escape") << QByteArrayList{"\x1b[31mred\x07\n"} << QByteArray("\\x1b[31mred\\x07\n");
        QTest::newRow("a title") << QByteArrayList{"\x1b", "]0;x\x07"} << QByteArray("\\x1b]0;x\\x07");
        QTest::newRow("a line end of ssh") << QByteArrayList{"a\r\nb\r", "\nc\r"} << QByteArray("a\nb\nc\\x0d");
        QTest::newRow("a cut character") << QByteArrayList{"gr\xc3", "\xb6\xc3\x9f"
                                                                     "e"}
                                         << QByteArray("größe");
        QTest::newRow("C1") << QByteArrayList{"\xc2", "\x9b"
                                                      "2J"}
                            << QByteArray("\\x9b2J");
        QTest::newRow("no UTF-8") << QByteArrayList{"\xff", "\x9b"} << QByteArray("\uFFFD\uFFFD");
        QTest::newRow("another direction") << QByteArrayList{"\u202eabc"} << QByteArray("\\u202eabc");
    }
    void errorsOfARemoteAreShownSafely()
    {
        QFETCH(QByteArrayList, pieces);
        QFETCH(QByteArray, shown);
        ShownErrors errors;
        std::string text;
        for (const QByteArray& piece : pieces) {
            text += errors.add(piece.toStdString());
        }
        QCOMPARE(QByteArray::fromStdString(text + errors.end()), shown);
    }

    void answersAndEndsWithItsSession()
    {
        SessionProbe probe;
        QVERIFY(childProcesses().empty()); // before the first command
        probe.post(ListDevices{QueryTag{1}});
        QVERIFY(probe.waitFor<DevicesListed>());
        QCOMPARE(probe.all<DevicesListed>()[0].devices[0].key, std::string("cpu"));
        QCOMPARE(childProcesses().size(), std::size_t{1});
        probe.close();
        QVERIFY(childProcesses().empty());
    }

    /// A command line may also start the engine through ssh.
    void aCommandLineMayStartIt()
    {
        qputenv("RESIDUA_ENGINE", "sh -c 'cd /; exec " RESIDUA_ENGINE_PROGRAM " --stdio'");
        SessionProbe probe;
        probe.post(ListDevices{QueryTag{1}});
        QVERIFY(probe.waitFor<DevicesListed>());
        probe.close();
        qputenv("RESIDUA_ENGINE", "echo no engine; exit 3");
        SessionProbe other;
        other.post(ListDevices{QueryTag{1}});
        QVERIFY(other.waitFor<QueryFailed>());
        QCOMPARE(other.all<QueryFailed>()[0].error.place, std::string("echo no engine; exit 3"));
        qunsetenv("RESIDUA_ENGINE");
    }

    void aRunStopsWithACheckpointWhenItsSessionEnds()
    {
        SessionProbe probe;
        probe.post(startIn(folder(), kRun, quickLanguage(100'000)));
        QVERIFY(probe.waitFor<Progress>());
        probe.close();
        const auto ended = probe.all<RunEnded>();
        QCOMPARE(ended.size(), std::size_t{1});
        QCOMPARE(ended[0].status, RunStatus::Stopped);
        QVERIFY(!probe.all<CheckpointWritten>().empty());
    }

    /// The engine is killed at any point. Its record equals that of an uninterrupted process, and the next process
    /// continues it.
    void aKilledOneLosesNothing()
    {
        const projects::Project project = quickLanguage(60);
        const auto expected = lossesOf(project, folder() / "whole");
        QCOMPARE(expected.size(), std::size_t{60});
        SessionProbe probe;
        StartRun start = startIn(folder(), kRun, project);
        start.project.training.checkpointEvery = 10;
        probe.post(start);
        QVERIFY(probe.waitUntil([](const Event& event) {
            const auto* const progress = std::get_if<Progress>(&event);
            return progress != nullptr && !progress->steps.empty() && progress->steps.back().step >= 15;
        }));
        QCOMPARE(childProcesses().size(), std::size_t{1});
        ::kill(*childProcesses().begin(), SIGKILL);
        QVERIFY(probe.waitFor<RunEnded>());
        const RunEnded ended = probe.all<RunEnded>()[0];
        QCOMPARE(ended.status, RunStatus::Interrupted);
        QVERIFY(ended.step >= 15);
        QVERIFY(ended.error.message.find("signal 9") != std::string::npos);
        const auto run = RunReader::open(start.runDirectory);
        QVERIFY(run.ok());
        QCOMPARE(run->info()->status, RunStatus::Interrupted);

        ResumeRun resume;
        resume.run = RunId{2};
        resume.of.runDirectory = start.runDirectory;
        probe.post(resume); // the same session, another process
        QVERIFY(probe.waitUntil([](const Event& event) {
            const auto* const last = std::get_if<RunEnded>(&event);
            return last != nullptr && last->run == RunId{2};
        }));
        QCOMPARE(probe.all<RunEnded>()[1].status, RunStatus::Finished);
        QCOMPARE(recordedLosses(start.runDirectory), expected);
    }

private:
    [[nodiscard]] std::filesystem::path folder() const { return m_folder->path().toStdString(); }

    std::unique_ptr<QTemporaryDir> m_folder;
};

} // namespace

RESIDUA_TEST(TestEngineProcess)
#include "tst_engine_process.moc"
