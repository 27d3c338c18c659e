// SPDX-License-Identifier: GPL-3.0-or-later
// kill -9 at random moments of training: every run goes on, and ends as if nothing had happened.
#include "run_harness.h"

#include "engine/runs/results/run_reader.h"
#include "tests/fuzz/fuzz.h"

#include <QCoreApplication>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <cstdio>
#include <random>

using namespace residua;
using namespace residua::engine;
using residua::tests::kRun;
using residua::tests::SessionProbe;

namespace {

constexpr int kKills = 40;        ///< of each test; RESIDUA_FUZZ_ROUNDS by hand
constexpr int kLongestLife = 120; ///< milliseconds from the start of the training to the kill
constexpr int kFirstMoments = 30; ///< milliseconds from the command to the kill: the run is being made
constexpr const char* kChild = "--train-until-killed";
constexpr const char* kStagedChild = "--grow-until-killed";
constexpr const char* kFittingChild = "--fit-until-killed";

projects::Project project()
{
    projects::Project made = tests::quickLanguage(150);
    made.training.checkpointEvery = 3;
    made.training.validateEvery = 25;
    return made;
}

/// One that grows, its borders at steps with a checkpoint.
projects::Project stagedProject()
{
    projects::Project made = project();
    made.network.stack().segments.front().repeat = 4;
    made.stack().schedule.stages = {{0, 1, {}}, {30, 2, {}}, {60, 3, {}}, {90, 4, {}}};
    made.stack().schedule.sampling = projects::DropSampling::First;
    made.stack().schedule.growth = projects::GrowthSource::Top;
    return made;
}

/// The stages that stand in the record, each event of its own.
std::vector<std::pair<std::int64_t, std::string>> stagesOf(const std::filesystem::path& run)
{
    std::vector<std::pair<std::int64_t, std::string>> stages;
    for (const RunEvent& event : RunReader::open(run)->events()) {
        if (event.kind == RunEventKind::Stage) {
            stages.emplace_back(event.step, event.text);
        }
    }
    return stages;
}

/// One whose start takes a while: weights in factors that are fitted on samples, attention by fitted features.
projects::Project fittedProject()
{
    projects::Project made = tests::quickLanguage(6);
    made.network.rank = projects::FixedRank{4};
    made.initialisation.lowRank = projects::LowRankMethod::LfaiWs;
    for (projects::Node& node : made.network.blocks.front().graph.nodes) {
        if (node.kind == "attention") {
            node.params["weights"] = std::string("performer");
            node.params["features"] = std::int64_t{8};
            node.params["dropout"] = 0.0;
        }
    }
    return made;
}

/// Starts the run, or goes on with it, to its end.
int trainUntilKilled(const std::filesystem::path& directory, const projects::Project& project)
{
    SessionProbe probe;
    std::puts("begins");
    std::fflush(stdout);
    if (std::filesystem::exists(directory / "run.json")) {
        ResumeRun command;
        command.run = kRun;
        command.of.runDirectory = directory;
        probe.post(command);
    } else {
        StartRun command;
        command.run = kRun;
        command.project = project;
        command.runDirectory = directory;
        probe.post(command);
    }
    probe.waitUntil([](const Event& event) {
        return std::holds_alternative<RunStarted>(event) || std::holds_alternative<RunEnded>(event);
    });
    std::puts("started");
    std::fflush(stdout);
    if (!probe.waitFor<RunEnded>()) {
        return 1;
    }
    const RunEnded ended = probe.all<RunEnded>()[0];
    std::fputs(ended.error.message.c_str(), stderr);
    return ended.status == RunStatus::Finished ? 0 : 1;
}

class TestKillTraining : public QObject {
    Q_OBJECT

private slots:
    void everyRunGoesOn_data()
    {
        QTest::addColumn<QByteArray>("from");
        QTest::addColumn<int>("longest");
        QTest::addColumn<bool>("stages");
        QTest::newRow("while it trains") << QByteArray("started") << kLongestLife << false;
        QTest::newRow("while it grows") << QByteArray("started") << kLongestLife << true;
        QTest::newRow("while it is made or taken up") << QByteArray("begins") << kFirstMoments << false;
    }
    void everyRunGoesOn()
    {
        QFETCH(QByteArray, from);
        QFETCH(int, longest);
        QFETCH(bool, stages);
        const projects::Project trained = stages ? stagedProject() : project();
        const char* const flag = stages ? kStagedChild : kChild;
        const QTemporaryDir folder;
        const std::filesystem::path root = folder.path().toStdString();
        const std::map<std::int64_t, double> whole = tests::lossesOf(trained, root / "whole");
        const auto begun = stagesOf(root / "whole");
        QCOMPARE(begun.size(), stages ? std::size_t{4} : std::size_t{0});
        std::mt19937_64 random(tests::randomSeed());
        const int most = fuzz::rounds(kKills);
        int run = 0;
        for (int kills = 0; kills < most;) {
            const std::filesystem::path directory = root / std::to_string(run);
            QProcess child;
            child.start(QCoreApplication::applicationFilePath(), {flag, QString::fromStdString(directory.string())});
            while (!child.readLine().startsWith(from)) {
                QVERIFY(child.canReadLine() || child.waitForReadyRead(60'000));
            }
            if (!child.waitForFinished(1 + static_cast<int>(fuzz::below(random, static_cast<std::size_t>(longest))))) {
                child.kill();
                QVERIFY(child.waitForFinished(60'000));
            }
            const bool killed = child.exitStatus() == QProcess::CrashExit;
            kills += killed ? 1 : 0;
            const auto reader = RunReader::open(directory);
            if (killed && !reader) {
                QVERIFY2(!std::filesystem::exists(directory / "run.json"), reader.error().text().c_str());
                continue; // it had not begun, and its next life begins it
            }
            const RunStatus status = reader->info()->status;
            if (killed && status == RunStatus::Interrupted) {
                continue; // its next life goes on with it
            }
            QVERIFY2(killed || child.exitCode() == 0, child.readAllStandardError().constData());
            QCOMPARE(status, RunStatus::Finished); // killed after its last step it is whole, too
            QCOMPARE(tests::recordedLosses(directory), whole);
            QVERIFY(stagesOf(directory) == begun);
            ++run;
        }
        // The one that was killed last, or a new one.
        QCOMPARE(trainUntilKilled(root / std::to_string(run), trained), 0);
        QCOMPARE(tests::recordedLosses(root / std::to_string(run)), whole);
        QVERIFY(stagesOf(root / std::to_string(run)) == begun);
    }

    /// Killed while weights and features are fitted there is no run yet, and fits that were done are kept: started
    /// again, it trains as one that was never killed, and never kept a fit.
    void fittingBeginsAgain()
    {
        const QTemporaryDir folder;
        const std::filesystem::path root = folder.path().toStdString();
        qputenv("XDG_CACHE_HOME", QByteArray::fromStdString((root / "other cache").string()));
        const std::map<std::int64_t, double> whole = tests::lossesOf(fittedProject(), root / "whole");
        const std::size_t all = filesIn(root / "other cache" / "residua" / "fits");
        const std::filesystem::path fits = root / "cache" / "residua" / "fits";
        qputenv("XDG_CACHE_HOME", QByteArray::fromStdString((root / "cache").string()));
        const std::filesystem::path directory = root / "killed";
        std::size_t kept = 0;
        for (int life = 0; life < 2; ++life) {
            QProcess child;
            child.start(QCoreApplication::applicationFilePath(),
                        {kFittingChild, QString::fromStdString(directory.string())});
            QVERIFY(QTest::qWaitFor([&] { return filesIn(fits) > kept; }, 60'000));
            child.kill();
            QVERIFY(child.waitForFinished(60'000));
            QCOMPARE(child.exitStatus(), QProcess::CrashExit);
            kept = filesIn(fits);
            QVERIFY2(kept < all, "it was killed after its fits");
            QVERIFY(!std::filesystem::exists(directory / "run.json"));
        }
        QCOMPARE(trainUntilKilled(directory, fittedProject()), 0);
        QCOMPARE(tests::recordedLosses(directory), whole);
        QCOMPARE(filesIn(fits), all);
    }

private:
    /// Those that are complete.
    static std::size_t filesIn(const std::filesystem::path& folder)
    {
        std::size_t count = 0;
        std::error_code none;
        for (std::filesystem::directory_iterator entry(folder, none), end; entry != end; entry.increment(none)) {
            count += entry->path().extension() == ".safetensors" ? 1 : 0;
        }
        return count;
    }
};

} // namespace

int main(int argc, char** argv)
{
    const QCoreApplication application(argc, argv);
    if (argc == 3 && QByteArray(argv[1]) == kChild) {
        return trainUntilKilled(argv[2], project());
    }
    if (argc == 3 && QByteArray(argv[1]) == kStagedChild) {
        return trainUntilKilled(argv[2], stagedProject());
    }
    if (argc == 3 && QByteArray(argv[1]) == kFittingChild) {
        return trainUntilKilled(argv[2], fittedProject());
    }
    TestKillTraining test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_kill_training.moc"
