// SPDX-License-Identifier: GPL-3.0-or-later
// A run's directory and its run.json for programs that list, resume and move runs.
#include "engine/base/api/values.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/store/checkpoint.h"
#include "engine/runs/store/database.h"
#include "engine/runs/store/run_directory.h"
#include "engine/runs/store/run_files.h"
#include "tests/engine/runs/store/run_files_harness.h"
#include "tests/support/refusal.h"
#include "tests/support/test_program.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include <atomic>
#include <cmath>
#include <thread>

#include <unistd.h>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;
namespace fs = std::filesystem;

class TestRunDirectory : public RunFilesHarness {
    Q_OBJECT

private slots:
    void init() { newFolder(); }

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
                        const auto writer = RunWriter::createIn(m_folder, exampleInfo(), exampleProject(), ".");
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

    void incompleteRunFolderIsReused()
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
            const fs::path made = RunWriter::createIn(m_folder, exampleInfo(), exampleProject(), ".")->directory();
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
        const auto next = RunWriter::createIn(m_folder, exampleInfo(), exampleProject(), ".");
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
        QVERIFY(RunWriter::create(root / "elsewhere", exampleInfo(), exampleProject(), root / "project"));
        fs::rename(root / "elsewhere", root / "moved");
        QCOMPARE(*projectDirectoryOf(root / "moved"), root / "project");

        const fs::path before = fs::current_path();
        fs::create_directories(root / "a" / "project");
        fs::current_path(root / "a");
        QVERIFY(RunWriter::create("out/run", exampleInfo(), exampleProject(), "project"));
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
        const DataFingerprint data{
            {"text.txt", 1, 12, "00ff"}, {"generator", 0, 0, "dim 3"}, {"tokens.bin", 2, 600, "00ff", "11ee"}};
        {
            auto writer = RunWriter::create(m_run, exampleInfo(), exampleProject(), ".", data);
            QVERIFY(writer->update(writer->info()));
        }
        QCOMPARE(readRunFile(m_run)->data, std::optional(data));
        QVERIFY(contentOf(m_run / kRunFile).find("\"00ff 11ee\"") != std::string::npos); // as other versions read it
        QVERIFY(annotateRun(m_run, {"tag"}, ""));
        QCOMPARE(readRunFile(m_run)->data, std::optional(data));
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

    void oneWriterOnly()
    {
        const auto writer = create();
        QVERIFY(writer);
        const auto second = RunWriter::reopen(m_run, 0);
        QVERIFY(tests::isRefusedAt(second, m_run.string(), "another process"));
        const fs::path run = m_run;
        QCOMPARE(exitOf(inChild([run] { return RunWriter::reopen(run, 0) ? 1 : 0; })), 0);
    }

    void updateKeepsNotes()
    {
        auto writer = create();
        QVERIFY(annotateRun(m_run, {"keep"}, "written meanwhile"));
        QVERIFY(renameRun(m_run, "the good one"));
        QVERIFY(!renameRun(m_run, " "));
        RunInfo info = writer->info();
        info.status = RunStatus::Failed;
        info.message = "[step 3] the loss is not a number";
        QVERIFY(writer->update(info));
        const auto read = RunReader::open(m_run)->info();
        QCOMPARE(read->name, std::string("the good one"));
        QCOMPARE(textOf(read->status), textOf(RunStatus::Failed));
        QCOMPARE(read->message, info.message);
        QCOMPARE(read->tags, std::vector<std::string>{"keep"});
        QCOMPARE(read->notes, std::string("written meanwhile"));
    }

