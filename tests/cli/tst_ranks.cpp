// SPDX-License-Identifier: GPL-3.0-or-later
// Several processes that train one run: the losses of one process, on the same global batches.
#include "engine/base/api/environment.h"
#include "engine/base/api/values.h"
#include "engine/runs/results/run_reader.h"
#include "projects/file/store.h"
#include "projects/library/schedule_presets.h"
#include "projects/transfer/retrofit.h"
#include "tests/cli/rank_processes.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <memory>
#include <random>
#include <utility>
#include <vector>

using namespace residua;
using namespace residua::cli;
using projects::Project;

Q_DECLARE_METATYPE(residua::projects::Project)

namespace {

constexpr int kSteps = 6;
constexpr int kKills = 3;          ///< RESIDUA_FUZZ_ROUNDS by hand
constexpr int kStepsOfLife = 40;   ///< between two kills, about
constexpr int kLook = 5;           ///< milliseconds between two looks at the checkpoints
constexpr int kComplete = 4;       ///< exit status: the run has all its steps
constexpr int kTimeToEnd = 10'000; ///< milliseconds for the others

std::vector<double> lossesOf(const QString& run)
{
    std::vector<double> losses;
    const auto reader = engine::RunReader::open(run.toStdString());
    for (const engine::MetricPoint& point :
         reader ? reader->metric(engine::metric::kLoss) : std::vector<engine::MetricPoint>()) {
        losses.push_back(point.value);
    }
    return losses;
}

double apart(const std::vector<double>& a, const std::vector<double>& b)
{
    double most = a.size() == b.size() && !a.empty() ? 0 : HUGE_VAL;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        most = std::max(most, std::abs(a[i] - b[i]));
    }
    return most;
}

Project wired(const char* topology)
{
    const Project tiny = tinyProject().project;
    const auto presets = projects::topologyPresets(tiny.network);
    const auto preset = std::ranges::find(presets, topology, &projects::TopologyPreset::name);
    return *projects::rewired(tiny, {preset->name, preset->wiring});
}

Project staged(const char* schedule)
{
    Project project = wired("plain");
    project.stack().segments.front().repeat = 4;
    project.stack().schedule = *projects::scheduleFrom(schedule, 4, kSteps);
    return project;
}

Project optimised(projects::Optimiser optimiser)
{
    Project project = wired("ancre-ingoing");
    project.training.optimiser = std::move(optimiser);
    project.training.accumulate = 2;
    return project;
}

/// Others than AdamW, which the wirings train with.
std::vector<std::pair<const char*, projects::Optimiser>> optimisers()
{
    return {{"muon", projects::Muon{}},
            {"galore", projects::Galore{.rank = 4}},
            {"adafactor", projects::Adafactor{}},
            {"lion", projects::Lion{}},
            {"sgd", projects::Sgd{.momentum = 0.9}}};
}

Project pictures()
{
    Project project = projects::findExample("small-vit")->project;
    std::get<projects::DrawnPictures>(project.data.source).samples = 64;
    project.stack().segments.front().repeat = 2;
    project.training.batch = 4;
    return project;
}

Project hiddenTokens()
{
    Project project = projects::findExample("small-bert")->project;
    std::get<projects::SyntheticLanguage>(project.data.source).tokens = 4000;
    project.stack().segments.front().repeat = 2;
    project.training.batch = 4;
    return project;
}

} // namespace

