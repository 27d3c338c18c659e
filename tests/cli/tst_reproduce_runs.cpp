// SPDX-License-Identifier: GPL-3.0-or-later
// The command reproduce: values paired by seed, runs compared and recorded, and failed runs left out.
#include "app/cli/commands/commands.h"
#include "app/cli/reproduce/comparisons.h"
#include "app/cli/reproduce/reproductions.h"
#include "engine/base/api/values.h"
#include "tests/cli/ran_program.h"
#include "tests/support/test_program.h"

#include <nlohmann/json.hpp>

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>

using namespace residua;
using namespace residua::cli;

class TestReproduceRuns : public QObject {
    Q_OBJECT

private slots:
    /// Sides are paired by seed, whatever their order, and a seed that one side lacks is left out.
    void sidesArePairedBySeed()
    {
        Comparison comparison;
        comparison.direction = projects::Direction::Below;
        const std::vector<SeededValue> a{{"1", 2.0}, {"2", 2.2}, {"3", 2.1}, {"9", 7.0}};
        const std::vector<SeededValue> b{{"3", 2.2}, {"2", 2.31}, {"1", 2.1}};
        const Outcome outcome = outcomeOf(comparison, a, b);
        QCOMPARE(outcome.difference.pairs, std::size_t{3});
        QVERIFY(std::abs(outcome.difference.mean + 0.31 / 3) < 1e-12);
        QCOMPARE(outcome.verdict, projects::Verdict::Agrees);
        comparison.direction = projects::Direction::Above;
        QCOMPARE(outcomeOf(comparison, a, b).verdict, projects::Verdict::Differs);
        QCOMPARE(outcomeOf(comparison, a, {}).verdict, projects::Verdict::CannotTell);
    }

    /// A recording has the seeds that every member has a value for, whichever is first, and says at which step they
    /// are.
    void recordingsHaveTheSeedsOfAllMembers()
    {
        const Side dca{"dca", "loss/validation", {}};
        const Side plain{"plain", "loss/validation", {}};
        const std::vector<SeededValue> all{{"1", 1.0}, {"2", 2.0}, {"3", 3.0}};
        const std::vector<SeededValue> some{{"3", 30.0}, {"1", 10.0}, {"4", 40.0}};
        const nlohmann::json values = nlohmann::json::array({1.0, 3.0});
        const nlohmann::json first = recordableOf({{dca, {}, all}, {plain, 200, some}});
        QCOMPARE(first["seeds"], nlohmann::json::array({"1", "3"}));
        QCOMPARE(first["members"][0]["values"], values);
        QVERIFY(!first["members"][0].contains("step"));
        QCOMPARE(first["members"][1]["values"], nlohmann::json::array({10.0, 30.0}));
        QCOMPARE(first["members"][1]["step"], nlohmann::json(200));
        const nlohmann::json second = recordableOf({{plain, {}, some}, {dca, {}, all}});
        QCOMPARE(second["seeds"], nlohmann::json::array({"3", "1"}));
        QCOMPARE(second["members"][1]["values"], nlohmann::json::array({3.0, 1.0}));
        const nlohmann::json third = recordableOf({{plain, {}, {}}, {dca, {}, all}}); // all runs of plain failed
        QCOMPARE(third["members"].size(), std::size_t{1});
        QCOMPARE(third["seeds"].size(), std::size_t{3});
        QVERIFY(recordableOf({{plain, {}, {}}})["seeds"].empty());
        Recording recording;
        recording.members = {{"dca", "loss/validation", 1200, {}, 0, {}}, {"dca", "loss/validation", {}, {}, 0, {}}};
        const nlohmann::json told = jsonOf(recording);
        QCOMPARE(told["members"][0]["step"], nlohmann::json(1200));
        QVERIFY(told["members"][1]["step"].is_null());
    }

    /// A failed member of a sweep ends neither the commands after it nor the comparison, and is named.
    void failedMembersAreLeftOut()
    {
        const QTemporaryDir folder;
        const QStringList words{"reproduce", "ancre", "figure-2", "-o", "out", "--threads", "1", "--json"};
        const Ran trained = runProcess(
            {"sweep", "example:linear-ancre", "figure 2a", "-o", "out/runs/a", "--threads", "1"}, folder.path());
        QVERIFY2(trained.code == 0, qPrintable(trained.errors));
        QFile file(folder.filePath("out/runs/a/4-layers-none/run.json"));
        QVERIFY(file.open(QIODevice::ReadWrite));
        QByteArray run = file.readAll();
        QVERIFY(run.contains("\"status\": \"finished\""));
        run.replace("\"status\": \"finished\"", "\"status\": \"failed\"");
        QVERIFY(file.seek(0) && file.resize(0) && file.write(run) == run.size());
        file.close();
        const Ran ran = runProcess(words, folder.path());
        QCOMPARE(ran.code, static_cast<int>(Exit::RunFailed));
        QVERIFY(QFile::exists(folder.filePath("out/a.html")) && QFile::exists(folder.filePath("out/c.html")));
        const QJsonArray failed = ran.events().back()["failed"].toArray();
        QCOMPARE(failed, QJsonArray{"out/runs/a/4-layers-none"});
        const QJsonArray recordings = ran.events().back()["recordings"].toArray();
        QVERIFY(!recordings.empty());
        for (const QJsonValue& recording : recordings) {
            QCOMPARE(recording["device"].toString(), "CPU");
            QCOMPARE(recording["threads"].toInt(), 1);
            QVERIFY(recording["seconds_per_run"].toDouble() > 0);
        }
    }

