// SPDX-License-Identifier: GPL-3.0-or-later
// A sweep over the number of weak shortcuts that are left out of a trained run.
#include "engine/runs/results/run_reader.h"
#include "projects/file/store.h"
#include "projects/library/presets.h"
#include "tests/cli/ran_program.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <utility>

using namespace residua;
using namespace residua::cli;
namespace fs = std::filesystem;

namespace {

constexpr int kTrainedSteps = 6;
constexpr int kFurtherSteps = 3;

QJsonObject prunedMember(const QJsonObject& sweep, const QString& label)
{
    for (const QJsonValue& member : sweep["members"].toArray()) {
        if (member.toObject()["label"].toString() == label) {
            return member.toObject();
        }
    }
    return {};
}

class TestCliPrune : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        projects::Document document = tinyProject();
        document.project.stack().segments.front().repeat = 3;
        document.project.sweeps.clear(); // a member's project has none
        QVERIFY(projects::saveProject(path("project").toStdString(), document).ok());
        const Ran trained = run({"train", path("project"), "--steps", QString::number(kTrainedSteps), "--run", base()});
        QVERIFY2(trained.code == 0, qPrintable(trained.errors));
    }

    /// Each member is a fork without the k weakest shortcuts, with the loss before and after its further steps.
    void aRunWithoutItsWeakestShortcuts()
    {
        const QJsonObject measured = json({"analyze", "knockout", base(), "--weakest", "1", "--json"});
        const Ran swept = sweep({"--prune-weakest", "0,1,50%", "--json"});
        QVERIFY2(swept.code == 0, qPrintable(swept.errors));
        QVERIFY2(swept.errors.contains("earlier knock-out"), qPrintable(swept.errors));
        const QJsonObject grid = swept.json().object();
        const auto half = measured["parts"].toArray().size() / 2;
        QCOMPARE(grid["sweep"].toString(), QString("shortcuts pruned by effect"));
        const QJsonObject whole = prunedMember(grid, "0 pruned");
        const QJsonObject one = prunedMember(grid, "1 pruned");
        const QJsonObject less = prunedMember(grid, QString("%1 pruned").arg(half));
        QCOMPARE(one["pruned"].toString(), measured["weakest"].toString());
        QCOMPARE(less["pruned"].toString().count(':'), half);
        QVERIFY(std::abs(whole["lossBefore"].toDouble() - measured["loss"].toDouble()) < 1e-6);
        const QJsonObject forked =
            json({"fork", base(), "--prune", one["pruned"].toString(), "-o", path("forked"), "--json"});
        QVERIFY(std::abs(one["lossBefore"].toDouble() - forked["lossAfter"].toDouble()) < 1e-6);
        for (const QJsonObject& member : {whole, one, less}) {
            QCOMPARE(member["status"].toString(), QString("finished"));
            QCOMPARE(member["steps"].toInt(), kTrainedSteps + kFurtherSteps);
            QVERIFY(member["validationLoss"].toDouble() > 0);
            QVERIFY(member["validationLoss"].toDouble() != member["lossBefore"].toDouble());
        }
        QVERIFY(less["parameters"].toInt() < one["parameters"].toInt());
        QVERIFY(one["parameters"].toInt() < whole["parameters"].toInt());
        QVERIFY(less["forwardFlops"].toDouble() < whole["forwardFlops"].toDouble());
        const Ran table = sweep({"--prune-weakest", "0,1,50%"});
        QVERIFY2(table.output.contains("before training") && table.output.contains("all 3 members are finished"),
                 qPrintable(table.output));
    }

    /// The members are in the project's list of runs, under their names, as points of the sweep.
    void membersAreRunsOfTheProject()
    {
        QCOMPARE(sweep({"--prune-weakest", "0,1"}).code, 0);
        const auto runs = engine::listRuns(path("project/runs").toStdString());
        const auto found = std::ranges::find(runs, "base · 1 pruned", &engine::RunInfo::name);
        QVERIFY(found != runs.end());
        QVERIFY(found->membership && found->membership->sweep == "shortcuts pruned by effect");
        QCOMPARE(found->parentStep, std::int64_t{kTrainedSteps});
        QCOMPARE(QString::fromStdString(fs::path(found->parent).filename().string()), QString("base"));
    }

    /// A fork that was made but not trained, by a process that was killed, is trained and becomes a member.
    void goesOnWhereItWasCutOff()
    {
        const QJsonObject listed = sweep({"--prune-weakest", "2", "--list", "--json"}).json().object();
        const QJsonObject member = prunedMember(listed, "2 pruned");
        QCOMPARE(member["status"].toString(), QString("not begun"));
        const Ran fork = run({"fork", base(), "--prune", member["pruned"].toString(), "--steps",
                              QString::number(kTrainedSteps + kFurtherSteps), "-o", member["directory"].toString()});
        QVERIFY2(fork.code == 0, qPrintable(fork.errors));
        const Ran swept = sweep({"--prune-weakest", "2", "--json"});
        QVERIFY2(swept.code == 0, qPrintable(swept.errors));
        QCOMPARE(prunedMember(swept.json().object(), "2 pruned")["status"].toString(), QString("finished"));
        const auto reader = engine::RunReader::open(member["directory"].toString().toStdString());
        QVERIFY(reader.ok() && reader->info().ok());
        QCOMPARE(QString::fromStdString(reader->info()->name), QString("base · 2 pruned"));
        QVERIFY(reader->info()->membership.has_value());
    }

    /// Other axes are beside that of the shortcuts, and several processes share the grid.
    void combinesWithSettings()
    {
        const Ran swept = sweep({"--prune-weakest", "0,1", "--weak-by", "weight", "--vary",
                                 "training.learning_rate.peak=0.01,0.02", "--jobs", "2", "--json"});
        QVERIFY2(swept.code == 0, qPrintable(swept.errors));
        const QJsonObject grid = swept.json().object();
        QCOMPARE(grid["members"].toArray().size(), 4);
        QVERIFY(grid["complete"].toBool());
        QVERIFY(prunedMember(grid, "0.01, 1 pruned")["pruned"].toString().contains(':'));
    }

    /// The shortcuts are those of the named tower.
    void aTowerIsNamed()
    {
        projects::Document document = tinyProject();
        document.project.sweeps.clear();
        document.project.towers = {{document.project.network}};
        document.project.towers[0].network.name = "other";
        QVERIFY(projects::saveProject(path("towers").toStdString(), document).ok());
        const QString trained = path("towers/runs/base");
        QCOMPARE(run({"train", path("towers"), "--steps", QString::number(kTrainedSteps), "--run", trained}).code, 0);
        const QStringList words{"sweep", trained, "--prune-weakest", "0,1", "--steps", "3"};
        const Ran swept = run(words + QStringList{"--tower", "other", "--json"});
        QVERIFY2(swept.code == 0, qPrintable(swept.errors));
        const QJsonObject grid = swept.json().object();
        QVERIFY(grid["complete"].toBool());
        const auto projectOf = [&](const QString& label) {
            const auto reader =
                engine::RunReader::open(prunedMember(grid, label)["directory"].toString().toStdString());
            return *reader->project();
        };
        const projects::Project whole = projectOf("0 pruned");
        const projects::Project pruned = projectOf("1 pruned");
        QVERIFY(pruned.stack().topology == whole.stack().topology);
        QVERIFY(pruned.towers[0].network.stack().topology != whole.towers[0].network.stack().topology);
        const Ran unknown = run(words + QStringList{"--tower", "none"});
        QVERIFY2(unknown.code == 1 && unknown.errors.contains("other"), qPrintable(unknown.errors));
    }

    void badWordsAreRefused_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QString>("said");
        const QString counts = "expected numbers of shortcuts from 0, or shares of them";
        const auto row = [](const QString& name, const QStringList& words, const QString& said) {
            QTest::newRow(qPrintable(name)) << words << said;
        };
        for (const char* const text : {"-1", "1,", "one", "101%", "1.5", "99999999999999999999", "%"}) {
            row(text, {"--steps", "3", QString("--prune-weakest=%1").arg(text)}, counts);
        }
        row("repeated", {"--steps", "3", "--prune-weakest", "1,1"}, "expected each number once");
        row("repeated as a share", {"--steps", "3", "--prune-weakest", "0,0%"}, "expected each number once");
        row("too many", {"--steps", "3", "--prune-weakest", "1000"}, "shortcuts can be left out together, got 1000");
        row("all", {"--steps", "3", "--prune-weakest", "100%"}, "shortcuts can be left out together");
        row("no steps", {"--prune-weakest", "1"}, "--steps");
        row("0 steps", {"--steps", "0", "--prune-weakest", "1"}, "--steps");
        row("measure", {"--steps", "3", "--prune-weakest", "1", "--weak-by", "size"},
            "expected weight, effect or flop");
        row("measure alone", {"--weak-by", "effect"}, "is for --prune-weakest");
        row("network", {"--steps", "3", "--prune-weakest", "1", "--vary", "network.width=8,16"}, "cannot change");
        row("steps as an axis", {"--steps", "3", "--prune-weakest", "1", "--vary", "training.steps=8,9"},
            "is set by --steps");
        row("set", {"--steps", "3", "--prune-weakest", "1", "--set", "seeds.init=9"}, "--set");
        row("step", {"--steps", "3", "--prune-weakest", "1", "--step", "4"}, "its checkpoints are of steps 6");
        row("tower alone", {"--tower", "other"}, "is for --prune-weakest");
        row("name", {"named", "--steps", "3", "--prune-weakest", "1"}, "expected no NAME");
    }
    void badWordsAreRefused()
    {
        QFETCH(QStringList, words);
        QFETCH(QString, said);
        const Ran refused = run(QStringList{"sweep", base()} + words);
        QCOMPARE(refused.code, 1);
        QVERIFY2(refused.errors.contains(said), qPrintable(refused.errors));
    }

    void refusesAllButTrainedRuns()
    {
        const QStringList words{"--steps", "3", "--prune-weakest", "1"};
        QVERIFY(run(QStringList{"sweep", path("project")} + words).code != 0);
        QVERIFY(run(QStringList{"sweep", path("nowhere")} + words).code != 0);
        projects::Document document = tinyProject();
        document.project.training.checkpointEvery = 0;
        document.project.data.validationFraction = 0;
        document.project.training.validateEvery = 0;
        QVERIFY(projects::saveProject(path("unheld").toStdString(), document).ok());
        QCOMPARE(run({"train", path("unheld"), "--steps", "2", "--run", path("unheld/runs/it")}).code, 0);
        const Ran unheld = run(QStringList{"sweep", path("unheld/runs/it")} + words);
        QVERIFY2(unheld.code != 0 && unheld.errors.contains("validation"), qPrintable(unheld.errors));
        QVERIFY(QDir().rename(path("unheld/runs/it/checkpoints"), path("away")));
        const Ran away = run(QStringList{"sweep", path("unheld/runs/it")} + words);
        QVERIFY2(away.code != 0 && away.errors.contains("has no checkpoint"), qPrintable(away.errors));
        QCOMPARE(QDir(path("unheld/runs")).entryList(QDir::Dirs | QDir::NoDotAndDotDot), QStringList("it"));
    }

private:
    [[nodiscard]] QString path(const QString& name) const { return m_folder.filePath(name); }
    [[nodiscard]] QString base() const { return path("project/runs/base"); }
    [[nodiscard]] static Ran run(const QStringList& words) { return runProcess(words); }
    [[nodiscard]] static QJsonObject json(const QStringList& words)
    {
        const Ran ran = run(words);
        return ran.code == 0 ? ran.json().object() : QJsonObject{{"error", ran.errors}};
    }
    [[nodiscard]] Ran sweep(const QStringList& words) const
    {
        return run(QStringList{"sweep", base(), "--steps", QString::number(kFurtherSteps)} + words);
    }

    QTemporaryDir m_folder;
};

} // namespace

RESIDUA_TEST_IN(QCoreApplication, TestCliPrune)
#include "tst_cli_prune.moc"
