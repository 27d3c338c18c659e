// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/api/environment.h"
#include "engine/base/files/content_hash.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/store/checkpoint.h"
#include "engine/runs/store/run_files.h"
#include "projects/base/files.h"
#include "tests/engine/runs/store/run_files_harness.h"
#include "tests/engine/runs/store/stored_tensors.h"
#include "tests/support/random_seed.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <cctype>
#include <csignal>
#include <cstdio>
#include <optional>
#include <random>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;
namespace fs = std::filesystem;

namespace {

/// A small network's tensors and state.
struct Example : ExampleTensors {
    [[nodiscard]] static CheckpointState state(std::int64_t step)
    {
        return {step, step * 2048, 0.1 * static_cast<double>(step), {{"data", "index 41"}, {"random", "\"π\"\n"}}, 2.5};
    }
    [[nodiscard]] Status write(const fs::path& run, std::int64_t step, const CheckpointRule& rule = {}) const
    {
        return writeCheckpoint(run, state(step), model(), optimiser(), rule);
    }
};

/// The text without the white space between its values, and without its checksum, which stands last.
std::string compact(const std::string& json)
{
    std::string text;
    bool quoted = false;
    for (std::size_t i = 0; i < json.size(); ++i) {
        quoted = json[i] == '"' && (i == 0 || json[i - 1] != '\\') ? !quoted : quoted;
        if (quoted || std::isspace(static_cast<unsigned char>(json[i])) == 0) {
            text += json[i];
        }
    }
    return text.substr(0, text.rfind(",\"checksum\"")) + "}";
}

std::string withChecksum(const std::string& json)
{
    char digits[9];
    std::snprintf(digits, sizeof digits, "%08x", crc32c(asBytes(json)));
    return json.substr(0, json.size() - 1) + ",\"checksum\":\"" + digits + "\"}";
}

} // namespace

