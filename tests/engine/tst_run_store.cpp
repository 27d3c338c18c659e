// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/api/run_reader.h"
#include "engine/record/checkpoint.h"
#include "engine/record/run_writer.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <csignal>
#include <fstream>
#include <iterator>
#include <limits>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace residua;
using namespace residua::engine;
namespace fs = std::filesystem;

namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

StepRecord record(std::int64_t step)
{
    const auto x = static_cast<double>(step);
    return {step, 5.0 / x, 1e-3 * x, 0.1 + x, step * 2048, 0.25 * x};
}

RunInfo example()
{
    RunInfo info;
    info.name = "first";
    info.device = "cpu";
    info.steps = 1000;
    info.validationLoss = std::numeric_limits<double>::quiet_NaN();
    info.tags = {"ancre", "π"};
    info.notes = "two\nlines";
    return info;
}

projects::Project project()
{
    projects::Project project;
    project.name = "Nested agreement";
    project.seeds.data = 77;
    return project;
}

/// Runs `body` in a process of its own; what it returns is the process's exit status.
template <class Body>
pid_t inChild(Body body)
{
    const pid_t child = ::fork();
    if (child == 0) {
        ::_exit(body());
    }
    return child;
}

int exitOf(pid_t child)
{
    int result = -1;
    ::waitpid(child, &result, 0);
    return WIFEXITED(result) ? WEXITSTATUS(result) : -1;
}

/// A pipe on which one process tells another that it has come so far.
class Signal {
public:
    Signal() { require(::pipe(m_ends) == 0); }
    ~Signal()
    {
        ::close(m_ends[0]);
        ::close(m_ends[1]);
    }
    void give() const { require(::write(m_ends[1], "x", 1) == 1); }
    void await() const
    {
        char byte = 0;
        require(::read(m_ends[0], &byte, 1) == 1);
    }

private:
    static void require(bool done)
    {
        if (!done) {
            std::abort();
        }
    }
    int m_ends[2] = {-1, -1};
};

} // namespace

