// SPDX-License-Identifier: GPL-3.0-or-later
// Data and memory that fail a run, as the person at the terminal sees it: the program itself is run.
#include "projects/file/store.h"
#include "tests/cli/ran_program.h"
#include "tests/support/sanitizers.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QtTest>

#include <sentencepiece_trainer.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include <sys/stat.h>

using namespace residua;
using cli::ended;
using cli::kPatience;
using cli::Ran;
using cli::runProcess;
namespace fs = std::filesystem;

namespace {

class TestCliData : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QVERIFY(m_folder.isValid()); }

    // ---- memory

    void memoryThatDoesNotSufficeEndsTheRun_data()
    {
        QTest::addColumn<bool>("pieces");
        QTest::newRow("synthetic language") << false;
        // The library that reads these has a variable of the name of one of LibTorch's.
        QTest::newRow("SentencePiece") << true;
    }
    void memoryThatDoesNotSufficeEndsTheRun()
    {
        if (tests::kSanitized) {
            QSKIP(tests::kSanitizedMemory);
        }
        QFETCH(bool, pieces);
        const QString name = pieces ? "large-pieces" : "large";
        projects::Project project = wide();
        project.training.batch = 2000;
        project.training.sequenceLength = 512;
        if (pieces) {
            project.data.source = piecesOf(name);
        }
        save(name, project);
        const QString run = path(name) + "-run";
        const Ran ran = shell("ulimit -v 8000000; exec \"$@\"", {"train", path(name), "--steps", "2", "--run", run});
        QVERIFY2(ran.code == 3, qPrintable(ran.errors));
        for (const char* part : {"out of memory: predicted ", " GiB (weights ",
                                 "make the micro-batch, the sequence or "
                                 "the network smaller"}) {
            QVERIFY2(ran.errors.contains(part), qPrintable(ran.errors));
        }
        const QJsonObject record = jsonFile(run + "/run.json");
        QCOMPARE(record["status"].toString(), QString("failed"));
        QVERIFY(record["message"].toString().contains("out of memory"));
    }

    void aSweepGoesOnAfterIt()
    {
        if (tests::kSanitized) {
            QSKIP(tests::kSanitizedMemory);
        }
        projects::Project project = wide();
        project.training.steps = 2;
        save("sweep", project);
        const Ran ran = shell("ulimit -v 8000000; exec \"$@\"",
                              {"sweep", path("sweep"), "--vary", "/training/batch=100000,1", "-o", path("members")});
        QCOMPARE(ran.code, 3);
        QVERIFY2(ran.errors.contains("out of memory"), qPrintable(ran.errors));
        QStringList states;
        for (const QString& member : QDir(path("members")).entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
            states << jsonFile(path("members/" + member) + "/run.json")["status"].toString();
        }
        states.sort();
        QCOMPARE(states, QStringList({"failed", "finished"}));
    }

    // ---- data

    void dataThatIsCutOffEndsTheRunWithACheckpoint()
    {
        projects::Project project = tinyProject().project;
        std::string text;
        for (int i = 0; i < 4000; ++i) {
            text += "line " + std::to_string(i) + "\n";
        }
        project.data.source = projects::TextData{"t.txt", {}};
        project.training.checkpointEvery = 0;
        save("cut", project);
        const fs::path file = path("cut/t.txt").toStdString();
        std::ofstream(file) << text;
        QProcess process;
        process.start(RESIDUA_CLI, {"train", path("cut"), "--steps", "1000000", "--run", path("cut-run"), "--json"});
        QByteArray output;
        while (!output.contains("\"step\":3,")) {
            QVERIFY2(process.waitForReadyRead(kPatience), output + process.readAllStandardError());
            output += process.readAllStandardOutput();
        }
        fs::resize_file(file, 10);
        QVERIFY(process.waitForFinished(kPatience));
        QCOMPARE(process.exitStatus(), QProcess::NormalExit);
        QCOMPARE(process.exitCode(), 3);
        const QString said = process.readAllStandardError();
        QVERIFY2(said.contains("t.txt] was changed while it was in use: it has 10 bytes, and had "), qPrintable(said));
        QVERIFY2(said.contains(" is complete: put the data back as they were, and resume"), qPrintable(said));
        QCOMPARE(jsonFile(path("cut-run/run.json"))["status"].toString(), QString("failed"));
        const int step = jsonFile(path("cut-run/run.json"))["step"].toInt();
        QVERIFY(QDir(path(QString("cut-run/checkpoints/step-%1").arg(step, 8, 10, QChar('0')))).exists());

        std::ofstream(file) << text;
        const Ran resumed = runProcess({"resume", path("cut-run"), "--steps", QString::number(step + 2)});
        QVERIFY2(resumed.code == 0, qPrintable(resumed.errors));
    }

    void aFifoIsNoData()
    {
        projects::Project project = tinyProject().project;
        project.data.source = projects::TextData{"pipe", {}};
        save("fifo", project);
        QCOMPARE(::mkfifo(path("fifo/pipe").toStdString().c_str(), 0600), 0);
        for (const QStringList& words : {QStringList{"validate", path("fifo")}, QStringList{"train", path("fifo")}}) {
            const Ran ran = runProcess(words);
            QVERIFY(ran.code == 2 || ran.code == 3);
            QVERIFY2((ran.output + ran.errors).contains("pipe] is a FIFO; expected a file"), qPrintable(ran.errors));
        }
    }

    void aFifoOrAnEndlessFileIsNoProject()
    {
        for (const char* name : {"fifo-project", "endless", "huge"}) {
            QVERIFY(QDir().mkpath(path(name)));
        }
        QCOMPARE(::mkfifo(path("fifo-project/project.json").toStdString().c_str(), 0600), 0);
        fs::create_symlink("/dev/zero", path("endless/project.json").toStdString());
        std::ofstream(path("huge/project.json").toStdString()) << "{";
        fs::resize_file(path("huge/project.json").toStdString(), std::uintmax_t{1} << 40);
        const std::pair<const char*, const char*> cases[] = {{"fifo-project", "is a FIFO; expected a file"},
                                                             {"endless", "is a device; expected a file"},
                                                             {"huge", "bytes long; expected at most 67108864"}};
        for (const auto& [name, says] : cases) {
            const Ran ran = runProcess({"validate", path(name)});
            QCOMPARE(ran.code, 2);
            QVERIFY2(ran.errors.contains(says), qPrintable(ran.errors));
        }
    }

    void aDetectedWidthIsReported()
    {
        projects::Project project = tinyProject().project;
        project.data.source = projects::TokenFileData{"t.bin", {}, projects::TokenWidth::Detect, 24};
        save("wide", project);
        std::ofstream file(path("wide/t.bin").toStdString(), std::ios::binary);
        for (int i = 0; i < 2000; ++i) {
            file << static_cast<char>(1 + i % 23) << std::string(3, '\0');
        }
        file.close();
        const QString told = "t.bin: read as uint32 tokens";
        const Ran valid = runProcess({"validate", path("wide")});
        QCOMPARE(valid.code, 0);
        QVERIFY2(valid.output.contains("note: ") && valid.output.contains(told) && !valid.output.contains("warning"),
                 qPrintable(valid.output));
        QVERIFY(runProcess({"info", path("wide")}).output.contains(told));
        const Ran trained = runProcess({"train", path("wide"), "--steps", "1", "--json"});
        QCOMPARE(trained.code, 0);
        QVERIFY2(trained.errors.contains(told), qPrintable(trained.errors));
    }

    /// `new` names the held-out part, counts the examples and repeats the notes.
    void newTellsAboutItsData()
    {
        QByteArray table("review\tstars\n");
        for (const char* const label : {"01", "1", "2"}) {
            table += QByteArray("ten bytes!\t") + label + "\n";
        }
        QVERIFY(QDir(m_folder.path()).mkpath("sets"));
        std::ofstream(path("sets/train.tsv").toStdString()) << table.toStdString();
        std::ofstream(path("sets/test.tsv").toStdString()) << "review\tstars\nfour\t1\n";
        const Ran made = runProcess({"new", path("told"), "--data", path("sets/train.tsv"), "--field", "review",
                                     "--label", "stars", "--layers", "2", "--width", "16"});
        QVERIFY2(made.code == 0, qPrintable(made.errors));
        for (const QString& line :
             {"held out for validation: " + path("sets/test.tsv"),
              QString("data: train 3 texts of 30 tokens, validation 1 text of 4 tokens, test 0 ")}) {
            QVERIFY2(made.output.contains(line), qPrintable(made.output));
        }
        QVERIFY2(made.errors.contains("the labels \"01\", \"1\" are one class, 1"), qPrintable(made.errors));
        const auto project = projects::loadProject(path("told").toStdString());
        QCOMPARE(std::get<projects::LabelledTextData>(project->project.data.source).classes, std::int64_t{2});
        const Ran info = runProcess({"info", path("told")});
        QVERIFY2(info.output.contains("train 3 texts of 30 tokens"), qPrintable(info.output));
        // Where the part beside it is not used, that is told.
        QCOMPARE(runProcess({"set", path("told"), "data.source.validation_path=\"\""}).code, 0);
        const Ran unused = runProcess({"info", path("told")});
        QVERIFY2(unused.output.contains("test.tsv lies beside"), qPrintable(unused.output));
        // Fields that do not fit are no reason against a project, and are told.
        std::ofstream(path("short.txt").toStdString()) << "too short";
        const Ran small = runProcess({"new", path("short"), "--data", path("short.txt"), "--layers", "2"});
        QCOMPARE(small.code, 0);
        QVERIFY2(small.output.contains("error: ") && small.errors.contains("it cannot be trained as it is"),
                 qPrintable(small.output + small.errors));
    }

    /// Names with spaces, a folder of JSON Lines, a field with another name.
    void theAdviceOnATokeniserIsRight()
    {
        QVERIFY(QDir(m_folder.path()).mkpath("my texts"));
        {
            std::ofstream lines(path("my texts/d.jsonl").toStdString());
            for (int i = 0; i < 2000; ++i) {
                lines << "{\"the body\": \"a small cat and mat " << i << "\"}\n";
            }
        }
        const Ran learned = runProcess(
            {"tokenise", path("my texts"), "--size", "290", "--field", "the body", "-o", path("it's my.model")});
        QVERIFY2(learned.code == 0, qPrintable(learned.errors));
        const QString advice = learned.output.section("use it with: ", 1).section('\n', 0, 0);
        QVERIFY2(advice.startsWith("residua-cli new DIR"), qPrintable(learned.output));
        QProcess shell;
        shell.setWorkingDirectory(m_folder.path());
        shell.start(
            "sh", {"-c", QString(advice).replace("residua-cli", "\"$0\"").replace(" DIR ", " advised "), RESIDUA_CLI});
        const Ran made = ended(shell);
        QVERIFY2(made.code == 0, qPrintable(advice + ": " + made.errors));
        const Ran valid = runProcess({"validate", path("advised")});
        QVERIFY2(valid.code == 0, qPrintable(valid.output + valid.errors));
    }

    /// With what a person judges it by; where there is none, with how many pieces there can be.
    void aTokeniserIsLearned()
    {
        QFile text(path("cats.txt"));
        QVERIFY(text.open(QIODevice::WriteOnly));
        text.write(QByteArray("the cat sat on the mat that the bird saw\n").repeated(200));
        text.close();
        const Ran learned = runProcess({"tokenise", text.fileName(), "--size", "280", "-o", path("cats.model")});
        QVERIFY2(learned.code == 0, qPrintable(learned.errors));
        QVERIFY2(learned.output.contains("(bpe) of 280 pieces"), qPrintable(learned.output));
        const QRegularExpression trial(
            "(\\d\\.\\d\\d) characters and \\1 bytes a token over the text, a line of which is: "
            "▁the ▁");
        QVERIFY2(learned.output.contains(trial), qPrintable(learned.output));
        const Ran told = runProcess({"tokenise", text.fileName(), "--size", "280", "-o", path("cats.model"), "--json"});
        const QJsonObject value = QJsonDocument::fromJson(told.output.toUtf8()).object();
        QCOMPARE(value["tried_bytes"].toInteger(), QFileInfo(text.fileName()).size());
        QVERIFY(value["tried_tokens"].toInteger() < value["tried_characters"].toInteger());
        const Ran refused = runProcess({"tokenise", text.fileName(), "--size", "9000", "-o", path("none.model")});
        QVERIFY(refused.code != 0);
        QVERIFY2(refused.errors.contains("got 9000 pieces, expected at most "), qPrintable(refused.errors));
        QVERIFY(!QFile::exists(path("none.model")));
    }

    void anInterruptedTokeniserLeavesNothing()
    {
        QVERIFY(QDir(m_folder.path()).mkpath("learning"));
        QFile text(path("many-words.txt")); // longer to learn from than the test waits before it interrupts
        QVERIFY(text.open(QIODevice::WriteOnly));
        for (quint32 i = 0, number = 1; i < 40'000; ++i) {
            QByteArray line;
            for (int word = 0; word < 8; ++word) {
                number = number * 1664525u + 1013904223u;
                line += QByteArray::number(number, 36) + ' ';
            }
            text.write(line + '\n');
        }
        text.close();
        QProcess process;
        process.start(RESIDUA_CLI, {"tokenise", text.fileName(), "--size", "20000", "-o", path("learning/x.model")});
        const QDir folder(path("learning"));
        QTRY_VERIFY(!folder.entryList(QDir::Files | QDir::Hidden).isEmpty()); // it has begun
        QCOMPARE(::kill(static_cast<pid_t>(process.processId()), SIGINT), 0);
        QVERIFY(process.waitForFinished(kPatience));
        QCOMPARE(process.exitStatus(), QProcess::NormalExit);
        QCOMPARE(process.exitCode(), 131);
        const QString said = process.readAllStandardError();
        QVERIFY2(said.contains("nothing is written"), qPrintable(said));
        QCOMPARE(folder.entryList(QDir::Files | QDir::Hidden), QStringList());
    }

    void anInterruptedPreparationPromisesNothing()
    {
        projects::Project project = tinyProject().project;
        project.data.source = projects::TokenFileData{"t.bin", {}, projects::TokenWidth::Uint16, 24};
        save("prepared", project);
        std::ofstream(path("prepared/t.bin").toStdString()).close();
        fs::resize_file(path("prepared/t.bin").toStdString(),
                        std::uintmax_t{1} << 38); // longer to check than anyone waits
        QProcess process;
        process.start(RESIDUA_CLI, {"train", path("prepared"), "--run", path("prepared-run"), "--json"});
        QByteArray output;
        while (!output.contains("preparing the data")) {
            QVERIFY2(process.waitForReadyRead(kPatience), output + process.readAllStandardError());
            output += process.readAllStandardOutput();
        }
        QCOMPARE(::kill(static_cast<pid_t>(process.processId()), SIGINT), 0);
        QVERIFY(process.waitForFinished(kPatience));
        QCOMPARE(process.exitStatus(), QProcess::NormalExit);
        QCOMPARE(process.exitCode(), 131); // 130 promises a checkpoint
        const QString said = process.readAllStandardError();
        QVERIFY2(said.contains("nothing was written"), qPrintable(said));
        QVERIFY2(!said.contains("resume") && !said.contains("checkpoint"), qPrintable(said));
        QVERIFY(!QDir(path("prepared-run")).exists());
    }

