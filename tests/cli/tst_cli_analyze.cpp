// SPDX-License-Identifier: GPL-3.0-or-later
// Another topology for a trained network, and analyses of what runs have learned.
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

#include <algorithm>
#include <cmath>
#include <utility>

using namespace residua;
using namespace residua::cli;

namespace {

class TestCliAnalyze : public QObject {
    Q_OBJECT

private slots:
    void factorises()
    {
        QVERIFY(QDir(m_folder.path()).mkdir("thin"));
        QVERIFY(projects::saveProject(path("thin/project").toStdString(), tinyProject()).ok());
        const QString whole = path("thin/whole");
        const QString thin = path("thin/thin");
        QCOMPARE(run({"train", path("thin/project"), "--steps", "4", "--run", whole}).code, 0);
        QCOMPARE(run({"factorise", whole, "-o", thin}).code, 1);
        QCOMPARE(run({"factorise", whole, "--rank", "2", "--rank-scale", "0.5", "-o", thin}).code, 1);
        QCOMPARE(run({"factorise", whole, "--rank-scale", "0", "-o", thin}).code, 1);
        QCOMPARE(run({"factorise", whole, "--rank-scale", "1.5", "-o", thin}).code, 1);
        const Ran noise = run({"factorise", whole, "--rank", "2", "--inputs", "noise", "-o", thin});
        QCOMPARE(noise.code, 1);
        QVERIFY2(noise.errors.contains("expected one of gaussian, data"), qPrintable(noise.errors));
        const Ran odd = run({"factorise", whole, "--rank", "2", "--method", "best", "-o", thin});
        QCOMPARE(odd.code, 1);
        QVERIFY2(odd.errors.contains("baseline, spectral, lfai"), qPrintable(odd.errors));
        QCOMPARE(run({"factorise", whole, "--rank", "1000", "-o", thin}).code, 3);
        QVERIFY(!QDir(thin).exists());
        const QJsonObject made = json(run({"factorise", whole, "--rank-scale", "0.25", "--method", "relu-svd", "-o",
                                           thin, "--steps", "6", "--json"}))
                                     .object();
        QCOMPARE(made["run"].toString(), thin);
        QCOMPARE(made["step"].toInt(), 4);
        QVERIFY(made["parametersAfter"].toInt() < made["parametersBefore"].toInt());
        QVERIFY(made["lossBefore"].toDouble() > 0 && made["lossAfter"].toDouble() > 0);
        QVERIFY(!made["weights"].toArray().isEmpty());
        const Ran resumed = run({"resume", thin});
        QVERIFY2(resumed.code == 0, qPrintable(resumed.errors));
        const Ran again = run({"factorise", thin, "--rank-scale", "0.1"});
        QCOMPARE(again.code, 3);
        QVERIFY2(again.errors.contains("in factors already"), qPrintable(again.errors));
    }

    /// `analyze stability` of a checkpoint gives each layer's numbers, as a table, JSON and CSV.
    void stabilityOfARun()
    {
        QVERIFY(QDir(m_folder.path()).mkdir("stable"));
        const projects::Document document = tinyProject();
        QVERIFY(projects::saveProject(path("stable/project").toStdString(), document).ok());
        const QString trained = path("stable/run");
        QCOMPARE(run({"train", path("stable/project"), "--steps", "3", "--run", trained}).code, 0);
        const QJsonObject told = json(run({"analyze", "stability", trained, "--json"})).object();
        QCOMPARE(told["step"].toInt(), 3);
        QCOMPARE(told["layers"].toArray().size(), document.project.network.depth());
        double mean = 0;
        for (const QJsonValue& layer : told["layers"].toArray()) {
            QVERIFY(layer["psi"].toDouble() > 0 && layer["norm"].toDouble() > 0);
            mean += layer["lossRise"].toDouble() / static_cast<double>(document.project.network.depth());
        }
        QVERIFY(std::abs(told["gap"].toDouble() + mean) < 1e-6);
        const Ran csv = run({"analyze", "stability", trained, "-o", "-"});
        QCOMPARE(csv.output.section('\n', 0, 0), QString("layer,psi,norm,loss_rise"));
        QCOMPARE(run({"analyze", "stability"}).code, 1);
        QCOMPARE(run({"analyze", "stability", trained, "--figure", "4"}).code, 1);
        QCOMPARE(run({"analyze", "stability", path("stable/none")}).code, 3);
    }

