// SPDX-License-Identifier: GPL-3.0-or-later
// The command line as a person and a script use it: the program itself is run.
#include "app/cli/commands.h"
#include "app/cli/help_text.h"
#include "projects/file/store.h"
#include "projects/library/presets.h"
#include "projects/studies/sweep_grid.h"
#include "resources/help.h"
#include "tests/cli/ran_program.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <iomanip>
#include <sstream>

using namespace residua;
using namespace residua::cli;

namespace {

class TestCli : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        QVERIFY(projects::saveProject(path("tiny").toStdString(), tinyProject()).ok());
    }

    /// As the tasks of a job array do.
    void trainsTwiceInOneSecond()
    {
        const QString runs = path("array");
        QProcess first;
        QProcess second;
        for (QProcess* process : {&first, &second}) {
            process->start(RESIDUA_CLI, {"train", path("tiny"), "--steps", "2", "--runs", runs});
        }
        for (QProcess* process : {&first, &second}) {
            QVERIFY(process->waitForFinished(kTimeout));
            QVERIFY2(process->exitCode() == 0, process->readAllStandardError().constData());
        }
        QCOMPARE(QDir(runs).entryList(QDir::Dirs | QDir::NoDotAndDotDot).size(), 2);
    }

    void aProjectMovesAndOtherDataAreRefused()
    {
        projects::Document document;
        document = *projects::loadProject(path("tiny").toStdString());
        document.project.data.source = projects::TextData{.path = "text.txt", .tokeniser = {}};
        QVERIFY(projects::saveProject(path("texts").toStdString(), document).ok());
        const auto writeText = [&](const QString& folder, char last) {
            QFile file(folder + "/text.txt");
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write(QByteArray(2000, 'a') + last);
        };
        writeText(path("texts"), 'b');
        QCOMPARE(run({"train", path("texts"), "--steps", "2", "--run", path("texts/runs/one")}).code, 0);
        QVERIFY(QDir().rename(path("texts"), path("moved")));
        const QString one = path("moved/runs/one");
        Ran ran = run({"resume", one, "--steps", "3"});
        QVERIFY2(ran.code == 0, qPrintable(ran.errors));
        ran = run({"eval", one, "--json"});
        QCOMPARE(ran.code, 0);
        QJsonObject answer = QJsonDocument::fromJson(ran.output.toUtf8()).object();
        QCOMPARE(answer["step"].toInt(), 3);
        QVERIFY(answer["notes"].toArray().isEmpty());

        writeText(path("moved"), 'c');
        for (const QStringList& command : {QStringList{"resume", one, "--steps", "4"},
                                           {"eval", one},
                                           {"sample", one, "--tokens", "1"},
                                           {"retrofit", one, "--topology", "dca"}}) {
            ran = run(command);
            QCOMPARE(ran.code, 3);
            QVERIFY2(ran.errors.contains("not the data of the run"), qPrintable(ran.errors));
        }
        ran = run({"eval", one, "--other-data"});
        QCOMPARE(ran.code, 0);
        QVERIFY2(ran.errors.contains("note: the data are not those of the run"), qPrintable(ran.errors));
        QVERIFY2(ran.output.contains("at step 3"), qPrintable(ran.output));

        QVERIFY(QDir().rename(one, path("alone")));
        QCOMPARE(run({"eval", path("alone")}).code, 3);
        writeText(path("moved"), 'b');
        QCOMPARE(run({"eval", path("alone"), "--project", path("moved")}).code, 0);
    }

    void listsWhyARunFailed()
    {
        const QString failed = path("listed/broken");
        QVERIFY(QDir().mkpath(failed));
        QFile file(failed + "/run.json");
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("{\"name\": 3}");
        file.close();
        const Ran ran = run({"runs", path("listed")});
        QVERIFY2(ran.output.contains("name] is 3, expected a text"), qPrintable(ran.output));
    }

    void showsHelp()
    {
        const Ran overview = run({"--help"});
        QCOMPARE(overview.code, 0);
        for (const Command& command : allCommands()) {
            const QString name = QString::fromStdString(command.name);
            QVERIFY2(overview.output.contains("  " + name + " "), command.name.c_str());
            QVERIFY(command.example.starts_with("residua-cli " + command.name));
            QVERIFY(!command.summary.empty());
            for (const OptionSpec& option : command.syntax.options) {
                QVERIFY2(!option.help.empty(), option.name.c_str());
                QCOMPARE(option.kind == OptionKind::Flag, option.value.empty());
            }
        }
        const Ran help = run({"train", "--help"});
        QCOMPARE(help.code, 0);
        QVERIFY(help.output.contains("Example:\n  residua-cli train"));
        QVERIFY(help.output.contains("--device KEY"));
    }

    void examplesInTheHelpParse()
    {
        for (const Command& command : allCommands()) {
            std::vector<std::string> words;
            std::istringstream text(command.example);
            for (std::string word; text >> std::quoted(word);) {
                words.push_back(word);
            }
            const auto parsed = Arguments::parse(command.syntax, std::span(words).subspan(2));
            QVERIFY2(parsed.ok(), command.example.c_str());
        }
    }

    void refusesWrongCommandLines_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QString>("said");
        QTest::newRow("nothing") << QStringList{} << "Usage";
        QTest::newRow("a misspelt command") << QStringList{"tran", "x"} << "did you mean train?";
        QTest::newRow("a misspelt option") << QStringList{"train", "x", "--stpes", "5"} << "did you mean --steps?";
        QTest::newRow("an unknown example")
            << QStringList{"new", "--example", "plain-languag", "x"} << "did you mean plain-language?";
    }
    void refusesWrongCommandLines()
    {
        QFETCH(QStringList, words);
        QFETCH(QString, said);
        const Ran ran = run(words);
        QCOMPARE(ran.code, 1);
        QVERIFY2(ran.errors.contains(said), qPrintable(ran.errors));
    }

    void refusesWrongWords_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QString>("said");
        QTest::newRow("no value") << QStringList{"x", "--steps"} << "--steps needs a value";
        QTest::newRow("a wrong value") << QStringList{"x", "--steps", "ten"} << "expected a whole number";
        QTest::newRow("a fraction") << QStringList{"x", "--steps=1.5"} << "expected a whole number";
        QTest::newRow("a value too small") << QStringList{"x", "--steps", "0"} << "at least 1";
        QTest::newRow("a value too large") << QStringList{"x", "--steps", "1e300"} << "at most 1000000000000";
        QTest::newRow("no number at all") << QStringList{"x", "--steps", "1e999"} << "expected a whole number";
        QTest::newRow("hexadecimal") << QStringList{"x", "--steps", "0x10"} << "expected a whole number";
        QTest::newRow("threads without end") << QStringList{"x", "--threads", "100000"} << "at most 1024";
        QTest::newRow("no time") << QStringList{"x", "--time-limit", "5"} << "expected a time such as 45s";
        QTest::newRow("an empty path") << QStringList{"x", "--run", ""} << "--run got \"\", expected DIR";
        QTest::newRow("an empty argument") << QStringList{""} << "the argument PROJECT is empty";
        QTest::newRow("a value for a flag") << QStringList{"x", "--json=1"} << "--json takes no value";
        QTest::newRow("a missing argument") << QStringList{} << "missing argument PROJECT";
        QTest::newRow("an argument too many") << QStringList{"a", "b"} << "unexpected argument \"b\"";
    }
    void refusesWrongWords()
    {
        QFETCH(QStringList, words);
        QFETCH(QString, said);
        std::vector<std::string> given;
        for (const QString& word : words) {
            given.push_back(word.toStdString());
        }
        const Result<Arguments> parsed = Arguments::parse(runCommands().front().syntax, given); // of train
        QVERIFY(!parsed.ok());
        QVERIFY2(QString::fromStdString(parsed.error().text()).contains(said), parsed.error().text().c_str());
    }

    void everyFailureIsJsonWhereJsonIsAskedFor_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<int>("code");
        QTest::newRow("nothing") << QStringList{"--json"} << 1;
        QTest::newRow("an unknown command") << QStringList{"bogus", "--json"} << 1;
        QTest::newRow("before the command") << QStringList{"--json", "bogus"} << 1;
        QTest::newRow("an unknown option") << QStringList{"train", "--json", "--nope"} << 1;
        QTest::newRow("asked for after the mistake") << QStringList{"train", "--nope", "--json"} << 1;
        QTest::newRow("a missing argument") << QStringList{"train", "--json"} << 1;
        QTest::newRow("a wrong number") << QStringList{"train", "x", "--steps", "ten", "--json"} << 1;
        QTest::newRow("no project") << QStringList{"info", "nowhere", "--json"} << 2;
        QTest::newRow("no run") << QStringList{"eval", "nowhere", "--json"} << 3;
        QTest::newRow("no folder") << QStringList{"runs", "nowhere", "--json"} << 1;
    }
    void everyFailureIsJsonWhereJsonIsAskedFor()
    {
        QFETCH(QStringList, words);
        QFETCH(int, code);
        const Ran ran = run(words);
        QCOMPARE(ran.code, code);
        QCOMPARE(ran.output.count('\n'), 1);
        const QJsonObject error = json(ran).object()["error"].toObject();
        QCOMPARE(error["code"].toInt(), code);
        QVERIFY(!error["message"].toString().isEmpty());
        QVERIFY(!ran.errors.isEmpty());
    }

    void helpAndVersionAreJsonToo()
    {
        QCOMPARE(json(run({"--version", "--json"})).object()["program"].toString(), QString("residua-cli"));
        QCOMPARE(json(run({"--help", "--json"})).object()["commands"].toArray().size(),
                 static_cast<qsizetype>(allCommands().size()));
        QCOMPARE(json(run({"train", "--help", "--json"})).object()["command"].toString(), QString("train"));
    }

    void namesDoNotActOnTheTerminal()
    {
        projects::Document document = tinyProject();
        document.project.name = "\x1b[2Jname\a\nvalid: another";
        QVERIFY(projects::saveProject(path("names/project").toStdString(), document).ok());
        for (const char* command : {"validate", "info"}) {
            const Ran ran = run({command, path("names/project")});
            QVERIFY2(ran.output.contains("\\x1b[2Jname\\x07\\x0avalid: another"), qPrintable(ran.output));
            QVERIFY(!(ran.output + ran.errors).contains('\x1b'));
        }
        QVERIFY(!run({"info", "\x1b[2J"}).errors.contains('\x1b'));
        QVERIFY(!run({"\x1b[2J"}).errors.contains('\x1b'));
    }

    void runsAreListedByTheirPathsAndFailures()
    {
        projects::Document document = tinyProject();
        document.project.training.learningRate.peak = 1e30;
        document.project.training.clipNorm = 0;
        QVERIFY(projects::saveProject(path("list/project").toStdString(), document).ok());
        for (const char* directory : {"list/project/runs/a/member", "list/project/runs/b/member"}) {
            QCOMPARE(run({"train", path("list/project"), "--steps", "60", "--run", path(directory)}).code, 3);
        }
        const Ran listed = run({"runs", path("list/project")});
        QVERIFY2(listed.output.contains("a/member ") && listed.output.contains("b/member "), qPrintable(listed.output));
        QVERIFY2(listed.output.contains("a/member failed: [step "), qPrintable(listed.output));
    }

    void everyExampleIsValidAndTrains()
    {
        for (const projects::Example& example : projects::examples()) {
            const QString name = QString::fromStdString(example.name);
            QCOMPARE(run({"new", "--example", name, path("example-" + name)}).code, 0);
            const QJsonObject info = json(run({"info", path("example-" + name), "--json"})).object();
            const double parameters = info["cost"].toObject()["total"].toObject()["parameters"].toDouble();
            const Ran trained = run({"train", path("example-" + name), "--steps", "2", "--json"});
            QVERIFY2(trained.code == 0, qPrintable(name + ": " + trained.errors));
            const QByteArray started = trained.output.section('\n', 0, 0).toUtf8();
            QCOMPARE(QJsonDocument::fromJson(started).object()["parameters"].toDouble(), parameters);
        }
        QCOMPARE(run({"new", path("example-plain-language")}).code, 1); // it is there already
        QCOMPARE(run({"validate", path("example-plain-language")}).output, QString("valid: Plain residual\n"));
    }

    void refusesInvalidProjects()
    {
        for (const char* command : {"validate", "info", "train", "bench"}) {
            QCOMPARE(run({command, path("nowhere")}).code, 2);
        }
        Result<projects::Document> document = projects::loadProject(path("tiny").toStdString());
        QVERIFY(document.ok());
        document->project.data.source = projects::TextData{.path = "missing.txt", .tokeniser = {}};
        QVERIFY(projects::saveProject(path("no-data").toStdString(), *document).ok());
        const Ran validated = run({"validate", path("no-data"), "--json"});
        QCOMPARE(validated.code, 2);
        QVERIFY(!json(validated).object()["valid"].toBool());
        QVERIFY2(validated.output.contains("missing.txt"), qPrintable(validated.output));
        QCOMPARE(run({"train", path("no-data")}).code, 3);
        document->project.network.stack.clear();
        QVERIFY(projects::saveProject(path("empty").toStdString(), *document).ok());
        QCOMPARE(run({"validate", path("empty")}).code, 2);
        QCOMPARE(run({"train", path("empty")}).code, 2);
        QVERIFY(!QDir(path("empty/runs")).exists());
    }

    /// A file that no window would write: a wire to nowhere, no output, far too much data.
    void tellsOfBrokenProjects()
    {
        Result<projects::Document> document = projects::loadProject(path("tiny").toStdString());
        QVERIFY(document.ok());
        projects::Document broken = *document;
        broken.project.sweeps = {{"s", {projects::axisFrom("/seeds/init=1,2")}}};
        projects::Graph& graph = broken.project.network.blocks.front().graph;
        graph.wires.push_back({graph.wires.front().from, {projects::NodeId{4000}, "in"}});
        QVERIFY(projects::saveProject(path("dangling").toStdString(), broken).ok());
        graph = document->project.network.blocks.front().graph;
        std::erase_if(graph.nodes, [](const projects::Node& node) { return node.kind == "output"; });
        QVERIFY(projects::saveProject(path("no-output").toStdString(), broken).ok());
        for (const char* name : {"dangling", "no-output"}) {
            const Ran info = run({"info", path(name)});
            QCOMPARE(info.code, 2);
            QVERIFY2(info.output.contains("error: [block transformer"), qPrintable(info.output));
            const QJsonObject told = json(run({"info", path(name), "--json"})).object();
            QVERIFY(!told["valid"].toBool(true));
            QVERIFY(!told["problems"].toArray().isEmpty());
            QVERIFY(!told.contains("cost"));
            QCOMPARE(run({"sweep", path(name), "--list"}).code, 2);
            QCOMPARE(run({"train", path(name)}).code, 2);
        }
        broken = *document;
        broken.project.data.source = projects::SyntheticLanguage{.tokens = 4'000'000'000};
        QVERIFY(projects::saveProject(path("endless").toStdString(), broken).ok());
        for (const char* command : {"validate", "info", "train"}) {
            const Ran ran = run({command, path("endless")});
            QCOMPARE(ran.code, 2);
            QVERIFY2((ran.output + ran.errors).contains("22.4 GiB while they are generated, expected at most 4 GiB"),
                     qPrintable(ran.output));
        }
    }

    void trainsResumesAndAnswers()
    {
        const Ran trained = run({"train", path("tiny"), "--steps", "5", "--run", path("run")});
        QVERIFY2(trained.code == 0, qPrintable(trained.errors));
        QVERIFY2(trained.output.contains("step 5/5"), qPrintable(trained.output));
        QVERIFY(trained.output.contains("step-00000005"));
        QVERIFY(!trained.output.contains('\r'));                              // plain lines in a pipe
        QCOMPARE(run({"train", path("tiny"), "--run", path("run")}).code, 3); // the directory exists

        QCOMPARE(run({"resume", path("run")}).code, 3); // all steps are done
        const Ran resumed = run({"resume", path("run"), "--steps", "8", "--json"});
        QVERIFY2(resumed.code == 0, qPrintable(resumed.errors));
        QStringList events;
        for (const QString& line : resumed.output.split('\n', Qt::SkipEmptyParts)) {
            const QJsonObject event = QJsonDocument::fromJson(line.toUtf8()).object();
            events << event["event"].toString() + " " + QString::number(event["step"].toInt());
        }
        QCOMPARE(events,
                 (QStringList{"started 0", "step 6", "step 7", "step 8", "validation 8", "checkpoint 8", "ended 8"}));

        const QStringList question{"sample", path("run"), "--tokens", "6", "--seed", "3"};
        const Ran sample = run(question);
        QVERIFY2(sample.code == 0 && !sample.output.trimmed().isEmpty(), qPrintable(sample.errors));
        QCOMPARE(run(question).output, sample.output);
        QCOMPARE(json(run(question + QStringList{"--json"})).object()["text"].toString(), sample.output.chopped(1));
        const QJsonObject evaluated = json(run({"eval", path("run"), "--batches", "2", "--json"})).object();
        QVERIFY(evaluated["loss"].toDouble() > 0);
        QCOMPARE(evaluated["batches"].toInt(), 2);
        QCOMPARE(run({"eval", path("run"), "--split", "nonsense"}).code, 3);
        QCOMPARE(run({"sample", path("nowhere")}).code, 3);
        QCOMPARE(run({"eval", path("run"), "--from", "7"}).code, 3); // no checkpoint of that step

        const QJsonArray runs = json(run({"runs", m_folder.path(), "--json"})).array();
        const auto own = std::ranges::find_if(
            runs, [](const QJsonValue& listed) { return listed.toObject()["path"].toString() == "run"; });
        QVERIFY(own != runs.end());
        QCOMPARE((*own).toObject()["status"].toString(), QString("finished"));
        QCOMPARE((*own).toObject()["step"].toInt(), 8);
        QCOMPARE(run({"report", path("run"), "-o", path("page.html")}).code, 0);
        QVERIFY(QFile(path("page.html")).size() > 1000);
        writesPagesWhereTheyAreWanted(path("run"));
    }

    void retrofitsAndAnalyzes()
    {
        QVERIFY(QDir(m_folder.path()).mkdir("retro"));
        projects::Document document = *projects::loadProject(path("tiny").toStdString());
        document.project.topology = *projects::topologyFrom("plain", 2);
        document.project.training.observeEvery = 2;
        QVERIFY(projects::saveProject(path("retro/plain").toStdString(), document).ok());
        const QString plain = path("retro/plain-run");
        const QString dca = path("retro/dca");
        QCOMPARE(run({"train", path("retro/plain"), "--steps", "4", "--run", plain}).code, 0);
        const Ran nothing = run({"analyze", "coefficients", plain});
        QCOMPARE(nothing.code, 3);
        QVERIFY2(nothing.errors.contains("plain, learns no weight"), qPrintable(nothing.errors));

        const Ran refused = run({"retrofit", plain, "--topology", "ancre-ingoing", "-o", dca});
        QCOMPARE(refused.code, 3);
        QVERIFY2(refused.errors.contains("through a softmax") && refused.errors.contains("These do: plain, grn-v1"),
                 qPrintable(refused.errors));
        QCOMPARE(run({"retrofit", plain, "--topology", "dcb", "-o", dca}).code, 1);
        QCOMPARE(run({"retrofit", plain}).code, 1);
        QVERIFY(!QDir(dca).exists());
        const QJsonObject made =
            json(run({"retrofit", plain, "--topology", "dca", "-o", dca, "--steps", "8", "--json"})).object();
        QCOMPARE(made["run"].toString(), dca);
        QCOMPARE(made["step"].toInt(), 4);
        QCOMPARE(made["added"].toArray(), (QJsonArray{"topology.coefficient", "topology.gate"}));
        QVERIFY(made["difference"].toDouble(1) <= 1e-6);
        QCOMPARE(made["differenceInDouble"].toDouble(1), 0.0);
        const Ran resumed = run({"resume", dca});
        QVERIFY2(resumed.code == 0, qPrintable(resumed.errors));
        QCOMPARE(run({"retrofit", dca, "--topology", "plain", "-o", path("retro/back")}).code, 3); // it has learned
        QVERIFY(!QDir(path("retro/back")).exists());

        // As it started, as it is, and the difference.
        const auto cells = [&](const QStringList& words) {
            const QJsonObject shown = json(run(QStringList{"analyze", "coefficients", dca, "--json"} + words)).object();
            QStringList names;
            for (const QJsonValue& matrix : shown["matrices"].toArray()) {
                names << matrix["name"].toString();
            }
            return std::pair(names, shown["matrices"].toArray());
        };
        const auto cell = [&](const QStringList& words, int row, int column) -> QJsonValue {
            const QJsonArray all = cells(words).second;
            return all[0]["values"][row][column];
        };
        const auto [names, last] = cells({});
        QCOMPARE(names,
                 (QStringList{"mix/q", "mix/k", "mix/v", "mix/final", "coefficient/q", "coefficient/k", "coefficient/v",
                              "coefficient/final", "spread/q", "spread/k", "spread/v", "spread/final"}));
        QCOMPARE(last[0]["step"].toInt(), 8);
        QVERIFY(last[0]["values"][1][2].isNull());
        const double learned = last[0]["values"][1][0].toDouble();
        QVERIFY(learned != 1 && std::abs(learned - 1) < 0.1);
        const QJsonArray change = cells({"--against", "initial", "--port", "q"}).second;
        QCOMPARE(change.size(), 3);
        QVERIFY(std::abs(cell({"--against", "initial", "--port", "q"}, 1, 0).toDouble() - (learned - 1)) < 1e-6);
        QCOMPARE(cell({"--step", "4"}, 1, 0).toDouble(), 1.0);
        QCOMPARE(cell({"--against", "8"}, 1, 0).toDouble(1), 0.0);
        QCOMPARE(cell({"--against", dca}, 1, 0).toDouble(1), 0.0);
        const QStringList ratio{"--log-ratio", "--port", "v"};
        QCOMPARE(std::max(cell(ratio, 1, 0).toDouble(), cell(ratio, 1, 1).toDouble()), 0.0);

        QVERIFY(cell({"--feature", "15"}, 1, 0).toDouble() != learned);
        const Ran beyond = run({"analyze", "coefficients", dca, "--feature", "16"});
        QCOMPARE(beyond.code, 3);
        QVERIFY2(beyond.errors.contains("got 16, expected 0 to 15"), qPrintable(beyond.errors));
        QVERIFY(run({"analyze", "coefficients", dca, "--step", "7"}).errors.contains("recorded are the steps 4, 6, 8"));
        QCOMPARE(run({"analyze", "losses", dca}).code, 1);
        QCOMPARE(run({"analyze", "coefficients", dca, "--log-ratio", "--against", "initial"}).code, 1);

        QCOMPARE(run({"analyze", "coefficients", dca, "-o", path("retro/c.csv")}).code, 0);
        QFile csv(path("retro/c.csv"));
        QVERIFY(csv.open(QIODevice::ReadOnly));
        QCOMPARE(csv.readLine(), QByteArray("matrix,step,target,source,value\n"));
        csv.seek(0);
        const QString table = csv.readAll();
        QCOMPARE(run({"analyze", "coefficients", dca, "-o", "-"}).output, table);
        QCOMPARE(json(run({"analyze", "coefficients", dca, "-o", "-", "--json"})).object()["csv"].toString(), table);
        csv.seek(0);
        csv.readLine();
        QVERIFY(csv.readLine().startsWith("mix/q,8,1,0,"));
        const QJsonObject saved =
            json(run({"analyze", "coefficients", dca, "-o", path("retro/c.safetensors"), "--json"})).object();
        QCOMPARE(saved["matrices"].toInt(), 12);
        QCOMPARE(saved["tensors"].toInt(), 8);
        QCOMPARE(run({"analyze", "coefficients", dca, "-o", path("retro/c.txt")}).code, 1);
    }

    void tellsWhatIsProved()
    {
        const QStringList words{"analyze", "theory", "--dimension", "100", "--rank", "50", "--layers", "10"};
        const QJsonObject told = json(run(words + QStringList{"--json"})).object();
        QCOMPARE(told["parameters"].toObject()["resNet"].toDouble(), 2.0 * 100 * 50);
        QCOMPARE(told["parameters"].toObject()["grnV1"].toDouble(), 2.0 * 100 * 50 + 45);
        // 50 ranks of eigenvalue 5 are gained, and (sqrt(150) - sqrt(100))^2 ranks of 10^2 - 5^2 are paid.
        const double ranks = std::pow(std::sqrt(150.0) - 10, 2);
        QVERIFY(std::abs(told["gainAtLeast"].toObject()["grnV1"].toDouble() - (50 * 25 - 75 * ranks)) < 1e-6);
        QVERIFY(run(words).output.contains("never worse up to r*"));

        const QJsonObject example = json(run({"analyze", "theory", "low-rank-regression", "--json"})).object();
        const QJsonObject risk = example["excessRisk"].toObject();
        QVERIFY(risk["noShortcuts"].toDouble() > risk["resNet"].toDouble());
        QVERIFY(risk["grnV2"].toDouble() <= risk["grnV1"].toDouble());
        QVERIFY(risk["grnV1"].toDouble() <= risk["resNet"].toDouble());

        QCOMPARE(run(words + QStringList{"-o", path("gains.csv")}).code, 0);
        QFile csv(path("gains.csv"));
        QVERIFY(csv.open(QIODevice::ReadOnly));
        QCOMPARE(csv.readAll().count('\n'), 100);
        QCOMPARE(run(words + QStringList{"-o", path("gains.svg")}).code, 0);
        QVERIFY(QFileInfo(path("gains.svg")).size() > 1000);
        QCOMPARE(run(words + QStringList{"-o", path("gains.txt")}).code, 1);

        QVERIFY(run({"analyze", "theory"}).errors.contains("missing --dimension"));
        QVERIFY(run({"analyze", "theory", "linear-ancre"}).errors.contains("low-rank regression"));
        QVERIFY(run({"analyze", "coefficients"}).errors.contains("missing argument SUBJECT"));
    }

    void sweepsTheCaseStudyWithinItsBounds()
    {
        const QString folder = path("study");
        const QStringList words{"sweep", "ancre-case-study", "topologies", "--steps", "60", "-o", folder, "--json"};
        const QJsonObject listed = json(run(words + QStringList{"--list"})).object();
        QVERIFY(!QDir(folder).exists());
        QCOMPARE(listed["members"].toArray().size(), 14);
        QVERIFY(listed["flops"].toDouble() > 0);

        const Ran swept = run(words);
        QVERIFY2(swept.code == 0, qPrintable(swept.errors));
        const QJsonArray members = json(swept).object()["members"].toArray();
        QCOMPARE(members.size(), 14);
        QCOMPARE(members[3].toObject()["label"].toString(), QString("half, 0:2"));
        QCOMPARE(members[3].toObject()["status"].toString(), QString("finished"));
        QVERIFY(members[3].toObject()["loss"].toDouble() < members[2].toObject()["loss"].toDouble());
        QVERIFY(QFile::remove(folder + "/half-0:2/run.json"));
        QVERIFY(run(words).code != 0); // a run that cannot be read is not trained over
        QVERIFY(QDir(folder + "/half-0:2").removeRecursively());
        const Ran again = run(words); // trains what is missing alone
        QCOMPARE(json(again).object()["members"].toArray()[3].toObject()["loss"], members[3].toObject()["loss"]);
        QCOMPARE(run({"sweep", "ancre-case-study", "topologies", "--steps", "61", "-o", folder}).code, 3);

        QCOMPARE(run({"report", folder, "-o", path("study.html")}).code, 0);
        QFile page(path("study.html"));
        QVERIFY(page.open(QIODevice::ReadOnly));
        const QByteArray html = page.readAll();
        QCOMPARE(html.count("holds at each of 60 steps"), 3); // 3.2 from both starts, 3.3 from the small one
        QCOMPARE(html.count("does not apply"), 1);
        QCOMPARE(html.count("broken at step"), 0);
    }

    void refusesSweeps()
    {
        QCOMPARE(run({"sweep", path("tiny")}).code, 1);       // it has none
        QCOMPARE(run({"sweep", "ancre-case-study"}).code, 1); // it has two
        QCOMPARE(run({"sweep", path("tiny"), "--vary", "/seeds/init"}).code, 1);
        const Ran invalid = run({"sweep", path("tiny"), "--vary", "/topology/wiring/temperature=0.1,-1"});
        QCOMPARE(invalid.code, 2);
        QVERIFY2(invalid.errors.contains("-1"), qPrintable(invalid.errors));
    }

    void setsFieldsByTheirPointers()
    {
        const auto refused = [&](const char* set) {
            const Ran ran = run({"validate", path("tiny"), "--set", set});
            return ran.code == 0 ? QString("taken") : ran.errors + ran.output;
        };
        QCOMPARE(run({"validate", path("tiny"), "--set", "/training/learning_rate/peak=0.25"}).code, 0);
        QCOMPARE(run({"validate", path("tiny"), "--set", "/training/optimiser=sgd", "--set",
                      "/training/optimiser/momentum=0.5"})
                     .code,
                 0);
        QVERIFY(
            refused("/training/learning_rate/peak=0").contains("learning rate · peak] got 0, expected more than 0"));
        QVERIFY(refused("/training/steps=many").contains("expected a whole number"));
        for (const char* const wrong : {"/training/steps=many", "/training/stepz=1", "steps=1", "/training/steps"}) {
            QCOMPARE(run({"validate", path("tiny"), "--set", wrong}).code, 1); // the command line is wrong,
        }
        QCOMPARE(run({"validate", path("tiny"), "--set", "/training/steps=0"}).code, 2); // and here the project
        QCOMPARE(run({"train", path("tiny"), "--set", "/training/steps=many"}).code, 1);
        QCOMPARE(run({"sweep", path("tiny"), "--set", "/training/steps=many"}).code, 1);
        QVERIFY(refused("/training/precision=fp23").contains("did you mean \"fp32\"?"));
        QVERIFY(refused("/training/optimiser=adam").contains("did you mean \"adamw\"?"));
        QVERIFY(refused("/training/bacth=3").contains("did you mean \"batch\"?"));
        QVERIFY(refused("peak=3").contains("did you mean /training/learning_rate/peak?"));
        QVERIFY(refused("/training/steps").contains("expected POINTER=VALUE"));
    }

    void showsDifferencesInMeaning()
    {
        QCOMPARE(run({"diff", path("tiny"), path("tiny")}).output, QString("no difference in meaning\n"));
        Result<projects::Document> document = projects::loadProject(path("tiny").toStdString());
        document->project.training.learningRate.peak = 0.0123;
        QVERIFY(projects::saveProject(path("other").toStdString(), *document).ok());
        const Ran ran = run({"diff", path("tiny"), path("other")});
        QCOMPARE(ran.code, 0);
        QCOMPARE(ran.output.count('\n'), 1);
        QVERIFY2(ran.output.contains("0.0123"), qPrintable(ran.output));
        QCOMPARE(run({"diff", path("tiny"), path("nowhere")}).code, 2);
    }

    void explainsEveryTopic()
    {
        const Ran list = run({"explain"});
        QCOMPARE(list.code, 0);
        for (const resources::HelpTopic& topic : resources::helpTopics()) {
            QVERIFY2(list.output.contains("  " + QString::fromStdString(topic.name) + " "), topic.name.c_str());
        }
        const Ran page = run({"explain", "ANCRe"});
        QCOMPARE(page.code, 0);
        QVERIFY(page.output.startsWith("ANCRe: learned shortcuts\n"));
        QVERIFY(page.output.contains("x_j = F_j(x_{j−1})"));
        QCOMPARE(run({"explain", "ancre_outgoing"}).output, page.output); // a preset's key finds its method
        const QJsonObject told = json(run({"explain", "low_rank_linear", "--json"})).object();
        QCOMPARE(told["name"].toString(), QString("nodes-linear"));
        QVERIFY(told["text"].toString().startsWith("# "));
        QCOMPARE(json(run({"explain", "--json"})).array().size(), qsizetype(resources::helpTopics().size()));
    }

    void anUnknownTopicIsAnsweredWithTheNearest()
    {
        const Ran near = run({"explain", "highwya"});
        QCOMPARE(near.code, 1);
        QVERIFY2(near.errors.contains("did you mean highway?"), qPrintable(near.errors));
        const Ran far = run({"explain", "zzzzzzzz"});
        QCOMPARE(far.code, 1);
        QVERIFY2(far.errors.contains("residua-cli explain lists them"), qPrintable(far.errors));
    }

    /// Only code and single long words are wider than the terminal, and no mark of Markdown is left.
    void pagesFitTheTerminal()
    {
        for (const std::size_t width : {1, 40, 80, 200}) {
            for (const resources::HelpTopic& topic : resources::helpTopics()) {
                const QString text = QString::fromStdString(terminalText(topic.text, width));
                QVERIFY2(!text.contains("](") && !text.contains("\n#") && !text.contains("|---"), topic.name.c_str());
                for (const QString& line : text.split('\n')) {
                    const bool isCode =
                        line.startsWith("    ") && topic.text.find(line.toStdString()) != std::string::npos;
                    const bool isWord =
                        line.trimmed().startsWith("- ") ? line.count(' ') <= 3 : !line.trimmed().contains(' ');
                    const bool isTable = width < 80 && topic.text.find("\n|") != std::string::npos;
                    QVERIFY2(isCode || isWord || isTable ||
                                 line.size() <= qsizetype(std::max<std::size_t>(width, 22)) || !line.startsWith(' '),
                             qPrintable(line));
                }
            }
        }
    }

    void markdownBecomesText()
    {
        QCOMPARE(terminalText("# A *title*\n\none `code` and a [link](b.md), 2 * 3 * 4\n", 80),
                 std::string("A title\n\n  one code and a link, 2 * 3 * 4"));
        QCOMPARE(terminalText("- first words\n  that go on\n- second", 22),
                 std::string("  - first words that\n    go on\n  - second"));
        QCOMPARE(terminalText("    x = `y`  *z*\n", 10), std::string("    x = `y`  *z*")); // code as it is
        QCOMPARE(terminalText("|a|b|\n|---|---|\n|long|two words|\n", 80), std::string("  a     b\n  long  two words"));
        QCOMPARE(terminalText("[unclosed and `open", 80), std::string("  [unclosed and open"));
        QCOMPARE(terminalText("", 80), std::string());
    }

    void measures()
    {
        const Ran ran = run({"bench", path("tiny"), "--steps", "5", "--json"});
        QVERIFY2(ran.code == 0, qPrintable(ran.errors));
        QVERIFY(json(ran).object()["unitsPerSecond"].toDouble() > 0);
        QVERIFY(!QDir(path("tiny/runs")).exists());
    }

    void listsDevices()
    {
        const QJsonArray devices = json(run({"devices", "--json"})).array();
        QCOMPARE(devices[0].toObject()["key"].toString(), QString("cpu"));
        QVERIFY(devices[0].toObject()["usable"].toBool());
    }

    void parsesWords()
    {
        const Syntax syntax{{{"A", "", Presence::Optional}, {"B", "", Presence::Optional}},
                            {{"rate", OptionKind::Real, "R", ""}, {"out", OptionKind::Text, "F", "", "o"}}};
        const std::vector<std::string> words{"-o", "-x", "--rate=1e-3", "--", "--json"};
        const Result<Arguments> arguments = Arguments::parse(syntax, words);
        QVERIFY(arguments.ok());
        QCOMPARE(arguments->text("out"), std::string("-x"));
        QCOMPARE(arguments->real("rate", 0), 1e-3);
        QCOMPARE(arguments->positional(0), std::string("--json"));
        QCOMPARE(arguments->positional(1), std::string());
        QVERIFY(!arguments->has("json"));
    }

    void formatsNumbers()
    {
        QCOMPARE(grouped(0), std::string("0"));
        QCOMPARE(grouped(-1234567), std::string("-1,234,567"));
        QCOMPARE(grouped(999), std::string("999"));
        QCOMPARE(scaled(12'345'678), std::string("12.3 M"));
        QCOMPARE(bytesText(1536), std::string("1.50 KiB"));
        QCOMPARE(durationText(59.6), std::string("1 min 00 s"));
        QCOMPARE(durationText(3725), std::string("1 h 02 min"));
        QCOMPARE(lossText(std::nan("")), std::string("–"));
        QCOMPARE(table({{"a", "b"}, {"long", "1"}}), std::string("a     b\nlong  1"));
    }

private:
    /// A page on standard output stands there alone; a FIFO is written into.
    static void writesPagesWhereTheyAreWanted(const QString& directory)
    {
        for (const char* output : {"-", "/dev/stdout"}) {
            const Ran page = run({"report", directory, "-o", output});
            QCOMPARE(page.code, 0);
            QVERIFY(page.output.startsWith("<!doctype html>") && page.output.endsWith("</html>\n"));
            const Ran both = run({"report", directory, "-o", output, "--json"});
            QCOMPARE(both.output.count('\n'), 1);
            QCOMPARE(json(both).object()["html"].toString(), page.output);
        }
        const QString pipe = directory + "/page.fifo";
        QCOMPARE(::mkfifo(pipe.toUtf8().constData(), 0600), 0);
        QProcess reader;
        reader.start("cat", {pipe});
        QCOMPARE(run({"report", directory, "-o", pipe}).code, 0);
        QVERIFY(reader.waitForFinished(kTimeout));
        QVERIFY(reader.readAllStandardOutput().endsWith("</html>\n"));
        QCOMPARE(run({"report", directory, "-o", directory}).code, 1);
    }

    static Ran run(const QStringList& words) { return runProcess(words); }
    static QJsonDocument json(const Ran& ran) { return ran.json(); }
    QString path(const QString& name) const { return m_folder.filePath(name); }

    QTemporaryDir m_folder;
};

} // namespace

RESIDUA_TEST(TestCli)
#include "tst_cli.moc"
