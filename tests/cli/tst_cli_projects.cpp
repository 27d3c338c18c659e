// SPDX-License-Identifier: GPL-3.0-or-later
// Projects made, changed and watched from the terminal.
#include "app/cli/commands/commands.h"
#include "projects/check/validate.h"
#include "projects/file/store.h"
#include "projects/nodes/node_kinds.h"
#include "projects/shipped/recipes.h"
#include "resources/help.h"
#include "tests/cli/ran_program.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QtTest>

using namespace residua;
using namespace residua::cli;

namespace {

class TestCliProjects : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QVERIFY(m_folder.isValid()); }

    void newTakesDataSizesAndATopology()
    {
        QFile text(path("words.txt"));
        QVERIFY(text.open(QIODevice::WriteOnly));
        text.write(QByteArray("to be or not to be, ").repeated(300));
        text.close();
        const Ran made = run({"new", path("mine"), "--data", path("words.txt"), "--topology", "dca", "--layers", "3",
                              "--width", "32", "--steps", "2"});
        QVERIFY2(made.code == 0, qPrintable(made.errors));
        const projects::Project project = opened("mine");
        QCOMPARE(project.name, std::string("mine"));
        QCOMPARE(project.stack().topology.preset, std::string("dca"));
        QCOMPARE(project.network.depth(), std::int64_t{3});
        QCOMPARE(project.stack().width, std::int64_t{32});
        QVERIFY(std::holds_alternative<projects::TextData>(project.data.source));
        QVERIFY(!projects::hasErrors(projects::validate(project)));
        const Ran trained = run({"train", path("mine")});
        QVERIFY2(trained.code == 0, qPrintable(trained.errors));
    }

    /// A paper's network on pictures of one's own, smaller where the options say so.
    void newFollowsARecipe()
    {
        const Ran listed = run({"new", "--list"});
        QVERIFY(listed.output.contains("dca-vit-s16: ") && listed.output.contains("raptr-bert-large: "));
        for (const std::string& name : topologyNames()) {
            QVERIFY2(listed.output.contains("\n" + QString::fromStdString(name) + ": "), name.c_str());
        }
        for (const char* const variants : {"ancre is ancre-ingoing, ", "laurel is laurel-rw, ", "grn is grn-v1, "}) {
            QVERIFY2(listed.output.contains(QString("\n") + variants), variants);
        }
        QVERIFY(!listed.output.contains("\ndca is "));
        const Ran made =
            run({"new", path("vit"), "--recipe", "dca-vit-s16", "--data", path("pictures"), "--layers", "4"});
        QVERIFY2(made.code == 0, qPrintable(made.errors));
        const projects::Project vit = opened("vit");
        QCOMPARE(vit.stack().topology.preset, std::string("dca"));
        QCOMPARE(vit.network.depth(), std::int64_t{4});
        const auto* const pictures = std::get_if<projects::PictureData>(&vit.data.source);
        QVERIFY(pictures && QString::fromStdString(pictures->path).endsWith("pictures") && pictures->height == 224);
        write("words.txt", QByteArray("to be or not to be, ").repeated(300));
        const Ran bert = run({"new", path("bert"), "--recipe", "raptr-bert-base", "--data", path("words.txt"),
                              "--tokeniser", "characters"});
        QVERIFY2(bert.code == 0, qPrintable(bert.errors));
        QCOMPARE(opened("bert").stack().schedule.stages.size(), std::size_t{4});
        QVERIFY(opened("bert").network.objective == projects::Objective::MaskedToken);
    }

    /// A classifier that starts from BERT has the ε of its norms, BERT's dropout before the classes, and RaPTr's
    /// warm-up.
    void fineTuningHasTheDetailsOfBert()
    {
        write("small.csv", QByteArray("text,label\nto be,a\nnot to be,b\n").repeated(1) +
                               QByteArray("to be,a\nnot to be,b\n").repeated(40));
        const Ran made = run({"new", path("tuned-bert"), "--recipe", "raptr-bert-base", "--data", path("small.csv"),
                              "--tokeniser", "characters", "--layers", "2", "--steps", "500"});
        QVERIFY2(made.code == 0, qPrintable(made.errors));
        const projects::Project tuned = opened("tuned-bert");
        QCOMPARE(tuned.training.learningRate.warmupSteps, std::int64_t{30});
        const projects::Graph& head = tuned.network.head;
        const auto node = [&](const char* name) {
            return std::ranges::find(head.nodes, std::string(name), &projects::Node::name);
        };
        QCOMPARE(projects::paramDouble(node("final_norm")->params, "epsilon"), 1e-12);
        QVERIFY(node("drop_pooled") != head.nodes.end());
        QCOMPARE(projects::paramDouble(node("drop_pooled")->params, "rate"), 0.1);
    }

    /// The help's page and `new` tell what a recipe has otherwise than the source that it follows.
    void recipesTellWhatDiffersFromTheirSources()
    {
        QString page;
        for (const char* const topic : {"recipes", "looped-networks", "convolutional-networks", "efficientnets",
                                        "denoising", "diffusion", "worlds"}) {
            const auto& text = resources::findTopic(topic)->text;
            page += QString::fromUtf8(text.data(), qsizetype(text.size())).simplified() + "\n";
        }
        int told = 0;
        for (const projects::Recipe& recipe : projects::recipes()) {
            for (const std::string& difference : recipe.differences) {
                QVERIFY2(page.contains(QString::fromStdString(difference).simplified()), difference.c_str());
                ++told;
            }
        }
        QVERIFY(told >= 8);
        write("few.txt", QByteArray("to be or not to be,\n").repeated(300));
        const Ran made =
            run({"new", path("lm1b"), "--recipe", "dca-lm1b", "--data", path("few.txt"), "--tokeniser", "characters"});
        QVERIFY2(made.code == 0, qPrintable(made.errors));
        QVERIFY2(made.output.contains("rows are planned once"), qPrintable(made.output));
    }

    /// The topology and the schedule are set after the depth that they are made for, whatever the order of the
    /// arguments.
    void theOrderOfSetDoesNotCount()
    {
        const auto set = [&](const QStringList& fields) {
            QStringList words{"info", "example:staged-language", "--json"};
            for (const QString& field : fields) {
                words << "--set" << field;
            }
            return run(words);
        };
        const QString depth = "/network/stack/0/repeat=6";
        const QString schedule = "/schedule=\"stacking 3-6\"";
        const QString scaling = "/schedule/scaling=none";
        const Ran first = set({depth, schedule, scaling});
        QVERIFY2(first.code == 0, qPrintable(first.errors));
        for (const QStringList& order :
             {QStringList{schedule, depth, scaling}, QStringList{scaling, schedule, depth}}) {
            const Ran ran = set(order);
            QVERIFY2(ran.code == 0, qPrintable(ran.errors));
            QCOMPARE(ran.output, first.output);
        }
        const auto parametersOf = [&](const QString& rank) {
            const Ran ran = run({"info", "example:low-rank-language", "--json", "--set", rank});
            return ran.code == 0 ? ran.json().object()["cost"].toObject()["total"].toObject()["parameters"].toInteger()
                                 : -1;
        };
        QVERIFY(parametersOf("network.rank=0.25") > 0);
        QCOMPARE(parametersOf("network.rank=0.25"), parametersOf("network.rank.scale=0.25"));
        QVERIFY(parametersOf("network.rank=8") > 0);
        QVERIFY(parametersOf("network.rank=full") > parametersOf("network.rank=8"));
        QCOMPARE(parametersOf("network.rank=many"), -1);
    }

    /// The script names as many ranks as GPUs, and goes on from the last checkpoint when it is submitted again.
    void clusterScriptsStartTheRanks()
    {
        const Ran made = run({"cluster-script", "plain-language", "--gpus", "16", "--time", "1d2h30m"});
        QVERIFY2(made.code == 0, qPrintable(made.errors));
        for (const char* const line :
             {"#SBATCH --nodes=2\n", "#SBATCH --ntasks-per-node=8\n", "#SBATCH --gpus-per-node=8\n",
              "#SBATCH --time=1-02:30:00\n", " --resume-or-start --device cuda:0 --time-limit 1585m\n"}) {
            QVERIFY2(made.output.contains(line), line);
        }
        QVERIFY(made.output.startsWith("#!/bin/sh\n"));
        QProcess shell;
        shell.start("sh", {"-n"});
        shell.write(made.output.toUtf8());
        shell.closeWriteChannel();
        QCOMPARE(ended(shell).code, 0);
        QVERIFY(run({"cluster-script", "plain-language", "--gpus", "3"}).errors.contains("multiple of the 3 ranks"));
        QVERIFY(
            run({"cluster-script", "plain-language", "--gpus", "12"}).errors.contains("multiple of the 8 of a node"));
        QCOMPARE(run({"new", path("world"), "--recipe", "point-maze"}).code, 0);
        QVERIFY(run({"cluster-script", path("world"), "--gpus", "2"})
                    .errors.contains("expected a run without other ranks"));
        QCOMPARE(run({"cluster-script", path("world")}).code, 0);
    }

    /// A classifier starts from the weights of a network for hidden tokens.
    void aTrainedBertIsFineTuned()
    {
        QByteArray words;
        QByteArray rows("text,label\n");
        for (int i = 0; i < 300; ++i) {
            const char* const animal = i % 2 == 0 ? "cat" : "dog";
            words += QByteArray("a ") + animal + (i % 2 == 0 ? " purrs. " : " barks. ");
            rows += QByteArray("the ") + animal + " is here," + animal + "\n";
        }
        write("words.txt", words);
        write("rows.csv", rows);
        const QStringList small{"--recipe", "small-bert", "--layers", "2", "--width", "16"};
        QCOMPARE(run(QStringList{"new", path("hidden"), "--data", path("words.txt")} + small).code, 0);
        QCOMPARE(run(QStringList{"new", path("tuned"), "--data", path("rows.csv")} + small).code, 0);
        const projects::Project tuned = opened("tuned");
        QVERIFY(tuned.network.objective == projects::Objective::Classification);
        const Ran trained =
            run({"train", path("hidden"), "--run", path("first"), "--steps", "2", "--set", "data.masking.token=1"});
        QVERIFY2(trained.code == 0, qPrintable(trained.errors));
        const Ran loaded = run({"import", path("first/checkpoints/step-00000002/model.safetensors"), "--onto",
                                path("tuned"), "-o", path("second")});
        QVERIFY2(loaded.code == 0, qPrintable(loaded.errors));
        QVERIFY(!loaded.output.contains("layers.0.norm_ffn.weight") || !loaded.output.contains("not"));
        const Ran tune = run({"resume", path("second"), "--steps", "3"});
        QVERIFY2(tune.code == 0 && tune.output.contains("accuracy"), qPrintable(tune.output + tune.errors));
        const Ran one = run({"sample", path("second"), "--prompt", "a dog", "--json"});
        const QJsonArray said = one.json().object()["masked"].toArray();
        QVERIFY2(said.size() == 1, qPrintable(one.output + one.errors));
        const QJsonArray classes = said[0].toObject()["candidates"].toArray();
        QCOMPARE(classes.size(), 2);
        QCOMPARE(classes[0].toObject()["token"].toString(), one.json().object()["text"].toString());
        QVERIFY(std::abs(classes[0].toObject()["probability"].toDouble() +
                         classes[1].toObject()["probability"].toDouble() - 1) < 1e-6);
        const QJsonArray held = run({"sample", path("second"), "--json"}).json().object()["masked"].toArray();
        QVERIFY(!held.isEmpty() && !held[0].toObject()["input"].toString().isEmpty());
        QVERIFY(!held[0].toObject()["class"].toString().isEmpty());
    }

    /// The first batch: pictures with their classes, also as a file, and text with its hidden tokens.
    void dataShowsTheFirstBatch()
    {
        const QStringList pictures{"data", "small-vit", "--set", "data.source.samples=20"};
        const Ran shown = run(pictures + QStringList{"--count", "3", "-o", path("batch.png")});
        QVERIFY2(shown.code == 0, qPrintable(shown.errors));
        QVERIFY2(shown.output.contains("row 2, column 1  →"), qPrintable(shown.output));
        QFile sheet(path("batch.png"));
        QVERIFY(sheet.open(QIODevice::ReadOnly));
        QVERIFY(sheet.readAll().startsWith("\x89PNG"));
        const QJsonArray examples = run(pictures + QStringList{"--json"}).json().object()["examples"].toArray();
        QCOMPARE(examples.size(), 16);
        QVERIFY(shown.output.contains(examples[2].toObject()["target"].toString()));
        const Ran hidden = run({"data", "plain-language", "--set", "network.objective=masked_token", "--set",
                                "data.masking.token=0", "--count", "2"});
        QVERIFY2(hidden.code == 0, qPrintable(hidden.errors));
        QCOMPARE(hidden.output.count('\n'), 2);
        QVERIFY2(hidden.output.contains(QString::fromUtf8("→")), qPrintable(hidden.output));
        const Ran refused = run({"data", "plain-language", "-o", path("text.png")});
        QCOMPARE(refused.code, 1);
        QVERIFY2(refused.errors.contains("is for pictures"), qPrintable(refused.errors));
    }

    /// Also where the directory is not written by its name.
    void newNamesTheProjectAfterItsDirectory()
    {
        QVERIFY(QDir().mkpath(path("here")));
        QCOMPARE(run({"new", path("slashed/"), "--layers", "2"}).code, 0);
        QCOMPARE(opened("slashed").name, std::string("slashed"));
        QCOMPARE(runProcess({"new", ".", "--layers", "2"}, path("here")).code, 0);
        QCOMPARE(opened("here").name, std::string("here"));
    }

    /// A mixture from its parts to a trained run, and away in a bundle.
    void newMixesTexts()
    {
        write("web.txt", QByteArray("to be or not to be, ").repeated(300));
        write("code/a.jsonl", QByteArray("{\"code\": \"int main() { return 0; }\"}\n").repeated(100));
        write("code/b.jsonl", QByteArray("{\"code\": \"int x = 1;\"}\n").repeated(100));
        const Ran made = run({"new", path("ul2"), "--mix", path("web.txt") + "=57", "--mix", path("code") + "=0.17e2",
                              "--field", "code", "--layers", "2", "--width", "32", "--steps", "2"});
        QVERIFY2(made.code == 0, qPrintable(made.errors));
        const auto mixture = std::get<projects::MixtureData>(opened("ul2").data.source);
        QCOMPARE(mixture.parts.size(), std::size_t{2});
        QCOMPARE(mixture.parts[1].path, path("code").toStdString());
        QCOMPARE(mixture.parts[1].field, std::string("code"));
        QCOMPARE(mixture.parts[1].weight, 17.0);

        const Ran set = run({"set", path("ul2"), "data.source.parts.0.weight=51"});
        QVERIFY2(set.code == 0 && set.output.contains("data · part 1 · weight: 57 → 51"), qPrintable(set.output));
        const Ran info = run({"info", path("ul2")});
        QVERIFY2(info.code == 0, qPrintable(info.errors));
        QVERIFY2(info.output.contains("75 %") && info.output.contains("25 %"), qPrintable(info.output));
        const QJsonArray parts =
            run({"info", path("ul2"), "--json"}).json().object()["data"].toObject()["parts"].toArray();
        QCOMPARE(parts.size(), 2);
        QCOMPARE(parts[1].toObject()["share"].toDouble(), 0.25);
        QVERIFY(parts[1].toObject()["train"].toInt() > 2000);

        const Ran trained = run({"train", path("ul2"), "--json"});
        QVERIFY2(trained.code == 0, qPrintable(trained.errors));
        QVERIFY2(trained.errors.contains("part 2 (") && trained.errors.contains("25 % of the examples"),
                 qPrintable(trained.errors));
        QCOMPARE(run({"pack", path("ul2"), "-o", path("ul2.residua")}).code, 0);
        const Ran unpacked = run({"unpack", path("ul2.residua"), "-o", path("elsewhere")});
        QVERIFY2(unpacked.code == 0 && !unpacked.output.contains("other data"), qPrintable(unpacked.output));
        QVERIFY(QFile::exists(path("elsewhere/data/web.txt")) && QFile::exists(path("elsewhere/data/code/b.jsonl")));
        QCOMPARE(std::get<projects::MixtureData>(opened("elsewhere").data.source).parts[1].path,
                 std::string("data/code"));

        QFile::remove(path("elsewhere/data/web.txt"));
        const Ran missing = run({"validate", path("elsewhere")});
        QCOMPARE(missing.code, 2);
        QVERIFY2(missing.output.contains("[data · part 1 · ") && missing.output.contains("data/web.txt] "),
                 qPrintable(missing.output));
    }

    void newTakesAFolderOfRecords()
    {
        write("shards/readme.md", "none of it");
        write("shards/more/train-0.ndjson", QByteArray("{\"body\": \"to be or not to be\"}\n").repeated(200));
        const Ran made = run({"new", path("columns"), "--data", path("shards"), "--field", "body"});
        QVERIFY2(made.code == 0, qPrintable(made.errors));
        const projects::Project project = opened("columns");
        const auto* const records = std::get_if<projects::JsonLinesData>(&project.data.source);
        QVERIFY(records != nullptr);
        QCOMPARE(records->field, std::string("body"));
        QCOMPARE(records->path, path("shards").toStdString());
    }

    void newRefusesWhatItCannotMake_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QString>("said");
        QTest::newRow("no such data") << QStringList{"--data", "/nowhere/text.txt"} << "does not exist";
        QTest::newRow("a field of no records")
            << QStringList{"--field", "body"} << "is for JSON Lines, Parquet and tables";
        QTest::newRow("no such topology") << QStringList{"--topology", "dac"} << "no preset \"dac\"";
        QTest::newRow("a method of several presets")
            << QStringList{"--topology", "ancre"} << "ancre is ancre-ingoing, ancre-outgoing, ";
        QTest::newRow("a method by its title")
            << QStringList{"--topology", "Hyper-Connections"} << "is hyper-static or hyper-dynamic";
        QTest::newRow("no method") << QStringList{"--topology", "unknown"} << "new --list shows them";
        QTest::newRow("sizes of an example")
            << QStringList{"--example", "grn-language", "--layers", "3"} << "has its own data and sizes";
        QTest::newRow("no such part") << QStringList{"--mix", "/nowhere/text.txt=1"} << "does not exist";
        QTest::newRow("no weight") << QStringList{"--mix", "."} << "expected PATH=WEIGHT";
        QTest::newRow("weight of nothing") << QStringList{"--mix", ".=0"} << "expected a weight above 0";
        QTest::newRow("a weight that is none") << QStringList{"--mix", ".=inf"} << "expected a weight above 0";
        QTest::newRow("tokens in a mixture") << QStringList{"--mix", path("t.bin") + "=1"} << "is ready-made tokens";
        QTest::newRow("data twice") << QStringList{"--mix", ".=1", "--data", "."} << "instead of --data";
        QTest::newRow("a key of tokens") << QStringList{"--data", path("t.bin"), "--field", "text"}
                                         << "t.bin is none of these";
        QTest::newRow("a label of tokens")
            << QStringList{"--data", path("t.bin"), "--label", "x"} << "is for tables of labelled texts";
        const auto unread = [&](const char* test, const char* name, const char* said) {
            QTest::newRow(test) << QStringList{"--data", path(name)} << said;
        };
        unread("an array named as a picture", "classes", "a/1.png] is not a picture, expected PNG, JPEG or WebP");
        unread("an array of fractions named as a table", "floats.csv", "is a NumPy array of '<f8'");
        unread("a table without the column", "stars.csv", "has no column \"label\"; its columns are: review, stars");
        unread("the way on from there", "stars.csv", "stars.csv --field NAME --label NAME");
        unread("records without the key", "body.jsonl", "body.jsonl --field NAME");
        unread("records that end within", "cut.jsonl", "is not valid JSON");
        unread("an empty text", "none.txt", "is empty, expected text");
        unread("the way on from a text", "none.txt", "residua-cli explain text");
        QTest::newRow("a part of a mixture") << QStringList{"--mix", path("latin.txt") + "=1"} << "not valid UTF-8";
        QTest::newRow("no such recipe") << QStringList{"--recipe", "dca-vit"} << "no recipe \"dca-vit\"";
        QTest::newRow("a recipe of an example")
            << QStringList{"--example", "small-vit", "--recipe", "dca-vit-s16"} << "has its own data and sizes";
        QTest::newRow("a recipe of other data")
            << QStringList{"--recipe", "dca-lm1b", "--data", path("t.csv")} << "reads text, got labelled text";
        QTest::newRow("no layers") << QStringList{"--layers", "0"} << "at least 1";
    }
    void newRefusesWhatItCannotMake()
    {
        QFETCH(QStringList, words);
        QFETCH(QString, said);
        write("t.bin", QByteArray(100, '\0'));
        write("t.csv", "text,label\na,b\n");
        const auto array = [](const QByteArray& type, const QByteArray& shape) {
            const QByteArray header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
            return QByteArray("\x93NUMPY\1\0\x76\0", 10) + header.leftJustified(117) + "\n" + QByteArray(2000, '\1');
        };
        write("classes/a/1.png", array("<u2", "(1000,)"));
        write("classes/b/1.png", array("<u2", "(1000,)"));
        write("floats.csv", array("<f8", "(250,)"));
        write("stars.csv", "review,stars\na,b\n");
        write("body.jsonl", "{\"body\": \"a text\"}\n");
        write("cut.jsonl", QByteArray("{\"text\": \"a text\"}\n").repeated(2000) + "{\"te");
        write("latin.txt", QByteArray(5000, '\xe9'));
        write("none.txt", "");
        const Ran ran = run(QStringList{"new", path("refused")} + words);
        QCOMPARE(ran.code, 1);
        QVERIFY2(ran.errors.contains(said), qPrintable(ran.errors));
        QVERIFY(!QDir(path("refused")).exists());
    }

    /// The block gets the ports that the topology feeds, and the command says so.
    void setWritesFieldsAndAdaptsBlocks()
    {
        QCOMPARE(run({"new", path("plain"), "--example", "plain-language"}).code, 0);
        const Ran set = run({"set", path("plain"), "training.batch=8", "/training/steps=5", "topology=dca"});
        QVERIFY2(set.code == 0, qPrintable(set.errors));
        QVERIFY2(set.errors.contains("block transformer is adapted"), qPrintable(set.errors));
        QVERIFY2(set.output.contains("batch"), qPrintable(set.output));
        const projects::Project project = opened("plain");
        QCOMPARE(project.training.batch, std::int64_t{8});
        QCOMPARE(project.training.steps, std::int64_t{5});
        QCOMPARE(project.stack().topology.preset, std::string("dca"));
        QVERIFY(!projects::hasErrors(projects::validate(project)));
        QCOMPARE(run({"validate", path("plain"), "--set", "topology=plain"}).code, 0);
    }

    /// Shortcuts without visits lead to every visit, also of a number that is set later, and share a weight.
    void setShortcutsOfEveryVisit()
    {
        QCOMPARE(run({"new", path("visits"), "--example", "looped"}).code, 0); // 1 2@1 3@1 2@2 3@2 2@3 3@3 4
        const auto listed = [this] {
            const projects::Project project = opened("visits");
            const auto& mix = std::get<projects::DepthMix>(project.stack().topology.wiring);
            return std::get<projects::ExplicitSources>(mix.sources).shortcuts;
        };
        const Ran set = run({"set", path("visits"), "topology=1:3+3:2+2:4", "topology.wiring.weight=scalar",
                             "network.loops.0.rows=layer"});
        QVERIFY2(set.code == 0, qPrintable(set.errors));
        QVERIFY((listed() == std::vector<projects::Shortcut>{{1, 3}, {3, 4}, {1, 5}, {5, 6}, {1, 7}, {6, 8}}));
        const Ran fewer = run({"set", path("visits"), "network.loops.0.visits=2"});
        QVERIFY2(fewer.code == 0, qPrintable(fewer.errors));
        QVERIFY((listed() == std::vector<projects::Shortcut>{{1, 3}, {3, 4}, {1, 5}, {4, 6}}));
        const Ran one = run({"validate", path("visits"), "--set", "topology=2@1:4"});
        QVERIFY2(one.code == 0, qPrintable(one.errors));
        const Ran own =
            run({"validate", path("visits"), "--set", "topology=2@1:4", "--set", "topology.wiring.weight=scalar"});
        QVERIFY2(own.code != 0 && (own.output + own.errors).contains("2:4 without @"), qPrintable(own.output));
        const Ran none = run({"set", path("visits"), "topology=4:2"});
        QVERIFY2(none.code != 0 && none.errors.contains("without a visit (2@3), j means each visit"),
                 qPrintable(none.errors));
    }

    /// A further stack is one option; fields are set after it.
    void setJoinsAFurtherStack()
    {
        QCOMPARE(run({"new", path("chain"), "--example", "plain-language"}).code, 0);
        const Ran set = run({"set", path("chain"), "--join-stack", "network", "towers.0.width=32"});
        QVERIFY2(set.code == 0, qPrintable(set.errors));
        const projects::Project project = opened("chain");
        QCOMPARE(project.towers.size(), std::size_t{1});
        QCOMPARE(project.towers[0].network.stack().width, std::int64_t{32});
        QCOMPARE(project.network.input, project.towers[0].network.name + ".output");
        QVERIFY(!projects::hasErrors(projects::validate(project)));
        QVERIFY(run({"set", path("chain"), "--join-stack", "none"})
                    .errors.contains(QString::fromStdString(project.towers[0].network.name)));
        QVERIFY(run({"set", path("chain")}).errors.contains("--join-stack"));
    }

    /// The head gets the output and the stem the segments; turning it off takes them away.
    void setFitsTheNetworkToTheNextSentence()
    {
        QCOMPARE(run({"new", path("pairs"), "--example", "small-bert"}).code, 0);
        const projects::Project before = opened("pairs");
        QCOMPARE(run({"set", path("pairs"), "data.masking.next_sentence=true"}).code, 0);
        QVERIFY(!projects::hasErrors(projects::validate(opened("pairs"))));
        QVERIFY(opened("pairs").network.head != before.network.head);
        const Ran fed = run({"data", path("pairs")});
        QVERIFY2(fed.output.contains("the second text"), qPrintable(fed.output));
        QCOMPARE(run({"set", path("pairs"), "data.masking.next_sentence=false"}).code, 0);
        QCOMPARE(opened("pairs").network.head, before.network.head);
    }

    void setWritesAllOrNothing()
    {
        QCOMPARE(run({"new", path("kept")}).code, 0);
        const projects::Project before = opened("kept");
        const Ran ran = run({"set", path("kept"), "training.batch=8", "training.stpes=5"});
        QCOMPARE(ran.code, 1);
        QVERIFY2(ran.errors.contains("stpes"), qPrintable(ran.errors));
        QVERIFY(opened("kept") == before);
        QCOMPARE(run({"set", path("kept"), "training.batch"}).code, 1);
        QCOMPARE(run({"set", path("kept")}).code, 1);
        QCOMPARE(run({"set", path("nowhere"), "training.batch=8"}).code, 2);
    }

    /// The file that is written is project.json, whatever file was read.
    void setRefusesAFileOfAnotherName()
    {
        QCOMPARE(run({"new", path("twofold")}).code, 0);
        const QString backup = path("twofold/backup.json");
        const QString project = path("twofold/project.json");
        QVERIFY(QFile::copy(project, backup));
        QCOMPARE(run({"set", project, "training.batch=3"}).code, 0);
        const QByteArray projectBefore = contents(project);
        const QByteArray backupBefore = contents(backup);
        QVERIFY(projectBefore != backupBefore);
        const Ran ran = run({"set", backup, "training.steps=7"});
        QCOMPARE(ran.code, 1);
        QVERIFY2(ran.errors.contains("backup.json\", expected"), qPrintable(ran.errors));
        QCOMPARE(contents(project), projectBefore);
        QCOMPARE(contents(backup), backupBefore);
    }

    void aRunIsWatchedFromAnotherProcess()
    {
        QVERIFY(projects::saveProject(path("tiny").toStdString(), tinyProject()).ok());
        QProcess training;
        training.start(RESIDUA_CLI, {"train", path("tiny"), "--steps", "400", "--run", path("tiny/runs/one")});
        QTRY_VERIFY(QFile::exists(path("tiny/runs/one/run.json")));
        const Ran watched = run({"watch", path("tiny/runs/one"), "--json"});
        QVERIFY2(watched.code == 0, qPrintable(watched.errors));
        QVERIFY(training.waitForFinished(kPatience));
        const std::vector<QJsonObject> events = watched.events();
        QCOMPARE(events.back()["event"].toString(), QString("ended"));
        QCOMPARE(events.back()["status"].toString(), QString("finished"));
        QCOMPARE(events.back()["step"].toInt(), 400);
        const Ran text = run({"watch", path("tiny/runs/one")});
        QVERIFY2(text.output.contains("finished at step 400 of 400: loss "), qPrintable(text.output));
        QCOMPARE(run({"watch", path("tiny/runs/none")}).code, 3);
    }

    /// A run is watched while it is trained, not only when it has ended.
    void stepsAreReported()
    {
        QVERIFY(projects::saveProject(path("long").toStdString(), tinyProject()).ok());
        QProcess training;
        training.start(RESIDUA_CLI, {"train", path("long"), "--steps", "10000000", "--run", path("long/runs/one")});
        QVERIFY(training.waitForStarted(kPatience));
        QTRY_VERIFY(QFile::exists(path("long/runs/one/run.json")));
        QProcess watching;
        watching.start(RESIDUA_CLI, {"watch", path("long/runs/one"), "--json"});
        QByteArray told;
        const auto stepsTold = [&] { // different ones
            watching.waitForReadyRead(100);
            told += watching.readAllStandardOutput();
            return told.count("\"event\":\"step\"");
        };
        QTRY_VERIFY(stepsTold() >= 3);
        QCOMPARE(training.state(), QProcess::Running);
        QCOMPARE(run({"stop", path("long/runs/one")}).code, 0);
        QVERIFY(training.waitForFinished(kPatience));
        const Ran rest = ended(watching);
        QCOMPARE(rest.code, 0);
        const QByteArray last = (told + rest.output.toUtf8()).trimmed().split('\n').last();
        const QJsonObject end = QJsonDocument::fromJson(last).object();
        QCOMPARE(end["event"].toString(), QString("ended"));
        QCOMPARE(end["status"].toString(), QString("stopped"));
    }

private:
    static Ran run(const QStringList& words) { return runProcess(words); }
    [[nodiscard]] QString path(const QString& name) const { return m_folder.filePath(name); }
    void write(const QString& name, const QByteArray& bytes) const
    {
        QDir().mkpath(QFileInfo(path(name)).path());
        QFile file(path(name));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(bytes);
    }
    static QByteArray contents(const QString& file)
    {
        QFile opened(file);
        return opened.open(QIODevice::ReadOnly) ? opened.readAll() : QByteArray();
    }
    [[nodiscard]] projects::Project opened(const QString& name) const
    {
        return projects::loadProject(path(name).toStdString())->project;
    }

    QTemporaryDir m_folder;
};

} // namespace

RESIDUA_TEST(TestCliProjects)
#include "tst_cli_projects.moc"