    /// `analyze visits` of a project at its start and of a run, whose loss over visits is fitted.
    void visitsOfALoop()
    {
        QVERIFY(QDir(m_folder.path()).mkdir("loop"));
        projects::Document document = tinyProject();
        const QString plain = path("loop/plain");
        QVERIFY(projects::saveProject(plain.toStdString(), document).ok());
        const Ran without = run({"analyze", "visits", plain, "--batches", "1"});
        QCOMPARE(without.code, 3);
        QVERIFY2(without.errors.contains("has no loop"), qPrintable(without.errors));
        document.project.stack().topology = {};
        document.project.stack().loops = {{.first = 1, .last = 1, .visits = 3}};
        const QString project = path("loop/project");
        QVERIFY(projects::saveProject(project.toStdString(), document).ok());
        const Ran start = run({"analyze", "visits", project, "--batches", "1", "--json"});
        QVERIFY2(start.code == 0, qPrintable(start.errors));
        QCOMPARE(json(start).object()["step"].toInt(), 0);
        const Ran first = run({"analyze", "visits", project, "--batches", "1"});
        QVERIFY2(first.output.contains("fixed-point residual after 50 visits"), qPrintable(first.output));
        const QString trained = path("loop/run");
        QCOMPARE(run({"train", project, "--steps", "3", "--run", trained}).code, 0);
        const QJsonObject told = json(run({"analyze", "visits", trained, "--json"})).object();
        QCOMPARE(told["step"].toInt(), 3);
        QStringList measures;
        for (const QJsonValue& curve : told["curves"].toArray()) {
            measures << curve["measure"].toString();
            QVERIFY(curve["values"].toArray().last().toDouble() != 0);
        }
        QCOMPARE(measures.join(' '), QString("change acceleration cosine centred_cosine write_cosine write_ratio "
                                             "gradient alignment radius path_gap residual"));
        const Ran csv = run({"analyze", "visits", trained, "--apart", "0.5", "-o", "-"});
        QCOMPARE(csv.output.section('\n', 0, 0), QString("measure,layer,visit,value"));
        QVERIFY(csv.output.contains("\nchange,,1,") && csv.output.contains("\ngradient,1,3,"));
        const Ran refused = run({"analyze", "visits", trained, "--loop", "2"});
        QCOMPARE(refused.code, 3);
        QVERIFY2(refused.errors.contains("expected 1 to 1"), qPrintable(refused.errors));
        QCOMPARE(run({"analyze", "visits", trained, "--apart", "0"}).code, 1);
        QCOMPARE(run({"analyze", "visits", trained, "--set", "training.batch=2"}).code, 1);
        const QStringList byVisits{"analyze", "knockout", trained, "--by", "visits"};
        const QJsonArray fits = json(run(byVisits + QStringList{"--json"})).object()["fits"].toArray();
        QCOMPARE(fits.size(), 1);
        QCOMPARE(fits[0]["visits"].toDouble(), 3.0);
        QVERIFY(run(byVisits).output.contains("loss after T visits"));
        QVERIFY(!json(run(byVisits + QStringList{"--only", "1 visit", "--json"})).object().contains("fits"));
    }