class TestCheckpoint : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_run = m_folder->path().toStdString();
    }

    void checkpointRoundTrip()
    {
        const Example example;
        QVERIFY(example.write(m_run, 500));
        QVERIFY(fs::is_directory(m_run / "checkpoints" / "step-00000500"));
        const auto loaded = loadCheckpoint(m_run, std::nullopt, nullptr);
        QVERIFY2(loaded, loaded ? "" : loaded.error().text().c_str());
        QCOMPARE(loaded->state, Example::state(500));
        QVERIFY(same(loaded->model.tensors(), example.model()));
        QVERIFY(same(loaded->optimiser.tensors(), example.optimiser()));
    }

    /// Its tensors are read when they are asked for.
    void isReadInPieces()
    {
        const Example example;
        QVERIFY(example.write(m_run, 500));
        const auto found = findCheckpoint(m_run, std::nullopt, nullptr);
        QVERIFY2(found, found ? "" : found.error().text().c_str());
        QCOMPARE(found->state, Example::state(500));
        QCOMPARE(found->optimiser.tensors().size(), example.optimiser().size());
        for (const auto& [name, tensor] : example.model()) {
            std::vector<std::byte> bytes(tensor.bytes.size());
            QVERIFY(found->model.read(found->model.tensors().at(name), bytes));
            QVERIFY(std::ranges::equal(bytes, tensor.bytes));
        }
    }

    /// Both runs have the same shapes, and their checkpoints are intact.
    void refusesCheckpointsOfAnotherRun()
    {
        const Example example;
        const fs::path run = m_run / "a";
        const fs::path other = m_run / "b";
        for (const fs::path& each : {run, other}) {
            QVERIFY(RunWriter::create(each, exampleInfo(), exampleProject(), m_run));
            QVERIFY(example.write(each, 100));
        }
        QVERIFY(example.write(other, 200));
        fs::copy(other / "checkpoints" / "step-00000200", run / "checkpoints" / "step-00000200");
        const auto named = findCheckpoint(run, 200, nullptr);
        QVERIFY(!named);
        QVERIFY2(isIn(named.error().text(), "a checkpoint of another run"), named.error().text().c_str());
        std::vector<std::string> skipped;
        const auto newest = loadCheckpoint(run, std::nullopt, &skipped);
        QVERIFY2(newest, newest ? "" : newest.error().text().c_str());
        QCOMPARE(newest->state.step, std::int64_t{100});
        QCOMPARE(skipped.size(), std::size_t{1});
        fs::rename(run, m_run / "moved"); // and goes on there
        QVERIFY(findCheckpoint(m_run / "moved", 100, nullptr));
        QVERIFY(RunWriter::reopen(m_run / "moved", 100));
        QVERIFY(findCheckpoint(m_run / "moved", 100, nullptr));
    }

    /// A run that goes on training removes its older checkpoints, while others read them.
    void isReadAfterItWasRemoved()
    {
        const Example example;
        QVERIFY(example.write(m_run, 500));
        const auto found = findCheckpoint(m_run, 500, nullptr);
        QVERIFY2(found, found ? "" : found.error().text().c_str());
        fs::remove_all(checkpointDirectory(m_run, 500));
        for (const auto& [name, tensor] : example.model()) {
            std::vector<std::byte> bytes(tensor.bytes.size());
            const Status read = found->model.read(found->model.tensors().at(name), bytes);
            QVERIFY2(read, read ? "" : read.error().text().c_str());
            QVERIFY(std::ranges::equal(bytes, tensor.bytes));
        }
    }

    /// A tensor at a time; before the end there is none, and what is given up leaves nothing.
    void isWrittenInPieces()
    {
        const Example example;
        const auto model = example.model();
        const auto optimiser = example.optimiser();
        QVERIFY(example.write(m_run, 100));
        const auto before = entriesBelow(m_run);
        for (std::size_t written = 0; written <= model.size() + optimiser.size(); ++written) {
            auto begun = CheckpointWriter::begin(m_run, Example::state(200), model, optimiser);
            QVERIFY2(begun, begun ? "" : begun.error().text().c_str());
            std::optional<CheckpointWriter> writer(*std::move(begun));
            for (std::size_t i = 0; i < written; ++i) {
                QVERIFY(!writer->atEnd());
                QVERIFY(writer->writeNext());
            }
            QCOMPARE(checkpointSteps(m_run), std::vector<std::int64_t>{100});
            QCOMPARE(writer->atEnd(), written == model.size() + optimiser.size());
            if (writer->atEnd()) {
                QVERIFY(writer->end({}));
            } else {
                writer.reset();
                QCOMPARE(entriesBelow(m_run), before);
            }
        }
        QCOMPARE(checkpointSteps(m_run), (std::vector<std::int64_t>{100, 200}));
        QVERIFY(same(loadCheckpoint(m_run, 200, nullptr)->model.tensors(), model));
    }

    void keepsTheNewest()
    {
        const Example example;
        for (const std::int64_t step : {100, 200, 300, 400}) {
            QVERIFY(example.write(m_run, step, {.newest = 2}));
        }
        QCOMPARE(checkpointSteps(m_run), (std::vector<std::int64_t>{300, 400}));
        QCOMPARE(entriesBelow(m_run / "checkpoints").size(), 2u * 4u);
    }

    void olderOnesLoseWhatOnlyTheNewestKeeps()
    {
        const Example example;
        std::map<std::string, StoredTensor> optimiser = example.optimiser();
        const std::map<std::string, StoredTensor> kept = optimiser;
        optimiser["big/a"] = optimiser["big/b"] = optimiser.begin()->second;
        const auto write = [&](std::int64_t step) {
            return writeCheckpoint(m_run, Example::state(step), example.model(), optimiser, {.onlyNewest = "big/"});
        };
        QVERIFY(write(100));
        QVERIFY(same(loadCheckpoint(m_run, 100, nullptr)->optimiser.tensors(), optimiser));
        const fs::path file = checkpointDirectory(m_run, 100) / kOptimiserTensors;
        std::string bytes = readAll(file);
        bytes.back() = static_cast<char>(bytes.back() ^ 1);
        overwrite(file, bytes);
        QVERIFY(write(200));
        QVERIFY(!loadCheckpoint(m_run, 100, nullptr)); // its damage is still found
        QVERIFY(write(300));
        const auto older = loadCheckpoint(m_run, 200, nullptr);
        QVERIFY(older);
        QVERIFY(same(older->optimiser.tensors(), kept));
        QVERIFY(same(older->model.tensors(), example.model()));
        QVERIFY(older->state == Example::state(200));
        QVERIFY(same(loadCheckpoint(m_run, 300, nullptr)->optimiser.tensors(), optimiser));
        QCOMPARE(entriesBelow(m_run / "checkpoints").size(), 3u * 4u); // nothing unfinished beside them
    }

    void keepsByRule_data()
    {
        QTest::addColumn<QList<int>>("rule"); // newest, every, best
        QTest::addColumn<QList<int>>("kept");
        QTest::newRow("all") << QList<int>{0, 0, 0} << QList<int>{10, 20, 30, 40, 50, 60};
        QTest::newRow("all, whatever else") << QList<int>{0, 30, 1} << QList<int>{10, 20, 30, 40, 50, 60};
        QTest::newRow("newest") << QList<int>{2, 0, 0} << QList<int>{50, 60};
        QTest::newRow("every") << QList<int>{1, 20, 0} << QList<int>{20, 40, 60};
        QTest::newRow("best") << QList<int>{1, 0, 1} << QList<int>{30, 60};
        QTest::newRow("best of equals is the earlier") << QList<int>{1, 0, 3} << QList<int>{20, 30, 40, 60};
        QTest::newRow("all three") << QList<int>{2, 40, 1} << QList<int>{30, 40, 50, 60};
    }
    void keepsByRule()
    {
        QFETCH(QList<int>, rule);
        QFETCH(QList<int>, kept);
        const std::map<std::int64_t, std::optional<double>> losses{{10, std::nullopt}, {20, 3.0}, {30, 1.0},
                                                                   {40, 2.0},          {50, 3.0}, {60, 4.0}};
        const Example example;
        for (const auto& [step, loss] : losses) {
            CheckpointState state = Example::state(step);
            state.judged = loss;
            const CheckpointRule by{rule[0], rule[1], rule[2]};
            QVERIFY(writeCheckpoint(m_run, state, example.model(), example.optimiser(), by));
        }
        QCOMPARE(checkpointSteps(m_run), (std::vector<std::int64_t>(kept.begin(), kept.end())));
    }

    void theJudgeDecidesWhichIsBest()
    {
        const projects::Judge most{.quantity = "accuracy", .better = projects::Judge::Better::Greater};
        const Example example;
        for (const auto& [step, value] : {std::pair{10, 0.5}, {20, 0.75}, {30, 0.75}, {40, 0.25}}) {
            CheckpointState state = Example::state(step);
            state.judged = value;
            QVERIFY(writeCheckpoint(m_run, state, example.model(), example.optimiser(),
                                    {.newest = 1, .best = 1, .judge = most}));
        }
        QCOMPARE(checkpointSteps(m_run), (std::vector<std::int64_t>{20, 40}));
        QCOMPARE(bestCheckpoint(m_run, most), std::optional<std::int64_t>(20));
        QCOMPARE(bestCheckpoint(m_run, {}), std::optional<std::int64_t>(40));
    }

    /// States that a stranger writes, with a checksum that is right.
    void nonsenseStates_data()
    {
        QTest::addColumn<QByteArray>("from");
        QTest::addColumn<QByteArray>("to");
        QTest::addColumn<QByteArray>("said");
        const auto row = [](const char* name, const char* from, const char* to, const char* said) {
            QTest::newRow(name) << QByteArray(from) << QByteArray(to) << QByteArray(said);
        };
        row("a negative step", "\"step\":200", "\"step\":-1", "step] is -1");
        row("another step", "\"step\":200", "\"step\":100", "expected that of the folder, 200");
        row("a huge step", "\"step\":200", "\"step\":9223372036854775808", "whole number from 0");
        row("a text", "\"units\":409600", "\"units\":\"many\"", "units] is \"many\"");
        row("no time", "\"seconds\":20.0", "\"seconds\":null", "seconds] is no time");
        row("time backwards", "\"seconds\":20.0", "\"seconds\":-3", "seconds] is no time");
        row("another format", "\"format\":1", "\"format\":7", "format] is 7, expected 1");
        row("a loss that is none", "\"validationLoss\":2.5", "\"validationLoss\":null", "no finite number");
        row("cursors that are none", "\"cursors\":{", "\"cursors\":{\"a\":[1],", "\"a\" is no text");
        row("no checksums", "\"optimiser.safetensors\"", "\"optimizer\"", "lacks optimiser.safetensors");
        row("deep nesting", "\"cursors\":{", "\"cursors\":{\"a\":[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]],", "nested deeper");
    }
    void nonsenseStates()
    {
        QFETCH(QByteArray, from);
        QFETCH(QByteArray, to);
        QFETCH(QByteArray, said);
        const Example example;
        QVERIFY(example.write(m_run, 200));
        const fs::path path = checkpointDirectory(m_run, 200) / "state.json";
        std::string text = compact(readAll(path));
        const std::size_t at = text.find(from.toStdString());
        QVERIFY2(at != std::string::npos, text.c_str());
        overwrite(path, withChecksum(text.replace(at, static_cast<std::size_t>(from.size()), to.toStdString())));
        const auto loaded = loadCheckpoint(m_run, 200, nullptr);
        QVERIFY(!loaded);
        const std::string error = loaded.error().text();
        QVERIFY2(error.find(said.toStdString()) != std::string::npos && error.find("exception") == std::string::npos,
                 error.c_str());
    }

    /// The checksum that these tests make is the program's.
    void nonsenseWouldOtherwiseLoad()
    {
        const Example example;
        QVERIFY(example.write(m_run, 200));
        const fs::path path = checkpointDirectory(m_run, 200) / "state.json";
        overwrite(path, withChecksum(compact(readAll(path))));
        QVERIFY(loadCheckpoint(m_run, 200, nullptr));
    }

    void onlyACheckpointsOwnNameCounts()
    {
        const Example example;
        QVERIFY(example.write(m_run, 100));
        for (const char* name : {"step-5", "step--0000001", "step-00000100x", "step-99999999999999999999"}) {
            fs::create_directories(m_run / "checkpoints" / name);
        }
        QCOMPARE(checkpointSteps(m_run), std::vector<std::int64_t>{100});
        QVERIFY(example.write(m_run, 200, {.newest = 1}));
        QVERIFY(fs::exists(m_run / "checkpoints" / "step-5"));
    }

    void sameStepReplaces()
    {
        Example example;
        QVERIFY(example.write(m_run, 100));
        example.weight[0] = 42;
        QVERIFY(example.write(m_run, 100));
        const auto loaded = loadCheckpoint(m_run, 100, nullptr);
        QVERIFY(loaded);
        QVERIFY(same(loaded->model.tensors(), example.model()));
        QCOMPARE(entriesBelow(m_run / "checkpoints").size(), 4u);
    }

    void removesTheFuture()
    {
        const Example example;
        for (const std::int64_t step : {100, 200, 300}) {
            QVERIFY(example.write(m_run, step));
        }
        QVERIFY(removeCheckpointsAfter(m_run, 100));
        QCOMPARE(checkpointSteps(m_run), std::vector<std::int64_t>{100});
    }

    void noCheckpointSaysWhyAndWhatToDo_data()
    {
        QTest::addColumn<RunStatus>("status");
        QTest::addColumn<QString>("said");
        QTest::newRow("failed") << RunStatus::Failed << "the run failed after step 3, before its first one (no memory)";
        QTest::newRow("killed") << RunStatus::Interrupted << "was interrupted after step 3";
        QTest::newRow("in training") << RunStatus::Running << "wait for its first one";
        QTest::newRow("finished") << RunStatus::Finished << "were removed";
    }
    void noCheckpointSaysWhyAndWhatToDo()
    {
        QFETCH(RunStatus, status);
        QFETCH(QString, said);
        RunFile file{.info = exampleInfo(), .projectDirectory = {}, .data = {}};
        file.info.status = status;
        file.info.step = 3;
        file.info.message = status == RunStatus::Failed ? "no memory" : "";
        QVERIFY(writeRunFile(m_run, file).ok());
        const auto none = loadCheckpoint(m_run, std::nullopt, nullptr);
        QVERIFY(!none);
        const QString text = QString::fromStdString(none.error().text());
        QVERIFY2(text.contains(said) && text.contains("train the project again"), qPrintable(text));
    }

    void noCheckpoint()
    {
        const auto none = loadCheckpoint(m_run, std::nullopt, nullptr);
        QVERIFY(!none);
        QVERIFY(none.error().text().find("there is no checkpoint") != std::string::npos);
        QVERIFY(!loadCheckpoint(m_run, 5, nullptr));
    }

    void unfinishedIsNoCheckpoint()
    {
        const Example example;
        QVERIFY(example.write(m_run, 100));
        fs::create_directories(m_run / "checkpoints" / ".step-00000200.tmp"); // what kill -9 leaves
        fs::create_directories(m_run / "checkpoints" / "step-notes");
        QCOMPARE(checkpointSteps(m_run), std::vector<std::int64_t>{100});
        QVERIFY(example.write(m_run, 200));
        QVERIFY(!fs::exists(m_run / "checkpoints" / ".step-00000200.tmp"));
    }

    /// Every flipped byte and every truncation of every file is found, names the file, and falls back.
    void damageIsFound_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* name : {"model.safetensors", "optimiser.safetensors", "state.json"}) {
            QTest::newRow(name) << name;
        }
    }
    void damageIsFound()
    {
        QFETCH(QString, name);
        const Example example;
        QVERIFY(example.write(m_run, 100));
        QVERIFY(example.write(m_run, 200));
        const fs::path path = checkpointDirectory(m_run, 200) / name.toStdString();
        const std::string whole = readAll(path);
        std::mt19937 random(tests::randomSeed());
        const auto damaged = [&](const std::string& bytes) {
            overwrite(path, bytes);
            const auto direct = loadCheckpoint(m_run, 200, nullptr);
            if (findCheckpoint(m_run, 200, nullptr).ok() != direct.ok()) {
                return false;
            }
            if (direct) {
                return direct->state == Example::state(200); // white space of the JSON text means nothing
            }
            std::vector<std::string> skipped;
            const auto loaded = loadCheckpoint(m_run, std::nullopt, &skipped);
            return loaded.ok() && loaded->state.step == 100 && skipped.size() == 1 &&
                   skipped[0].find("step-00000200") != std::string::npos &&
                   direct.error().place.starts_with(path.string());
        };
        for (std::size_t at = 0; at < whole.size(); ++at) {
            std::string bytes = whole;
            bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
            QVERIFY2(damaged(bytes), qPrintable(QStringLiteral("byte %1").arg(at)));
        }
        for (std::size_t size = 0; size + 1 < whole.size(); ++size) {
            overwrite(path, whole.substr(0, size));
            QVERIFY2(!loadCheckpoint(m_run, 200, nullptr), qPrintable(QStringLiteral("cut at %1").arg(size)));
        }
        for (int round = 0; round < 300; ++round) {
            std::string bytes = whole;
            for (std::uint32_t change = random() % 6 + 1; change > 0; --change) {
                const std::size_t at = random() % bytes.size();
                switch (random() % 3) {
                case 0:
                    bytes[at] = static_cast<char>(random());
                    break;
                case 1:
                    bytes.erase(at, random() % 9 + 1);
                    break;
                default:
                    bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 9 + 1));
                    break;
                }
                bytes += bytes.empty() ? "x" : "";
            }
            QVERIFY2(bytes == whole || damaged(bytes), qPrintable(QStringLiteral("round %1").arg(round)));
        }
        fs::remove(path);
        QVERIFY(!loadCheckpoint(m_run, 200, nullptr));
    }

    /// A limit on file sizes fails a write as a full disk does.
    void fullDiskLeavesEarlierOnes()
    {
        Example example;
        QVERIFY(example.write(m_run, 100));
        example.weight.resize(60'000);
        auto model = example.model();
        model["layers.1.weight"].shape = {60'000};
        const auto before = entriesBelow(m_run);

        const pid_t child = ::fork();
        if (child == 0) {
            ::signal(SIGXFSZ, SIG_IGN);
            const rlimit limit{100'000, 100'000};
            ::setrlimit(RLIMIT_FSIZE, &limit);
            const auto status = writeCheckpoint(m_run, Example::state(200), model, example.optimiser(), {.newest = 1});
            const bool clear = !status && status.error().place.find("model.safetensors") != std::string::npos &&
                               status.error().message.find("wrote 0 of") == std::string::npos &&
                               status.error().message.find("of 240000 bytes: File too large") != std::string::npos;
            ::_exit(clear ? 0 : 1);
        }
        int result = -1;
        QCOMPARE(::waitpid(child, &result, 0), child);
        QVERIFY(WIFEXITED(result));
        QCOMPARE(WEXITSTATUS(result), 0);
        QCOMPARE(entriesBelow(m_run), before);
        const auto loaded = loadCheckpoint(m_run, std::nullopt, nullptr);
        QVERIFY(loaded);
        QCOMPARE(loaded->state.step, 100);
    }

    void failedRenameLeavesNothing()
    {
        const Example example;
        overwrite(m_run / "checkpoints", "a file where the folder should be");
        const auto status = example.write(m_run, 100);
        QVERIFY(!status);
        QVERIFY(status.error().place.find("checkpoints") != std::string::npos);
    }

private:
    std::unique_ptr<QTemporaryDir> m_folder;
    fs::path m_run;
};

RESIDUA_TEST(TestCheckpoint)
#include "tst_checkpoint.moc"
