// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/api/run_paths.h"
#include "engine/files/crc32c.h"
#include "engine/results/run_reader.h"
#include "engine/runs/checkpoint.h"
#include "projects/base/files.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <cctype>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace residua;
using namespace residua::engine;
namespace fs = std::filesystem;

namespace {

template <class T>
StoredTensor stored(StoredType type, std::vector<std::int64_t> shape, const std::vector<T>& values)
{
    return {type, std::move(shape), std::as_bytes(std::span(values))};
}

std::string readAll(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void writeAll(const fs::path& path, const std::string& bytes)
{
    fs::remove(path); // some file systems wait for the disk when a file is overwritten
    std::ofstream(path, std::ios::binary) << bytes;
}

std::string withHeader(const std::string& header, const std::string& data)
{
    const std::uint64_t length = header.size();
    std::string file(sizeof(length), '\0');
    std::memcpy(file.data(), &length, sizeof(length));
    return file + header + data;
}

/// A small network's tensors and state, alive as long as this is.
struct Example {
    std::vector<float> weight{1.5f, -2.0f, 3.25f, std::numeric_limits<float>::denorm_min(), -0.0f, 1e30f};
    std::vector<double> exact{0.1, -1e-300};
    std::vector<std::int64_t> steps{7};
    std::vector<std::uint8_t> random{1, 2, 3, 4, 5};
    std::vector<std::uint16_t> half{0x3f80, 0x4000};

    [[nodiscard]] std::map<std::string, StoredTensor> model() const
    {
        return {{"a.random", stored(StoredType::U8, {5}, random)},
                {"layers.1.weight", stored(StoredType::F32, {2, 3}, weight)},
                {"exact", stored(StoredType::F64, {2, 1}, exact)},
                {"half", stored(StoredType::Bf16, {2}, half)},
                {"none", StoredTensor{StoredType::F32, {0, 4}, {}}}};
    }
    [[nodiscard]] std::map<std::string, StoredTensor> optimiser() const
    {
        return {{"steps", stored(StoredType::I64, {}, steps)}};
    }
    [[nodiscard]] static CheckpointState state(std::int64_t step)
    {
        return {step, step * 2048, 0.1 * static_cast<double>(step), 2, {{"data", "index 41"}, {"random", "\"π\"\n"}},
                2.5};
    }
    [[nodiscard]] Status write(const fs::path& run, std::int64_t step, const CheckpointRule& rule = {}) const
    {
        return writeCheckpoint(run, state(step), model(), optimiser(), rule);
    }
};

bool same(const std::map<std::string, StoredTensor>& a, const std::map<std::string, StoredTensor>& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        return x.first == y.first && x.second.type == y.second.type && x.second.shape == y.second.shape &&
               std::ranges::equal(x.second.bytes, y.second.bytes);
    });
}