    /// Trained members of a sweep are compared by seed, and the verdict follows from the stated direction.
    void trainedMembersAreCompared()
    {
        const QTemporaryDir folder;
        const std::string out = folder.filePath("runs").toStdString();
        const std::vector<std::string> words{"sweep",   "example:linear-ancre",
                                             "--vary",  "topology=none,0:2",
                                             "--vary",  "training.learning_rate.peak=0.001,1.0",
                                             "--vary",  "seeds.init=1,2,3",
                                             "--steps", "60",
                                             "-o",      out};
        QStringList typed;
        for (const std::string& word : words) {
            typed << QString::fromStdString(word);
        }
        const Ran trained = runProcess(typed, folder.path());
        QVERIFY2(trained.code == 0, qPrintable(trained.errors));
        const std::vector<Command> commands = allCommands();
        const auto command = std::ranges::find(commands, words[0], &Command::name);
        const auto parsed = Arguments::parse(command->syntax, std::span(words).subspan(1));
        const auto planned = planFrom(*parsed, Console(Output::Json));
        const SweepPlan& plan = *planned;
        Comparison comparison;
        comparison.a = {"0:2, *", engine::metric::kLoss, {}};
        comparison.b = {"none, *", engine::metric::kLoss, {}};
        const std::vector<SeededValue> a = valuesOf(plan, comparison.a, {});
        QCOMPARE(a.size(), std::size_t{3});
        const Outcome outcome = outcomeOf(comparison, a, valuesOf(plan, comparison.b, {}));
        QCOMPARE(outcome.difference.pairs, std::size_t{3});
        QCOMPARE(outcome.verdict, projects::Verdict::Agrees); // a shortcut to the last layer makes it converge at all
        QVERIFY(valuesOf(plan, {"0:1", engine::metric::kLoss, {}}, {}).empty());
        const std::vector<SeededValue> best = valuesOf(plan, {"0:2, 1.0", engine::metric::kLoss, {}}, {});
        QCOMPARE(best.size(), std::size_t{3}); // the other rate is too low to learn
        QCOMPARE(best.front().run, a.front().run);
        QVERIFY(valuesOf(plan, comparison.a, 59'999).empty());
    }

    /// A folder of the user's with an example's name is not trained in its place, and may be the output's.
    void foldersOfTheUserAreNotRun()
    {
        const QTemporaryDir folder;
        for (const QString name : {"dca-figure-1", "runs"}) {
            QVERIFY(QDir(folder.path()).mkpath("dca-figure-1"));
            const Ran ran = runProcess(
                {"reproduce", "dca", "figure-1", "-o", name, "--time-limit", "1s", "--threads", "1"}, folder.path());
            QVERIFY2(ran.code == static_cast<int>(Exit::TimeLimit), qPrintable(ran.errors));
            QVERIFY2(ran.output.contains("sweep example:dca-figure-1"), qPrintable(ran.output));
        }
        const Ran made = runProcess({"new", "plain-language", "--example", "plain-language"}, folder.path());
        QVERIFY2(made.code == 0, qPrintable(made.errors));
        const auto widthOf = [&](const QString& project) {
            const Ran told = runProcess({"info", project, "--json"}, folder.path());
            return told.json().object()["cost"].toObject()["total"].toObject()["parameters"].toInteger();
        };
        const Ran set = runProcess({"set", "plain-language", "network.width=16"}, folder.path());
        QVERIFY2(set.code == 0, qPrintable(set.errors));
        QVERIFY(widthOf("plain-language") < widthOf("example:plain-language"));
        const Ran unknown = runProcess({"info", "example:plain-langage"}, folder.path());
        QCOMPARE(unknown.code, static_cast<int>(Exit::InvalidProject));
        QVERIFY2(unknown.errors.contains("plain-language"), qPrintable(unknown.errors));
    }

    void listsAndRuns()
    {
        const QTemporaryDir folder;
        const auto run = [&](const QStringList& words) {
            return runProcess(QStringList{"reproduce"} + words, folder.path());
        };
        const Ran all = run({});
        QCOMPARE(all.code, 0);
        QVERIFY(all.output.contains("figure-10") && all.output.contains("drawing"));
        QVERIFY(all.output.contains("differs"));
        QVERIFY2(all.output.contains("pairs would be needed"), qPrintable(all.output));
        QVERIFY(!run({"nlra"}).output.contains("figure-10"));
        const Ran told = run({"raptr", "table-1", "--list"});
        QVERIFY(told.output.contains("sweep example:small-bert") && told.output.contains("paper: loss"));
        QVERIFY2(told.output.contains("trains 12 runs: 8 layers of width 128"), qPrintable(told.output));
        QVERIFY2(told.output.contains("A − B, mean") && told.output.contains("cannot tell"), qPrintable(told.output));
        const Ran missing = run({"dca", "figure-2"});
        QCOMPARE(missing.code, 1);
        QVERIFY(missing.errors.contains("does not run here"));
        QVERIFY(run({"dcb", "table-8"}).errors.contains("no paper \"dcb\""));
        QVERIFY(run({"dca", "tabel-8"}).errors.contains("table-8"));
        const QString out = folder.filePath("drawn");
        const Ran drawn = run({"nlra", "figure-3", "-o", out});
        QVERIFY2(drawn.code == 0, qPrintable(drawn.errors));
        QVERIFY(QFile::exists(out + "/figure-3.svg"));
        QVERIFY(drawn.output.contains("paper: ") && drawn.output.contains("recorded: "));
        const Ran odd = run({"nlra", "figure-3", "--output=--name"});
        QVERIFY2(odd.code == 0, qPrintable(odd.errors));
        QVERIFY(QFile::exists(folder.filePath("--name/figure-3.svg")));
    }
};

RESIDUA_TEST(TestReproduceRuns)
#include "tst_reproduce_runs.moc"