    /// `analyze knockout` by layer agrees with the stability of the layers; by term each shortcut has its row.
    void knockoutsOfARun()
    {
        QVERIFY(QDir(m_folder.path()).mkdir("parts"));
        const projects::Document document = tinyProject();
        QVERIFY(projects::saveProject(path("parts/project").toStdString(), document).ok());
        const QString trained = path("parts/run");
        QCOMPARE(run({"train", path("parts/project"), "--steps", "3", "--run", trained}).code, 0);
        const QJsonArray layers = json(run({"analyze", "stability", trained, "--json"})).object()["layers"].toArray();
        const QStringList byLayer{"analyze", "knockout", trained, "--by", "layer", "--json"};
        const Ran first = run(byLayer);
        const QJsonObject told = json(first).object();
        QVERIFY2(!first.errors.contains("--again"), qPrintable(first.errors));
        const Ran kept = run(byLayer);
        QCOMPARE(json(kept).object()["parts"], told["parts"]);
        QVERIFY2(kept.errors.contains("--again measures anew"), qPrintable(kept.errors));
        const Ran again = run(byLayer + QStringList{"--again"});
        QVERIFY2(!again.errors.contains("has kept"), qPrintable(again.errors));
        const QJsonArray chosen = json(run(byLayer + QStringList{"--only", "layer 2"})).object()["parts"].toArray();
        QCOMPARE(chosen, QJsonArray{told["parts"][1]});
        const Ran unknown = run(byLayer + QStringList{"--only", "layer2"});
        QCOMPARE(unknown.code, 3);
        QVERIFY2(unknown.errors.contains("did you mean \"layer 2\""), qPrintable(unknown.errors));
        const QJsonArray parts = told["parts"].toArray();
        QCOMPARE(parts.size(), layers.size());
        for (qsizetype i = 0; i < parts.size(); ++i) {
            QCOMPARE(parts[i]["part"].toString(), QStringLiteral("layer %1").arg(i + 1));
            QVERIFY(std::abs(parts[i]["lossRise"].toDouble() - layers[i]["lossRise"].toDouble()) < 1e-6);
            QVERIFY(parts[i]["weight"].isNull());
        }
        const auto depth = static_cast<qsizetype>(document.project.network.depth());
        const QJsonObject terms = json(run({"analyze", "knockout", trained, "--json"})).object();
        const auto& mix = std::get<projects::DepthMix>(document.project.stack().topology.wiring);
        QCOMPARE(terms["parts"].toArray().size(), depth * (depth + 1) / 2 + (mix.finalMix ? depth + 1 : 0));
        QCOMPARE(terms["parts"][0]["part"].toString(), QString("0:1"));
        projects::Document halved = document; // fixed weights other than 1, which the network does not report
        halved.project.stack().topology.wiring = projects::DepthMix();
        std::get<projects::DepthMix>(halved.project.stack().topology.wiring).init = projects::MixInit::Reciprocal;
        QVERIFY(projects::saveProject(path("parts/halved").toStdString(), halved).ok());
        QCOMPARE(run({"train", path("parts/halved"), "--steps", "3", "--run", path("parts/other")}).code, 0);
        const QJsonArray fixed =
            json(run({"analyze", "knockout", path("parts/other"), "--json"})).object()["parts"].toArray();
        QCOMPARE(fixed[2]["part"].toString(), QString("1:2"));
        QCOMPARE(fixed[2]["weight"].toDouble(), 0.5);
        const QStringList weak{"analyze", "knockout", trained, "--weakest", "1"};
        QCOMPARE(run(weak + QStringList{"--weak-by", "size"}).code, 1);
        QCOMPARE(run(weak + QStringList{"--by", "layer"}).code, 1);
        QCOMPARE(run({"analyze", "knockout", trained, "--weak-by", "flop"}).code, 1);
        const Ran named = run(weak + QStringList{"--json"});
        QVERIFY2(named.code == 0, qPrintable(named.errors));
        const QString weakest = json(named).object()["weakest"].toString();
        const auto isIt = [&](const QJsonValue& part) { return part["part"].toString() == weakest; };
        QVERIFY2(std::ranges::any_of(terms["parts"].toArray(), isIt), qPrintable(weakest));
        QVERIFY(run(weak + QStringList{"-o", path("parts/effects.csv")}).output.contains("weakest: " + weakest));
        const Ran tooMany = run({"analyze", "knockout", trained, "--weakest", "1000"});
        QCOMPARE(tooMany.code, 1);
        QVERIFY(tooMany.output.contains("loss of the whole network"));
        const Ran shorter = run({"fork", trained, "--prune", weakest, "--steps", "5", "-o", path("parts/shorter")});
        QVERIFY2(shorter.code == 0, qPrintable(shorter.errors));
        const Ran csv = run({"analyze", "knockout", trained, "-o", "-"});
        QCOMPARE(csv.output.section('\n', 0, 0),
                 QString("part,first,reader,weight,loss_rise,standard_error,divergence"));
        const Ran streams = run({"analyze", "knockout", trained, "--by", "stream"});
        QCOMPARE(streams.code, 3);
        QVERIFY2(streams.errors.contains("no parallel streams"), qPrintable(streams.errors));
        QCOMPARE(run({"analyze", "knockout", trained, "--by", "nothing"}).code, 1);
        QCOMPARE(run({"analyze", "knockout"}).code, 1);
    }

