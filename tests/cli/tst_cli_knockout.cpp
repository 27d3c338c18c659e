// SPDX-License-Identifier: GPL-3.0-or-later
// Knock-outs in the terminal: what is asked for in vain, what cannot be kept, and what is interrupted.
#include "projects/file/store.h"
#include "projects/library/presets.h"
#include "projects/transfer/retrofit.h"
#include "tests/cli/ran_program.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFileInfo>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

using namespace residua;
using namespace residua::cli;
namespace fs = std::filesystem;

namespace {

class TestCliKnockout : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        train("ancre", "ancre-ingoing");
        train("plain", "plain");
        train("bare", "none");
        projects::Project unsplit = wired("ancre-ingoing");
        unsplit.data.validationFraction = 0;
        unsplit.training.validateEvery = 0;
        train("unsplit", unsplit);
        train("moved", wired("ancre-ingoing"));
        QVERIFY(QDir(m_folder.path()).rename("moved/checkpoints", "elsewhere"));
    }

    void badWordsAreToldInOneMessage_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<int>("code");
        QTest::addColumn<QStringList>("said");
        const auto row = [](const char* name, const QStringList& words, int code, const QStringList& said) {
            QTest::newRow(name) << words << code << said;
        };
        row("no streams", {"ancre", "--by", "stream"}, 3, {"the wiring ancre-ingoing has no parallel streams", "term"});
        row("no shortcuts", {"bare"}, 3, {"the wiring none has no shortcuts", "by layer"});
        row("no softmax", {"plain", "--renormalise"}, 3, {"the wiring plain has no softmax", "expected"});
        row("no shortcut to renormalise", {"ancre", "--renormalise", "--by", "layer"}, 3, {"renormalise", "by term"});
        row("another part", {"ancre", "--by", "wire"}, 1, {"\"wire\"", "term, layer, half, stream"});
        row("unknown shortcut", {"ancre", "--only", "0:1,7:9"}, 3, {"\"7:9\"", "0:1 to 2:3"});
        row("a shortcut backwards", {"ancre", "--only", "2:1"}, 3, {"\"2:1\"", "0:1 to 2:3"});
        row("words for a shortcut", {"ancre", "--only", "all"}, 3, {"\"all\"", "0:1 to 2:3"});
        row("a layer among shortcuts", {"ancre", "--only", "layer 1"}, 3, {"\"layer 1\"", "0:1 to 2:3"});
        row("a misspelt layer", {"ancre", "--by", "layer", "--only", "Layer 1"}, 3, {"did you mean \"layer 1\""});
        row("a list of nothing", {"ancre", "--only", " , ,"}, 1, {"--only", "is empty", "separated by commas"});
        row("an empty list", {"ancre", "--only", ""}, 1, {"--only", "expected"});
        row("no batches", {"ancre", "--batches", "0"}, 1, {"--batches", "at least 1"});
        row("negative batches", {"ancre", "--batches", "-2"}, 1, {"--batches", "at least 1"});
        row("none of the weakest", {"ancre", "--weakest", "0"}, 1, {"--weakest", "at least 1"});
        row("negative weakest", {"ancre", "--weakest", "-1"}, 1, {"--weakest", "at least 1"});
        row("half of the weakest", {"ancre", "--weakest", "1.5"}, 1, {"--weakest", "a whole number"});
        row("more than all", {"ancre", "--weakest", "7"}, 1, {"of 6 shortcuts can be left out together", "got 7"});
        row("weakest layers", {"ancre", "--weakest", "1", "--by", "layer"}, 1, {"--weakest", "--by term"});
        row("another measure", {"ancre", "--weakest", "1", "--weak-by", "size"}, 1, {"--weak-by", "effect"});
        row("no checkpoint", {"ancre", "--step", "2"}, 3, {"no checkpoint of step 2", "expected one of 3"});
        row("no run", {"nowhere"}, 3, {"nowhere"});
        row("a project", {"ancre-project"}, 3, {"ancre-project"});
        row("no held-out part", {"unsplit"}, 3, {"no validation split", "a fraction in the project"});
        row("checkpoints elsewhere", {"moved"}, 3, {"moved/checkpoints", "left where it trained"});
        row("one step elsewhere", {"moved", "--step", "3"}, 3, {"no checkpoint of step 3", "left where it trained"});
    }
    void badWordsAreToldInOneMessage()
    {
        QFETCH(QStringList, words);
        QFETCH(int, code);
        QFETCH(QStringList, said);
        const Ran ran = knockout(words);
        QVERIFY2(ran.code == code, qPrintable(ran.errors));
        QCOMPARE(ran.errors.count("error: "), 1);
        for (const QString& part : said) {
            QVERIFY2(ran.errors.contains(part), qPrintable(ran.errors));
        }
        const Ran asJson = knockout(words + QStringList{"--json"});
        QCOMPARE(asJson.code, code);
        QVERIFY2(!asJson.events().empty() && asJson.events().back().contains("error"), qPrintable(asJson.output));
    }

    /// Blanks and repetitions in a list mean nothing, and its order is that of the document.
    void partsAreChosen()
    {
        const QJsonArray all = parts({"ancre"});
        QCOMPARE(all.size(), 6);
        const QJsonArray chosen = parts({"ancre", "--only", " 2:3 ,0:1,, 2:3"});
        QCOMPARE(chosen, (QJsonArray{all.first(), all.last()}));
    }

    /// The number of passes is told before them, and the memory that they need after the first one.
    void theCostIsToldFirst()
    {
        const Ran terms = knockout({"ancre", "--again", "--batches", "2"});
        QVERIFY2(terms.errors.startsWith("note: 14 passes of a batch at most"), qPrintable(terms.errors));
        QVERIFY2(terms.errors.contains("start from kept values"), qPrintable(terms.errors));
        QVERIFY2(terms.output.contains("started from kept values"), qPrintable(terms.output));
        const QString layers = knockout({"ancre", "--again", "--by", "layer", "--batches", "1"}).errors;
        QVERIFY2(layers.startsWith("note: 4 passes of a batch at most"), qPrintable(layers));
    }

    void printsResultsThatTheRunCannotKeep_data()
    {
        QTest::addColumn<QString>("trouble");
        for (const char* const trouble : {"a file", "a link", "no room"}) {
            QTest::newRow(trouble) << trouble;
        }
    }
    /// A result is printed although the run cannot take it, and what it has kept before is left.
    void printsResultsThatTheRunCannotKeep()
    {
        QFETCH(QString, trouble);
        const QStringList asked{"ancre", "--by", "half", "--json"};
        const QJsonArray expected = parts(asked);
        const fs::path kept = path("ancre/effects");
        const fs::path aside = path("aside");
        const QStringList before = QDir(QString::fromStdString(kept.string())).entryList(QDir::Files);
        const bool isFull = trouble == "no room";
        if (!isFull) {
            fs::rename(kept, aside);
        }
        if (trouble == "a file") {
            std::ofstream(kept) << "a file";
        } else if (trouble == "a link") {
            fs::create_directory_symlink(aside, kept);
        }
        const QString limit = isFull ? "ulimit -f 0; " : "";
        QProcess process;
        process.start("/bin/sh", QStringList{"-c", "trap '' XFSZ; " + limit + "exec \"$@\"", "sh", RESIDUA_CLI,
                                             "analyze", "knockout", path("ancre").c_str(), "--again"} +
                                     asked.mid(1));
        const Ran ran = ended(process);
        if (!isFull) {
            fs::remove(kept);
            fs::rename(aside, kept);
        }
        QVERIFY2(ran.code == 0, qPrintable(ran.errors));
        QCOMPARE(ran.json().object()["parts"].toArray(), expected);
        const QString notes = QJsonDocument(ran.json().object()["notes"].toArray()).toJson();
        QVERIFY2(notes.contains("the result is not kept with the run: ") && notes.contains("ancre/effects"),
                 qPrintable(notes));
        QCOMPARE(QDir(QString::fromStdString(kept.string())).entryList(QDir::Files), before);
        QCOMPARE(parts(asked), expected); // of the earlier result
    }

    void damagedResultsAreMeasuredAnew()
    {
        const QJsonArray expected = parts({"ancre", "--by", "layer"});
        const QDir folder(QString::fromStdString((path("ancre/effects")).string()));
        const QString file = folder.filePath(folder.entryList({"*-layer-8.json"}).value(0));
        std::ofstream(file.toStdString()) << "{\"format\":1,";
        const QJsonObject told = knockout({"ancre", "--by", "layer", "--json"}).json().object();
        QCOMPARE(told["parts"].toArray(), expected);
        QVERIFY2(told["notes"].toArray().at(0).toString().contains(QFileInfo(file).fileName()), qPrintable(file));
        QVERIFY(knockout({"ancre", "--by", "layer", "--json"})
                    .json()
                    .object()["notes"]
                    .toArray()
                    .at(0)
                    .toString()
                    .contains("--again measures anew"));
    }

    /// The step is trained again with other weights. Its old result is put back, as a copy of a folder may do.
    void aStepThatIsTrainedAgainIsMeasuredAnew()
    {
        train("twice", wired("ancre-ingoing"));
        const QJsonArray first = parts({"twice"});
        fs::rename(path("twice/effects"), path("old"));
        fs::remove_all(path("twice"));
        projects::Project other = wired("ancre-ingoing");
        other.seeds.init = 77;
        train("twice", other);
        fs::rename(path("old"), path("twice/effects"));
        const QJsonObject again = knockout({"twice", "--json"}).json().object();
        QVERIFY(again["parts"].toArray() != first);
        QVERIFY2(again["notes"].toArray().at(0).toString().contains("was trained again"),
                 qPrintable(QJsonDocument(again).toJson()));
    }

    void anInterruptedKnockOutKeepsNothing()
    {
        projects::Project large = wired("ancre-ingoing");
        large.data.source = projects::SyntheticLanguage{.vocabulary = 24, .levels = 2, .tokens = 4'000'000};
        large.training.validateEvery = 0;
        train("large", large);
        QProcess process;
        process.start(RESIDUA_CLI, {"analyze", "knockout", path("large").c_str(), "--batches", "1000000"});
        process.setReadChannel(QProcess::StandardError);
        QByteArray errors;
        while (!errors.contains("kept values")) {
            QVERIFY2(process.waitForReadyRead(kPatience), errors);
            errors += process.readAll();
        }
        QCOMPARE(::kill(static_cast<pid_t>(process.processId()), SIGINT), 0);
        const Ran ran = ended(process);
        QCOMPARE(ran.code, 131);
        QVERIFY2(ran.errors.contains("interrupted"), qPrintable(ran.errors));
        QVERIFY(!fs::exists(path("large/effects")));
    }

