// SPDX-License-Identifier: GPL-3.0-or-later
// Places across ssh: a server of its own on a port of this machine, with keys of its own, as the user of the test.
#include "engine/runs/results/remotes.h"
#include "engine/runs/results/run_reader.h"
#include "tests/engine/link/remote/remote_harness.h"
#include "tests/support/child_processes.h"
#include "tests/support/free_port.h"
#include "tests/support/test_program.h"

#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QtTest>

#include <csignal>
#include <memory>
#include <unistd.h>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;
namespace fs = std::filesystem;

namespace {

constexpr int kPatience = 30'000;                 ///< milliseconds
constexpr const char* kRootsFolder = "/run/sshd"; ///< a server that root starts needs it

QString program(const QString& name)
{
    const QString found = QStandardPaths::findExecutable(name);
    return found.isEmpty() ? QStandardPaths::findExecutable(name, {"/usr/sbin", "/usr/local/sbin"}) : found;
}

class TestOverSsh : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        for (const char* const needed : {"sshd", "ssh", "ssh-keygen"}) {
            if (program(needed).isEmpty()) {
                QSKIP(qPrintable(QStringLiteral("%1 is not installed").arg(needed)));
            }
        }
        std::error_code refused;
        m_madeRootsFolder = ::geteuid() == 0 && fs::create_directory(kRootsFolder, refused);
        if (refused) {
            QSKIP(qPrintable(QStringLiteral("%1 cannot be made").arg(kRootsFolder)));
        }
        for (const char* const key : {"hostKey", "userKey"}) {
            QCOMPARE(QProcess::execute(program("ssh-keygen"), {"-q", "-t", "ed25519", "-N", "", "-f", path(key)}), 0);
        }
        QFile settings(path("settings"));
        QVERIFY(settings.open(QIODevice::WriteOnly));
        m_port = freePort();
        settings.write(QStringLiteral("Port %1\nListenAddress 127.0.0.1\nHostKey %2\nAuthorizedKeysFile %3\n"
                                      "PidFile none\nStrictModes no\nUsePAM no\nPermitRootLogin prohibit-password\n"
                                      "PasswordAuthentication no\nKbdInteractiveAuthentication no\n")
                           .arg(m_port)
                           .arg(path("hostKey"), path("userKey.pub"))
                           .toUtf8());
        settings.close();
        m_server.start(program("sshd"), {"-D", "-e", "-f", path("settings")});
        QVERIFY(m_server.waitForStarted());
        QTRY_VERIFY2(QProcess::execute("/bin/sh", {"-c", text(ssh() + " true")}) == 0 ||
                         m_server.state() != QProcess::Running,
                     "the server does not answer");
        QVERIFY2(m_server.state() == QProcess::Running, m_server.readAllStandardError().constData());
    }

    void cleanupTestCase()
    {
        m_server.terminate();
        m_server.waitForFinished(kPatience);
        if (m_madeRootsFolder) {
            fs::remove(kRootsFolder);
        }
    }

    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    /// Both ends see the same folders. The command line is one that --place takes.
    void aCommandLineTrainsInTheSameFolders()
    {
        const Result<ChosenRemote> chosen = chooseRemote(ssh() + " " + engine());
        QVERIFY(chosen && chosen->isNew && chosen->place.folder.empty());
        const projects::Project project = textProject(here(), 20);
        const fs::path own = trained(project, "own", {});
        const fs::path run = trained(project, "run", chosen->place);
        QCOMPARE(recordedLosses(run).size(), std::size_t{20});
        QCOMPARE(recordedLosses(run), recordedLosses(own));
        QVERIFY(!RunReader::open(run)->checkpoints().empty());
    }

    /// The place has a folder of its own: the data go there, the record and a checkpoint come back.
    void aPlaceWithAFolderTrainsFetchesAndResumes()
    {
        const projects::Project project = textProject(here(), 60);
        const auto expected = recordedLosses(trained(project, "own", {}));
        const EngineRemote place{"ssh", EngineRemote::Kind::CommandLine, ssh() + " " + engine(), there()};
        SessionProbe probe(place);
        StartRun start = startAs("run", project);
        start.pauseAfter = 25;
        probe.post(start);
        QVERIFY(probe.waitFor<RunPaused>());
        for (const pid_t connection : childProcesses(std::to_string(m_server.processId()))) {
            ::kill(connection, SIGKILL); // as when the network is lost
        }
        QVERIFY(probe.waitFor<RunEnded>());
        QCOMPARE(probe.all<RunEnded>()[0].status, RunStatus::Interrupted);
        ResumeRun resume;
        resume.run = RunId{2};
        resume.of.runDirectory = start.runDirectory;
        probe.post(resume);
        QVERIFY(probe.waitUntil([](const Event& event) {
            const auto* const ended = std::get_if<RunEnded>(&event);
            return ended != nullptr && ended->run == RunId{2};
        }));
        QCOMPARE(probe.all<RunEnded>()[1].error.text(), std::string());
        QCOMPARE(recordedLosses(start.runDirectory), expected);
        QVERIFY(RunReader::open(start.runDirectory)->checkpoints().empty());
        FetchCheckpoint fetch;
        fetch.tag = QueryTag{1};
        fetch.runDirectory = start.runDirectory;
        probe.post(fetch);
        QVERIFY(probe.waitFor<CheckpointFetched>());
        QCOMPARE(RunReader::open(start.runDirectory)->checkpoints(), std::vector<std::int64_t>{60});
    }

    /// ssh's own words say why.
    void aServerThatKnowsNoKeyIsReported()
    {
        QFile::rename(path("userKey.pub"), path("otherKey.pub"));
        SessionProbe probe({"ssh", EngineRemote::Kind::CommandLine, ssh() + " " + engine(), {}});
        probe.post(ListDevices{QueryTag{1}});
        QVERIFY(probe.waitFor<QueryFailed>());
        const std::string why = probe.all<QueryFailed>()[0].error.text();
        QFile::rename(path("otherKey.pub"), path("userKey.pub"));
        QVERIFY2(why.find("Permission denied") != std::string::npos, why.c_str());
    }

