// SPDX-License-Identifier: GPL-3.0-or-later
// The variables by which launchers say which rank a process is.
#include "engine/base/api/rank_position.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <optional>

using namespace residua;
using namespace residua::engine;

class TestRankPosition : public QObject {
    Q_OBJECT

private slots:
    void cleanup()
    {
        for (const char* const variable : kVariables) {
            qunsetenv(variable);
        }
    }

    void launchersAreUnderstood_data()
    {
        QTest::addColumn<QList<QByteArray>>("names");
        QTest::newRow("torchrun") << QList<QByteArray>{"RANK", "WORLD_SIZE", "LOCAL_RANK"};
        QTest::newRow("Slurm") << QList<QByteArray>{"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"};
        QTest::newRow("Open MPI") << QList<QByteArray>{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                                                       "OMPI_COMM_WORLD_LOCAL_RANK"};
        QTest::newRow("MPICH") << QList<QByteArray>{"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"};
    }

    void launchersAreUnderstood()
    {
        QFETCH(QList<QByteArray>, names);
        qputenv(names[0], "5");
        qputenv(names[1], "8");
        qputenv(names[2], "1");
        QVERIFY(!rankPosition()); // several processes that do not find each other
        qputenv("MASTER_ADDR", "node7");
        qputenv("MASTER_PORT", "29500");
        const auto place = placeNow();
        QVERIFY(place);
        QCOMPARE(place->rank, 5);
        QCOMPARE(place->count, 8);
        QCOMPARE(place->local, 1);
        QCOMPARE(place->storeHost, std::string("node7"));
        QCOMPARE(place->storePort, std::uint16_t{29500});
        qunsetenv(names[2]);
        QCOMPARE(placeNow()->local, 5);
        qputenv(names[0], "0");
        qputenv(names[1], "1");
        QVERIFY(rankPosition().ok() && !placeNow());
    }

    void anotherLauncherTellsTheNumberOnTheMachine_data()
    {
        QTest::addColumn<QByteArray>("procid");
        QTest::addColumn<QByteArray>("own");
        QTest::addColumn<QByteArray>("step");
        QTest::addColumn<int>("local");
        QTest::newRow("srun --mpi=pmi2") << QByteArray("5") << QByteArray() << QByteArray("0") << 1;
        QTest::newRow("its own first") << QByteArray("5") << QByteArray("3") << QByteArray("0") << 3;
        QTest::newRow("of another process") << QByteArray("1") << QByteArray() << QByteArray("0") << 5;
        QTest::newRow("in a job's script") << QByteArray("5") << QByteArray() << QByteArray() << 5;
    }
    void anotherLauncherTellsTheNumberOnTheMachine()
    {
        QFETCH(const QByteArray, procid);
        QFETCH(const QByteArray, own);
        QFETCH(const QByteArray, step);
        QFETCH(const int, local);
        const QList<QByteArray> set{"PMI_RANK",     "5",    "PMI_SIZE",      "8",   "MASTER_ADDR",  "node7",
                                    "MASTER_PORT",  "2950", "SLURM_LOCALID", "1",   "SLURM_NTASKS", "8",
                                    "SLURM_JOB_ID", "7",    "SLURM_PROCID",  procid};
        for (qsizetype i = 0; i < set.size(); i += 2) {
            qputenv(set[i], set[i + 1]);
        }
        if (!own.isEmpty()) {
            qputenv("MPI_LOCALRANKID", own);
        }
        if (!step.isEmpty()) {
            qputenv("SLURM_STEP_ID", step);
        }
        QCOMPARE(placeNow()->rank, 5);
        QCOMPARE(placeNow()->local, local);
    }

