// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/stages.h"
#include "engine/runs/store/checkpoint.h"
#include "engine/runs/store/database.h"
#include "engine/runs/store/run_directory.h"
#include "engine/runs/store/run_files.h"
#include "engine/runs/store/run_writer.h"
#include "tests/engine/runs/store/run_files_harness.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <csignal>
#include <iterator>
#include <limits>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;
namespace fs = std::filesystem;

namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

StepRecord record(std::int64_t step)
{
    const auto x = static_cast<double>(step);
    return {step, 5.0 / x, 1e-3 * x, 0.1 + x, step * 2048, 0.25 * x};
}

} // namespace

class TestRunStore : public RunFilesHarness {
    Q_OBJECT

private slots:
    void init() { newFolder(); }

    void everythingComesBack()
    {
        {
            auto writer = create();
            QVERIFY2(writer, writer ? "" : writer.error().text().c_str());
            for (std::int64_t step = 1; step <= 100; ++step) {
                writer->step(record(step));
            }
            writer->metric(metric::kValidationLoss, 50, 4.5);
            writer->matrix({"mix", 20, 2, 2, {0.5f, kNone, 0.25f, 0.75f}});
            writer->matrix({"mix", 40, 2, 2, {0.5f, kNone, 0.125f, 0.875f}});
            writer->matrix({"empty", 40, 0, 3, {}});
            writer->event({50, RunEventKind::Checkpoint, "step-00000050 · 1,2 MB"});
            QVERIFY(writer->flush());
        }
        const auto reader = RunReader::open(m_run);
        QVERIFY2(reader, reader ? "" : reader.error().text().c_str());
        QCOMPARE(reader->metricNames(), (std::vector<std::string>{"loss/train", "loss/validation", "norm/gradient",
                                                                  "rate", "seconds", "units"}));
        const auto losses = reader->metric(metric::kLoss);
        QCOMPARE(losses.size(), 100u);
        for (std::int64_t step = 1; step <= 100; ++step) {
            QCOMPARE(losses[static_cast<std::size_t>(step - 1)], (MetricPoint{step, record(step).loss}));
        }
        QCOMPARE(reader->metric(metric::kUnits, 98),
                 (std::vector<MetricPoint>{{99, 99 * 2048.0}, {100, 100 * 2048.0}}));
        QVERIFY(reader->metric("no such").empty());
        QCOMPARE(reader->matrixNames(), (std::vector<MatrixName>{"empty", "mix"}));
        QCOMPARE(reader->matrixSteps("mix"), (std::vector<std::int64_t>{20, 40}));
        const auto matrix = reader->matrix("mix", 40);
        QVERIFY(matrix);
        QCOMPARE(matrix->at(1, 1), 0.875f);
        QVERIFY(std::isnan(matrix->at(0, 1)));
        QVERIFY(reader->matrix("empty", 40)->values.empty());
        QVERIFY(!reader->matrix("mix", 41));
        QCOMPARE(reader->events(), (std::vector<RunEvent>{{50, RunEventKind::Checkpoint, "step-00000050 · 1,2 MB"}}));
        QCOMPARE(*reader->project(), exampleProject());
        QCOMPARE(*projectDirectoryOf(m_run), m_folder.parent_path());
    }

    void infoFollowsTheStore()
    {
        auto writer = create();
        QVERIFY(writer);
        writer->step(record(7));
        writer->metric(metric::kValidationLoss, 5, 3.5);
        QVERIFY(writer->flush());
        const auto info = RunReader::open(m_run)->info();
        QVERIFY(info);
        QCOMPARE(info->step, 7);
        QCOMPARE(info->loss(), record(7).loss);
        QCOMPARE(info->validationLoss(), 3.5);
        QCOMPARE(info->steps, 1000);
        QCOMPARE(info->tags, exampleInfo().tags);
        QCOMPARE(info->notes, exampleInfo().notes);
        QCOMPARE(info->directory, m_run.string());
        QCOMPARE(info->created.size(), std::string("2026-01-01T00:00:00Z").size());
    }

