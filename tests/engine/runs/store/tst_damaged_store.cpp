// SPDX-License-Identifier: GPL-3.0-or-later
// Stores that another program, or a bad disk, has changed: what of them is refused, left out and told.
#include "engine/runs/results/coefficients.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/store/checkpoint.h"
#include "engine/runs/store/database.h"
#include "engine/runs/store/run_files.h"
#include "projects/shipped/examples.h"
#include "tests/engine/runs/store/run_files_harness.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <limits>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;
namespace fs = std::filesystem;

class TestDamagedStore : public RunFilesHarness {
    Q_OBJECT

private slots:
    void init() { newFolder(); }

    void storesOfAnotherProgramAreRefused_data()
    {
        QTest::addColumn<QString>("sql");
        QTest::addColumn<QString>("said");
        QTest::newRow("an endless view") << "DROP TABLE metrics; CREATE VIEW metrics AS WITH RECURSIVE c(x) AS (SELECT "
                                            "1 UNION ALL SELECT x + 1 FROM "
                                            "c) SELECT 1 AS name, x AS step, x AS value FROM c"
                                         << "metrics is no table but a view";
        QTest::newRow("an endless view, written otherwise")
            << "DROP TABLE names; CREATE VIEW Names AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
               "SELECT x AS id, 'n' || x AS name FROM c"
            << "names is no table but a view";
        QTest::newRow("values that are worked out")
            << "DROP TABLE metrics; CREATE TABLE metrics(name, step, value AS (length(hex(zeroblob(100000000)))), "
               "PRIMARY KEY(name, step))"
            << "its table metrics has other columns";
        QTest::newRow("no key, so that each query reads all")
            << "DROP TABLE metrics; CREATE TABLE metrics(name, step, value)"
            << "its table metrics has other columns";
        QTest::newRow("a table less") << "DROP TABLE events"
                                      << "events, a table of every run's store, is missing";
    }

    void storesOfAnotherProgramAreRefused()
    {
        QFETCH(QString, sql);
        QFETCH(QString, said);
        QVERIFY(create());
        change(sql.toStdString());
        const auto store = Database::openForReading(m_run / kStoreFile);
        QVERIFY(!store);
        QVERIFY2(QString::fromStdString(store.error().text()).contains(said), store.error().text().c_str());
    }

    void invalidRecordsAreLeftOutAndReported_data()
    {
        QTest::addColumn<QString>("sql");
        QTest::addColumn<QString>("said");
        QTest::newRow("a product beyond 64 bits") << "UPDATE matrices SET rows = 4294967296, columns = 4294967296"
                                                  << "bytes do not hold 4294967296 × 4294967296";
        QTest::newRow("rows without columns, for ever")
            << "UPDATE matrices SET rows = 9223372036854775807, columns = 0, data = x''"
            << "bytes do not hold";
        QTest::newRow("less than none") << "UPDATE matrices SET rows = -2, columns = -2"
                                        << "bytes do not hold -2 × -2";
        QTest::newRow("half a number") << "UPDATE matrices SET data = zeroblob(15)"
                                       << "15 bytes do not hold 2 × 2";
        QTest::newRow("words") << "UPDATE matrices SET data = 'none'"
                               << "its size or its numbers are something else";
        QTest::newRow("an unreadable name") << "UPDATE names SET name = char(27) || name"
                                            << "none that a person can read";
        QTest::newRow("a name that is drawn backwards") << "UPDATE names SET name = char(8238) || name"
                                                        << "none that a person can read";
        QTest::newRow("a tab in a name") << "UPDATE names SET name = char(9) || name"
                                         << "none that a person can read";
        QTest::newRow("a step beyond all") << "UPDATE matrices SET step = 9223372036854775807 WHERE step = 20"
                                           << "step 9223372036854775807 is none that a run reaches";
        QTest::newRow("a value that is none") << "UPDATE metrics SET value = 'x' WHERE step = 3"
                                              << "the value of step 3 is no number";
        QTest::newRow("an event without words") << "UPDATE events SET kind = x'00'"
                                                << "one holds no words";
        QTest::newRow("names without end")
            << "WITH RECURSIVE c(x) AS (SELECT 1000 UNION ALL SELECT x + 1 FROM c LIMIT 5000) INSERT INTO names SELECT "
               "x, "
               "'n' || x FROM c; INSERT INTO metrics SELECT id, 5, 1 FROM names WHERE id >= 1000"
            << "there are more than 500 names";
    }

