// SPDX-License-Identifier: GPL-3.0-or-later
// How a run of several ranks ends before it begins, and when one of them is asked to stop.
#include "engine/base/api/environment.h"
#include "engine/runs/results/run_reader.h"
#include "projects/file/store.h"
#include "projects/shipped/recipes.h"
#include "tests/cli/rank_processes.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

using namespace residua;
using namespace residua::cli;
using projects::Project;

namespace {

constexpr int kUsage = 1;
constexpr int kInterrupted = 130;
constexpr int kQuit = 131;

/// The text that a process has written to stderr so far.
class Heard {
public:
    explicit Heard(QProcess& process) : m_process(process) {}
    [[nodiscard]] bool says(const char* text)
    {
        m_process.waitForReadyRead(50);
        m_text += m_process.readAllStandardError();
        return m_text.contains(text);
    }
    [[nodiscard]] Ran ended()
    {
        Ran ran = cli::ended(m_process);
        ran.errors.prepend(QString::fromUtf8(m_text));
        return ran;
    }

private:
    QProcess& m_process;
    QByteArray m_text;
};

} // namespace

class TestRankEnds : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_port = tests::freePort();
    }
    void cleanup()
    {
        for (const auto& process : m_ranks) {
            process->kill();
            process->waitForFinished();
        }
        m_ranks.clear();
    }

    void unusableVariablesTrainNothing_data()
    {
        QTest::addColumn<QStringList>("variables");
        QTest::addColumn<QString>("says");
        QTest::newRow("rank") << QStringList{"RANK=2", "WORLD_SIZE=2", "MASTER_ADDR=127.0.0.1", "MASTER_PORT=29500"}
                              << "[RANK] is \"2\", expected a number from 0 to 1";
        QTest::newRow("size") << QStringList{"RANK=0"} << "[WORLD_SIZE] is not set";
        QTest::newRow("srun") << QStringList{"SLURM_PROCID=0", "SLURM_NTASKS=2"} << "[MASTER_ADDR] is not set";
    }
    void unusableVariablesTrainNothing()
    {
        QFETCH(QStringList, variables);
        QFETCH(QString, says);
        save(tinyProject().project);
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        for (const QString& variable : variables) {
            environment.insert(variable.section('=', 0, 0), variable.section('=', 1));
        }
        process.setProcessEnvironment(environment);
        process.start(RESIDUA_CLI, train());
        const Ran ran = ended(process);
        QCOMPARE(ran.code, kUsage);
        QVERIFY2(ran.errors.contains(says), qPrintable(ran.errors));
        QVERIFY(!QDir(path("run")).exists());
    }

    /// The path of the data leads to a different file in each process.
    void otherDataAreRefused()
    {
        Project project = tinyProject().project;
        project.data.source = projects::TextData{"/proc/self/cwd/text.txt", {}};
        save(project);
        for (const char* const rank : {"a", "b"}) {
            QVERIFY(QDir(m_folder->path()).mkdir(rank));
            QFile file(path(QString(rank) + "/text.txt"));
            QVERIFY(file.open(QFile::WriteOnly));
            file.write(QByteArray(rank).repeated(4000));
        }
        m_ranks.push_back(startRank({0, 2, m_port}, train(), path("a")));
        m_ranks.push_back(startRank({1, 2, m_port}, train(), path("b")));
        for (const auto& process : m_ranks) {
            const Ran ran = ended(*process);
            QVERIFY(ran.code != 0);
            QVERIFY2(ran.errors.contains("rank 1 has other data than rank 0") && ran.errors.contains("expected"),
                     qPrintable(ran.errors));
        }
        QVERIFY(!QFile::exists(path("run/run.json")));
    }

    void aRefusalEndsAll_data()
    {
        QTest::addColumn<QStringList>("more");
        QTest::addColumn<QString>("says");
        QTest::newRow("invalid") << QStringList{"--set", "training.batch=-3"} << "training · batch";
        QTest::newRow("not shared") << QStringList{"--set", "training.batch=5"} << "expected a multiple of the 2 ranks";
        QTest::newRow("run") << QStringList{"--run", m_taken} << m_taken;
        QTest::newRow("data") << QStringList{"--set", "data.source.kind=text", "--set", "data.source.path=missing.txt"}
                              << "missing.txt";
    }
    /// Rank 0 is refused. Rank 1 has no such fault, or another project; it ends and reports the same reason.
    void aRefusalEndsAll()
    {
        QFETCH(QStringList, more);
        QFETCH(QString, says);
        save(tinyProject().project);
        QVERIFY(QDir(m_folder->path()).mkdir(m_taken));
        QFile file(path(QString(m_taken) + "/something"));
        QVERIFY(file.open(QFile::WriteOnly));
        m_ranks.push_back(startRank({0, 2, m_port}, train(more), m_folder->path()));
        m_ranks.push_back(startRank({1, 2, m_port}, train(), m_folder->path()));
        const Ran first = ended(*m_ranks[0]);
        QVERIFY2(first.code != 0 && first.errors.contains(says), qPrintable(first.errors));
        const Ran second = ended(*m_ranks[1]);
        QVERIFY2(second.code != 0 && second.errors.contains(says), qPrintable(second.errors));
    }

    void worldsAreRefused()
    {
        save(projects::contrastiveLearning({.path = {}, .environments = 2, .prefill = 40, .replay = 60}, 1, 8));
        for (const int rank : {0, 1}) {
            m_ranks.push_back(startRank({rank, 2, m_port}, train()));
        }
        for (const auto& process : m_ranks) {
            const Ran ran = ended(*process);
            QVERIFY2(ran.code != 0 && ran.errors.contains("is a world"), qPrintable(ran.errors));
            QVERIFY(ran.errors.contains("expected a run without other ranks"));
        }
        QVERIFY(!QFile::exists(path("run/run.json")));
    }

    /// Only one rank is started.
    void indivisibleBatchIsRefusedBeforeTheWait()
    {
        save(tinyProject().project);
        m_ranks.push_back(startRank({0, 3, m_port}, train()));
        const Ran ran = ended(*m_ranks.front());
        QVERIFY2(ran.code != 0 && ran.errors.contains("a multiple of the 3 ranks"), qPrintable(ran.errors));
        QVERIFY(!ran.errors.contains("waiting for the other ranks"));
    }

    void aRankThatWaitsObeys_data()
    {
        QTest::addColumn<int>("rank");
        QTest::newRow("rank 0") << 0;
        QTest::newRow("rank 1, without a store") << 1;
    }
    void aRankThatWaitsObeys()
    {
        QFETCH(int, rank);
        save(tinyProject().project);
        m_ranks.push_back(startRank({rank, 2, m_port}, train()));
        Heard heard(*m_ranks.front());
        const char* const waits = rank == 0 ? "waiting for the other ranks: 50 %" : "waiting for the other ranks: 0 %";
        QTRY_VERIFY_WITH_TIMEOUT(heard.says(waits), kPatience);
        m_ranks.front()->terminate();
        const Ran ran = heard.ended();
        QVERIFY2(ran.code == kQuit, qPrintable(ran.errors));
        QVERIFY2(ran.errors.contains("before the training began"), qPrintable(ran.errors));
    }

    /// Two of three ranks wait. One of them gets a stop request.
    void aRankThatIsStoppedTellsTheOthers_data()
    {
        QTest::addColumn<int>("stopped");
        QTest::newRow("rank 0") << 0;
        QTest::newRow("rank 1") << 1;
    }
    void aRankThatIsStoppedTellsTheOthers()
    {
        QFETCH(int, stopped);
        Project project = tinyProject().project;
        project.training.batch = 6;
        save(project);
        for (const int rank : {0, 1}) {
            m_ranks.push_back(startRank({rank, 3, m_port}, train()));
        }
        Heard heard(*m_ranks[0]);
        QTRY_VERIFY_WITH_TIMEOUT(heard.says("waiting for the other ranks: 66 %"), kPatience);
        m_ranks[static_cast<std::size_t>(stopped)]->terminate();
        const Ran first = heard.ended();
        const Ran second = ended(*m_ranks[1]);
        const Ran& asked = stopped == 0 ? first : second;
        const Ran& other = stopped == 0 ? second : first;
        QVERIFY2(asked.code == kQuit, qPrintable(asked.errors));
        const QString says = QStringLiteral("rank %1 was asked to stop before the first step").arg(stopped);
        QVERIFY2(other.code != 0 && other.errors.contains(says), qPrintable(other.errors));
    }

    /// SIGTERM to any rank stops the whole run with a checkpoint.
    void anyRankStopsTheRun_data()
    {
        QTest::addColumn<int>("stopped");
        QTest::newRow("rank 0") << 0;
        QTest::newRow("rank 1") << 1;
    }
    void anyRankStopsTheRun()
    {
        QFETCH(int, stopped);
        Project project = tinyProject().project;
        project.training.checkpointEvery = 10;
        save(project);
        for (const int rank : {0, 1}) {
            m_ranks.push_back(startRank({rank, 2, m_port}, train({"--steps", "1000000"})));
        }
        const auto checkpoints = std::filesystem::path(path("run").toStdString()) / "checkpoints";
        QTRY_VERIFY_WITH_TIMEOUT(std::filesystem::exists(checkpoints) && !std::filesystem::is_empty(checkpoints),
                                 kPatience);
        m_ranks[static_cast<std::size_t>(stopped)]->terminate();
        const Ran first = ended(*m_ranks[0]);
        const Ran second = ended(*m_ranks[1]);
        QVERIFY2(first.code == kInterrupted && first.output.contains("checkpoint written"), qPrintable(first.errors));
        QVERIFY2(second.code != -1, qPrintable(second.errors));
        const auto reader = engine::RunReader::open(path("run").toStdString());
        QVERIFY(reader.ok());
        const auto info = reader->info();
        QVERIFY(info.ok());
        QVERIFY(info->status == engine::RunStatus::Stopped);
        QVERIFY(std::filesystem::exists(engine::checkpointDirectory(path("run").toStdString(), info->step)));
        if (stopped == 1) {
            QVERIFY2(first.errors.contains("rank 1 was asked to stop"), qPrintable(first.errors));
        }
    }

    void otherValuesAreReported_data()
    {
        QTest::addColumn<QStringList>("more");
        QTest::addColumn<QString>("says");
        QTest::newRow("a field") << QStringList{"--set", "training.batch=8"} << "batch 8 examples, rank 0 4 examples";
        QTest::newRow("steps") << QStringList{"--steps", "5"} << "steps 5";
        QTest::newRow("the run") << QStringList{"--run", "other"} << "--run ";
    }
    void otherValuesAreReported()
    {
        QFETCH(QStringList, more);
        QFETCH(QString, says);
        save(tinyProject().project);
        m_ranks.push_back(startRank({0, 2, m_port}, train()));
        m_ranks.push_back(startRank({1, 2, m_port}, train(more)));
        const Ran first = ended(*m_ranks[0]);
        QVERIFY2(first.code == 0 && !first.errors.contains("other values"), qPrintable(first.errors));
        const Ran second = ended(*m_ranks[1]);
        QVERIFY2(second.code == 0 && second.errors.contains("rank 1 was given other values") &&
                     second.errors.contains(says),
                 qPrintable(second.errors));
    }

private:
    static constexpr const char* m_taken = "taken";

    [[nodiscard]] QString path(const QString& name) const { return m_folder->filePath(name); }
    [[nodiscard]] QStringList train(const QStringList& more = {}) const
    {
        QStringList words{"train", path("project"), "--threads", "1"};
        words += more.contains("--run") ? QStringList() : QStringList{"--run", path("run")};
        words += more.contains("--steps") ? QStringList() : QStringList{"--steps", "3"};
        return words + more;
    }
    void save(Project project) const
    {
        project.training.validateEvery = 0;
        projects::Document document{std::move(project), {}};
        QVERIFY(projects::saveProject(path("project").toStdString(), document).ok());
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    int m_port = 0;
    std::vector<std::unique_ptr<QProcess>> m_ranks;
};

RESIDUA_TEST(TestRankEnds)
#include "tst_rank_ends.moc"