std::vector<fs::path> entriesBelow(const fs::path& folder)
{
    std::vector<fs::path> entries;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        entries.push_back(entry.path());
    }
    std::sort(entries.begin(), entries.end());
    return entries;
}

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

    /// RFC 3720, B.4, and the check value of the polynomial.
    void crcVectors()
    {
        std::vector<std::byte> bytes(32, std::byte{0});
        QCOMPARE(crc32c(bytes), 0x8a9136aau);
        std::fill(bytes.begin(), bytes.end(), std::byte{0xff});
        QCOMPARE(crc32c(bytes), 0x62a8ab43u);
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            bytes[i] = static_cast<std::byte>(i);
        }
        QCOMPARE(crc32c(bytes), 0x46dd794eu);
        std::reverse(bytes.begin(), bytes.end());
        QCOMPARE(crc32c(bytes), 0x113fdb5cu);
        QCOMPARE(crc32c(asBytes("123456789")), 0xe3069283u);
        QCOMPARE(crc32c({}), 0u);
    }

    void crcGoesOnFromAnySplit()
    {
        const std::string text = "the checksum of two parts is that of the whole";
        for (std::size_t cut = 0; cut <= text.size(); ++cut) {
            const auto all = asBytes(text);
            QCOMPARE(crc32c(all.subspan(cut), crc32c(all.first(cut))), crc32c(all));
        }
    }

    void safetensorsRoundTrip()
    {
        const Example example;
        const fs::path path = m_run / "t.safetensors";
        QVERIFY(writeSafetensors(path, example.model(), {{"format", "residua"}}));
        const auto file = SafetensorsFile::open(path);
        QVERIFY2(file, file ? "" : file.error().text().c_str());
        QVERIFY(same(file->tensors(), example.model()));
        QCOMPARE(file->metadata().at("format"), std::string("residua"));
        QCOMPARE(entriesBelow(m_run).size(), 1u);
    }

    /// The layout that other readers rely on, checked against the bytes rather than against our reader.
    void safetensorsLayout()
    {
        const Example example;
        const fs::path path = m_run / "t.safetensors";
        QVERIFY(writeSafetensors(path, example.model(), {}));
        const std::string bytes = readAll(path);
        std::uint64_t length = 0;
        std::memcpy(&length, bytes.data(), sizeof(length));
        QCOMPARE((8 + length) % 8, 0u);
        const std::string header = bytes.substr(8, length);
        QVERIFY(header.starts_with("{"));
        QCOMPARE(header.substr(header.rfind('}') + 1), std::string(header.size() - header.rfind('}') - 1, ' '));
        QVERIFY(header.find(R"("exact":{"dtype":"F64","shape":[2,1],"data_offsets":[0,16]})") != std::string::npos);
        QVERIFY(header.find(R"("layers.1.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[16,40]})") !=
                std::string::npos);
        QVERIFY(header.find(R"("half":{"dtype":"BF16","shape":[2],"data_offsets":[40,44]})") != std::string::npos);
        QVERIFY(header.find(R"("a.random":{"dtype":"U8","shape":[5],"data_offsets":[44,49]})") != std::string::npos);
        QCOMPARE(bytes.size(), 8 + length + 49);
        QCOMPARE(std::memcmp(bytes.data() + 8 + length, example.exact.data(), 16), 0);
    }

    void writerRefusesWrongSizes()
    {
        const Example example;
        auto tensors = example.model();
        tensors["layers.1.weight"].shape = {7};
        const auto status = writeSafetensors(m_run / "t.safetensors", tensors, {});
        QVERIFY(!status);
        QVERIFY(status.error().text().find("layers.1.weight") != std::string::npos);
        QVERIFY(entriesBelow(m_run).empty());
    }

    void safetensorsErrors_data()
    {
        QTest::addColumn<QByteArray>("file");
        QTest::addColumn<QByteArray>("says");
        const auto row = [](const char* name, const std::string& file, const char* says) {
            QTest::newRow(name) << QByteArray::fromStdString(file) << QByteArray(says);
        };
        const auto tensor = [](const std::string& fields) {
            return withHeader("{\"w\":{" + fields + "}}", "12345678");
        };
        row("empty", "", "0 bytes long");
        row("short", "1234567", "7 bytes long");
        row("long header", std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10), "18446744073709551615");
        row("not JSON", withHeader("{\"w\":", ""), "not a JSON object");
        row("array", withHeader("[1]", ""), "not a JSON object");
        row("not an object", withHeader("{\"w\":3}", ""), "tensor w] expected an object");
        row("no dtype", tensor(R"("shape":[2],"data_offsets":[0,8])"), "dtype is nothing");
        row("odd dtype", tensor(R"("dtype":"F8","shape":[2],"data_offsets":[0,8])"), "dtype is F8");
        row("no shape", tensor(R"("dtype":"F32","data_offsets":[0,8])"), "shape is missing");
        row("negative", tensor(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"), "shape holds -2");
        row("fraction", tensor(R"("dtype":"F32","shape":[2.0],"data_offsets":[0,8])"), "shape holds 2.0");
        row("no offsets", tensor(R"("dtype":"F32","shape":[2])"), "data_offsets are missing");
        row("past the end", tensor(R"("dtype":"F32","shape":[4],"data_offsets":[0,16])"), "0..16");
        row("backwards", tensor(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"), "8..0");
        row("wrong size", tensor(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"), "8 bytes do not hold F32 [3]");
        row("overflow", tensor(R"("dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0])"), "do not hold");
        row("huge size", tensor(R"("dtype":"U8","shape":[18446744073709551615],"data_offsets":[0,8])"), "do not hold");
        row("hole", tensor(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])"), "begin at byte 4, expected 0");
        row("data left", tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])"), "take 4 bytes, the file holds 8");
        row("metadata", withHeader(R"({"__metadata__":{"a":1}})", ""), "a is number");
        row("metadata kind", withHeader(R"({"__metadata__":1})", ""), "expected an object");
    }
    void safetensorsErrors()
    {
        QFETCH(QByteArray, file);
        QFETCH(QByteArray, says);
        const fs::path path = m_run / "t.safetensors";
        writeAll(path, file.toStdString());
        const auto opened = SafetensorsFile::open(path);
        QVERIFY(!opened);
        QVERIFY2(opened.error().text().find(says.toStdString()) != std::string::npos, opened.error().text().c_str());
        QVERIFY(opened.error().place.starts_with(path.string()));
    }

    /// What is no tensor file is found out from its header, whatever its size and kind.
    void otherFilesAreRefusedUnread()
    {
        const fs::path file = m_run / "odd.safetensors";
        std::ofstream(file).close();
        fs::resize_file(file, std::uintmax_t{1} << 40);
        QVERIFY(!SafetensorsFile::open(file));
        fs::remove(file);
        QCOMPARE(::mkfifo(file.c_str(), 0600), 0);
        const auto fifo = SafetensorsFile::open(file);
        QVERIFY(!fifo);
        QCOMPARE(fifo.error().message, std::string("is a FIFO; expected a file"));
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

    void keepsTheNewest()
    {
        const Example example;
        for (const std::int64_t step : {100, 200, 300, 400}) {
            QVERIFY(example.write(m_run, step, {.newest = 2}));
        }
        QCOMPARE(checkpointSteps(m_run), (std::vector<std::int64_t>{300, 400}));
        QCOMPARE(entriesBelow(m_run / "checkpoints").size(), 2u * 4u);
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
            state.validationLoss = loss;
            const CheckpointRule by{rule[0], rule[1], rule[2]};
            QVERIFY(writeCheckpoint(m_run, state, example.model(), example.optimiser(), by));
        }
        QCOMPARE(checkpointSteps(m_run), (std::vector<std::int64_t>(kept.begin(), kept.end())));
    }

    /// What a stranger writes, with a checksum that is right.
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
        writeAll(path, withChecksum(text.replace(at, static_cast<std::size_t>(from.size()), to.toStdString())));
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
        writeAll(path, withChecksum(compact(readAll(path))));
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
        std::mt19937 random(1);
        const auto damaged = [&](const std::string& bytes) {
            writeAll(path, bytes);
            const auto direct = loadCheckpoint(m_run, 200, nullptr);
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
            writeAll(path, whole.substr(0, size));
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
        writeAll(m_run / "checkpoints", "a file where the folder should be");
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