    void notANumberIsKept()
    {
        auto writer = create();
        writer->metric(metric::kLoss, 1, std::numeric_limits<double>::quiet_NaN());
        writer->metric(metric::kLoss, 2, std::numeric_limits<double>::infinity());
        QVERIFY(writer->flush());
        const auto losses = RunReader::open(m_run)->metric(metric::kLoss);
        QCOMPARE(losses.size(), 2u);
        QVERIFY(std::isnan(losses[0].value));
        QVERIFY(std::isinf(losses[1].value));
    }

    void eachStepOnce()
    {
        auto writer = create();
        writer->metric(metric::kLoss, 3, 1.0);
        QVERIFY(writer->flush());
        writer->metric(metric::kLoss, 3, 2.0);
        QVERIFY(writer->flush());
        QCOMPARE(RunReader::open(m_run)->metric(metric::kLoss), (std::vector<MetricPoint>{{3, 2.0}}));
    }

    void thereIsNoLossBeforeTheFirstStep()
    {
        QVERIFY(std::isnan(RunInfo{}.loss()) && std::isnan(RunInfo{}.validationLoss()));
        QVERIFY(create());
        QVERIFY(std::isnan(RunReader::open(m_run)->info()->loss()));
        QVERIFY(isIn(contentOf(m_run / "run.json"), "\"loss\": null"));
        // Earlier versions wrote 0.
        std::string text = contentOf(m_run / "run.json");
        write(m_run / "run.json", text.replace(text.find("\"loss\": null"), 12, "\"loss\": 0.0"));
        QVERIFY(std::isnan(listRuns(m_folder).front().loss()));
    }

    void everyKindOfEventIsReadBack()
    {
        {
            auto writer = create();
            for (int kind = 0; kind <= static_cast<int>(RunEventKind::Other); ++kind) {
                writer->event({kind, static_cast<RunEventKind>(kind), "text"});
            }
            QVERIFY(writer->flush());
        }
        const std::vector<RunEvent> events = RunReader::open(m_run)->events();
        QCOMPARE(events.size(), static_cast<std::size_t>(RunEventKind::Other) + 1);
        for (const RunEvent& event : events) {
            QCOMPARE(event, (RunEvent{event.step, static_cast<RunEventKind>(event.step), "text"}));
        }
        // Another program's word is not lost.
        QCOMPARE(runEventFrom(3, "moved", "to b"), (RunEvent{3, RunEventKind::Other, "moved: to b"}));
        QCOMPARE(runEventFrom(3, "other", "moved: to b"), (RunEvent{3, RunEventKind::Other, "moved: to b"}));
    }

    void aStageIsReadBackFromItsText_data()
    {
        QTest::addColumn<std::string>("name");
        QTest::addColumn<std::string>("note");
        QTest::newRow("a name") << std::string("6 layers") << std::string();
        QTest::newRow("a note") << std::string("9 layers") << std::string("3 are copies");
        QTest::newRow("a note of several parts") << std::string("9") << std::string("3 are copies; the rest stays");
    }

    void aStageIsReadBackFromItsText()
    {
        QFETCH(std::string, name);
        QFETCH(std::string, note);
        StageRecord stage;
        stage.name = name;
        stage.note = note;
        const StageRecord read = stageFrom(stageText(stage));
        QCOMPARE(read.name, name);
        QCOMPARE(read.note, note);
    }

    void goingOnDropsTheFuture()
    {
        {
            auto writer = create();
            for (std::int64_t step = 1; step <= 30; ++step) {
                writer->step(record(step));
            }
            writer->matrix({"mix", 10, 1, 1, {1.0f}});
            writer->matrix({"mix", 30, 1, 1, {1.0f}});
            writer->event({10, RunEventKind::Paused, ""});
            writer->event({30, RunEventKind::Continued, ""});
            QVERIFY(writer->flush());
            for (const std::int64_t step : {10, 20, 30}) {
                QVERIFY(writeCheckpoint(m_run, {step, 0, 0, {}, {}}, {}, {}, {}));
            }
        }
        auto writer = RunWriter::reopen(m_run, 20);
        QVERIFY2(writer, writer ? "" : writer.error().text().c_str());
        writer->step(record(21));
        QVERIFY(writer->flush());
        const auto reader = RunReader::open(m_run);
        QCOMPARE(reader->metric(metric::kLoss).size(), 21u);
        QCOMPARE(reader->metric(metric::kSeconds).back().step, 21);
        QCOMPARE(reader->matrixSteps("mix"), std::vector<std::int64_t>{10});
        QCOMPARE(reader->events(), (std::vector<RunEvent>{{10, RunEventKind::Paused, ""}}));
        QCOMPARE(reader->checkpoints(), (std::vector<std::int64_t>{10, 20}));
        int eventFiles = 0;
        for (const auto& entry : fs::directory_iterator(m_run)) {
            eventFiles += entry.path().filename().string().starts_with("events.out.tfevents.") ? 1 : 0;
        }
        QCOMPARE(eventFiles, 2);
    }