    void unusableVariablesAreErrors_data()
    {
        using Variables = QList<QByteArray>;
        QTest::addColumn<Variables>("set");    ///< name, value, …
        QTest::addColumn<QByteArray>("place"); ///< of the error
        QTest::addColumn<QByteArray>("says");
        const Variables found{"MASTER_ADDR", "node7", "MASTER_PORT", "29500"};
        const Variables pair{"RANK", "1", "WORLD_SIZE", "2"};
        QTest::newRow("rank too large") << Variables{"RANK", "2", "WORLD_SIZE", "2"} + found << QByteArray("RANK")
                                        << QByteArray("is \"2\", expected a number from 0 to 1");
        QTest::newRow("rank negative") << Variables{"RANK", "-1", "WORLD_SIZE", "2"} + found << QByteArray("RANK")
                                       << QByteArray("is \"-1\", expected a number from 0 to 1");
        QTest::newRow("rank a word") << Variables{"RANK", "x", "WORLD_SIZE", "2"} + found << QByteArray("RANK")
                                     << QByteArray("is \"x\"");
        QTest::newRow("rank empty") << Variables{"RANK", "", "WORLD_SIZE", "2"} + found << QByteArray("RANK")
                                    << QByteArray("is \"\"");
        QTest::newRow("rank alone") << Variables{"RANK", "0"} + found << QByteArray("WORLD_SIZE")
                                    << QByteArray("is not set, expected the number of the processes");
        QTest::newRow("size alone") << Variables{"WORLD_SIZE", "2"} + found << QByteArray("RANK")
                                    << QByteArray("is not set, expected a number from 0 to 1");
        QTest::newRow("size 0") << Variables{"RANK", "0", "WORLD_SIZE", "0"} + found << QByteArray("WORLD_SIZE")
                                << QByteArray("is \"0\"");
        QTest::newRow("rank of one") << Variables{"RANK", "1", "WORLD_SIZE", "1"} << QByteArray("RANK")
                                     << QByteArray("is \"1\", expected a number from 0 to 0");
        QTest::newRow("local rank") << pair + Variables{"LOCAL_RANK", "y"} + found << QByteArray("LOCAL_RANK")
                                    << QByteArray("is \"y\"");
        QTest::newRow("port too large") << pair + Variables{"MASTER_ADDR", "node7", "MASTER_PORT", "99999"}
                                        << QByteArray("MASTER_PORT") << QByteArray("is \"99999\"");
        QTest::newRow("port 0") << pair + Variables{"MASTER_ADDR", "node7", "MASTER_PORT", "0"}
                                << QByteArray("MASTER_PORT") << QByteArray("is \"0\"");
        QTest::newRow("no port") << pair + Variables{"MASTER_ADDR", "node7"} << QByteArray("MASTER_PORT")
                                 << QByteArray("is not set");
        QTest::newRow("empty address") << pair + Variables{"MASTER_ADDR", "", "MASTER_PORT", "29500"}
                                       << QByteArray("MASTER_ADDR") << QByteArray("is empty");
        QTest::newRow("no address") << pair + Variables{"MASTER_PORT", "29500"} << QByteArray("MASTER_ADDR")
                                    << QByteArray("is not set");
        QTest::newRow("srun") << Variables{"SLURM_PROCID", "0", "SLURM_NTASKS", "2", "SLURM_LOCALID", "0"}
                              << QByteArray("MASTER_ADDR") << QByteArray("because SLURM_NTASKS is 2");
        QTest::newRow("srun in a job") << Variables{"SLURM_JOB_ID", "7", "SLURM_STEP_ID", "0",
                                                    "SLURM_PROCID", "1", "SLURM_NTASKS",  "2"}
                                       << QByteArray("MASTER_ADDR") << QByteArray("is not set");
        QTest::newRow("Open MPI's rank") << Variables{"OMPI_COMM_WORLD_RANK", "3", "OMPI_COMM_WORLD_SIZE", "2"} + found
                                         << QByteArray("OMPI_COMM_WORLD_RANK") << QByteArray("is \"3\"");
        QTest::newRow("MPICH's rank") << Variables{"PMI_RANK", "x", "PMI_SIZE", "2"} + found << QByteArray("PMI_RANK")
                                      << QByteArray("is \"x\"");
    }