private:
    /// A project so wide that the first activation of a large batch is refused, before memory is filled.
    static projects::Project wide()
    {
        projects::Project project = tinyProject().project;
        project.stack().width = 2048;
        project.stack().segments = {{project.stack().segments.front().block, 1}};
        project.data.source = projects::SyntheticLanguage{.vocabulary = 24, .levels = 2, .tokens = 20000};
        return project;
    }

    void save(const QString& name, const projects::Project& project) const
    {
        const Status saved = projects::saveProject(path(name).toStdString(), {project, {}});
        QVERIFY2(saved, saved ? "" : saved.error().text().c_str());
    }

    /// A text of the project `name` and a model of it.
    [[nodiscard]] projects::Source piecesOf(const QString& name) const
    {
        const std::string folder = path(name).toStdString();
        fs::create_directories(folder);
        std::ofstream text(folder + "/t.txt");
        for (int i = 0; i < 2000; ++i) {
            text << "the cat sat on mat number " << i << " and that is what the bird saw\n";
        }
        text.close();
        const auto status =
            sentencepiece::SentencePieceTrainer::Train("--input=" + folder + "/t.txt --model_prefix=" + folder +
                                                       "/m --vocab_size=60 --hard_vocab_limit=false "
                                                       "--minloglevel=2");
        if (!status.ok()) {
            qFatal("%s", status.message());
        }
        return projects::TextData{"t.txt", {projects::TokeniserKind::SentencePiece, "m.model", 60}};
    }

    /// The program as "$@" of a shell's `script`.
    static Ran shell(const QString& script, const QStringList& words)
    {
        QProcess process;
        process.start("sh", QStringList{"-c", script, "sh", RESIDUA_CLI} + words);
        return ended(process);
    }
    static QJsonObject jsonFile(const QString& name)
    {
        QFile file(name);
        return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).object() : QJsonObject();
    }
    QString path(const QString& name) const { return m_folder.filePath(name); }

    QTemporaryDir m_folder;
};

} // namespace

RESIDUA_TEST(TestCliData)
#include "tst_cli_data.moc"