    /// The reader follows a run that another process writes, and learns that it was killed.
    void followsAnotherProcess()
    {
        const Signal written;
        const Signal goOn;
        const pid_t child = inChild([&] {
            auto writer = create();
            writer->step(record(1));
            static_cast<void>(writer->flush());
            written.give();
            goOn.await();
            writer->step(record(2));
            static_cast<void>(writer->flush());
            written.give();
            goOn.await(); // for ever
            return 0;
        });
        written.await();
        const auto reader = RunReader::open(m_run);
        QVERIFY(reader);
        QCOMPARE(reader->metric(metric::kLoss).size(), 1u);
        QCOMPARE(textOf(reader->info()->status), textOf(RunStatus::Running));
        goOn.give();
        written.await();
        QCOMPARE(reader->metric(metric::kLoss, 1), (std::vector<MetricPoint>{{2, record(2).loss}}));
        QCOMPARE(reader->info()->step, 2);
        ::kill(child, SIGKILL);
        QCOMPARE(exitOf(child), -1);
        QCOMPARE(textOf(reader->info()->status), textOf(RunStatus::Interrupted));
        const auto fresh = RunReader::open(m_run);
        QVERIFY(fresh);
        QCOMPARE(fresh->metric(metric::kLoss).size(), 2u);
        const auto writer = RunWriter::reopen(m_run, 1);
        QVERIFY(writer);
        QCOMPARE(reader->metric(metric::kLoss).size(), 1u);
    }

    void anInvalidStoreBlocksNothing_data()
    {
        QTest::addColumn<int>("what");
        QTest::newRow("garbage") << 0;
        QTest::newRow("cut short") << 1;
        QTest::newRow("missing") << 2;
        QTest::newRow("empty") << 3;
        QTest::newRow("a folder") << 4;
        QTest::newRow("a link out of the run") << 5;
        QTest::newRow("other tables") << 6;
    }
    void anInvalidStoreBlocksNothing()
    {
        QFETCH(int, what);
        {
            auto writer = create();
            for (std::int64_t step = 1; step <= 300; ++step) {
                writer->step(record(step));
            }
            QVERIFY(writer->flush());
            QVERIFY(writeCheckpoint(m_run, {200, 0, 0, {}, {}}, {}, {}, {}));
        }
        const fs::path store = m_run / "store.sqlite";
        const fs::path outside = m_temporary->filePath("outside.sqlite").toStdString();
        write(outside, "precious");
        if (what == 1) {
            fs::resize_file(store, fs::file_size(store) / 2 + 100);
        } else {
            fs::remove(store);
        }
        switch (what) {
        case 0:
            write(store, std::string(5000, 'x'));
            break;
        case 3:
            write(store, "");
            break;
        case 4:
            fs::create_directories(store / "inside");
            break;
        case 5:
            fs::create_symlink(outside, store);
            break;
        case 6:
            QVERIFY(Database::openForWriting(store)->execute("DROP TABLE metrics; CREATE TABLE metrics(x)"));
            break;
        default:
            break;
        }
        {
            const auto reader = RunReader::open(m_run);
            QVERIFY2(reader, reader ? "" : reader.error().text().c_str());
            QVERIFY(reader->info() && reader->project());
            QCOMPARE(reader->checkpoints(), std::vector<std::int64_t>{200});
            static_cast<void>(reader->metric(metric::kLoss));
            QVERIFY(what == 1 || what == 6 || reader->storeError().has_value());
            QVERIFY(listRuns(m_folder).front().message.empty());
        }
        auto writer = RunWriter::reopen(m_run, 200);
        QVERIFY2(writer, writer ? "" : writer.error().text().c_str());
        const std::vector<std::string> notes = writer->takeNotes();
        QCOMPARE(notes.size(), std::size_t{1});
        QVERIFY2(isIn(notes[0], "fresh one"), notes[0].c_str());
        QVERIFY(writer->takeNotes().empty());
        writer->step(record(201));
        QVERIFY(writer->flush());
        QCOMPARE(RunReader::open(m_run)->metric(metric::kLoss), (std::vector<MetricPoint>{{201, record(201).loss}}));
        QCOMPARE(contentOf(outside), std::string("precious"));
        const bool kept = what != 2 && what != 3;
        QCOMPARE(fs::exists(fs::symlink_status(m_run / "store.sqlite.damaged")), kept);
    }