    /// If run.json has a membership, the form of the run's name has no meaning.
    void aRunIsAMemberWhereItsFileSaysSo()
    {
        RunInfo info = exampleInfo();
        info.name = "a · b";
        QVERIFY(RunWriter::create(m_folder / "alone", info, exampleProject(), m_folder.parent_path()));
        info.membership = projects::Membership{"a · b", "seeds", {{"/seeds/init", "seed", "5"}}};
        info.name = projects::nameOf(*info.membership);
        QCOMPARE(info.name, std::string("a · b · 5"));
        auto writer = RunWriter::create(m_folder / "member", info, exampleProject(), m_folder.parent_path());
        QVERIFY(writer);
        QVERIFY(renameRun(m_folder / "member", "the best"));
        QVERIFY(renameRun(m_folder / "alone", "c · d"));
        RunInfo update = writer->info();
        update.membership.reset();
        QVERIFY(writer->update(update));
        QVERIFY(!RunReader::open(m_folder / "alone")->info()->membership);
        const auto member = RunReader::open(m_folder / "member")->info();
        QCOMPARE(member->name, std::string("the best"));
        QVERIFY(member->membership == info.membership);
    }

    /// A run.json without a membership, of an earlier version: the name tells it, and the next write records it.
    void aRunOfAnEarlierVersionIsAMemberByItsName()
    {
        RunInfo info = exampleInfo();
        info.name = "study · 0:2, 5";
        QVERIFY(RunWriter::create(m_run, info, exampleProject(), m_folder.parent_path()));
        std::string text = contentOf(m_run / kRunFile);
        const std::string key = ",\n  \"membership\": null";
        const std::size_t at = text.find(key);
        QVERIFY2(at != std::string::npos, text.c_str());
        write(m_run / kRunFile, text.erase(at, key.size()));
        const auto membership = RunReader::open(m_run)->info()->membership;
        QVERIFY(membership == (projects::Membership{"study", "", {{"", "", "0:2, 5"}}}));
        QVERIFY(renameRun(m_run, "the best"));
        QVERIFY(RunReader::open(m_run)->info()->membership == membership);
        write(m_run / kRunFile, text.insert(at, ",\n  \"membership\": 1"));
        const auto damaged = RunReader::open(m_run);
        QVERIFY(!damaged);
        QVERIFY2(isIn(damaged.error().text(), "membership"), damaged.error().text().c_str());
    }