    void metricsOfRuns()
    {
        QVERIFY(QDir(m_folder.path()).mkpath("curves/runs"));
        QVERIFY(projects::saveProject(path("curves/project").toStdString(), tinyProject()).ok());
        for (const char* const name : {"a", "b,c"}) {
            QCOMPARE(run({"train", path("curves/project"), "--steps", "3", "--run", path("curves/runs/") + name}).code,
                     0);
        }
        const QJsonArray told = json(run({"analyze", "metrics", path("curves/runs"), "--json"})).array();
        QCOMPARE(told.size(), 2);
        QCOMPARE(told[0]["name"].toString(), QString("a"));
        QCOMPARE(told[0]["metrics"]["loss/train"].toArray().size(), 3);
        const QString file = path("curves/both.csv");
        QCOMPARE(run({"analyze", "metrics", path("curves/runs/a"), path("curves/runs/b,c"), "-o", file}).code, 0);
        QFile csv(file);
        QVERIFY(csv.open(QIODevice::ReadOnly));
        const QStringList lines = QString::fromUtf8(csv.readAll()).split('\n');
        QCOMPARE(lines[0], QString("run,name,metric,step,value"));
        const auto losses = lines.filter("loss/train,");
        QCOMPARE(losses.size(), 6);
        QCOMPARE(losses[2].section(',', -1).toDouble(),
                 told[0]["metrics"]["loss/train"].toArray()[2].toArray()[1].toDouble());
        QVERIFY2(losses[3].startsWith('"' + path("curves/runs/b,c") + "\",\"b,c\",loss/train,1,"),
                 qPrintable(losses[3]));
        QVERIFY(run({"analyze", "metrics", path("curves/runs/a")}).output.contains("loss/validation"));
        QCOMPARE(run({"analyze", "metrics"}).code, 1);
        QCOMPARE(run({"analyze", "metrics", path("nowhere")}).code, 3);
        QCOMPARE(run({"analyze", "confusion", path("curves/runs/a"), path("curves/runs/a")}).code, 1);
    }

    void confusionOfARun()
    {
        QVERIFY(QDir(m_folder.path()).mkdir("labelled"));
        projects::Document document = tinyProject();
        const QString plain = path("labelled/plain");
        QVERIFY(projects::saveProject(path("labelled/language").toStdString(), document).ok());
        QCOMPARE(run({"train", path("labelled/language"), "--steps", "2", "--run", plain}).code, 0);
        const Ran none = run({"analyze", "confusion", plain});
        QCOMPARE(none.code, 3);
        QVERIFY2(none.errors.contains("has no confusion matrix"), qPrintable(none.errors));

        document.project = projects::findExample("small-vit")->project;
        document.project.data.source = projects::DrawnPictures{.size = 32, .samples = 20};
        document.project.stack().segments.front().repeat = 1;
        document.project.training.batch = 4;
        document.project.training.validateEvery = 2;
        QVERIFY(projects::saveProject(path("labelled/project").toStdString(), document).ok());
        const QString trained = path("labelled/run");
        QCOMPARE(run({"train", path("labelled/project"), "--steps", "4", "--run", trained}).code, 0);
        const QJsonObject told = json(run({"analyze", "confusion", trained, "--json"})).object();
        QCOMPARE(told["step"].toInt(), 4);
        QCOMPARE(told["classes"].toArray().size(), 10);
        QCOMPARE(told["classes"].toArray().first().toString(), QString("disc+ring"));
        double sum = 0;
        for (const QJsonValue& row : told["counts"].toArray()) {
            for (const QJsonValue& count : row.toArray()) {
                sum += count.toDouble();
            }
        }
        QCOMPARE(sum, 2.0); // a tenth of 20 pictures
        const Ran shown = run({"analyze", "confusion", trained, "--step", "2"});
        QVERIFY2(shown.output.contains("at step 2") && shown.output.contains("triangle+cross"),
                 qPrintable(shown.output));
        const Ran csv = run({"analyze", "confusion", trained, "-o", "-"});
        QCOMPARE(csv.output.count('\n'), 101);
        QVERIFY(csv.output.startsWith("step,true,predicted,count\n4,0,0,"));
        QVERIFY(run({"eval", trained, "--json"}).output.contains("macro_f1"));
    }