class TestRanks : public QObject {
    Q_OBJECT

private slots:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }
    void cleanup()
    {
        for (const auto& process : m_ranks) {
            process->kill();
            process->waitForFinished();
        }
        m_ranks.clear();
    }

    void trainAsOne_data()
    {
        QTest::addColumn<Project>("project");
        for (const char* const topology :
             {"plain", "dca", "k-dca", "ancre-ingoing", "mhc", "mudd", "densenet", "laurel-rw"}) {
            QTest::newRow(topology) << wired(topology);
        }
        QTest::newRow("raptr") << staged("raptr 2-3-4");
        QTest::newRow("stacking") << staged("stacking 2-3-4");
        for (const auto& [name, optimiser] : optimisers()) {
            QTest::newRow(name) << optimised(optimiser);
        }
        QTest::newRow("pictures") << pictures();
        QTest::newRow("hidden tokens") << hiddenTokens();
    }

    /// In double precision up to the order of sums, and the same bits when it is repeated.
    void trainAsOne()
    {
        QFETCH(Project, project);
        save(project);
        QVERIFY(trained(1, "one"));
        QVERIFY(trained(2, "two"));
        const std::vector<double> losses = lossesOf(path("one"));
        QCOMPARE(losses.size(), std::size_t{kSteps});
        const double distance = apart(losses, lossesOf(path("two")));
        QVERIFY2(distance < 1e-12, qPrintable(QString::number(distance)));
        if (QTest::currentDataTag() == QByteArray("plain")) {
            QVERIFY(trained(4, "four") && trained(4, "again"));
            QVERIFY(apart(losses, lossesOf(path("four"))) < 1e-12);
            QCOMPARE(lossesOf(path("four")), lossesOf(path("again")));
            const auto reader = engine::RunReader::open(path("four").toStdString());
            for (const char* const rank : {"0", "3"}) {
                const auto waiting = reader->metric(engine::metric::kRankWaiting + std::string(rank));
                QVERIFY(!waiting.empty() && waiting.front().value >= 0 && waiting.front().value < 1);
                QVERIFY(!reader->metric(engine::metric::kRankThroughput + std::string(rank)).empty());
                const auto exchange = reader->metric(engine::metric::kRankExchange + std::string(rank));
                QVERIFY(!exchange.empty() && exchange.front().value > 0);
            }
            QVERIFY(engine::RunReader::open(path("one").toStdString())->metric(engine::metric::kRankWaiting).empty());
        }
    }

    void dividedStatesTrainTheSame_data()
    {
        QTest::addColumn<Project>("project");
        QTest::newRow("adamw") << wired("plain");
        Project rounded = wired("dca"); // ranks exchange copies in bf16
        rounded.training.precision = projects::Precision::Bf16;
        QTest::newRow("adamw, bf16") << rounded;
        for (const auto& [name, optimiser] : optimisers()) {
            QTest::newRow(name) << optimised(optimiser);
        }
        QTest::newRow("raptr") << staged("raptr 2-3-4");
        QTest::newRow("stacking") << staged("stacking 2-3-4");
    }

    /// Losses and checkpoint have the same bits.
    void dividedStatesTrainTheSame()
    {
        QFETCH(Project, project);
        project.training.validateEvery = 3;
        save(project);
        QVERIFY(trained(2, "whole"));
        project.training.rankStates = projects::RankStates::Divided;
        save(project);
        QVERIFY(trained(2, "divided"));
        QCOMPARE(lossesOf(path("whole")).size(), std::size_t{kSteps});
        QCOMPARE(lossesOf(path("divided")), lossesOf(path("whole")));
        for (const char* const file : {"model.safetensors", "optimiser.safetensors"}) {
            QVERIFY(!checkpointFile("whole", file).isEmpty());
            QCOMPARE(checkpointFile("divided", file), checkpointFile("whole", file));
        }
    }

    void anotherNumberOfRanksResumes_data()
    {
        QTest::addColumn<projects::RankStates>("states");
        QTest::newRow("whole") << projects::RankStates::Whole;
        QTest::newRow("divided") << projects::RankStates::Divided;
    }

    /// A run of two ranks is resumed with four, and with one.
    void anotherNumberOfRanksResumes()
    {
        QFETCH(projects::RankStates, states);
        Project project = wired("dca");
        project.training.rankStates = states;
        save(project);
        QVERIFY(trained(1, "whole"));
        QVERIFY(trained(2, "run", {"--steps", "2"}));
        QVERIFY(trained(4, "run", {"--steps", "4", "--resume-or-start"}));
        QVERIFY(trained(1, "run", {"--steps", "6", "--resume-or-start"}));
        QVERIFY(apart(lossesOf(path("whole")), lossesOf(path("run"))) < 1e-12);
    }

    void batchesThatDoNotDivideAreRefused()
    {
        save(wired("plain"));
        start(3, "run", {});
        const Ran ran = ended(*m_ranks.front());
        QVERIFY2(ran.code != 0 && ran.errors.contains("a multiple of the 3 ranks"), qPrintable(ran.errors));
    }

    /// Each rank has a part of the examples that a contrastive loss compares.
    void contrastiveLossesAreRefused()
    {
        Project project = pictures();
        projects::Loss& contrast = project.losses.emplace_back();
        contrast.name = "contrast";
        contrast.kind = projects::LossKind::Contrastive;
        contrast.target = contrast.output;
        save(project);
        start(2, "run", {});
        const Ran ran = ended(*m_ranks.front());
        QVERIFY2(ran.code != 0 && ran.errors.contains("compares all examples of a step"), qPrintable(ran.errors));
    }

    /// The others end, and say which one has gone; the run goes on from its last checkpoint.
    void aKilledRankIsNamed()
    {
        Project project = wired("plain");
        project.training.checkpointEvery = 10;
        save(project);
        start(3, "run", {"--steps", "1000000", "--set", "training.batch=6"});
        const auto file = std::filesystem::path(path("run").toStdString()) / "checkpoints";
        QTRY_VERIFY(std::filesystem::exists(file) && !std::filesystem::is_empty(file));
        m_ranks[1]->kill();
        const Ran first = ended(*m_ranks[0]);
        QVERIFY2(first.code != 0 && first.errors.contains("rank 1 ended"), qPrintable(first.errors));
        const Ran third = ended(*m_ranks[2]);
        QVERIFY2(third.code != 0 && third.errors.contains("rank"), qPrintable(third.errors));
        const auto reader = engine::RunReader::open(path("run").toStdString());
        QVERIFY(reader.ok());
        QVERIFY(reader->info()->status == engine::RunStatus::Failed);
    }

    /// RESIDUA_FUZZ_ROUNDS times one of the ranks is killed. Each time others, 2 or 4, go on from the last checkpoint.
    void ranksThatAreKilledLoseNothing()
    {
        const int steps = kStepsOfLife * fuzz::rounds(kKills);
        const QStringList words{"--steps", QString::number(steps), "--set", "training.checkpoint_every=4",
                                "--resume-or-start"};
        save(wired("dca"));
        QVERIFY(trained(1, "whole", words));
        std::mt19937_64 random(tests::randomSeed());
        for (int kill = 0; kill < fuzz::rounds(kKills); ++kill) {
            start(tests::below(random, 2) == 0 ? 2 : 4, "run", words);
            QProcess& victim = *tests::oneOf(random, m_ranks);
            // By steps, because a machine may be fast: at the latest in the middle between two kills.
            const auto end = static_cast<std::int64_t>(kill * kStepsOfLife + tests::below(random, kStepsOfLife / 2));
            QTRY_VERIFY(lastCheckpoint("run") >= end || victim.waitForFinished(kLook));
            QVERIFY2(victim.waitForStarted() && victim.state() == QProcess::Running,
                     victim.readAllStandardError().data());
            victim.kill();
            for (const auto& process : m_ranks) { // as torchrun does
                process->terminate();
            }
            for (const auto& process : m_ranks) {
                if (!process->waitForFinished(kTimeToEnd)) {
                    process->kill();
                    process->waitForFinished();
                }
            }
        }
        QVERIFY(trained(2, "run", words));
        // The number of ranks decides the order of sums, and every step adds its rounding.
        const double distance = apart(lossesOf(path("whole")), lossesOf(path("run")));
        QVERIFY2(distance < 1e-14 * steps, qPrintable(QString::number(distance)));
    }

    void everyRankOfACompleteRunSaysSo()
    {
        save(wired("plain"));
        QVERIFY(trained(2, "run"));
        start(2, "run", {"--resume-or-start"});
        for (const auto& process : m_ranks) {
            const Ran ran = ended(*process);
            QCOMPARE(ran.code, kComplete);
        }
    }