    void invalidRecordsAreLeftOutAndReported()
    {
        QFETCH(QString, sql);
        QFETCH(QString, said);
        {
            auto writer = create();
            for (std::int64_t step = 1; step <= 5; ++step) {
                writer->metric(metric::kLoss, step, 1);
            }
            writer->matrix({"mix", 20, 2, 2, {1, std::numeric_limits<float>::quiet_NaN(), 0.5f, 0.5f}});
            writer->event({1, RunEventKind::Stage, "6"});
            QVERIFY(writer->flush());
        }
        change(sql.toStdString());
        const auto reader = RunReader::open(m_run);
        QVERIFY(reader);
        for (const MatrixName& name : reader->matrixNames()) {
            for (const std::int64_t step : reader->matrixSteps(name)) {
                QVERIFY(!reader->matrix(name, step) || sql.startsWith("UPDATE metrics") ||
                        sql.startsWith("UPDATE events") || sql.startsWith("WITH"));
            }
        }
        for (const std::string& name : reader->metricNames()) {
            QVERIFY(reader->metric(name).size() <= 5);
        }
        static_cast<void>(reader->events());
        QString told;
        for (const Error& fault : reader->faults()) {
            told += QString::fromStdString(fault.text()) + '\n';
        }
        QVERIFY2(told.contains(said), qPrintable(told));
    }

    void soundStoresHaveNoFaults()
    {
        auto writer = create();
        writer->metric(metric::kLoss, 1, 4.5);
        writer->matrix({"mix", 20, 1, 1, {1}});
        writer->event({1, RunEventKind::Stage, "6"});
        QVERIFY(writer->flush());
        const auto reader = RunReader::open(m_run);
        QVERIFY(reader->info());
        QCOMPARE(reader->metricNames().size(), std::size_t{1});
        QVERIFY(reader->matrix("mix", 20));
        QVERIFY(!reader->matrix("mix", 21)); // not there, which is no fault
        QCOMPARE(reader->events().size(), std::size_t{1});
        QVERIFY(reader->faults().empty());
    }

    void aLostStoreIsToldOnce()
    {
        QVERIFY(create());
        fs::remove(m_run / kStoreFile);
        const auto reader = RunReader::open(m_run);
        QVERIFY(reader);
        QVERIFY(reader->metric(metric::kLoss).empty() && reader->matrixNames().empty() && reader->events().empty());
        QCOMPARE(reader->faults().size(), std::size_t{1});
        QVERIFY(reader->faults().front().message.find("no store") != std::string::npos);
    }

    void waitsForNoFifo()
    {
        QVERIFY(create());
        fs::remove(m_run / kStoreFile);
        QCOMPARE(::mkfifo((m_run / kStoreFile).c_str(), 0600), 0);
        const auto store = Database::openForReading(m_run / kStoreFile);
        QVERIFY(!store && store.error().message.find("plain file") != std::string::npos);
    }

