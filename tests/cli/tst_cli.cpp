// SPDX-License-Identifier: GPL-3.0-or-later
// The command line as a person and a script use it: the program itself is run.
#include "app/cli/terminal/console.h"
#include "projects/file/store.h"
#include "projects/shipped/examples.h"
#include "projects/studies/sweep_grid.h"
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
            QVERIFY(process->waitForFinished(kPatience));
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
        QVERIFY2(ran.errors.contains("over 3 steps now"), qPrintable(ran.errors));
        ran = run({"eval", one, "--json"});
        QCOMPARE(ran.code, 0);
        QJsonObject answer = QJsonDocument::fromJson(ran.output.toUtf8()).object();
        QCOMPARE(answer["step"].toInt(), 3);
        QVERIFY(answer["notes"].toArray().isEmpty());

        writeText(path("moved"), 'c');
        for (const QStringList& command : {QStringList{"resume", one, "--steps", "4"},
                                           {"eval", one},
                                           {"sample", one, "--tokens", "1"},
                                           {"retrofit", one, "--topology", "dca"},
                                           {"factorise", one, "--rank-scale", "0.5"}}) {
            ran = run(command);
            QCOMPARE(ran.code, 3);
            QVERIFY2(ran.errors.contains("not the data of the run"), qPrintable(ran.errors));
        }
        ran = run({"eval", one, "--other-data"});
        QCOMPARE(ran.code, 0);
        QVERIFY2(ran.errors.contains("the data are not those"), qPrintable(ran.errors));
        QVERIFY2(ran.output.contains("at step 3"), qPrintable(ran.output));

        QVERIFY(QDir().rename(one, path("alone")));
        QCOMPARE(run({"eval", path("alone")}).code, 3);
        writeText(path("moved"), 'b');
        QCOMPARE(run({"eval", path("alone"), "--project", path("moved")}).code, 0);
    }

    void exportsPyTorchCode()
    {
        projects::Document document = tinyProject();
        document.project.training.precision = projects::Precision::Bf16;
        QVERIFY(projects::saveProject(path("exported").toStdString(), document).ok());
        const QString one = path("exported/runs/one");
        QCOMPARE(run({"train", path("exported"), "--steps", "2", "--run", one}).code, 0);
        const QString folder = path("exported/code");
        Ran ran = run({"export", one, "--to", "pytorch", "-o", folder, "--json"});
        QVERIFY2(ran.code == 0, qPrintable(ran.errors));
        const QJsonObject answer = QJsonDocument::fromJson(ran.output.toUtf8()).object();
        QCOMPARE(answer["step"].toInt(), 2);
        QCOMPARE(answer["folder"].toString(), folder);
        QCOMPARE(answer["layers"].toInt(), static_cast<int>(document.project.network.depth()));
        QVERIFY(answer["parameters"].toInt() > 0 && answer["leftOut"].toInt() == 0);
        QCOMPARE(QDir(folder).entryList(QDir::Files, QDir::Name),
                 QStringList({"README.md", "check.py", "config.json", "model.py", "recorded.safetensors",
                              "weights.safetensors"}));
        QFile readme(folder + "/README.md");
        QVERIFY(readme.open(QIODevice::ReadOnly));
        QVERIFY(readme.readAll().contains("Training used bf16; the code computes in fp32"));

        ran = run({"export", one, "--to", "pytorch", "-o", folder});
        QCOMPARE(ran.code, 3);
        QVERIFY2(ran.errors.contains("exists"), qPrintable(ran.errors));
        ran = run({"export", one, "--to", "pytoch", "-o", path("exported/other")});
        QCOMPARE(ran.code, 1);
        QVERIFY2(ran.errors.contains("got \"pytoch\", expected"), qPrintable(ran.errors));
        ran = run({"export", one, "--to", "pytorch"});
        QCOMPARE(ran.code, 1);
        QVERIFY2(ran.errors.contains("-o FOLDER"), qPrintable(ran.errors));
        QCOMPARE(run({"export", one, "--to", "pytorch", "-o", path("exported/other"), "--from", "1"}).code, 3);
        QCOMPARE(QDir(path("exported")).entryList(QDir::Dirs | QDir::Hidden | QDir::NoDotAndDotDot),
                 QStringList({"code", "runs"}));
    }

    void drawsProjectsAndRuns()
    {
        QVERIFY(projects::saveProject(path("drawn").toStdString(), tinyProject()).ok());
        const QString one = path("drawn/runs/one");
        QCOMPARE(run({"train", path("drawn"), "--steps", "2", "--run", one}).code, 0);
        const auto contents = [&](const QString& name) {
            QFile file(path(name));
            return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
        };
        Ran ran = run({"draw", path("drawn"), "-o", path("a.svg"), "--width", "5", "--json"});
        QVERIFY2(ran.code == 0, qPrintable(ran.errors));
        QVERIFY(QJsonDocument::fromJson(ran.output.toUtf8()).object()["widthCm"].toDouble() > 4.999);
        QVERIFY(contents("a.svg").contains("width=\"5cm\"") && !contents("a.svg").contains("at step"));
        QCOMPARE(run({"draw", one, "-o", path("b.svg")}).code, 0);
        QVERIFY(contents("b.svg").contains("mixing weight at step 2"));
        QCOMPARE(run({"draw", one, "-o", path("c.svg"), "--without-weights"}).code, 0);
        QVERIFY(!contents("c.svg").contains("at step"));
        for (const char* show : {"matrix", "stem", "head"}) {
            QCOMPARE(run({"draw", one, "-o", path("d.pdf"), "--show", show}).code, 0);
            QVERIFY(contents("d.pdf").startsWith("%PDF-"));
        }
        QCOMPARE(run({"draw", path("drawn"), "-o", path("e.tikz"), "--fold"}).code, 0);
        QVERIFY(contents("e.tikz").contains("\\begin{tikzpicture}"));

        const std::pair<QStringList, const char*> refused[] = {
            {{one, "-o", path("x.png")}, "expected .svg, .pdf, .tikz or .tex"},
            {{one}, "-o"},
            {{one, "-o", path("x.svg"), "--show", "blok"}, "expected canvas, matrix, stem, head or block:NAME"},
            {{one, "-o", path("x.svg"), "--show", "block:no"}, "no such graph"},
            {{one, "-o", path("x.svg"), "--set", "training.steps=3"}, "is for a project"},
            {{path("drawn"), "-o", path("x.svg"), "--step", "1"}, "is for a run"},
            {{one, "-o", path("x.svg"), "--step", "77"}, "77"},
            {{one, "-o", path("x.svg"), "--port", "q"}, "--port"},
            {{one, "-o", path("x.svg"), "--width", "0"}, "--width"}};
        for (const auto& [words, says] : refused) {
            ran = run(QStringList("draw") + words);
            QVERIFY2(ran.code != 0 && ran.errors.contains(says), qPrintable(ran.errors));
            QVERIFY(!QFile::exists(path("x.svg")));
        }
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
        const Ran refused = run({"runs", path("list/project"), "--until", path("list/project")});
        QCOMPARE(refused.code, 1);
        QVERIFY2(refused.errors.contains("[--until]") && refused.errors.contains("has no run.json"),
                 qPrintable(refused.errors));
    }

    void infoNamesStoredAndExecutedLayers()
    {
        projects::Document document{projects::findExample("ancre-language")->project, {}};
        document.project.stack().segments = {{document.project.network.blocks.front().name, 4}};
        document.project.stack().loops = {
            {.first = 2, .last = 3, .visits = 3, .injection = projects::LoopInjection::Add}};
        QVERIFY(projects::saveProject(path("loops").toStdString(), document).ok());
        const Ran info = run({"info", path("loops")});
        QVERIFY2(info.output.contains("4 stored layers, 8 executed,"), qPrintable(info.output));
        QVERIFY2(info.output.contains("loop: layers 2–3 are visited 3 times; injection: add"), qPrintable(info.output));
        QVERIFY2(info.output.contains("2@2"), qPrintable(info.output));
        const QJsonObject told = json(run({"info", path("loops"), "--json"})).object();
        QCOMPARE(told["stored"].toInt(), 4);
        QCOMPARE(told["depth"].toInt(), 8);
        QCOMPARE(told["loops"].toArray().first().toObject()["visits"].toInt(), 3);
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
            const QStringList told = trained.output.split('\n').filter("\"event\":\"started\""); // notices may precede
            QCOMPARE(told.size(), 1);
            const QByteArray started = told.front().toUtf8();
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
        document->project.stack().segments.clear();
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
            QVERIFY2((ran.output + ran.errors).contains("22.4 GiB while"), qPrintable(ran.output));
        }
    }

    void trainsResumesAndAnswers()
    {
        const Ran trained = run({"train", path("tiny"), "--steps", "5", "--run", path("run")});
        QVERIFY2(trained.code == 0, qPrintable(trained.errors));
        QVERIFY2(trained.errors.contains("step 5/5"), qPrintable(trained.errors));
        QVERIFY(trained.output.contains("step-00000005"));
        QVERIFY(!(trained.output + trained.errors).contains('\r'));           // plain lines in a pipe
        QCOMPARE(run({"train", path("tiny"), "--run", path("run")}).code, 3); // the directory exists

        QCOMPARE(run({"resume", path("run")}).code, 4); // all steps are done
        const Ran resumed = run({"resume", path("run"), "--steps", "8", "--json"});
        QVERIFY2(resumed.code == 0, qPrintable(resumed.errors));
        QStringList events;
        for (const QString& line : resumed.output.split('\n', Qt::SkipEmptyParts)) {
            const QJsonObject event = QJsonDocument::fromJson(line.toUtf8()).object();
            events << event["event"].toString() + " " + QString::number(event["step"].toInt());
        }
        QCOMPARE(events,
                 (QStringList{"started 0", "step 6", "step 7", "step 8", "validation 8", "checkpoint 8", "ended 8"}));

        const QStringList continuing{"sample", path("run"), "--tokens", "6", "--seed", "3"};
        const Ran sample = run(continuing);
        QVERIFY2(sample.code == 0 && !sample.output.trimmed().isEmpty(), qPrintable(sample.errors));
        QCOMPARE(run(continuing).output, sample.output);
        QCOMPARE(json(run(continuing + QStringList{"--json"})).object()["text"].toString(), sample.output.chopped(1));
        const QJsonObject evaluated = json(run({"eval", path("run"), "--batches", "2", "--json"})).object();
        QVERIFY(evaluated["loss"].toDouble() > 0);
        QCOMPARE(evaluated["batches"].toInt(), 2);
        const double accuracy = evaluated["quantities"].toObject()["accuracy"].toDouble(-1);
        QVERIFY(accuracy >= 0 && accuracy <= 1);
        QCOMPARE(run({"eval", path("run"), "--split", "nonsense"}).code, 1); // before anything is read
        const auto ask = [&](const QByteArray& questions, const QStringList& more) {
            QFile file(path("questions.jsonl"));
            if (file.open(QIODevice::WriteOnly)) {
                file.write(questions);
                file.close();
            }
            return run(QStringList{"eval", path("run"), "--choices", path("questions.jsonl")} + more);
        };
        const QByteArray question = "{\"prompt\": \".\", \"choices\": [\" .\", \" . .\"], \"answer\": 0}\n";
        const QJsonObject asked = json(ask(question + question, {"--shots", "1", "--json"})).object();
        QCOMPARE(asked["questions"].toInt(), 1);
        QVERIFY(asked["loss"].toDouble() > 0);
        QCOMPARE(asked["accuracy"].toDouble(), 1.0); // a longer choice of the same tokens is less likely
        QVERIFY(ask(question, {}).output.startsWith("right in 100 %"));
        QVERIFY(ask(question + "{\"prompt\": \"a\"}\n", {}).errors.contains("line 2"));
        QVERIFY(ask("", {}).errors.contains("is empty"));
        QVERIFY(run({"eval", path("run"), "--shots", "1"}).errors.contains("--choices"));
        QVERIFY(ask(question, {"--questions", "4"}).errors.contains("expected one of them"));
        const Ran made = run({"eval", path("run"), "--questions", "6", "--shots", "1", "--record", "--json"});
        QVERIFY2(made.code == 0, qPrintable(made.errors));
        QCOMPARE(json(made).object()["questions"].toInt(), 5);
        QVERIFY(run({"runs", m_folder.path()}).output.section('\n', 0, 0).contains("validation accuracy of choices"));
        QCOMPARE(run({"sample", path("nowhere")}).code, 3);
        QCOMPARE(run({"eval", path("run"), "--from", "7"}).code, 3); // no checkpoint of that step

        const QJsonArray runs = json(run({"runs", m_folder.path(), "--json"})).array();
        const auto own = std::ranges::find_if(
            runs, [](const QJsonValue& listed) { return listed.toObject()["path"].toString() == "run"; });
        QVERIFY(own != runs.end());
        QCOMPARE((*own).toObject()["status"].toString(), QString("finished"));
        QCOMPARE((*own).toObject()["step"].toInt(), 8);
        QVERIFY((*own).toObject()["values"].toObject()["accuracy/validation"].isDouble());
        QVERIFY(run({"runs", m_folder.path()}).output.section('\n', 0, 0).contains("validation accuracy"));
        QCOMPARE(run({"report", path("run"), "-o", path("page.html")}).code, 0);
        QVERIFY(QFile(path("page.html")).size() > 1000);
        writesPagesWhereTheyAreWanted(path("run"));
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
        QVERIFY(refused("/training/learning_rate/peak=0").contains("learning rate · peak] got 0"));
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
        QVERIFY(refused("batch=3").contains("did you mean /training/batch?"));
        // A lone word that is a field: what is wrong is its value.
        QVERIFY(refused("topology=ancre").contains("ancre is ancre-ingoing, ancre-outgoing, "));
        QVERIFY(refused("topology=ancre-ingoin").contains("did you mean \"ancre-ingoing\"?"));
        QVERIFY(!refused("topology=no-such-preset").contains("is no field"));
        QVERIFY(!refused("schedule=no-such-preset").contains("is no field"));
        QVERIFY(refused("/training/steps").contains("expected FIELD=VALUE"));
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
        QCOMPARE(devices[0].toObject()["withoutKernels"].toString("none"), QString());
    }

    void formatsNumbers()
    {
        QCOMPARE(scaled(12'345'678), std::string("12.3 M"));
        QCOMPARE(scaledBytes(1536), std::string("1.50 KiB"));
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
        QVERIFY(reader.waitForFinished(kPatience));
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