    void unusableVariablesAreErrors()
    {
        QFETCH(QList<QByteArray>, set);
        QFETCH(QByteArray, place);
        QFETCH(QByteArray, says);
        for (qsizetype i = 0; i < set.size(); i += 2) {
            qputenv(set[i], set[i + 1]);
        }
        const auto found = rankPosition();
        QVERIFY(!found);
        QCOMPARE(found.error().place, place.toStdString());
        QVERIFY2(found.error().message.find(says.toStdString()) != std::string::npos, found.error().message.c_str());
    }

    /// Slurm's variables describe the job in its script, and in a shell of salloc.
    void aScriptOfAJobTrainsAlone()
    {
        qputenv("SLURM_JOB_ID", "7");
        qputenv("SLURM_PROCID", "0");
        qputenv("SLURM_NTASKS", "4");
        QVERIFY(rankPosition().ok() && !placeNow());
        qputenv("SLURM_STEP_ID", "4294967290");
        QVERIFY(rankPosition().ok() && !placeNow());
        qputenv("MASTER_ADDR", "node7"); // for a later srun
        qputenv("MASTER_PORT", "29500");
        QVERIFY(rankPosition().ok() && !placeNow());
        qputenv("RANK", "1"); // torchrun in the script
        qputenv("WORLD_SIZE", "2");
        QCOMPARE(placeNow()->count, 2);
    }

    /// torchrun keeps the store, and says how often it has started the ranks.
    void oneProcessKeepsTheStore()
    {
        qputenv("RANK", "0");
        qputenv("WORLD_SIZE", "2");
        qputenv("MASTER_ADDR", "localhost");
        qputenv("MASTER_PORT", "29500");
        QVERIFY(placeNow()->keepsStore);
        QCOMPARE(placeNow()->attempt, std::string("0"));
        qputenv("TORCHELASTIC_USE_AGENT_STORE", "True");
        qputenv("TORCHELASTIC_RESTART_COUNT", "3");
        QVERIFY(!placeNow()->keepsStore);
        QCOMPARE(placeNow()->attempt, std::string("3"));
    }

    void batchesAreShared()
    {
        projects::Project project;
        projects::TrainingPlan& plan = project.training;
        plan.batch = 12;
        QVERIFY(checkShares(project, 1).ok() && checkShares(project, 4).ok());
        QCOMPARE(checkShares(project, 5).error().place, std::string("training · batch"));
        plan.batching = projects::BatchKind::Full;
        QVERIFY(checkShares(project, 1).ok());
        QCOMPARE(checkShares(project, 4).error().place, std::string("training · batching"));
        plan.batching = projects::BatchKind::Random;
        project.data.source = projects::WorldData{};
        QVERIFY(checkShares(project, 1).ok());
        QCOMPARE(checkShares(project, 4).error().place, std::string("data"));
    }

private:
    static std::optional<RankPosition> placeNow()
    {
        const auto place = rankPosition();
        return place ? *place : std::nullopt;
    }

    static constexpr const char* kVariables[] = {"RANK",
                                                 "WORLD_SIZE",
                                                 "LOCAL_RANK",
                                                 "SLURM_PROCID",
                                                 "SLURM_NTASKS",
                                                 "SLURM_LOCALID",
                                                 "OMPI_COMM_WORLD_RANK",
                                                 "OMPI_COMM_WORLD_SIZE",
                                                 "OMPI_COMM_WORLD_LOCAL_RANK",
                                                 "PMI_RANK",
                                                 "PMI_SIZE",
                                                 "MPI_LOCALRANKID",
                                                 "SLURM_JOB_ID",
                                                 "SLURM_STEP_ID",
                                                 "MASTER_ADDR",
                                                 "MASTER_PORT",
                                                 "TORCHELASTIC_USE_AGENT_STORE",
                                                 "TORCHELASTIC_RESTART_COUNT"};
};

RESIDUA_TEST(TestRankPosition)
#include "tst_rank_position.moc"