private:
    [[nodiscard]] QString path(const QString& name) const { return m_keys.filePath(name); }
    static QString text(const std::string& words) { return QString::fromStdString(words); }
    [[nodiscard]] fs::path here() const { return fs::path(m_folder->path().toStdString()) / "here"; }
    [[nodiscard]] fs::path there() const { return fs::path(m_folder->path().toStdString()) / "there"; }

    [[nodiscard]] std::string ssh() const
    {
        return QStringLiteral("ssh -F none -p %1 -i %2 -o BatchMode=yes -o IdentitiesOnly=yes -o LogLevel=ERROR "
                              "-o StrictHostKeyChecking=no -o UserKnownHostsFile=%3 127.0.0.1")
            .arg(m_port)
            .arg(path("userKey"), path("knownHosts"))
            .toStdString();
    }
    /// Its caches are in the test's home, not in that of the user who logs in.
    static std::string engine()
    {
        return "env HOME=" + qgetenv("HOME").toStdString() + " " RESIDUA_ENGINE_PROGRAM " --stdio";
    }

    [[nodiscard]] StartRun startAs(const std::string& name, const projects::Project& project) const
    {
        StartRun start = startIn(here(), kRun, project);
        start.runDirectory = here() / "runs" / name;
        return start;
    }

    fs::path trained(const projects::Project& project, const std::string& name, const EngineRemote& place)
    {
        SessionProbe probe(place);
        const StartRun start = startAs(name, project);
        probe.post(start);
        const bool ended = probe.waitFor<RunEnded>();
        if (!ended || probe.all<RunEnded>()[0].status != RunStatus::Finished) {
            qWarning("%s", ended ? probe.all<RunEnded>()[0].error.text().c_str() : "did not end");
        }
        return start.runDirectory;
    }

    QTemporaryDir m_keys;
    std::unique_ptr<QTemporaryDir> m_folder;
    QProcess m_server;
    int m_port = 0;
    bool m_madeRootsFolder = false;
};

} // namespace

RESIDUA_TEST_IN(QCoreApplication, TestOverSsh)
#include "tst_over_ssh.moc"