private:
    [[nodiscard]] fs::path path(const char* name) const { return fs::path(m_folder.path().toStdString()) / name; }
    [[nodiscard]] Ran knockout(const QStringList& words) const
    {
        return runProcess(QStringList{"analyze", "knockout"} + words, m_folder.path());
    }
    [[nodiscard]] QJsonArray parts(const QStringList& words) const
    {
        return knockout(words + QStringList{"--json"}).json().object()["parts"].toArray();
    }

    static projects::Project wired(const std::string& topology)
    {
        projects::Project project = tinyProject().project;
        project.stack().segments.front().repeat = 3;
        const auto presets = projects::topologyPresets(project.network);
        const auto preset = std::ranges::find(presets, topology, &projects::TopologyPreset::name);
        return projects::rewired(project, {topology, preset->wiring}).value();
    }
    void train(const char* name, const std::string& topology) { train(name, wired(topology)); }
    /// Trains three steps in a run of this name.
    void train(const char* name, const projects::Project& project)
    {
        const std::string folder = name + std::string("-project");
        projects::Document document{project, {}};
        QVERIFY(projects::saveProject(path(folder.c_str()), document).ok());
        const Ran ran = runProcess({"train", folder.c_str(), "--steps", "3", "--run", name}, m_folder.path());
        QVERIFY2(ran.code == 0, qPrintable(ran.errors));
    }

    QTemporaryDir m_folder;
};

} // namespace

RESIDUA_TEST(TestCliKnockout)
#include "tst_cli_knockout.moc"
