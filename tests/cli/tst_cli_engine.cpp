// SPDX-License-Identifier: GPL-3.0-or-later
// The program where its engine, a process that is started when something is trained or computed, is missing, no engine,
// or in the background.
#include "engine/runs/results/remotes.h"
#include "engine/runs/results/run_reader.h"
#include "projects/file/store.h"
#include "projects/shipped/examples.h"
#include "tests/cli/ran_program.h"
#include "tests/support/background_engine.h"
#include "tests/support/child_processes.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <csignal>
#include <filesystem>
#include <fstream>

using namespace residua;
using namespace residua::cli;

namespace {

constexpr const char* kNowhere = "/nowhere/at/all";

class TestCliEngine : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        qputenv("XDG_CONFIG_HOME", m_folder.filePath("config").toUtf8()); // with the list of places
        projects::Document tiny = tinyProject();
        tiny.project.training.steps = 2;
        QVERIFY(projects::saveProject(m_folder.filePath("tiny").toStdString(), tiny).ok());
        QCOMPARE(runProcess({"train", "tiny", "--run", "run"}, m_folder.path()).code, 0);
    }

    // ---- without one

    void commandsRunWithoutAnEngine_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::newRow("version") << QStringList{"--version"};
        QTest::newRow("help") << QStringList{"train", "--help"};
        QTest::newRow("explain") << QStringList{"explain", "fields"};
        QTest::newRow("new") << QStringList{"new", "--example", "linear-ancre", "made"};
        QTest::newRow("info") << QStringList{"info", "tiny"};
        QTest::newRow("validate") << QStringList{"validate", "tiny"};
        QTest::newRow("report") << QStringList{"report", "run", "-o", "report.html"};
        QTest::newRow("theory") << QStringList{"analyze", "theory", "low-rank-regression"};
    }
    void commandsRunWithoutAnEngine()
    {
        QFETCH(QStringList, words);
        const Ran ran = runWith(kNowhere, words);
        QVERIFY2(ran.code == 0, qPrintable(ran.errors));
    }

    void missingEngineIsNamed_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::newRow("train") << QStringList{"train", "tiny", "--run", "made"};
        QTest::newRow("resume") << QStringList{"resume", "run", "--steps", "100"};
        QTest::newRow("devices") << QStringList{"devices"};
        QTest::newRow("sample") << QStringList{"sample", "run"};
        QTest::newRow("eval") << QStringList{"eval", "run"};
        QTest::newRow("export") << QStringList{"export", "run", "--to", "pytorch", "-o", "exported"};
    }
    void missingEngineIsNamed()
    {
        QFETCH(QStringList, words);
        const Ran ran = runWith(kNowhere, words);
        QCOMPARE(ran.code, 3);
        QVERIFY2(ran.errors.contains("[residua-engine] the engine") && ran.errors.contains("install it again") &&
                     ran.errors.contains(kNowhere),
                 qPrintable(ran.errors));
        QVERIFY(!std::filesystem::exists(m_folder.filePath("made/run.json").toStdString()));
        const Ran asJson = runWith(kNowhere, words + QStringList{"--json"});
        QCOMPARE(asJson.code, 3);
        QCOMPARE(asJson.events().back()["error"].toObject()["place"].toString(), QString("residua-engine"));
    }

    // ---- with something else in its place

    void failedEngineStartIsNamedWithItsReason()
    {
        const QString file = m_folder.filePath("engine");
        std::ofstream(file.toStdString()) << "no program";
        const Ran ran = runWith(file, {"train", "tiny", "--run", "made"});
        QCOMPARE(ran.code, 3);
        QVERIFY2(ran.errors.contains("[" + file + "] the engine") && ran.errors.contains("Permission denied") &&
                     ran.errors.contains("install it again"),
                 qPrintable(ran.errors));
    }

    void aProgramThatIsNoEngineIsRefused()
    {
        const Ran ran = runWith("/bin/echo", {"train", "tiny", "--run", "made"});
        QCOMPARE(ran.code, 3);
        QVERIFY2(ran.errors.contains("[/bin/echo] is not the engine"), qPrintable(ran.errors));
    }

    // ---- in the background

    /// The program returns when the run has begun. The run continues without it.
    void aDetachedRunTrainsOn()
    {
        const Ran ran =
            runProcess({"train", "tiny", "--steps", "40", "--run", "detached", "--detach"}, m_folder.path());
        QVERIFY2(ran.code == 0, qPrintable(ran.errors));
        QVERIFY2(ran.output.contains("residua-cli watch " + m_folder.filePath("detached")), qPrintable(ran.output));
        QTRY_COMPARE(statusOf("detached"), engine::RunStatus::Finished);
    }

    /// Ctrl-C stops an attached run with a checkpoint. If the program is killed, the run continues.
    void anAttachedRunIsStoppedOrLeft_data()
    {
        QTest::addColumn<int>("signal");
        QTest::newRow("Ctrl-C") << SIGINT;
        QTest::newRow("hang-up") << SIGHUP;
        QTest::newRow("kill") << SIGKILL;
    }
    void anAttachedRunIsStoppedOrLeft()
    {
        QFETCH(int, signal);
        const QString run = "attached-" + QString::number(signal);
        QProcess process;
        process.setWorkingDirectory(m_folder.path());
        process.start(RESIDUA_CLI, {"train", "tiny", "--steps", "1000000", "--run", run, "--place", "background"});
        QTRY_VERIFY(!engine::backgroundRun().empty());
        ::kill(static_cast<pid_t>(process.processId()), signal);
        QVERIFY(process.waitForFinished(kPatience));
        if (signal != SIGINT) {
            QCOMPARE(engine::backgroundRun(), std::filesystem::path(m_folder.filePath(run).toStdString()));
            QCOMPARE(statusOf(run), engine::RunStatus::Running);
            QCOMPARE(runProcess({"stop", run}, m_folder.path()).code, 0);
        }
        QTRY_COMPARE(statusOf(run), engine::RunStatus::Stopped);
        QTRY_VERIFY(engine::backgroundRun().empty());
    }

    void aSecondRunIsRefused()
    {
        QCOMPARE(runProcess({"train", "tiny", "--steps", "1000000", "--run", "long", "--detach"}, m_folder.path()).code,
                 0);
        const Ran ran = runProcess({"train", "tiny", "--run", "made", "--place", "background"}, m_folder.path());
        QCOMPARE(ran.code, 3);
        QVERIFY2(ran.errors.contains("another run is active"), qPrintable(ran.errors));
        QCOMPARE(runProcess({"stop", "long"}, m_folder.path()).code, 0);
        QTRY_COMPARE(statusOf("long"), engine::RunStatus::Stopped);
    }

    /// A repeated command does not start a second run.
    void aRunThatTrainsIsNotStartedAgain()
    {
        const QStringList words{"train", "tiny", "--steps", "1000000", "--run", "again", "--resume-or-start"};
        QCOMPARE(runProcess(words + QStringList{"--detach"}, m_folder.path()).code, 0);
        Ran ran = runProcess(words + QStringList{"--detach"}, m_folder.path());
        QVERIFY2(ran.code == 0 && ran.output.contains("a process trains it already") &&
                     ran.output.contains("residua-cli watch " + m_folder.filePath("again")),
                 qPrintable(ran.output + ran.errors));
        for (const QStringList& other : {words, words + QStringList{"--place", "background"},
                                         QStringList{"resume", "again", "--detach"}, QStringList{"resume", "again"}}) {
            ran = runProcess(other, m_folder.path());
            QVERIFY2(ran.code == 3 && ran.errors.contains("another process is training"),
                     qPrintable(other.join(' ') + ": " + ran.errors));
        }
        QCOMPARE(runProcess({"stop", "again"}, m_folder.path()).code, 0);
        QTRY_COMPARE(statusOf("again"), engine::RunStatus::Stopped);
    }

    void aStepThatHasPassedIsReported()
    {
        QCOMPARE(
            runProcess({"train", "tiny", "--steps", "1000000", "--run", "passed", "--detach"}, m_folder.path()).code,
            0);
        QTRY_VERIFY(engine::RunReader::open(m_folder.filePath("passed").toStdString())->info()->step > 5);
        const Ran ran = runProcess({"stop", "passed", "--at", "2"}, m_folder.path());
        QVERIFY2(ran.code == 0 && ran.output.contains("(step 2 has passed"), qPrintable(ran.output + ran.errors));
        QTRY_COMPARE(statusOf("passed"), engine::RunStatus::Stopped);
    }

    void placesThatAreNoneAreRefused()
    {
        QCOMPARE(runProcess({"train", "tiny", "--place", "nowhere"}, m_folder.path()).code, 1);
        QCOMPARE(runProcess({"train", "tiny", "--place", "echo no", "--detach"}, m_folder.path()).code, 1);
    }

    void cleanupTestCase()
    {
        tests::endBackgroundEngine();
        QTRY_VERIFY(!tests::hasBackgroundEngine());
    }

    // ---- on another machine

    void aRunOnAnotherMachine()
    {
        const QDir here(m_folder.path());
        QVERIFY(here.mkpath("there") && here.mkpath("here"));
        projects::Document text = tinyProject();
        text.project.training.steps = 4;
        text.project.data.source = projects::TextData{.path = "text.txt", .tokeniser = {}};
        QVERIFY(projects::saveProject(here.filePath("here/text").toStdString(), text).ok());
        std::ofstream(here.filePath("here/text/text.txt").toStdString())
            << std::string(2000, 'a') + std::string(9, 'b');
        const QString engine = QFileInfo(RESIDUA_CLI).dir().filePath("residua-engine");
        const QString place = "cd " + here.filePath("there") + "; exec " + engine + " --stdio";
        const QString folder = here.filePath("here");

        Ran ran = runProcess({"train", "text", "--run", "r", "--place", place, "--folder", "place"}, folder);
        QVERIFY2(ran.code == 1 && ran.errors.contains("needs a name") && ran.errors.contains("cd=\"cd "),
                 qPrintable(ran.errors)); // the run would record it
        QVERIFY(engine::namedRemotes()->empty());
        ran = runProcess({"train", "text", "--run", "r", "--place", "there=" + place, "--folder", "place"}, folder);
        QVERIFY2(ran.errors.contains("the place there is in "), qPrintable(ran.errors));
        QCOMPARE(engine::namedRemotes()->size(), std::size_t{1});
        QVERIFY2(ran.code == 0 && ran.output.contains("residua-cli fetch "), qPrintable(ran.output + ran.errors));
        ran = runProcess({"eval", "r", "--json"}, folder);
        const double there = ran.json()["loss"].toDouble();
        QVERIFY2(ran.code == 0 && there > 0, qPrintable(ran.errors));
        ran = runProcess({"export", "r", "--to", "pytorch", "-o", "exported"}, folder);
        QVERIFY2(ran.code == 3 && ran.errors.contains("residua-cli fetch "), qPrintable(ran.errors));

        ran = runProcess({"fetch", "r", "--step", "3"}, folder);
        QVERIFY2(ran.code == 3 && ran.errors.contains("no checkpoint of step 3"), qPrintable(ran.errors));
        ran = runProcess({"fetch", "r", "--json"}, folder);
        QVERIFY2(ran.code == 0, qPrintable(ran.errors));
        QCOMPARE(ran.json()["step"].toInt(), 4);
        QVERIFY(QFileInfo::exists(folder + "/" + ran.json()["checkpoint"].toString() + "/model.safetensors"));
        ran = runProcess({"export", "r", "--to", "pytorch", "-o", "exported"}, folder);
        QVERIFY2(ran.code == 0, qPrintable(ran.errors));
        ran = runProcess({"resume", "r", "--steps", "6"}, folder);
        QVERIFY2(ran.code == 0, qPrintable(ran.errors));
        QVERIFY(QDir(here.filePath("there/place/runs")).entryList(QDir::Dirs | QDir::NoDotAndDotDot).size() == 1);
        QCOMPARE(runProcess({"fetch", "../run"}, folder).code, 3); // its checkpoints are here
        ran = runProcess({"train", "text", "--folder", "place"}, folder);
        QVERIFY2(ran.code == 1 && ran.errors.contains("--folder"), qPrintable(ran.errors));
    }

    /// A run names no program. A command line that an earlier version or a stranger wrote into it is only shown.
    void aCommandInARunIsNotRun_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::newRow("eval") << QStringList{"eval", "strange"};
        QTest::newRow("sample") << QStringList{"sample", "strange"};
        QTest::newRow("fetch") << QStringList{"fetch", "strange"};
        QTest::newRow("resume") << QStringList{"resume", "strange", "--steps", "20"};
        QTest::newRow("train on") << QStringList{"train",   "tiny", "--run", "strange", "--resume-or-start",
                                                 "--steps", "20"};
        QTest::newRow("analyze stability") << QStringList{"analyze", "stability", "strange"};
        QTest::newRow("analyze gap") << QStringList{"analyze", "gap", "strange"};
    }
    void aCommandInARunIsNotRun()
    {
        QFETCH(QStringList, words);
        makeStrange();
        const Ran ran = runProcess(words, m_folder.path());
        QVERIFY2(ran.code == 3, qPrintable(ran.output + ran.errors));
        QVERIFY2(ran.errors.contains("was not run: touch PWNED \\x1b[8m; exit 1") &&
                     ran.errors.contains("--place gpu9=COMMAND --folder place"),
                 qPrintable(ran.errors));
        QVERIFY(!QFile::exists(m_folder.filePath("PWNED")));
        QVERIFY(engine::namedRemotes()->empty() || engine::namedRemotes()->front().name == "there");
    }

    /// Each command of a run reports once where the run is now.
    void whereARunIsNowIsReported()
    {
        const QDir here(m_folder.path());
        QVERIFY(here.mkpath("moved"));
        const QString engine = QFileInfo(RESIDUA_CLI).dir().filePath("residua-engine");
        const QString place = "cd " + here.filePath("moved") + "; exec " + engine + " --stdio";
        Ran ran =
            runProcess({"train", "tiny", "--run", "m", "--place", "before=" + place, "--folder", "a"}, m_folder.path());
        QVERIFY2(ran.code == 0, qPrintable(ran.errors));
        QVERIFY(QFile::rename(here.filePath("moved/a"), here.filePath("moved/b")));
        QVERIFY(engine::keepNamedRemotes({}).ok());
        ran = runProcess({"eval", "m"}, m_folder.path());
        QVERIFY2(ran.code == 3 && ran.errors.contains("--place before=COMMAND --folder a"), qPrintable(ran.errors));
        ran = runProcess({"eval", "m", "--place", "now=" + place, "--folder", "b"}, m_folder.path());
        QVERIFY2(ran.code == 0, qPrintable(ran.errors));
        ran = runProcess({"fetch", "m"}, m_folder.path());
        QVERIFY2(ran.code == 0, qPrintable(ran.errors));
        ran = runProcess({"resume", "m", "--steps", "4"}, m_folder.path());
        QVERIFY2(ran.code == 0, qPrintable(ran.errors));
        ran = runProcess({"sample", "run", "--place", "now"}, m_folder.path()); // a run of this machine
        QVERIFY2(ran.code == 3 && ran.errors.contains("leave out --place"), qPrintable(ran.errors));
        ran = runProcess({"analyze", "gap", "tiny", "--place", "now"}, m_folder.path()); // a project of this machine
        QVERIFY2(ran.code == 3 && ran.errors.contains("tiny] is on this machine") &&
                     ran.errors.contains("leave out --place"),
                 qPrintable(ran.errors));
        ran = runProcess({"analyze", "coefficients", "m", "--place", "now"}, m_folder.path());
        QVERIFY2(ran.code == 1 && ran.errors.contains("--place"), qPrintable(ran.errors));
    }

    /// The path of a prompt's picture is relative to the current directory of this machine, wherever the engine runs.
    void aPictureIsAFileOfThisMachine()
    {
        const QDir here(m_folder.path());
        QVERIFY(here.mkpath("pictures"));
        projects::Document vit;
        vit.project = projects::findExample("small-vit")->project;
        std::get<projects::DrawnPictures>(vit.project.data.source).samples = 64;
        vit.project.training.steps = 1;
        QVERIFY(projects::saveProject(here.filePath("vit").toStdString(), vit).ok());
        QCOMPARE(runProcess({"train", "vit", "--run", "drawn"}, m_folder.path()).code, 0);
        Ran ran = runProcess({"sample", "drawn", "--prompt", "no.png", "--place", "background"}, m_folder.path());
        QVERIFY2(ran.code == 3 && ran.errors.contains(here.filePath("no.png")), qPrintable(ran.errors));
        const QString engine = QFileInfo(RESIDUA_CLI).dir().filePath("residua-engine");
        const QString place = "pictures=cd " + here.filePath("pictures") + "; exec " + engine + " --stdio";
        ran =
            runProcess({"train", "vit", "--run", "far-drawn", "--place", place, "--folder", "place"}, m_folder.path());
        QVERIFY2(ran.code == 0, qPrintable(ran.errors));
        ran = runProcess({"sample", "far-drawn", "--prompt", "no.png"}, m_folder.path());
        QVERIFY2(ran.code == 3 && ran.errors.contains("[prompt] names a picture"), qPrintable(ran.errors));
        QCOMPARE(runProcess({"sample", "far-drawn"}, m_folder.path()).code, 0);
    }

    /// The command line neither answers nor ends. The first signal ends the program.
    void aPlaceThatNeverAnswersObeysASignal_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<int>("signal");
        const QString place = "silent=sed s/x/y/ | true";
        const QStringList train{"train", "tiny", "--run", "unanswered", "--place", place, "--folder", "dir"};
        QTest::newRow("TERM") << train << SIGTERM;
        QTest::newRow("INT") << train << SIGINT;
        QTest::newRow("TERM, shared folders") << train.mid(0, 6) << SIGTERM;
    }
    void aPlaceThatNeverAnswersObeysASignal()
    {
        QFETCH(QStringList, words);
        QFETCH(int, signal);
        QProcess process;
        process.setWorkingDirectory(m_folder.path());
        process.start(RESIDUA_CLI, words);
        QVERIFY(process.waitForStarted());
        QTRY_VERIFY(!tests::childProcesses(std::to_string(process.processId())).empty());
        ::kill(static_cast<pid_t>(process.processId()), signal);
        QVERIFY(process.waitForFinished(kPatience));
        QCOMPARE(process.exitCode(), 131);
        const QByteArray errors = process.readAllStandardError();
        QVERIFY2(errors.contains("before the training began"), errors.constData());
        QVERIFY(!QFile::exists(m_folder.filePath("unanswered")));
    }

    void aFullDiskHereHasAnExitCode()
    {
        const QDir here(m_folder.path());
        QVERIFY(here.mkpath("far"));
        const QString engine = QFileInfo(RESIDUA_CLI).dir().filePath("residua-engine");
        // The engine there lifts the limit that is set for the files here.
        const QString place = "far=cd " + here.filePath("far") + "; ulimit -f unlimited; exec " + engine + " --stdio";
        QProcess process;
        process.setWorkingDirectory(m_folder.path());
        process.start("/bin/sh", {"-c", "ulimit -Sf 600; exec \"$@\"", "sh", RESIDUA_CLI, "train", "tiny", "--steps",
                                  "3000", "--run", "full", "--place", place, "--folder", "place"});
        QVERIFY(process.waitForFinished(kPatience));
        const QByteArray errors = process.readAllStandardError();
        QVERIFY2(process.exitCode() == 6 && errors.contains("is incomplete") &&
                     errors.contains("residua-cli resume ") && errors.count("waits in memory") == 1,
                 errors.constData());
        const Ran ran = runProcess({"resume", "full"}, m_folder.path());
        QVERIFY2(ran.code == 0, qPrintable(ran.errors));
        QCOMPARE(statusOf("full"), engine::RunStatus::Finished);
    }