    void aStoreThatAnotherHoldsDelaysTheRecord()
    {
        auto writer = create();
        auto other = Database::openForWriting(m_run / "store.sqlite");
        QVERIFY(other->execute("BEGIN EXCLUSIVE"));
        for (std::int64_t step = 1; step <= 2; ++step) {
            writer->step(record(step));
            QVERIFY(writer->flush());
            QVERIFY(writer->isBuffered());
        }
        const std::vector<std::string> notes = writer->takeNotes();
        QCOMPARE(notes.size(), std::size_t{1}); // told once
        QVERIFY2(isIn(notes[0], "another process holds"), notes[0].c_str());
        QVERIFY(other->execute("COMMIT"));
        QVERIFY(writer->flush());
        QVERIFY(!writer->isBuffered());
        QCOMPARE(RunReader::open(m_run)->metric(metric::kLoss).size(), 2u);
    }

    void aFolderThatAnotherHasLockedDelaysNothing()
    {
        auto writer = create();
        const FileDescriptor folder(::open(m_run.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        QCOMPARE(::flock(folder.get(), LOCK_EX), 0);
        RunInfo info = writer->info();
        info.status = RunStatus::Finished;
        QVERIFY(writer->update(info));
        QVERIFY(readRunFile(m_run)->info.status == RunStatus::Finished);
    }

    void nothingIsWrittenThroughLinks()
    {
        QVERIFY(create());
        const fs::path outside = m_temporary->filePath("outside").toStdString();
        write(outside / "step-00000030" / "state.json", "theirs");
        write(outside / ".step-00000030.tmp" / "state.json", "theirs");
        fs::create_directory_symlink(outside, m_run / "checkpoints");
        QVERIFY(isIn(RunWriter::reopen(m_run, 10).error().text(), "is a link"));
        QVERIFY(isIn(writeCheckpoint(m_run, {40, 0, 0, {}, {}}, {}, {}, {.newest = 1}).error().text(), "is a link"));
        QVERIFY(!removeCheckpointsAfter(m_run, 10));
        sweepRun(m_run);
        QVERIFY(fs::exists(outside / "step-00000030" / "state.json"));
        QVERIFY(fs::exists(outside / ".step-00000030.tmp" / "state.json"));
        fs::remove(m_run / "checkpoints");

        const fs::path elsewhere = outside / "run.json";
        fs::rename(m_run / "run.json", elsewhere);
        fs::create_symlink(elsewhere, m_run / "run.json");
        const std::string before = contentOf(elsewhere);
        QVERIFY(annotateRun(m_run, {"mine"}, ""));
        QCOMPARE(contentOf(elsewhere), before);
        QCOMPARE(RunReader::open(m_run)->info()->tags, std::vector<std::string>{"mine"});

        // Nor through those of what stands beside it.
        write(outside / "theirs", "theirs");
        for (const char* name : {"stop", "gap.json", "import.json"}) {
            fs::create_symlink(outside / "theirs", m_run / name);
        }
        QVERIFY(writeStopRequest(m_run, 20));
        QCOMPARE(readStopRequest(m_run), std::optional<std::int64_t>(20));
        Gap gap;
        gap.methods = {projects::LowRankMethod::Exact};
        QVERIFY(writeGap(m_run, gap));
        QVERIFY(readGap(m_run)->has_value());
        QVERIFY(writeImport(m_run, {}));
        QVERIFY(readImport(m_run)->has_value());
        QCOMPARE(contentOf(outside / "theirs"), "theirs");

        fs::remove(m_run / "lock");
        fs::create_symlink(outside / "made", m_run / "lock");
        QVERIFY(!RunWriter::reopen(m_run, 10));
        QVERIFY(!fs::exists(outside / "made"));
    }

    /// Reading takes so long that the test ends only where no name is compared with all before it.
    void anImportMayHaveManyTensors()
    {
        QVERIFY(create());
        ImportRecord record{"source", "{}", StoredType::Bf16, {}};
        for (int i = 0; i < 400'000; ++i) {
            record.types["tensor " + std::to_string(i)] = i % 2 == 0 ? StoredType::F32 : StoredType::F16;
        }
        QVERIFY(writeImport(m_run, record));
        const auto read = readImport(m_run);
        QVERIFY2(read, read ? "" : read.error().text().c_str());
        QVERIFY(read->has_value());
        QCOMPARE((*read)->source, record.source);
        QCOMPARE((*read)->config, record.config);
        QVERIFY((*read)->type == record.type && (*read)->types == record.types);
    }

    /// A limit on file sizes fails a write as a full disk does: the flush says so, what was there stays, and with
    /// room again the same flush goes through.
    void fullDisk()
    {
        const fs::path run = m_run;
        const pid_t child = inChild([&] {
            auto writer = create();
            writer->step(record(1));
            if (!writer->flush()) {
                return 1;
            }
            ::signal(SIGXFSZ, SIG_IGN);
            rlimit limit = {};
            ::getrlimit(RLIMIT_FSIZE, &limit);
            const rlimit_t before = limit.rlim_cur;
            limit.rlim_cur = fs::file_size(run / "store.sqlite-wal") + 4096;
            ::setrlimit(RLIMIT_FSIZE, &limit);
            for (std::int64_t step = 2; step <= 2000; ++step) {
                writer->step(record(step));
            }
            const auto full = writer->flush();
            if (full || full.error().text().find("store.sqlite") == std::string::npos) {
                return 2;
            }
            if (RunReader::open(run)->metric(metric::kLoss).size() != 1) {
                return 3;
            }
            limit.rlim_cur = before;
            ::setrlimit(RLIMIT_FSIZE, &limit);
            return writer->flush() ? 0 : 4;
        });
        QCOMPARE(exitOf(child), 0);
        QCOMPARE(RunReader::open(m_run)->metric(metric::kLoss).size(), 2000u);
    }

    /// A reader that has the store open sees the new contents, and what it has begun to read stays whole.
    void aStoreIsReplacedUnderItsReaders()
    {
        const auto fill = [this](const fs::path& run, std::int64_t steps) {
            m_run = run;
            auto writer = create();
            for (std::int64_t step = 1; step <= steps; ++step) {
                writer->step(record(step));
            }
            QVERIFY(writer->flush());
        };
        fill(m_folder / "other", 500);
        fill(m_folder / "shown", 20);
        const auto reader = RunReader::open(m_run);
        const auto begun = Database::openForReading(m_run / kStoreFile);
        auto rows = begun->prepare("SELECT step FROM metrics");
        QVERIFY(reader && rows && rows->next());
        const ino_t before = inodeOf(m_run / kStoreFile);
        {
            auto store = Database::openForWriting(m_run / kStoreFile);
            const Status replaced = store->replaceBy(m_folder / "other" / kStoreFile);
            QVERIFY2(replaced, replaced ? "" : replaced.error().text().c_str());
        }
        while (rows->next()) {
        }
        QVERIFY(!rows->failed());
        QCOMPARE(inodeOf(m_run / kStoreFile), before);
        QCOMPARE(reader->metric(metric::kLoss).size(), 500u);
        write(m_folder / "strange", "SQLite format 3");
        QVERIFY(!Database::openForWriting(m_run / kStoreFile)->replaceBy(m_folder / "strange").ok());
        QCOMPARE(RunReader::open(m_run)->metric(metric::kLoss).size(), 500u);
    }

private:
    static ino_t inodeOf(const fs::path& path)
    {
        struct stat status {};
        return ::stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
    }

    using rlimit_t = decltype(rlimit::rlim_cur);
};

RESIDUA_TEST(TestRunStore)
#include "tst_run_store.moc"