    /// The weights have as many rows as there are terms, but another shape after the first dimension.
    void weightsOfAnotherShapeAreRefused()
    {
        const projects::Project learned = projects::findExample("linear-ancre")->project;
        const auto& mix = std::get<projects::DepthMix>(learned.stack().topology.wiring);
        const std::vector<projects::DepthTerm> terms = projects::planOf(mix, learned.network.depth()).terms;
        const auto count = static_cast<std::int64_t>(terms.size());
        QVERIFY(RunWriter::create(m_run, {}, learned, m_folder.parent_path()));
        const std::vector<float> values(terms.size(), 1);
        std::int64_t step = 0;
        for (const auto& shape : std::vector<std::vector<std::int64_t>>{
                 {count}, {count, 1}, {count, 0}, {count, 0, 5}, {count, 1, 1}, {0}, {}}) {
            std::int64_t numbers = 1;
            for (const std::int64_t size : shape) {
                numbers *= size;
            }
            const auto bytes = std::as_bytes(std::span(values).first(static_cast<std::size_t>(numbers)));
            CheckpointState state;
            state.step = ++step;
            QVERIFY(writeCheckpoint(m_run, state, {{"topology.coefficient", {StoredType::F32, shape, bytes}}}, {}, {}));
            const auto read = checkpointCoefficients(m_run, step);
            QVERIFY2(read.ok() == (step <= 2), read ? "" : read.error().text().c_str());
            QVERIFY(read.ok() || read.error().message.find("does not fit the topology") != std::string::npos);
        }
    }

    /// The store is read on a read-only medium, in a folder whose name has special characters of a URI.
    void readsWhereNothingMayBeWritten()
    {
        m_run = m_folder / "50% #1?";
        {
            auto writer = create();
            QVERIFY(writer);
            writer->metric(metric::kLoss, 1, 4.5);
            QVERIFY(writer->flush());
            writer->metric(metric::kLoss, 2, 4.25);
            QVERIFY(writer->flush());
            fs::copy(m_run, m_folder / "killed", fs::copy_options::recursive); // with its WAL, as a kill leaves it
            fs::remove(m_folder / "killed" / (std::string(kStoreFile) + "-shm"));
        }
        QVERIFY(fs::file_size(m_folder / "killed" / (std::string(kStoreFile) + "-wal")) > 0);
        const auto all = fs::perms::owner_all | fs::perms::group_all | fs::perms::others_all;
        fs::permissions(m_temporary->path().toStdString(), all);
        const auto writing = fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write;
        fs::permissions(m_run, all & ~writing);
        fs::permissions(m_folder / "killed", all & ~writing);
        const fs::path run = m_run;
        const fs::path killed = m_folder / "killed";
        const pid_t child = ::fork();
        if (child == 0) {
            constexpr uid_t kNobody = 65534;
            const bool person = ::geteuid() != 0 || ::setuid(kNobody) == 0;
            const auto reads = [](const fs::path& path) {
                const auto reader = RunReader::open(path);
                return reader && reader->metric(metric::kLoss).size() == 2;
            };
            ::_exit(!person ? 1 : !reads(run) ? 2 : !reads(killed) ? 3 : 0);
        }
        int result = -1;
        ::waitpid(child, &result, 0);
        fs::permissions(m_run, all);
        fs::permissions(killed, all);
        QCOMPARE(WEXITSTATUS(result), 0);
    }

    /// A reader that is still open keeps SQLite from emptying the write-ahead log.
    void theLastWriterLeavesNothingInTheWal()
    {
        std::optional<RunReader> reader;
        {
            auto writer = create();
            QVERIFY(writer);
            writer->metric(metric::kLoss, 1, 4.5);
            QVERIFY(writer->flush());
            auto opened = RunReader::open(m_run);
            QVERIFY(opened && opened->metric(metric::kLoss).size() == 1);
            reader.emplace(std::move(*opened));
            writer->metric(metric::kLoss, 2, 4.25);
            QVERIFY(writer->flush());
        }
        fs::create_directories(m_folder / "copy");
        for (const char* name : {kRunFile, kStoreFile}) {
            fs::copy_file(m_run / name, m_folder / "copy" / name);
        }
        QCOMPARE(RunReader::open(m_folder / "copy")->metric(metric::kLoss).size(), 2u);
    }

private:
    /// Changes the store as another program does.
    void change(const std::string& sql) const
    {
        auto store = Database::openForWriting(m_run / kStoreFile);
        const Status done = store ? store->execute(sql.c_str()) : Status(store.error());
        if (!done) {
            qFatal("%s", done.error().text().c_str());
        }
    }
};

RESIDUA_TEST(TestDamagedStore)
#include "tst_damaged_store.moc"
