// SPDX-License-Identifier: GPL-3.0-or-later
// The streams that the program writes to, and its exit codes: in pipes, on terminals and in scripts.
#include "projects/file/store.h"
#include "tests/cli/ran_program.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QProcessEnvironment>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QtTest>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

using namespace residua;
using namespace residua::cli;
namespace fs = std::filesystem;

namespace {

class TestCliStreams : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        m_tiny = tinyProject();
        m_tiny.project.training.steps = 5;
        save("tiny");
        const Ran trained = run({"train", "tiny", "--run", "done"});
        QVERIFY2(trained.code == 0, qPrintable(trained.errors));
    }

    // ---- streams

    void progressAndNotesGoToStandardErrorAndResultsToStandardOutput()
    {
        const Ran ran = run({"train", "tiny", "--run", "streams"});
        QVERIFY2(ran.code == 0, qPrintable(ran.errors));
        QVERIFY2(ran.errors.contains("training on cpu") && ran.errors.contains("step 5/5"), qPrintable(ran.errors));
        QVERIFY2(ran.output.startsWith("run ") && ran.output.contains("finished: loss"), qPrintable(ran.output));
        QVERIFY2(!ran.output.contains("step 5/5") && !ran.errors.contains("finished"), qPrintable(ran.output));
        const Ran asJson = run({"train", "tiny", "--run", "json", "--json"});
        QVERIFY2(asJson.errors.isEmpty(), qPrintable(asJson.errors));
    }

    void aDumbTerminalGetsNoControlCodes()
    {
        if (QStandardPaths::findExecutable("script").isEmpty()) {
            QSKIP("there is no script, which makes a terminal");
        }
        const QString clever = onTerminal("xterm", "train tiny --run clever");
        QVERIFY2(clever.contains("\x1b[K") && clever.contains("finished"), qPrintable(clever));
        const QString dumb = onTerminal("dumb", "train tiny --run dumb");
        QVERIFY2(!dumb.contains('\x1b') && dumb.contains("finished"), qPrintable(dumb));
    }

    void tablesFitIntoTheTerminal()
    {
        if (QStandardPaths::findExecutable("script").isEmpty()) {
            QSKIP("there is no script, which makes a terminal");
        }
        for (const char* command : {"info tiny", "runs ."}) {
            const QString said = onTerminal("dumb", command, 60);
            QVERIFY2(said.contains("tiny", Qt::CaseInsensitive) || said.contains("done"), qPrintable(said));
            for (const QString& line : said.split('\n')) {
                const bool isSentence = line.contains(": "); // which the terminal itself breaks
                QVERIFY2(isSentence || line.trimmed().size() <= 60, qPrintable(line));
            }
        }
        QVERIFY(run({"info", "tiny"}).output.contains("loss, peak\n")); // whole lines in a pipe
    }

    // ---- what it ends with

    void setTellsWithItsCodeThatTheProjectIsInvalid()
    {
        save("set");
        const Ran wrong = run({"set", "set", "training.validate_every=3", "network.width=15"});
        QVERIFY2(wrong.errors.contains("error: "), qPrintable(wrong.errors));
        QCOMPARE(wrong.code, 2);
        const Ran right = run({"set", "set", "network.width=16"});
        QVERIFY2(right.code == 0, qPrintable(right.errors));
    }

    void stepsKeepNoSharesOfAnInvalidSchedule()
    {
        projects::Project& project = m_tiny.project;
        const projects::Project before = project;
        project.stack().schedule.stages = {{0, 1, {}}, {5, 2, {}}}; // of 5 steps
        save("stages");
        project = before;
        for (const char* command : {"train", "bench"}) {
            const Ran ran = run({command, "stages", "--steps", "50"});
            QVERIFY2(ran.code == 2, qPrintable(ran.errors));
            QVERIFY2(ran.errors.contains("stage 2") && ran.errors.contains("valid schedule"), qPrintable(ran.errors));
        }
        QVERIFY(!fs::exists(path("stages/runs").toStdString()));
    }

    void aCompleteRunIsNothingToResume()
    {
        const Ran ran = run({"resume", "done"});
        QVERIFY2(ran.code == 4, qPrintable(ran.errors));
        QVERIFY2(ran.output.startsWith("complete: all 5 steps are done"), qPrintable(ran.output));
        QCOMPARE(run({"resume", "done", "--steps", "5", "--json"}).code, 3); // asked for, and not possible
    }

    /// One trains; the others wait for nothing and advise nothing else.
    void severalAtOnceWithTheSameCommand()
    {
        std::vector<std::unique_ptr<QProcess>> processes;
        for (int i = 0; i < 4; ++i) {
            processes.push_back(std::make_unique<QProcess>());
            processes.back()->setWorkingDirectory(m_folder.path());
            processes.back()->start(RESIDUA_CLI, {"train", "tiny", "--run", "shared", "--resume-or-start"});
        }
        int trained = 0;
        for (const auto& process : processes) {
            const Ran ran = ended(*process);
            trained += ran.code == 0 ? 1 : 0;
            const bool told = ran.errors.contains("is training this run") || ran.errors.contains("begins a run there");
            QVERIFY2(ran.code == 0 || ran.code == 4 || (ran.code == 3 && told), qPrintable(ran.errors));
        }
        QVERIFY(trained >= 1);
        QCOMPARE(run({"train", "tiny", "--run", "shared", "--resume-or-start"}).code, 4);
    }

    void aDeletedWorkingDirectoryIsNamed()
    {
        for (const char* command : {"eval", "info"}) {
            QProcess shell;
            shell.setWorkingDirectory(m_folder.path());
            shell.start("/bin/sh", {"-c", "mkdir gone && cd gone && rmdir ../gone && exec \"$0\" \"$@\"", RESIDUA_CLI,
                                    command, path("done")});
            const Ran ran = ended(shell);
            QVERIFY2(ran.code == 1, qPrintable(ran.errors));
            QVERIFY2(ran.errors.contains("the current directory"), qPrintable(ran.errors));
        }
    }

    // ---- what it leaves

    void pathsAreKeptAsTheyWereTyped()
    {
        std::ofstream(path("text.txt").toStdString()) << std::string(5000, 'a');
        const Ran made = run({"new", "made/below", "--data", "text.txt"});
        QVERIFY2(made.code == 0, qPrintable(made.errors));
        QVERIFY2(made.output.contains("../../text.txt: 1 file of plain text"), qPrintable(made.output));
        QCOMPARE(pathIn("made/below"), std::string("../../text.txt"));
        QCOMPARE(run({"validate", "made/below"}).code, 0);
        QCOMPARE(run({"new", "absolute", "--data", path("text.txt")}).code, 0);
        QCOMPARE(pathIn("absolute"), path("text.txt").toStdString());
        QCOMPARE(run({"new", "mixed", "--mix", "text.txt=1"}).code, 0);
        const auto mixed = projects::loadProject(path("mixed").toStdString());
        QCOMPARE(std::get<projects::MixtureData>(mixed->project.data.source).parts.front().path,
                 std::string("../text.txt"));
    }

    /// The next export removes the folder that it was writing.
    void aKilledExportEndsItsPython()
    {
        const QString python = QStandardPaths::findExecutable("python3");
        if (python.isEmpty()) {
            QSKIP("there is no python3");
        }
        QVERIFY(QDir(m_folder.path()).mkpath("fakes"));
        std::ofstream(path("fakes/numpy.py").toStdString()) << "import os, time\n"
                                                               "with open('begun.new', 'w') as file:\n"
                                                               "    file.write(str(os.getpid()))\n"
                                                               "os.rename('begun.new', 'begun')\n"
                                                               "time.sleep(1000)\n";
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("RESIDUA_PYTHON", python);
        environment.insert("PYTHONPATH", path("fakes"));
        process.setProcessEnvironment(environment);
        process.setWorkingDirectory(m_folder.path());
        process.start(RESIDUA_CLI, {"export", "done", "--to", "onnx", "-o", "exports/graph"});
        QTRY_VERIFY(QFile::exists(path("begun")));
        QFile file(path("begun"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const int child = file.readAll().toInt();
        QVERIFY(child > 0 && isAlive(child));
        process.kill();
        QVERIFY(process.waitForFinished(kPatience));
        QTRY_VERIFY(!isAlive(child));
        const QDir exports(path("exports"));
        QCOMPARE(exports.entryList(QDir::Dirs | QDir::Hidden | QDir::NoDotAndDotDot).size(), 1);
        const Ran again = run({"export", "done", "--to", "pytorch", "-o", "exports/graph"});
        QVERIFY2(again.code == 0, qPrintable(again.errors));
        QCOMPARE(exports.entryList(QDir::Dirs | QDir::Hidden | QDir::NoDotAndDotDot), QStringList{"graph"});
    }

private:
    void save(const QString& name) const
    {
        const Status saved = projects::saveProject(path(name).toStdString(), m_tiny);
        QVERIFY2(saved, saved ? "" : saved.error().text().c_str());
    }
    [[nodiscard]] Ran run(const QStringList& words) const { return runProcess(words, m_folder.path()); }
    [[nodiscard]] QString path(const QString& name) const { return m_folder.filePath(name); }
    [[nodiscard]] std::string pathIn(const QString& project) const
    {
        const auto document = projects::loadProject(path(project).toStdString());
        return document ? std::get<projects::TextData>(document->project.data.source).path : document.error().text();
    }
    /// Returns the text that the program writes on a terminal of this kind.
    [[nodiscard]] QString onTerminal(const QString& kind, const QString& words, int columns = 80) const
    {
        QProcess script;
        script.setWorkingDirectory(m_folder.path());
        const QString line =
            QString("stty cols %1; TERM=%2 exec %3 %4").arg(columns).arg(kind, QString(RESIDUA_CLI), words);
        script.start("script", {"-qec", line, "/dev/null"});
        return ended(script).output;
    }
    /// Its parent may leave it as a zombie.
    static bool isAlive(int process)
    {
        QFile status(QString("/proc/%1/stat").arg(process));
        return status.open(QIODevice::ReadOnly) && !status.readAll().contains(") Z");
    }

    QTemporaryDir m_folder;
    projects::Document m_tiny;
};

} // namespace

RESIDUA_TEST(TestCliStreams)
#include "tst_cli_streams.moc"
