// SPDX-License-Identifier: GPL-3.0-or-later
// residua-cli where nobody watches: signals, time limits, output that nobody reads, the same command again and again.
#include "app/cli/commands/commands.h"
#include "projects/file/store.h"
#include "tests/cli/ran_program.h"
#include "tests/engine/compute/queries/model_folder.h"
#include "tests/support/child_processes.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QtTest>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <functional>

using namespace residua;
using namespace residua::cli;

namespace {

/// A training that goes on until it is stopped.
class Training {
public:
    Training(const QString& project, const QString& run, const QStringList& options = {},
             const std::function<void()>& prepare = {})
    {
        if (prepare) {
            m_process.setChildProcessModifier(prepare);
        }
        m_process.start(RESIDUA_CLI,
                        QStringList{"train", project, "--steps", "1000000", "--run", run, "--json"} + options);
    }

    /// Waits until stdout has it, after what was found before.
    bool says(const QByteArray& text)
    {
        qsizetype at = m_output.indexOf(text, m_read);
        while (at < 0) {
            if (!m_process.waitForReadyRead(kPatience)) {
                return false;
            }
            m_output += m_process.readAllStandardOutput();
            at = m_output.indexOf(text, m_read);
        }
        m_read = at + text.size();
        return true;
    }
    bool send(int signal) const { return ::kill(static_cast<pid_t>(m_process.processId()), signal) == 0; }
    Ran end()
    {
        Ran ran = ended(m_process);
        ran.output.prepend(QString::fromUtf8(m_output));
        return ran;
    }
    QProcess& process() { return m_process; }

private:
    QProcess m_process;
    QByteArray m_output;
    qsizetype m_read = 0;
};

class TestHeadless : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        QVERIFY(projects::saveProject(path("tiny").toStdString(), tinyProject()).ok());
    }

    void aSignalStopsAfterACheckpoint_data()
    {
        QTest::addColumn<int>("signal");
        QTest::newRow("Ctrl-C") << SIGINT;
        QTest::newRow("a scheduler's end") << SIGTERM;
        QTest::newRow("a closed terminal") << SIGHUP;
    }
    void aSignalStopsAfterACheckpoint()
    {
        QFETCH(int, signal);
        const QString directory = path("interrupted-" + QString::number(signal));
        Training training(path("tiny"), directory);
        QVERIFY(training.says("\"step\":3,"));
        QVERIFY(training.send(signal));
        const Ran ran = training.end();
        QCOMPARE(ran.code, 130);
        const QJsonObject last = ran.events().back();
        QCOMPARE(last["event"].toString(), QString("ended"));
        QCOMPARE(last["status"].toString(), QString("stopped"));
        QCOMPARE(last["reason"].toString(), QString("signal"));
        const int step = last["step"].toInt();
        QVERIFY(QDir(directory + "/checkpoints").exists(QString("step-%1").arg(step, 8, 10, QChar('0'))));
        const Ran resumed = runProcess({"resume", directory, "--steps", QString::number(step + 2)});
        QVERIFY2(resumed.code == 0, qPrintable(resumed.errors));
    }

    void ignoredHangUpsStayIgnored()
    {
        Training training(path("tiny"), path("nohup"), {}, [] { ::signal(SIGHUP, SIG_IGN); });
        QVERIFY(training.says("\"step\":3,"));
        QVERIFY(training.send(SIGHUP));
        QVERIFY(training.says("\"step\":60,")); // it goes on
        QVERIFY(training.send(SIGTERM));
        QCOMPARE(training.end().code, 130);
    }

    void aCheckpointMayBeAskedFor()
    {
        Training training(path("tiny"), path("asked"));
        QVERIFY(training.says("\"step\":3,"));
        QVERIFY(training.send(SIGUSR2)); // does nothing
        QVERIFY(training.send(SIGUSR1));
        QVERIFY(training.says("\"event\":\"checkpoint\""));
        QVERIFY(training.says("\"event\":\"step\""));
        QVERIFY(training.send(SIGTERM));
        QCOMPARE(training.end().code, 130);
        QCOMPARE(QDir(path("asked/checkpoints")).entryList({"step-*"}).size(), 2);
    }

    void anotherProcessStopsARunAtAStep()
    {
        const QString directory = path("foreign");
        Training training(path("tiny"), directory);
        QVERIFY(training.says("\"step\":3,"));
        // So far ahead that the run does not come to it, however long the commands take.
        const int planned = 1'000'000;
        for (const int at : {planned, planned - 1}) { // a later wish takes the place of an earlier one
            const Ran asked = runProcess({"stop", directory, "--at", QString::number(at), "--json"});
            QVERIFY2(asked.code == 0, qPrintable(asked.errors));
            QVERIFY(asked.events().front()["asked"].toBool());
        }
        QVERIFY(runProcess({"stop", directory, "--at", "1000001"}).errors.contains("is planned for 1000000 steps"));
        QCOMPARE(runProcess({"stop", directory}).code, 0);
        const Ran ran = training.end();
        QCOMPARE(ran.code, 130);
        QVERIFY2(ran.errors.contains("another process"), qPrintable(ran.errors));
        const QJsonObject last = ran.events().back();
        QCOMPARE(last["status"].toString(), QString("stopped"));
        QCOMPARE(last["reason"].toString(), QString("another process"));
        const int step = last["step"].toInt();
        QVERIFY(step < planned - 1);
        QVERIFY(QDir(directory + "/checkpoints").exists(QString("step-%1").arg(step, 8, 10, QChar('0'))));
        QVERIFY(!QFile::exists(directory + "/stop"));

        const Ran rests = runProcess({"stop", directory, "--json"});
        QCOMPARE(rests.code, 0);
        QVERIFY(!rests.events().front()["asked"].toBool());
    }

    /// Where it is asked for in time, which another process is told as late as it happens to start: with ever more
    /// steps ahead until it was.
    void aRunStopsAtTheVeryStep()
    {
        const QString directory = path("exact");
        QCOMPARE(runProcess({"train", path("tiny"), "--steps", "3", "--run", directory}).code, 0);
        int step = 3;
        for (int ahead = 500;; ahead *= 4) {
            QVERIFY(ahead < 10'000'000);
            QFile stale(directory + "/stop"); // what was asked of an earlier process is forgotten
            QVERIFY(stale.open(QIODevice::WriteOnly) && stale.write("1\n") == 2);
            stale.close();
            QProcess resumed;
            resumed.start(RESIDUA_CLI, {"resume", directory, "--steps", "100000000", "--json"});
            QVERIFY(resumed.waitForReadyRead(kPatience)); // it has begun
            const int exact = step + ahead;
            QCOMPARE(runProcess({"stop", directory, "--at", QString::number(exact)}).code, 0);
            const Ran ended = cli::ended(resumed);
            QCOMPARE(ended.code, 130);
            step = ended.events().back()["step"].toInt();
            QVERIFY(step >= exact);
            if (step == exact) {
                return;
            }
        }
    }

    /// To another folder and back, with steps trained there.
    void aRunIsTakenAlongAndBroughtBack()
    {
        const QString home = path("home");
        QVERIFY(projects::saveProject(home.toStdString(), tinyProject()).ok());
        QCOMPARE(runProcess({"train", home, "--steps", "4", "--run", home + "/runs/a"}).code, 0);
        const Ran packed = runProcess({"pack", home + "/runs/a", "-o", path("a.residua"), "--json"});
        QVERIFY2(packed.code == 0, qPrintable(packed.errors));
        QCOMPARE(packed.events().front()["checkpoints"].toInt(), 1);
        QVERIFY(QDir(m_folder.path()).mkpath("cluster"));
        const Ran unpacked = runProcess({"unpack", path("a.residua")}, path("cluster"));
        QVERIFY2(unpacked.code == 0, qPrintable(unpacked.errors));
        const QString there = path("cluster/home/runs/a");
        const Ran resumed = runProcess({"resume", there, "--steps", "6"}); // without an edit
        QVERIFY2(resumed.code == 0, qPrintable(resumed.errors));
        QCOMPARE(runProcess({"pack", there, "-o", path("b.residua"), "--checkpoints", "all"}).code, 0);
        const Ran back = runProcess({"unpack", path("b.residua"), "-o", home, "--json"});
        QVERIFY2(back.code == 0, qPrintable(back.errors));
        const QJsonObject run = back.events().front()["runs"].toArray().first().toObject();
        QCOMPARE(run["arrival"].toString(), QString("gone on"));
        QCOMPARE(run["step"].toInt(), 6);
        QVERIFY(runProcess({"resume", home + "/runs/a", "--steps", "7"}).code == 0);
        for (const QStringList& wrong : {QStringList{"pack", home},
                                         {"pack", home, "-o", path("c"), "--data", "some"},
                                         {"unpack", path("none")},
                                         {"pack", path("cluster"), "-o", path("c")},
                                         {"unpack", path("b.residua"), "-o", path("tiny")}}) {
            const Ran refused = runProcess(wrong);
            QCOMPARE(refused.code, 1);
            QVERIFY(!refused.errors.isEmpty());
        }
        QVERIFY(!QFile::exists(path("c")));
    }

    void whoWillNotWaitGetsNoCheckpoint()
    {
        Training training(path("tiny"), path("impatient"));
        QVERIFY(training.says("\"step\":3,"));
        // Both wait when the process goes on, and the terminal's end, of the lower number, is heard first.
        QVERIFY(training.send(SIGSTOP));
        QVERIFY(training.send(SIGHUP));
        QVERIFY(training.send(SIGINT));
        QVERIFY(training.send(SIGCONT));
        const Ran ran = training.end();
        QCOMPARE(ran.code, 131);
        QVERIFY2(ran.errors.contains("without waiting"), qPrintable(ran.errors));
        QCOMPARE(ran.events().back().value("error")["code"].toInt(), 131);
        QVERIFY(QDir(path("impatient/checkpoints")).entryList({"step-*"}).isEmpty());
    }

    void aSchedulerMaySignalTwice()
    {
        Training training(path("tiny"), path("twice"));
        QVERIFY(training.says("\"step\":3,"));
        QVERIFY(training.send(SIGSTOP));
        QVERIFY(training.send(SIGHUP));
        QVERIFY(training.send(SIGTERM));
        QVERIFY(training.send(SIGCONT));
        QCOMPARE(training.end().code, 130);
    }

    void noReaderHarmsNoRun()
    {
        int ends[2] = {};
        QCOMPARE(::pipe2(ends, O_CLOEXEC), 0);
        ::close(ends[0]);
        QProcess process;
        process.setChildProcessModifier([&] { ::dup2(ends[1], STDOUT_FILENO); });
        process.start(RESIDUA_CLI, {"train", path("tiny"), "--steps", "5", "--run", path("unread"), "--json"});
        const Ran ran = ended(process);
        ::close(ends[1]);
        QCOMPARE(ran.code, 0);
        QCOMPARE(ran.errors.count("standard output cannot be written (Broken pipe)"), 1);
        QVERIFY(QDir(path("unread/checkpoints")).exists("step-00000005"));
    }

    void aResultThatCannotBeWrittenIsAnError()
    {
        QProcess shell;
        shell.start("/bin/sh", {"-c", "\"$0\" info \"$1\" > /dev/full", RESIDUA_CLI, path("tiny")});
        const Ran full = ended(shell);
        QCOMPARE(full.code, 1);
        QVERIFY2(full.errors.contains("output cannot be written"), qPrintable(full.errors));
        // A reader that closes the pipe has what it wants.
        shell.start("/bin/sh", {"-c", "\"$0\" explain fields | head -n 1", RESIDUA_CLI});
        QCOMPARE(ended(shell).errors, QString());
        shell.start("/bin/sh", {"-c", "\"$0\" info \"$1\" >&-", RESIDUA_CLI, path("tiny")});
        QCOMPARE(ended(shell).code, 1);
        shell.start("/bin/sh", {"-c", "\"$0\" train \"$1\" --steps 3 --run \"$2\" >&- 2>&- <&-", RESIDUA_CLI,
                                path("tiny"), path("closed")});
        QCOMPARE(ended(shell).code, 0);
        QCOMPARE(runProcess({"eval", path("closed"), "--batches", "1"}).code, 0); // no file was written over
    }

    void aSizeLimitIsAnErrorOfTheWrite()
    {
        Training training(path("tiny"), path("limited"), {}, [] {
            const rlimit limit{200'000, 200'000};
            setrlimit(RLIMIT_FSIZE, &limit);
        });
        const Ran ran = training.end();
        QCOMPARE(ran.code, 3);
        QVERIFY2(ran.errors.contains("error: "), qPrintable(ran.errors));
    }

    void timeIsLimited()
    {
        const QString directory = path("timed");
        const Ran ran = runProcess(
            {"train", path("tiny"), "--steps", "100000000", "--run", directory, "--time-limit", "8s", "--json"});
        QVERIFY2(ran.code == 5, qPrintable(ran.errors));
        const QJsonObject last = ran.events().back();
        QCOMPARE(last["reason"].toString(), QString("time limit"));
        QVERIFY(
            QDir(directory + "/checkpoints").exists(QString("step-%1").arg(last["step"].toInt(), 8, 10, QChar('0'))));
    }

    void theSameCommandAgainAndAgain()
    {
        const QString directory = path("again");
        const QStringList words{"train", path("tiny"), "--run", directory, "--resume-or-start", "--json"};
        const Ran started = runProcess(words + QStringList{"--steps", "4"});
        QVERIFY2(started.code == 0, qPrintable(started.errors));
        QCOMPARE(started.events().front()["firstStep"].toInt(), 0);
        const Ran complete = runProcess(words + QStringList{"--steps", "4"});
        QCOMPARE(complete.code, 4);
        QCOMPARE(complete.events().size(), std::size_t{1});
        QCOMPARE(complete.events().front()["event"].toString(), QString("complete"));
        const Ran resumed = runProcess(words + QStringList{"--steps", "7"});
        QVERIFY2(resumed.code == 0, qPrintable(resumed.errors));
        QCOMPARE(resumed.events().front()["firstStep"].toInt(), 4);
        QCOMPARE(resumed.events().back()["step"].toInt(), 7);

        projects::Document other = tinyProject();
        other.project.training.learningRate.peak = 0.0123;
        QVERIFY(projects::saveProject(path("other").toStdString(), other).ok());
        const Ran pruned =
            runProcess(words + QStringList{"--steps", "9", "--keep-checkpoints", "1"}); // another rule, another project
        QCOMPARE(pruned.code, 3);
        const Ran refused = runProcess({"train", path("other"), "--run", directory, "--resume-or-start"});
        QCOMPARE(refused.code, 3);
        QVERIFY2(refused.errors.contains("another project") && refused.errors.contains("0.0123"),
                 qPrintable(refused.errors));
        QCOMPARE(runProcess({"train", path("tiny"), "--resume-or-start"}).code, 1);
    }

    /// Another process trains here while the engine of this one starts.
    void aRunThatAnotherProcessCompletesIsComplete()
    {
        const QString directory = path("completed");
        Training training(path("tiny"), directory);
        QVERIFY(training.says("\"step\":3,"));
        QVERIFY(training.send(SIGTERM));
        int steps = training.end().events().back()["step"].toInt();
        const auto ranBeside = [&](const QStringList& words) {
            steps += 2;
            const QString cli = RESIDUA_CLI;
            const QString other = QString("env -u RESIDUA_ENGINE %1 resume %2 --steps %3 </dev/null >/dev/null 2>&1; ");
            const QString engine = QString("exec %1/residua-engine --stdio").arg(QFileInfo(cli).path());
            return runProcess(words, m_folder.path(), other.arg(cli, directory).arg(steps) + engine);
        };
        const Ran resumed = ranBeside({"resume", directory});
        QVERIFY2(resumed.code == 4, qPrintable(resumed.errors));
        QVERIFY2(resumed.output.startsWith("complete: all "), qPrintable(resumed.output));
        const QString more = QString::number(steps + 2);
        const Ran asked = ranBeside({"resume", directory, "--steps", more});
        QVERIFY2(asked.code == 3 && asked.errors.contains("steps are done"), qPrintable(asked.errors));
        const QString most = QString::number(steps + 2);
        const Ran again = ranBeside({"train", path("tiny"), "--run", directory, "--resume-or-start", "--steps", most});
        QVERIFY2(again.code == 4, qPrintable(again.errors));
    }

    /// A command that trains nothing does not change the project.
    void theSameCommandOverlooksRemarks()
    {
        projects::Document remarked = tinyProject();
        QVERIFY(projects::saveProject(path("remarked").toStdString(), remarked).ok());
        const QStringList words{
            "train", path("remarked"), "--run", path("remarked again"), "--resume-or-start", "--steps", "3"};
        const Ran started = runProcess(words);
        QVERIFY2(started.code == 0, qPrintable(started.errors));

        remarked.project.name = "Called otherwise";
        remarked.project.description = "hello";
        remarked.project.sweeps.push_back({"seeds", {{"/seeds/init", {}, {{{}, {"1"}}, {{}, {"2"}}}}}});
        QVERIFY(projects::saveProject(path("remarked").toStdString(), remarked).ok());
        const Ran complete = runProcess(words);
        QVERIFY2(complete.code == 4, qPrintable(complete.errors));

        remarked.project.seeds.init += 1;
        QVERIFY(projects::saveProject(path("remarked").toStdString(), remarked).ok());
        const Ran refused = runProcess(words);
        QCOMPARE(refused.code, 3);
        QVERIFY2(refused.errors.contains("another project: seeds") && !refused.errors.contains("more)"),
                 qPrintable(refused.errors));
    }

    /// A schedule keeps what the run began with, however many steps the command asks for; another one is refused.
    void theSameCommandKeepsItsSchedule()
    {
        projects::Document staged = tinyProject();
        staged.project.training.steps = 8;
        staged.project.stack().schedule.stages = {{0, 1, {}}, {4, 2, {}}};
        QVERIFY(projects::saveProject(path("staged").toStdString(), staged).ok());
        const QString directory = path("staged again");
        const QStringList words{"train", path("staged"), "--run", directory, "--resume-or-start", "--json"};
        const Ran started = runProcess(words + QStringList{"--steps", "4"}); // whose second stage begins after 2
        QVERIFY2(started.code == 0, qPrintable(started.errors));
        const Ran resumed = runProcess(words + QStringList{"--steps", "6"});
        QVERIFY2(resumed.code == 0, qPrintable(resumed.errors));
        QCOMPARE(resumed.events().back()["step"].toInt(), 6);

        staged.project.stack().schedule.scaling = projects::DropScaling::Linear;
        QVERIFY(projects::saveProject(path("staged").toStdString(), staged).ok());
        const Ran refused = runProcess(words + QStringList{"--steps", "7"});
        QCOMPARE(refused.code, 3);
        QVERIFY2(refused.errors.contains("schedule · branch scaling"), qPrintable(refused.errors));
    }

    void progressLinesKeepTheirShape()
    {
        const Ran ran = runProcess({"train", path("tiny"), "--steps", "2", "--run", path("shape"), "--json"});
        QVERIFY2(ran.code == 0, qPrintable(ran.errors));
        QStringList shapes;
        for (const QJsonObject& event : ran.events()) {
            shapes << event["event"].toString() + ": " + event.keys().join(' ');
        }
        QCOMPARE(shapes, (QStringList{"started: device event firstStep parameters run steps unitsPerStep",
                                      "step: event gradientNorm loss rate seconds step units",
                                      "step: event gradientNorm loss rate seconds step units",
                                      "validation: accuracy event loss step", "checkpoint: event path step",
                                      "ended: event reason status step"}));
    }

    /// While a Python that never ends makes the graph.
    void anInterruptedExportLeavesNothing()
    {
        const QString run = path("to-export");
        QCOMPARE(runProcess({"train", path("tiny"), "--run", run, "--steps", "1"}).code, 0);
        QFile script(path("python"));
        QVERIFY(script.open(QIODevice::WriteOnly) && script.write("#!/bin/sh\nexec sleep 1000\n") > 0);
        QVERIFY(script.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
        script.close();
        QVERIFY(QDir(m_folder.path()).mkdir("graphs"));
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("RESIDUA_PYTHON", script.fileName());
        process.setProcessEnvironment(environment);
        process.start(RESIDUA_CLI, {"export", run, "--to", "onnx", "-o", path("graphs/new/onnx")});
        const auto isBeingMade = [&] {
            return !QDir(path("graphs/new")).entryList(QDir::Dirs | QDir::Hidden | QDir::NoDotAndDotDot).isEmpty();
        };
        QVERIFY(QTest::qWaitFor(isBeingMade, kPatience));
        QCOMPARE(::kill(static_cast<pid_t>(process.processId()), SIGINT), 0);
        const Ran ran = ended(process);
        QVERIFY2(ran.code == 131, qPrintable(ran.errors));
        QVERIFY2(ran.errors.contains("nothing is written"), qPrintable(ran.errors));
        QVERIFY(QDir(path("graphs")).isEmpty(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot));
    }

    void threadsAreAsManyAsAskedFor()
    {
        const auto threads = [&](const QString& count) {
            Training training(path("tiny"), path("threads-" + count), {"--threads", count});
            const bool begun = training.says("\"step\":3,");
            int running = 0;
            for (const pid_t engine : tests::childProcesses(std::to_string(training.process().processId()))) {
                running += static_cast<int>(QDir(QString("/proc/%1/task").arg(engine)).entryList(QDir::Dirs).size());
            }
            training.send(SIGINT);
            return begun && training.end().code == 130 ? running : -1000;
        };
        QVERIFY(threads("3") - threads("1") >= 2); // though the test's environment says one
    }

    void examplesWorkInTheirOrder()
    {
        QVERIFY(QDir(m_folder.path()).mkdir("examples"));
        const QJsonObject model = tests::modelCases()["llama"].toObject();
        tests::ModelFolder(model).write(path("examples/llama").toStdString()); // what one is imported from
        for (const Command& command : allCommands()) {
            QProcess shell;
            shell.setWorkingDirectory(path("examples"));
            QStringList lines{QString::fromStdString(command.example)};
            for (const Command& subcommand : command.subcommands) {
                // No example trains a classifier or parallel streams.
                if (subcommand.name != "analyze confusion" && subcommand.name != "analyze interventions") {
                    lines << QString::fromStdString(subcommand.example);
                }
            }
            shell.start("/bin/sh", {"-c", lines.join(" && ").replace("residua-cli", "\"$0\""), RESIDUA_CLI});
            const Ran ran = ended(shell);
            // No run of these is on another machine.
            const bool isHere = command.name == "fetch" && ran.errors.contains("on this machine");
            QVERIFY2(ran.code == 0 || isHere, qPrintable(QString::fromStdString(command.example) + ": " + ran.errors));
        }
    }

private:
    QString path(const QString& name) const { return m_folder.filePath(name); }

    QTemporaryDir m_folder;
};

} // namespace

RESIDUA_TEST(TestHeadless)
#include "tst_headless.moc"