    void retrofits()
    {
        const QString plain = plainRun("retro");
        QVERIFY(!plain.isEmpty());
        const QString dca = path("retro/dca");
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
        const Ran anyway =
            run({"retrofit", dca, "--topology", "plain", "-o", path("retro/back"), "--measured", "--json"});
        QVERIFY2(anyway.code == 0, qPrintable(anyway.errors));
        QVERIFY(json(anyway).object()["lossAfter"].toDouble() != json(anyway).object()["lossBefore"].toDouble());
    }

    void forksWithoutParts()
    {
        const QString plain = plainRun("forked");
        QVERIFY(!plain.isEmpty());
        const QString made = path("forked/less");
        for (const auto& [parts, said] :
             {std::pair("9:10", "has no shortcut 9:10"), std::pair("layer 9", "has no layer 9"),
              std::pair("*:9", "has no shortcut *:9"), std::pair("*:*", "every shortcut"),
              std::pair("up", "expected")}) {
            const Ran refused = run({"fork", plain, "--prune", parts, "-o", made});
            QCOMPARE(refused.code, 1);
            QVERIFY2(refused.errors.contains("--prune") && refused.errors.contains(said), qPrintable(refused.errors));
        }
        QVERIFY(!QDir(made).exists());
        const Ran ran = run({"fork", plain, "--prune", "0:2", "-o", made, "--steps", "6", "--json"});
        QVERIFY2(ran.code == 0, qPrintable(ran.errors));
        const QJsonObject told = json(ran).object();
        QVERIFY(told["lossBefore"].toDouble() > 0 && told["lossAfter"].toDouble() != told["lossBefore"].toDouble());
        QVERIFY(told["batches"].toInt() > 0 && told["dropped"].toArray().isEmpty());
        const Ran resumed = run({"resume", made});
        QVERIFY2(resumed.code == 0, qPrintable(resumed.errors));
        const Ran settings =
            run({"fork", plain, "--set", "training.learning_rate.peak=0.5", "-o", path("forked/rate"), "--json"});
        QVERIFY2(settings.code == 0, qPrintable(settings.errors));
        QCOMPARE(run({"fork", plain, "--set", "training.batc=2"}).code, 1);
        QVERIFY(run({"fork", plain, "--set", "network.width=8", "-o", path("forked/wide")}).code != 0);
        QVERIFY(!QDir(path("forked/wide")).exists());
    }