private:
    /// Copies a run and replaces its record by one of unknown origin.
    void makeStrange() const
    {
        const std::filesystem::path strange = m_folder.filePath("strange").toStdString();
        std::filesystem::remove_all(strange);
        std::filesystem::copy(m_folder.filePath("run").toStdString(), strange,
                              std::filesystem::copy_options::recursive);
        QFile file(m_folder.filePath("strange/run.json"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QJsonObject record = QJsonDocument::fromJson(file.readAll()).object();
        file.close();
        record["remote"] = QJsonObject{{"place", "gpu9"},
                                       {"command", "touch PWNED \x1b[8m; exit 1"},
                                       {"folder", "place"},
                                       {"directory", "runs/a"}};
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QJsonDocument(record).toJson());
    }

    [[nodiscard]] engine::RunStatus statusOf(const QString& run) const
    {
        const auto reader = engine::RunReader::open(m_folder.filePath(run).toStdString());
        return reader && reader->info() ? reader->info()->status : engine::RunStatus::Failed;
    }

    [[nodiscard]] Ran runWith(const QString& engine, const QStringList& words) const
    {
        return runProcess(words, m_folder.path(), engine);
    }

    QTemporaryDir m_folder;
};

} // namespace

RESIDUA_TEST(TestCliEngine)
#include "tst_cli_engine.moc"