private:
    [[nodiscard]] QString path(const QString& name) const { return m_folder->filePath(name); }

    /// 0 without one.
    [[nodiscard]] std::int64_t lastCheckpoint(const QString& run) const
    {
        const auto reader = engine::RunReader::open(path(run).toStdString());
        const auto checkpoints = reader ? reader->checkpoints() : std::vector<std::int64_t>();
        return checkpoints.empty() ? 0 : checkpoints.back();
    }

    [[nodiscard]] QByteArray checkpointFile(const QString& run, const char* name) const
    {
        QFile file(engine::checkpointDirectory(path(run).toStdString(), kSteps) / name);
        return file.open(QFile::ReadOnly) ? file.readAll() : QByteArray();
    }

    void save(Project project)
    {
        project.training.precision = projects::Precision::Fp64;
        project.training.validateEvery = 3;
        projects::Document document{std::move(project), {}};
        QVERIFY(projects::saveProject(path("project").toStdString(), document).ok());
    }

    /// Starts the ranks as torchrun does.
    void start(int count, const QString& run, const QStringList& more)
    {
        m_ranks.clear();
        const int port = tests::freePort();
        QStringList words{"train", path("project"), "--run", path(run), "--threads", "1"};
        words += more.contains("--steps") ? more : QStringList{"--steps", QString::number(kSteps)} + more;
        for (int rank = 0; rank < count; ++rank) {
            m_ranks.push_back(startRank({rank, count, port}, words));
        }
    }

    bool trained(int count, const QString& run, const QStringList& more = {})
    {
        start(count, run, more);
        bool all = true;
        for (const auto& process : m_ranks) {
            const Ran ran = ended(*process);
            if (ran.code != 0 && ran.code != kComplete) {
                qWarning("%s", qPrintable(ran.errors));
                all = false;
            }
        }
        return all;
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    std::vector<std::unique_ptr<QProcess>> m_ranks;
};

RESIDUA_TEST(TestRanks)
#include "tst_ranks.moc"
