// SPDX-License-Identifier: GPL-3.0-or-later
// The variables by which launchers say which rank a process is.
#include "engine/api/rank_place.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace residua;
using namespace residua::engine;

class TestRankPlace : public QObject {
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
    }

    void launchersAreUnderstood()
    {
        QFETCH(QList<QByteArray>, names);
        qputenv(names[0], "5");
        qputenv(names[1], "8");
        qputenv(names[2], "1");
        QVERIFY(!rankPlace()); // a job of a cluster that starts one process
        qputenv("MASTER_ADDR", "node7");
        qputenv("MASTER_PORT", "29500");
        const auto place = rankPlace();
        QVERIFY(place);
        QCOMPARE(place->rank, 5);
        QCOMPARE(place->count, 8);
        QCOMPARE(place->local, 1);
        QCOMPARE(place->storeHost, std::string("node7"));
        QCOMPARE(place->storePort, std::uint16_t{29500});
        qputenv(names[0], "8");
        QVERIFY(!rankPlace());
        qputenv(names[0], "0");
        qputenv(names[1], "1");
        QVERIFY(!rankPlace());
    }

    /// torchrun keeps the store, and says how often it has started the ranks.
    void oneProcessKeepsTheStore()
    {
        qputenv("RANK", "0");
        qputenv("WORLD_SIZE", "2");
        qputenv("MASTER_ADDR", "localhost");
        qputenv("MASTER_PORT", "29500");
        QVERIFY(rankPlace()->keepsStore);
        QCOMPARE(rankPlace()->attempt, std::string("0"));
        qputenv("TORCHELASTIC_USE_AGENT_STORE", "True");
        qputenv("TORCHELASTIC_RESTART_COUNT", "3");
        QVERIFY(!rankPlace()->keepsStore);
        QCOMPARE(rankPlace()->attempt, std::string("3"));
    }

    void batchesAreShared()
    {
        projects::TrainingPlan plan;
        plan.batch = 12;
        QVERIFY(checkShares(plan, 1).ok() && checkShares(plan, 4).ok());
        QCOMPARE(checkShares(plan, 5).error().place, std::string("training · batch"));
        plan.batching = projects::BatchKind::Full;
        QVERIFY(checkShares(plan, 1).ok());
        QCOMPARE(checkShares(plan, 4).error().place, std::string("training · batching"));
    }

private:
    static constexpr const char* kVariables[] = {"RANK",
                                                 "WORLD_SIZE",
                                                 "LOCAL_RANK",
                                                 "SLURM_PROCID",
                                                 "SLURM_NTASKS",
                                                 "SLURM_LOCALID",
                                                 "OMPI_COMM_WORLD_RANK",
                                                 "OMPI_COMM_WORLD_SIZE",
                                                 "OMPI_COMM_WORLD_LOCAL_RANK",
                                                 "MASTER_ADDR",
                                                 "MASTER_PORT",
                                                 "TORCHELASTIC_USE_AGENT_STORE",
                                                 "TORCHELASTIC_RESTART_COUNT"};
};

RESIDUA_TEST(TestRankPlace)
#include "tst_rank_place.moc"