class TestRunStore : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_temporary = std::make_unique<QTemporaryDir>();
        m_folder = fs::path(m_temporary->path().toStdString()) / "project" / "runs";
        m_run = m_folder / "a";
    }

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
            writer->event({50, "checkpoint", "step-00000050 · 1,2 MB"});
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
        QCOMPARE(reader->matrixNames(), (std::vector<std::string>{"empty", "mix"}));
        QCOMPARE(reader->matrixSteps("mix"), (std::vector<std::int64_t>{20, 40}));
        const auto matrix = reader->matrix("mix", 40);
        QVERIFY(matrix);
        QCOMPARE(matrix->at(1, 1), 0.875f);
        QVERIFY(std::isnan(matrix->at(0, 1)));
        QVERIFY(reader->matrix("empty", 40)->values.empty());
        QVERIFY(!reader->matrix("mix", 41));
        QCOMPARE(reader->events(), (std::vector<RunEvent>{{50, "checkpoint", "step-00000050 · 1,2 MB"}}));
        QCOMPARE(*reader->project(), project());
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
        QCOMPARE(info->loss, record(7).loss);
        QCOMPARE(info->validationLoss, 3.5);
        QCOMPARE(info->steps, 1000);
        QCOMPARE(info->tags, example().tags);
        QCOMPARE(info->notes, example().notes);
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

    void existingDirectoryIsRefused()
    {
        fs::create_directories(m_run);
        std::ofstream(m_run / "precious") << "stays";
        const auto writer = create();
        QVERIFY(!writer);
        QVERIFY(writer.error().text().find("exists already") != std::string::npos);
        QVERIFY(fs::exists(m_run / "precious"));
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
            writer->event({10, "a", ""});
            writer->event({30, "b", ""});
            QVERIFY(writer->flush());
            for (const std::int64_t step : {10, 20, 30}) {
                QVERIFY(writeCheckpoint(m_run, {step, 0, 0, 0, {}}, {}, {}, 0));
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
        QCOMPARE(reader->events(), (std::vector<RunEvent>{{10, "a", ""}}));
        QCOMPARE(reader->checkpoints(), (std::vector<std::int64_t>{10, 20}));
        int eventFiles = 0;
        for (const auto& entry : fs::directory_iterator(m_run)) {
            eventFiles += entry.path().filename().string().starts_with("events.out.tfevents.") ? 1 : 0;
        }
        QCOMPARE(eventFiles, 2);
    }

    void oneWriterOnly()
    {
        const auto writer = create();
        QVERIFY(writer);
        const auto second = RunWriter::reopen(m_run, 0);
        QVERIFY(!second);
        QVERIFY(second.error().text().find("another process is training") != std::string::npos);
        const fs::path run = m_run;
        QCOMPARE(exitOf(inChild([run] { return RunWriter::reopen(run, 0) ? 1 : 0; })), 0);
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
        QCOMPARE(toString(reader->info()->status), toString(RunStatus::Running));
        goOn.give();
        written.await();
        QCOMPARE(reader->metric(metric::kLoss, 1), (std::vector<MetricPoint>{{2, record(2).loss}}));
        QCOMPARE(reader->info()->step, 2);
        ::kill(child, SIGKILL);
        QCOMPARE(exitOf(child), -1);
        QCOMPARE(toString(reader->info()->status), toString(RunStatus::Interrupted));
        const auto fresh = RunReader::open(m_run);
        QVERIFY(fresh);
        QCOMPARE(fresh->metric(metric::kLoss).size(), 2u);
        const auto writer = RunWriter::reopen(m_run, 1);
        QVERIFY(writer);
        QCOMPARE(reader->metric(metric::kLoss).size(), 1u);
    }

    void updateKeepsNotes()
    {
        auto writer = create();
        QVERIFY(annotateRun(m_run, {"keep"}, "written meanwhile"));
        RunInfo info = writer->info();
        info.status = RunStatus::Failed;
        info.message = "[step 3] the loss is not a number";
        QVERIFY(writer->update(info));
        const auto read = RunReader::open(m_run)->info();
        QCOMPARE(toString(read->status), toString(RunStatus::Failed));
        QCOMPARE(read->message, info.message);
        QCOMPARE(read->tags, std::vector<std::string>{"keep"});
        QCOMPARE(read->notes, std::string("written meanwhile"));
    }

    void listsNewestFirst()
    {
        for (const auto& [name, created] :
             {std::pair{"b", "2026-01-02T00:00:00Z"}, {"a", "2026-01-01T00:00:00Z"}, {"c", "2026-01-03T00:00:00Z"}}) {
            RunInfo info = example();
            info.name = name;
            info.created = created;
            info.status = RunStatus::Finished;
            QVERIFY(RunWriter::create(m_folder / name, info, project(), m_folder.parent_path()));
        }
        fs::create_directories(m_folder / "no run");
        fs::create_directories(m_folder / "broken");
        std::ofstream(m_folder / "broken" / "run.json") << "{\"name\": ";
        const auto runs = listRuns(m_folder);
        QCOMPARE(runs.size(), 4u);
        QCOMPARE(runs[0].name + runs[1].name + runs[2].name + runs[3].name, std::string("cbabroken"));
        QCOMPARE(toString(runs[3].status), toString(RunStatus::Failed));
        QVERIFY(runs[3].message.find("run.json") != std::string::npos);
        QVERIFY(listRuns(m_folder / "missing").empty());
        QVERIFY(std::isnan(runs[3].loss) && std::isnan(runs[3].validationLoss)); // 0 would be the best of all
    }

    /// A run that records nothing has no loss, and one that has not finished no result.
    void onlyAFinishedRunHasAFinalLoss()
    {
        RunInfo info = example();
        info.step = 0;
        info.loss = 0;
        auto writer = RunWriter::create(m_folder / "empty", info, project(), m_folder.parent_path());
        QVERIFY(writer);
        const auto reader = RunReader::open(m_folder / "empty");
        QVERIFY(reader);
        QVERIFY(std::isnan(reader->info()->loss));
        info.loss = 2;
        info.validationLoss = 3;
        for (const RunStatus status :
             {RunStatus::Running, RunStatus::Paused, RunStatus::Stopped, RunStatus::Failed, RunStatus::Interrupted}) {
            info.status = status;
            QVERIFY(!finalLoss(info));
        }
        info.status = RunStatus::Finished;
        QCOMPARE(finalLoss(info).value_or(0), 3.0);
        info.validationLoss = std::nan("");
        QCOMPARE(finalLoss(info).value_or(0), 2.0);
        info.loss = std::nan("");
        QVERIFY(!finalLoss(info));
    }

    void aSweepsFolderIsListedAndTheTrashIsNot()
    {
        for (const char* place : {"alone", "sweep/first", "sweep/second", ".trash/gone", "sweep/deeper/third"}) {
            fs::create_directories((m_folder / place).parent_path());
            RunInfo info = example();
            info.name = place;
            QVERIFY(RunWriter::create(m_folder / place, info, project(), m_folder.parent_path()));
        }
        QCOMPARE(listRuns(m_folder).size(), 3u);
    }

    void freshDirectoryNames()
    {
        const fs::path first = newRunDirectory(m_folder, "My net: 12/24 (π)");
        QVERIFY2(first.filename().string().ends_with("Z-My-net-12-24"), first.c_str());
        fs::create_directories(first);
        QVERIFY(newRunDirectory(m_folder, "My net: 12/24 (π)") != first);
        QVERIFY(newRunDirectory(m_folder, "///").filename().string().ends_with("Z-run"));
    }

    void openErrors()
    {
        QVERIFY(!RunReader::open(m_run));
        QVERIFY(!RunWriter::reopen(m_run, 0));
        QVERIFY(create());
        fs::resize_file(m_run / "store.sqlite", 50);
        std::ofstream(m_run / "store.sqlite", std::ios::trunc) << std::string(5000, 'x');
        const auto reader = RunReader::open(m_run);
        QVERIFY(!reader);
        QVERIFY(reader.error().text().find("store.sqlite") != std::string::npos);
        std::ofstream(m_run / "run.json", std::ios::trunc) << "{}";
        QVERIFY(!RunReader::open(m_run));
        std::ofstream(m_run / "run.json", std::ios::trunc) << "[1, 2]";
        QVERIFY(!RunReader::open(m_run));
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

private:
    using rlimit_t = decltype(rlimit::rlim_cur);

    [[nodiscard]] Result<RunWriter> create() const
    {
        return RunWriter::create(m_run, example(), project(), m_folder.parent_path());
    }

    std::unique_ptr<QTemporaryDir> m_temporary;
    fs::path m_folder;
    fs::path m_run;
};

QTEST_APPLESS_MAIN(TestRunStore)
#include "tst_run_store.moc"