    void listsNewestFirst()
    {
        for (const auto& [name, created] :
             {std::pair{"b", "2026-01-02T00:00:00Z"}, {"a", "2026-01-01T00:00:00Z"}, {"c", "2026-01-03T00:00:00Z"}}) {
            RunInfo info = exampleInfo();
            info.name = name;
            info.created = created;
            info.status = RunStatus::Finished;
            QVERIFY(RunWriter::create(m_folder / name, info, exampleProject(), m_folder.parent_path()));
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
        QVERIFY(std::isnan(runs[3].loss()) && std::isnan(runs[3].validationLoss())); // 0 would be the best of all
    }

    /// Earlier versions wrote two losses into run.json, and none of its other values.
    void anEarlierRunKeepsItsNames()
    {
        QVERIFY(create());
        const auto file = QJsonDocument::fromJson(QByteArray::fromStdString(contentOf(m_run / kRunFile))).object();
        QJsonObject earlier = file;
        earlier.remove("values");
        earlier.remove("objective");
        earlier.remove("threads");
        earlier.remove("reading");
        earlier["step"] = 20;
        earlier["loss"] = 2.5;
        earlier["validationLoss"] = 2.75;
        write(m_run / kRunFile, QJsonDocument(earlier).toJson().toStdString());
        const Result<RunInfo> listed = RunReader::open(m_run)->info();
        QVERIFY2(listed.ok(), listed ? "" : listed.error().text().c_str());
        QCOMPARE(listed->loss(), 2.5);
        QCOMPARE(listed->validationLoss(), 2.75);
        QCOMPARE(listed->reading, ReadingVersion::First);
        auto store = Database::openForWriting(m_run / kStoreFile);
        QVERIFY(store.ok());
        QVERIFY(store
                    ->execute("INSERT INTO names(id, name) VALUES(1, 'loss/train'), (2, 'loss/validation'), (3, "
                              "'loss/validation/stage'), (4, 'memory/peak'); INSERT INTO metrics(name, step, value) "
                              "VALUES(1, 30, 1.5), (2, 30, 1.75), (3, 30, 1.25), (4, 30, 1048576.0)")
                    .ok());
        const auto reader = RunReader::open(m_run);
        QCOMPARE(reader->metricNames(), (std::vector<std::string>{metric::kLoss, metric::kValidationLoss,
                                                                  metric::kStageLoss, metric::kPeakBytes}));
        QCOMPARE(reader->info()->step, 30);
        QCOMPARE(reader->info()->values,
                 (std::map<std::string, double>{{metric::kLoss, 1.5}, {metric::kValidationLoss, 1.75}}));
        QCOMPARE(reader->info()->judged(), 1.75);
        QVERIFY(ratingColumns(std::vector{*reader->info()}).empty());
        QVERIFY(file.contains("loss") && file.contains("validationLoss")); // earlier versions require them
    }

    /// A run without records has no loss. A run that has not finished has no result.
    void onlyAFinishedRunHasAFinalLoss()
    {
        RunInfo info = exampleInfo();
        info.step = 0;
        info.values[metric::kLoss] = 0;
        auto writer = RunWriter::create(m_folder / "empty", info, exampleProject(), m_folder.parent_path());
        QVERIFY(writer);
        const auto reader = RunReader::open(m_folder / "empty");
        QVERIFY(reader);
        QVERIFY(std::isnan(reader->info()->loss()));
        info.values = {{metric::kLoss, 2}, {metric::kValidationLoss, 3}};
        for (const RunStatus status :
             {RunStatus::Running, RunStatus::Paused, RunStatus::Stopped, RunStatus::Failed, RunStatus::Interrupted}) {
            info.status = status;
            QVERIFY(!finalValue(info));
        }
        info.status = RunStatus::Finished;
        QCOMPARE(finalValue(info).value_or(0), 3.0);
        info.values[metric::kValidationLoss] = std::nan("");
        QCOMPARE(finalValue(info).value_or(0), 2.0);
        info.values.erase(metric::kLoss);
        QVERIFY(!finalValue(info));
    }

    void aSweepsFolderIsListedAndTheTrashIsNot()
    {
        for (const char* place : {"alone", "sweep/first", "sweep/second", ".trash/gone", "sweep/deeper/third"}) {
            fs::create_directories((m_folder / place).parent_path());
            RunInfo info = exampleInfo();
            info.name = place;
            QVERIFY(RunWriter::create(m_folder / place, info, exampleProject(), m_folder.parent_path()));
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

    /// The names of many classes need more space than other records may use.
    void aRunKeepsItsReadingAndItsClasses()
    {
        RunInfo info = exampleInfo();
        for (int i = 0; i < 21'000; ++i) {
            info.classes.push_back("class number " + std::to_string(i));
        }
        QVERIFY(RunWriter::create(m_folder / "named", info, exampleProject(), m_folder.parent_path()));
        const Result<RunFile> file = readRunFile(m_folder / "named");
        QVERIFY2(file.ok(), file ? "" : file.error().text().c_str());
        QCOMPARE(file->info.classes, info.classes);
        QCOMPARE(file->info.reading, kNewestReading);
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
        row("a fingerprint that is none", "\"notes\"", "\"data\": [{}], \"notes\"",
            "data · entry 1 · name] is missing");
        row("the reading of a later version", "\"reading\": 3", "\"reading\": 4",
            "reading] is 4, expected at most 3: the run's data are read by the rules of a later version");
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

    void leftoversAreSweptWhenARunIsTakenUp()
    {
        {
            const auto writer = create();
            QVERIFY(writeCheckpoint(m_run, {10, 0, 0, {}, {}}, {}, {}, {}));
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
};

RESIDUA_TEST(TestRunDirectory)
#include "tst_run_directory.moc"