    /// The coefficients at the start, now, and the difference.
    void analyzesCoefficients()
    {
        const QString dca = retrofittedRun();
        QVERIFY(!dca.isEmpty());
        const auto [names, last] = cells(dca, {});
        QCOMPARE(names,
                 (QStringList{"mix/q", "mix/k", "mix/v", "mix/final", "coefficient/q", "coefficient/k", "coefficient/v",
                              "coefficient/final", "spread/q", "spread/k", "spread/v", "spread/final"}));
        QCOMPARE(last[0]["step"].toInt(), 8);
        QVERIFY(last[0]["values"][1][2].isNull());
        const double learned = last[0]["values"][1][0].toDouble();
        QVERIFY(learned != 1 && std::abs(learned - 1) < 0.1);
        const QJsonArray change = cells(dca, {"--against", "initial", "--port", "q"}).second;
        QCOMPARE(change.size(), 3);
        QVERIFY(std::abs(cell(dca, {"--against", "initial", "--port", "q"}, 1, 0).toDouble() - (learned - 1)) < 1e-6);
        QCOMPARE(cell(dca, {"--step", "4"}, 1, 0).toDouble(), 1.0);
        QCOMPARE(cell(dca, {"--against", "8"}, 1, 0).toDouble(1), 0.0);
        QCOMPARE(cell(dca, {"--against", dca}, 1, 0).toDouble(1), 0.0);
        const QStringList ratio{"--log-ratio", "--port", "v"};
        QCOMPARE(std::max(cell(dca, ratio, 1, 0).toDouble(), cell(dca, ratio, 1, 1).toDouble()), 0.0);

        QVERIFY(cell(dca, {"--feature", "15"}, 1, 0).toDouble() != learned);
        const Ran beyond = run({"analyze", "coefficients", dca, "--feature", "16"});
        QCOMPARE(beyond.code, 3);
        QVERIFY2(beyond.errors.contains("got 16, expected 0 to 15"), qPrintable(beyond.errors));
        QVERIFY(run({"analyze", "coefficients", dca, "--step", "7"}).errors.contains("recorded are the steps 4, 6, 8"));
        QCOMPARE(run({"analyze", "losses", dca}).code, 1);
        QCOMPARE(run({"analyze", "coefficients", dca, "--log-ratio", "--against", "initial"}).code, 1);
    }

    void exportsCoefficients()
    {
        const QString dca = retrofittedRun();
        QVERIFY(!dca.isEmpty());
        QCOMPARE(run({"analyze", "coefficients", dca, "-o", path("coefficients.csv")}).code, 0);
        QFile csv(path("coefficients.csv"));
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
            json(run({"analyze", "coefficients", dca, "-o", path("coefficients.safetensors"), "--json"})).object();
        QCOMPARE(saved["matrices"].toInt(), 12);
        QCOMPARE(saved["tensors"].toInt(), 8);
        QCOMPARE(run({"analyze", "coefficients", dca, "-o", path("coefficients.txt")}).code, 1);
    }

