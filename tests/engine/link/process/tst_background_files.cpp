// SPDX-License-Identifier: GPL-3.0-or-later
// The files of the background engine: its socket, lock and log, which others may not enter and a cleaner may remove.
#include "engine/runs/results/remotes.h"
#include "tests/engine/compute/session/run_harness.h"
#include "tests/support/background_engine.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;

namespace {

constexpr std::int64_t kEndless = 1'000'000;

class TestBackgroundFiles : public QObject {
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

    void onlyItsUserMayUseIt()
    {
        SessionProbe probe(backgroundRemote());
        probe.post(ListDevices{QueryTag{1}});
        QVERIFY(probe.waitFor<DevicesListed>());
        const BackgroundFiles files = *backgroundFiles();
        struct stat found {};
        QCOMPARE(::stat(files.folder.c_str(), &found), 0);
        QCOMPARE(found.st_mode & 07777, 0700U);
        QCOMPARE(::stat(files.socket().c_str(), &found), 0);
        QCOMPARE(found.st_mode & 07777, 0600U);
        QCOMPARE(::getsid(backgroundEngine()), backgroundEngine()); // has no terminal
    }

    void aFolderThatOthersMayEnterIsRefused()
    {
        const std::filesystem::path runtime = folder() / "residua";
        std::filesystem::create_directory(runtime);
        std::filesystem::permissions(runtime, std::filesystem::perms(0755));
        SessionProbe probe(backgroundRemote());
        probe.post(ListDevices{QueryTag{1}});
        QVERIFY(probe.waitFor<QueryFailed>());
        QCOMPARE(probe.all<QueryFailed>()[0].error.place, runtime.string());
        std::filesystem::permissions(runtime, std::filesystem::perms(0700));
    }

    /// The name of a socket may have 107 bytes only.
    void aFolderMayHaveALongPath()
    {
        const std::filesystem::path runtime = folder() / std::string(120, 'x');
        std::filesystem::create_directory(runtime);
        qputenv("XDG_RUNTIME_DIR", runtime.c_str());
        SessionProbe probe(backgroundRemote());
        probe.post(ListDevices{QueryTag{1}});
        QVERIFY(probe.waitFor<DevicesListed>());
    }

    void aSocketWithoutAnEngineIsReplaced()
    {
        const BackgroundFiles files = *backgroundFiles();
        QVERIFY(listenInBackground(files)->isOpen()); // closed at once
        QVERIFY(std::filesystem::exists(files.socket()));
        SessionProbe probe(backgroundRemote());
        probe.post(ListDevices{QueryTag{1}});
        QVERIFY(probe.waitFor<DevicesListed>());
    }

    void aLostSocketIsMadeAnew_data()
    {
        QTest::addColumn<QString>("lost");
        QTest::newRow("the socket") << "engine.socket";
        QTest::newRow("the lock") << "engine.lock";
        QTest::newRow("the folder") << "";
    }
    /// As a cleaner of temporary files, or the end of a login, removes them.
    void aLostSocketIsMadeAnew()
    {
        QFETCH(QString, lost);
        const StartRun start = startIn(folder(), kRun, quickLanguage(kEndless));
        {
            SessionProbe first(backgroundRemote());
            first.post(start);
            QVERIFY(first.waitFor<RunStarted>());
        }
        const pid_t engine = backgroundEngine();
        QVERIFY(engine > 0);
        const BackgroundFiles files = *backgroundFiles();
        std::error_code ignored; // the engine may make its socket anew before the folder is gone
        std::filesystem::remove_all(lost.isEmpty() ? files.folder : files.folder / lost.toStdString(), ignored);
        QTRY_COMPARE(backgroundEngine(), engine);
        QTRY_COMPARE(*backgroundOwner(files), engine);
        SessionProbe second(backgroundRemote());
        second.post(ListDevices{QueryTag{1}});
        QVERIFY(second.waitFor<RunStarted>());
        QCOMPARE(second.all<RunStarted>()[0].runDirectory, start.runDirectory);
        QTRY_COMPARE(backgroundRun(), start.runDirectory);
        second.post(Stop{kFoundRun});
        QVERIFY(second.waitFor<RunEnded>());
    }

