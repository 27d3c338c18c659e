// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/results/run_reader.h"
#include "engine/runs/checkpoint.h"
#include "engine/runs/database.h"
#include "engine/runs/run_directory.h"
#include "engine/runs/run_files.h"
#include "engine/runs/run_writer.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <cmath>
#include <csignal>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
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

void write(const fs::path& path, const std::string& text)
{
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::trunc) << text;
}

std::string contentOf(const fs::path& path)
{
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

bool isIn(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
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
        QCOMPARE(reader->matrixNames(), (std::vector<std::string>{"empty", "mix"}));
        QCOMPARE(reader->matrixSteps("mix"), (std::vector<std::int64_t>{20, 40}));
        const auto matrix = reader->matrix("mix", 40);
        QVERIFY(matrix);
        QCOMPARE(matrix->at(1, 1), 0.875f);
        QVERIFY(std::isnan(matrix->at(0, 1)));
        QVERIFY(reader->matrix("empty", 40)->values.empty());
        QVERIFY(!reader->matrix("mix", 41));
        QCOMPARE(reader->events(), (std::vector<RunEvent>{{50, RunEventKind::Checkpoint, "step-00000050 · 1,2 MB"}}));
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

    void runsThatBeginAtOnceGetOneEach()
    {
        constexpr int kAtOnce = 8;
        const Signal begin;
        std::vector<pid_t> children;
        for (int i = 0; i < kAtOnce; ++i) {
            children.push_back(inChild([&] {
                begin.await();
                std::vector<std::thread> threads;
                std::atomic<int> failed = 0;
                for (int thread = 0; thread < 2; ++thread) {
                    threads.emplace_back([&] {
                        const auto writer = RunWriter::createIn(m_folder, example(), project(), ".");
                        failed += writer ? 0 : 1;
                    });
                }
                for (std::thread& thread : threads) {
                    thread.join();
                }
                return failed.load();
            }));
        }
        for (int i = 0; i < kAtOnce; ++i) {
            begin.give();
        }
        for (const pid_t child : children) {
            QCOMPARE(exitOf(child), 0);
        }
        QCOMPARE(listRuns(m_folder).size(), std::size_t{2 * kAtOnce});
        const std::string name = fs::path(listRuns(m_folder).front().directory).filename().string();
        QVERIFY2(isIn(name, "Z-Nested-agreement"), name.c_str());
    }

    void whatWasCutOffBeforeItBeganIsTakenOver()
    {
        QVERIFY(create());
        fs::rename(m_run / "run.json", m_run / "run.json.tmp-123-0"); // killed before the last rename
        QVERIFY2(!RunWriter::reopen(m_run, 0), "it is no run yet");
        QVERIFY(isIn(RunReader::open(m_run).error().text(), "cut off before it began"));
        QVERIFY(create());
        QVERIFY(RunReader::open(m_run));
        QVERIFY(!fs::exists(m_run / "run.json.tmp-123-0"));
        const auto again = create(); // now it is one
        QVERIFY(!again);
        QVERIFY(isIn(again.error().text(), "exists already"));
    }

    void anEmptyDirectoryIsTakenOver()
    {
        fs::create_directories(m_run);
        QVERIFY(create());
    }

    void directoriesThatWereCutOffAreSweptWhereNoOneHoldsThem()
    {
        const auto madeWithoutRunFile = [&] {
            const fs::path made = RunWriter::createIn(m_folder, example(), project(), ".")->directory();
            fs::remove(made / "run.json");
            return made;
        };
        const auto held = claimRunDirectoryIn(m_folder, "held");
        const fs::path precious = m_folder / "20260101T000000Z-precious";
        const fs::path named = m_folder / "named";
        const fs::path empty = m_folder / "20260101T000000Z-empty";
        write(precious / "notes.txt", "stays");
        fs::create_directories(named);
        fs::create_directories(empty);
        const fs::path debris = madeWithoutRunFile();
        const fs::path linked = m_temporary->filePath("outside").toStdString();
        write(linked / "lock", "");
        fs::create_directory_symlink(linked, m_folder / "20260101T000000Z-link");
        const auto next = RunWriter::createIn(m_folder, example(), project(), ".");
        QVERIFY(next);
        QVERIFY(!fs::exists(debris) || next->directory() == debris);
        QVERIFY(!fs::exists(empty));
        QVERIFY(fs::exists(held->path / "lock"));
        QVERIFY(fs::exists(precious / "notes.txt"));
        QVERIFY(fs::exists(named));
        QVERIFY(fs::exists(linked / "lock"));
    }

    void aRunMovesWithItsProject()
    {
        QVERIFY(create());
        QVERIFY(!isIn(contentOf(m_run / "run.json"), m_temporary->path().toStdString()));
        const fs::path moved = m_temporary->filePath("moved").toStdString();
        fs::rename(m_folder.parent_path(), moved);
        QCOMPARE(*projectDirectoryOf(moved / "runs" / "a"), moved);
        QVERIFY(RunWriter::reopen(moved / "runs" / "a", 0));
        QCOMPARE(*projectDirectoryOf(moved / "runs" / "a"), moved);
    }

    void aRunOutsideOfItsProjectKeepsTheFormOfItsPath()
    {
        const fs::path root = m_temporary->path().toStdString();
        QVERIFY(RunWriter::create(root / "elsewhere", example(), project(), root / "project"));
        fs::rename(root / "elsewhere", root / "moved");
        QCOMPARE(*projectDirectoryOf(root / "moved"), root / "project");

        const fs::path before = fs::current_path();
        fs::create_directories(root / "a" / "project");
        fs::current_path(root / "a");
        QVERIFY(RunWriter::create("out/run", example(), project(), "project"));
        fs::current_path(before);
        fs::rename(root / "a", root / "b");
        QCOMPARE(*projectDirectoryOf(root / "b" / "out" / "run"), root / "b" / "project");
        // Earlier versions wrote absolute paths, and they still mean the same.
        RunFile file = *readRunFile(root / "b" / "out" / "run");
        file.projectDirectory = root / "old";
        file.data.reset();
        QVERIFY(writeRunFile(root / "b" / "out" / "run", file));
        QCOMPARE(*projectDirectoryOf(root / "b" / "out" / "run"), root / "old");
    }

    void theFingerprintComesBack()
    {
        const DataFingerprint data{{"text.txt", 1, 12, "00ff"}, {"generator", 0, 0, "dim 3"}};
        {
            auto writer = RunWriter::create(m_run, example(), project(), ".", data);
            QVERIFY(writer->update(writer->info()));
        }
        QCOMPARE(readRunFile(m_run)->data, std::optional(data));
        QVERIFY(annotateRun(m_run, {"tag"}, ""));
        QCOMPARE(readRunFile(m_run)->data, std::optional(data));
    }

    void thereIsNoLossBeforeTheFirstStep()
    {
        QVERIFY(std::isnan(RunInfo{}.loss) && std::isnan(RunInfo{}.validationLoss));
        QVERIFY(create());
        QVERIFY(std::isnan(RunReader::open(m_run)->info()->loss));
        QVERIFY(isIn(contentOf(m_run / "run.json"), "\"loss\": null"));
        // Earlier versions wrote 0.
        std::string text = contentOf(m_run / "run.json");
        write(m_run / "run.json", text.replace(text.find("\"loss\": null"), 12, "\"loss\": 0.0"));
        QVERIFY(std::isnan(listRuns(m_folder).front().loss));
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
            writer->event({10, RunEventKind::Paused, ""});
            writer->event({30, RunEventKind::Continued, ""});
            QVERIFY(writer->flush());
            for (const std::int64_t step : {10, 20, 30}) {
                QVERIFY(writeCheckpoint(m_run, {step, 0, 0, 0, {}, {}}, {}, {}, {}));
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

    void updateKeepsNotes()
    {
        auto writer = create();
        QVERIFY(annotateRun(m_run, {"keep"}, "written meanwhile"));
        RunInfo info = writer->info();
        info.status = RunStatus::Failed;
        info.message = "[step 3] the loss is not a number";
        QVERIFY(writer->update(info));
        const auto read = RunReader::open(m_run)->info();
        QCOMPARE(textOf(read->status), textOf(RunStatus::Failed));
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
        QCOMPARE(textOf(runs[3].status), textOf(RunStatus::Failed));
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
        const auto first = claimRunDirectoryIn(m_folder, "My net: 12/24 (π)");
        QVERIFY2(first->path.filename().string().ends_with("Z-My-net-12-24"), first->path.c_str());
        QVERIFY(claimRunDirectoryIn(m_folder, "My net: 12/24 (π)")->path != first->path);
        QVERIFY(claimRunDirectoryIn(m_folder, "///")->path.filename().string().ends_with("Z-run"));
        QVERIFY(claimRunDirectoryIn(m_folder, std::string(5000, 'x')));
    }

    void openErrors()
    {
        QVERIFY(!RunReader::open(m_run));
        QVERIFY(!RunWriter::reopen(m_run, 0));
    }

    void runFileErrors_data()
    {
        QTest::addColumn<QByteArray>("from");
        QTest::addColumn<QByteArray>("to");
        QTest::addColumn<QByteArray>("said");
        const auto row = [](const char* name, const char* from, const char* to, const char* said) {
            QTest::newRow(name) << QByteArray(from) << QByteArray(to) << QByteArray(said);
        };
        row("a text for a number", "\"steps\": 1000", "\"steps\": \"many\"",
            "steps] is \"many\", expected a whole number");
        row("a negative step", "\"step\": 0", "\"step\": -1", "step] is -1, expected a whole number from 0");
        row("a huge step", "\"step\": 0", "\"step\": 18446744073709551615", "expected a whole number from 0");
        row("a fraction", "\"step\": 0", "\"step\": 1.5", "step] is 1.5");
        row("a missing field", "\"device\"", "\"devise\"", "device] is missing");
        row("tags that are none", "\"ancre\"", "3", "tags] holds 3, expected texts");
        row("a loss that is a list", "\"loss\": null", "\"loss\": []", "loss] is a list, expected a number or null");
        row("an unknown status", "\"running\"", "\"walking\"", "status is \"walking\", expected running");
        row("a fingerprint that is none", "\"notes\"", "\"data\": [{}], \"notes\"", "data] entry 1");
        row("no JSON", "{", "", "is not JSON");
        row("deep nesting",
            "\"notes\": ", "\"more\": [[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]], \"notes\": ", "nested deeper");
    }
    void runFileErrors()
    {
        QFETCH(QByteArray, from);
        QFETCH(QByteArray, to);
        QFETCH(QByteArray, said);
        QVERIFY(create());
        std::string text = contentOf(m_run / "run.json");
        const std::size_t at = text.find(from.toStdString());
        QVERIFY2(at != std::string::npos, text.c_str());
        write(m_run / "run.json", text.replace(at, static_cast<std::size_t>(from.size()), to.toStdString()));
        const auto reader = RunReader::open(m_run);
        QVERIFY(!reader);
        const std::string error = reader.error().text();
        QVERIFY2(isIn(error, said.toStdString()) && isIn(error, "run.json") && !isIn(error, "exception"),
                 error.c_str());
    }

    void runFileEncodings()
    {
        QVERIFY(create());
        const std::string text = contentOf(m_run / "run.json");
        write(m_run / "run.json", "\xef\xbb\xbf" + text);
        QVERIFY(RunReader::open(m_run));
        std::string wide = "\xff\xfe";
        for (const char c : text) {
            wide += std::string({c, '\0'});
        }
        write(m_run / "run.json", wide);
        QVERIFY(isIn(RunReader::open(m_run).error().text(), "UTF-16"));
        write(m_run / "run.json", std::string(300'000, ' '));
        QVERIFY(!RunReader::open(m_run));
        write(m_run / "run.json", "");
        QVERIFY(isIn(RunReader::open(m_run).error().text(), "is empty"));
    }

    void aStoreThatIsNoneBlocksNothing_data()
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
    void aStoreThatIsNoneBlocksNothing()
    {
        QFETCH(int, what);
        {
            auto writer = create();
            for (std::int64_t step = 1; step <= 300; ++step) {
                writer->step(record(step));
            }
            QVERIFY(writer->flush());
            QVERIFY(writeCheckpoint(m_run, {200, 0, 0, 0, {}, {}}, {}, {}, {}));
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

    void leftoversAreSweptWhenARunIsTakenUp()
    {
        {
            const auto writer = create();
            QVERIFY(writeCheckpoint(m_run, {10, 0, 0, 0, {}, {}}, {}, {}, {}));
        }
        const std::vector<fs::path> leftovers{m_run / "checkpoints" / ".step-00000020.tmp" / "model.safetensors",
                                              m_run / "checkpoints" / ".step-00000005.old" / "state.json",
                                              m_run / "run.json.tmp-1-2", m_run / "project" / "project.json.tmp-1-2"};
        const std::vector<fs::path> others{m_run / "checkpoints" / "notes.tmp", m_run / "report.html",
                                           m_run / "checkpoints" / "step-00000010" / "state.json"};
        for (const auto& paths : {leftovers, others}) {
            for (const fs::path& path : paths) {
                fs::exists(path) ? void() : write(path, "x");
            }
        }
        QVERIFY(RunWriter::reopen(m_run, 10));
        for (const fs::path& path : leftovers) {
            QVERIFY2(!fs::exists(path), path.c_str());
        }
        for (const fs::path& path : others) {
            QVERIFY2(fs::exists(path), path.c_str());
        }
        QVERIFY(!fs::exists(m_run / "checkpoints" / ".step-00000020.tmp"));
    }

    void nothingIsWrittenThroughLinks()
    {
        QVERIFY(create());
        const fs::path outside = m_temporary->filePath("outside").toStdString();
        write(outside / "step-00000030" / "state.json", "theirs");
        write(outside / ".step-00000030.tmp" / "state.json", "theirs");
        fs::create_directory_symlink(outside, m_run / "checkpoints");
        QVERIFY(isIn(RunWriter::reopen(m_run, 10).error().text(), "is a link"));
        QVERIFY(isIn(writeCheckpoint(m_run, {40, 0, 0, 0, {}, {}}, {}, {}, {.newest = 1}).error().text(), "is a link"));
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

        fs::remove(m_run / "lock");
        fs::create_symlink(outside / "made", m_run / "lock");
        QVERIFY(!RunWriter::reopen(m_run, 10));
        QVERIFY(!fs::exists(outside / "made"));
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

RESIDUA_TEST(TestRunStore)
#include "tst_run_store.moc"