    /// Before a rank is set, and from what a run has learned: sorted, as text, JSON and CSV.
    void tellsTheGapOfFactoredWeights()
    {
        QVERIFY(QDir(m_folder.path()).mkdir("gap"));
        const QString project = path("gap/project");
        QVERIFY(projects::saveProject(project.toStdString(), tinyProject()).ok());
        const QStringList words{"analyze", "gap", project, "--methods", "spectral,relu-svd,exact"};
        const Ran full = run(words);
        QCOMPARE(full.code, 3);
        QVERIFY2(full.errors.contains("no weight is below full rank"), qPrintable(full.errors));
        const QJsonArray weights =
            json(run(words + QStringList{"--rank-scale", "0.25", "--json"})).object()["weights"].toArray();
        QVERIFY(weights.size() >= 2);
        bool curved = false;
        for (const QJsonValue& weight : weights) {
            const QJsonArray methods = weight["methods"].toArray();
            QCOMPARE(methods.size(), 3);
            const double spectral = methods[0]["relativeFunctionError"].toDouble();
            const double exact = methods[2]["relativeFunctionError"].toDouble();
            QVERIFY(spectral > 0 && spectral < 1 && exact > 0);
            QVERIFY(exact <= spectral * (1 + 1e-9));
            QVERIFY(methods[0]["weightError"].toDouble() <= methods[2]["weightError"].toDouble() + 1e-9);
            curved = curved || (weight["follows"].toString() != "identity" && exact < spectral);
        }
        QVERIFY(curved);
        const QJsonObject outputs =
            json(run(words + QStringList{"--rank-scale", "0.25", "--json"})).object()["outputGap"].toObject();
        for (const char* const method : {"spectral", "relu-svd", "exact"}) {
            QVERIFY2(outputs[method].toDouble() > 0, method);
        }
        const QString table = run(words + QStringList{"--rank", "4", "--sort", "size"}).output;
        QVERIFY2(table.contains("output gap") && table.contains("all weights"), qPrintable(table));
        const QString csv = run(words + QStringList{"--rank", "4", "-o", "-"}).output;
        QVERIFY(csv.startsWith("weight,out,in,rank,follows,method,relative_function_error,"));
        QCOMPARE(csv.count('\n'), 1 + 3 * weights.size());

        const QString learned = path("gap/run");
        QCOMPARE(run({"train", project, "--steps", "3", "--run", learned}).code, 0);
        QStringList ofRun = words + QStringList{"--rank-scale", "0.25", "--inputs", "data", "--json"};
        ofRun[2] = learned;
        const QJsonArray trained = json(run(ofRun)).object()["weights"].toArray();
        QCOMPARE(trained.size(), weights.size());
        QVERIFY(trained[0]["methods"][0]["functionError"] != weights[0]["methods"][0]["functionError"]);
        QCOMPARE(run({"analyze", "gap"}).code, 1);
        QVERIFY(run({"analyze", "gap", project, "--methods", "best"}).errors.contains("expected some of baseline"));
        QCOMPARE(run({"analyze", "gap", project, "--rank", "2", "--rank-scale", "0.5"}).code, 1);
        QCOMPARE(run({"analyze", "gap", project, "--rank", "2", "--sort", "name"}).code, 1);
        QCOMPARE(run({"analyze", "gap", project, "--rank", "2", "--inputs", "noise"}).code, 1);
        QCOMPARE(run({"analyze", "gap", project, "--rank-scale", "0"}).code, 1);
        QVERIFY(run({"analyze", "gap", project, "--rank", "1000"}).code != 0);
    }

private:
    /// Four steps of a plain network in a folder of that name; empty where it failed.
    QString plainRun(const QString& name)
    {
        projects::Document document = tinyProject();
        document.project.stack().topology = *projects::topologyFrom("plain", document.project.network);
        document.project.training.observeEvery = 2;
        const QString made = path(name + "/plain-run");
        return QDir(m_folder.path()).mkdir(name) &&
                       projects::saveProject(path(name + "/plain").toStdString(), document).ok() &&
                       run({"train", path(name + "/plain"), "--steps", "4", "--run", made}).code == 0
                   ? made
                   : QString();
    }
    /// The same, gone on with for four steps under DeepCrossAttention: made once.
    QString retrofittedRun()
    {
        const QString made = path("coefficients/dca");
        if (m_retrofitted.isEmpty()) {
            const QString plain = plainRun("coefficients");
            const bool trained = !plain.isEmpty() &&
                                 run({"retrofit", plain, "--topology", "dca", "-o", made, "--steps", "8"}).code == 0 &&
                                 run({"resume", made}).code == 0;
            m_retrofitted = trained ? made : QString();
        }
        return m_retrofitted;
    }
    /// The names of the matrices that "analyze coefficients" writes, and the matrices.
    static std::pair<QStringList, QJsonArray> cells(const QString& dca, const QStringList& words)
    {
        const QJsonObject shown = json(run(QStringList{"analyze", "coefficients", dca, "--json"} + words)).object();
        QStringList names;
        for (const QJsonValue& matrix : shown["matrices"].toArray()) {
            names << matrix["name"].toString();
        }
        return std::pair(names, shown["matrices"].toArray());
    }
    /// A value of the first of these matrices.
    static QJsonValue cell(const QString& dca, const QStringList& words, int row, int column)
    {
        const QJsonArray all = cells(dca, words).second;
        return all[0]["values"][row][column];
    }

    static Ran run(const QStringList& words) { return runProcess(words); }
    static QJsonDocument json(const Ran& ran) { return ran.json(); }
    QString path(const QString& name) const { return m_folder.filePath(name); }

    QTemporaryDir m_folder;
    QString m_retrofitted;
};

} // namespace

RESIDUA_TEST(TestCliAnalyze)
#include "tst_cli_analyze.moc"