    /// It waits without work for a folder that another engine has, and leaves the files there alone.
    void anEngineThatLostItsFolderRests()
    {
        {
            SessionProbe probe(backgroundRemote());
            probe.post(ListDevices{QueryTag{1}});
            QVERIFY(probe.waitFor<DevicesListed>());
        }
        const pid_t engine = backgroundEngine();
        const BackgroundFiles files = *backgroundFiles();
        ::kill(engine, SIGSTOP);
        std::filesystem::remove_all(files.folder);
        std::optional<FileDescriptor> other(*lockBackground(*backgroundFiles()));
        QVERIFY(other->isOpen());
        std::ofstream(files.run()) << "the run of another engine";
        ::kill(engine, SIGCONT);
        QVERIFY(QTest::qWaitFor([engine] { return rests(engine); }, kPatience));
        ::kill(engine, SIGTERM);
        QTRY_VERIFY(std::ifstream("/proc/" + std::to_string(engine) + "/cmdline").peek() == EOF); // has ended
        QVERIFY(std::filesystem::exists(files.run()));
    }

    /// One that stands still is named, so that it can be ended.
    void anEngineThatDoesNotAnswerIsNamed()
    {
        const BackgroundFiles files = *backgroundFiles();
        const auto lock = lockBackground(files);
        QVERIFY(lock && lock->isOpen());
        noteBackgroundOwner(*lock);
        SessionProbe probe(backgroundRemote());
        probe.post(ListDevices{QueryTag{1}});
        QVERIFY(probe.waitFor<QueryFailed>());
        const std::string message = probe.all<QueryFailed>()[0].error.message;
        QVERIFY2(message.find("kill " + std::to_string(getpid())) != std::string::npos, message.c_str());
    }

    void aLogThatIsNoFileIsRefused_data()
    {
        QTest::addColumn<QString>("kind");
        for (const char* const kind : {"pipe", "link", "folder"}) {
            QTest::newRow(kind) << kind;
        }
    }
    void aLogThatIsNoFileIsRefused()
    {
        QFETCH(QString, kind);
        const std::filesystem::path log = backgroundFiles()->log();
        if (kind == "pipe") {
            QCOMPARE(mkfifo(log.c_str(), 0600), 0);
        } else if (kind == "link") {
            std::filesystem::create_symlink("/dev/null", log);
        } else {
            std::filesystem::create_directory(log);
        }
        SessionProbe probe(backgroundRemote());
        probe.post(ListDevices{QueryTag{1}});
        QVERIFY(probe.waitFor<QueryFailed>());
        const std::string message = probe.all<QueryFailed>()[0].error.message;
        QVERIFY2(message.find("is not a regular file") != std::string::npos, message.c_str());
        std::filesystem::remove(log);
    }

    /// Lines that an earlier engine has written to the log are not quoted as the reason of a new end.
    void oldLinesOfTheLogAreNotQuoted()
    {
        std::ofstream(backgroundFiles()->log()) << "an old complaint\n";
        SessionProbe probe(backgroundRemote());
        probe.post(startIn(folder(), kRun, quickLanguage(kEndless)));
        QVERIFY(probe.waitFor<RunStarted>());
        ::kill(backgroundEngine(), SIGKILL);
        QVERIFY(probe.waitFor<RunEnded>());
        const std::string message = probe.all<RunEnded>()[0].error.message;
        QVERIFY2(message.find("in the background ended") != std::string::npos &&
                     message.find("complaint") == std::string::npos,
                 message.c_str());
    }

private:
    [[nodiscard]] std::filesystem::path folder() const { return m_folder->path().toStdString(); }

    std::unique_ptr<QTemporaryDir> m_folder;
};

} // namespace

RESIDUA_TEST_IN(QCoreApplication, TestBackgroundFiles)
#include "tst_background_files.moc"
