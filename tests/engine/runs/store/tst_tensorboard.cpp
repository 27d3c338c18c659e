// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/files/content_hash.h"
#include "engine/base/files/tensorboard.h"
#include "engine/runs/store/run_writer.h"
#include "projects/shipped/examples.h"
#include "tests/engine/runs/store/stored_tensors.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <bit>
#include <cmath>
#include <csignal>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include <sys/resource.h>
#include <unistd.h>

using namespace residua;
using namespace residua::engine;
using residua::tests::readAll;
namespace fs = std::filesystem;

namespace {

template <class T>
T raw(std::string_view bytes, std::size_t at)
{
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    return value;
}

std::uint32_t unmasked(std::uint32_t masked)
{
    return std::rotl(masked - 0xa282ead8u, 15);
}

/// The events of a file; nothing where a length or a checksum is wrong.
std::optional<std::vector<std::string>> readRecords(std::string_view file)
{
    std::vector<std::string> events;
    while (!file.empty()) {
        if (file.size() < 16) {
            return std::nullopt;
        }
        const auto length = raw<std::uint64_t>(file, 0);
        if (length + 16 > file.size() || unmasked(raw<std::uint32_t>(file, 8)) != crc32c(asBytes(file.substr(0, 8)))) {
            return std::nullopt;
        }
        const std::string_view event = file.substr(12, length);
        if (unmasked(raw<std::uint32_t>(file, 12 + length)) != crc32c(asBytes(event))) {
            return std::nullopt;
        }
        events.emplace_back(event);
        file.remove_prefix(16 + length);
    }
    return events;
}

/// The fields of a message by number: numbers as their bits, the rest as bytes.
struct Message {
    std::map<std::uint64_t, std::uint64_t> numbers;
    std::map<std::uint64_t, std::string> bytes;
};

std::uint64_t takeVarint(std::string_view& bytes)
{
    std::uint64_t value = 0;
    for (int shift = 0; !bytes.empty(); shift += 7) {
        const auto byte = static_cast<unsigned char>(bytes.front());
        bytes.remove_prefix(1);
        value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
        if (byte < 0x80) {
            break;
        }
    }
    return value;
}

Message parse(std::string_view bytes)
{
    Message message;
    while (!bytes.empty()) {
        const std::uint64_t key = takeVarint(bytes);
        const std::uint64_t number = key >> 3;
        switch (key & 7) {
        case 0:
            message.numbers[number] = takeVarint(bytes);
            break;
        case 1:
            message.numbers[number] = raw<std::uint64_t>(bytes, 0);
            bytes.remove_prefix(8);
            break;
        case 2: {
            const std::uint64_t size = takeVarint(bytes);
            message.bytes[number] = bytes.substr(0, size);
            bytes.remove_prefix(size);
            break;
        }
        case 5:
            message.numbers[number] = raw<std::uint32_t>(bytes, 0);
            bytes.remove_prefix(4);
            break;
        default:
            return {};
        }
    }
    return message;
}

struct Scalar {
    std::string name;
    std::int64_t step = 0;
    float value = 0;
    bool operator==(const Scalar&) const = default;
};

Scalar scalarOf(const std::string& event)
{
    const Message outer = parse(event);
    const Message value = parse(parse(outer.bytes.at(5)).bytes.at(1));
    return {value.bytes.at(1), static_cast<std::int64_t>(outer.numbers.at(2)),
            std::bit_cast<float>(static_cast<std::uint32_t>(value.numbers.at(2)))};
}

std::vector<fs::path> eventFiles(const fs::path& folder)
{
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder)) {
        files.push_back(entry.path());
    }
    return files;
}

} // namespace

class TestTensorBoard : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_path = m_folder->path().toStdString();
    }

    /// The bytes of a record around a known event, worked out by hand from the format and the CRC's check value.
    void recordBytes()
    {
        const std::string record = tensorBoardRecord("123456789");
        QCOMPARE(record.size(), 9u + 16u);
        QCOMPARE(record.substr(0, 8), std::string("\x09\0\0\0\0\0\0\0", 8));
        // mask(0xe3069283) = ((0xe3069283 >> 15) | (0xe3069283 << 17)) + 0xa282ead8
        QCOMPARE(raw<std::uint32_t>(record, 21), 0xc78ab0e5u);
        QCOMPARE(unmasked(raw<std::uint32_t>(record, 8)), crc32c(asBytes(record.substr(0, 8))));
    }

    void scalarsComeBack()
    {
        auto writer = TensorBoardWriter::create(m_path, std::nullopt);
        QVERIFY(writer);
        const std::vector<Scalar> scalars{{"loss/train", 1, 5.5f},
                                          {"rate", 300, 1e-3f},
                                          {"loss/train", std::int64_t{1} << 40, -0.0f},
                                          {std::string(300, 'n'), 7, std::numeric_limits<float>::infinity()}};
        for (const Scalar& scalar : scalars) {
            writer->scalar(scalar.name, scalar.step, static_cast<double>(scalar.value));
        }
        QVERIFY(writer->flush());
        const auto files = eventFiles(m_path);
        QCOMPARE(files.size(), 1u);
        const std::string name = files[0].filename().string();
        QVERIFY(name.starts_with("events.out.tfevents."));
        QVERIFY2(name.ends_with(".residua." + std::to_string(::getpid())), name.c_str()); // and not the host's
        const auto events = readRecords(readAll(files[0]));
        QVERIFY(events.has_value());
        QCOMPARE(events->size(), scalars.size() + 1);
        const Message first = parse(events->front());
        QCOMPARE(first.bytes.at(3), std::string("brain.Event:2"));
        QVERIFY(std::bit_cast<double>(first.numbers.at(1)) > 1.7e9);
        for (std::size_t i = 0; i < scalars.size(); ++i) {
            QCOMPARE(scalarOf((*events)[i + 1]), scalars[i]);
        }
    }

    /// The record of a border has its name and step, as every number has, and so has the validation of the stage's own
    /// network. The weights of its shortcuts follow by source and target.
    void aRunsStagesAndWeightsAreThere()
    {
        RunInfo info;
        info.steps = 40;
        const fs::path run = m_path / "run";
        std::vector<Scalar> wanted{{metric::kStageTrainBefore, 20, 2.5f},
                                   {metric::kStageTrainAfter, 20, 2.75f},
                                   {metric::kStageJump, 20, 0.25f},
                                   {metric::kStageValidationBefore, 20, 3.5f},
                                   {metric::kStageValidationAfter, 20, 3.25f},
                                   {metric::kStageLoss, 30, 3.125f}};
        const float none = std::numeric_limits<float>::quiet_NaN();
        {
            auto writer = RunWriter::create(run, info, projects::findExample("staged-language")->project, m_path);
            QVERIFY(writer.ok());
            for (const Scalar& scalar : wanted) {
                writer->metric(scalar.name, scalar.step, static_cast<double>(scalar.value));
            }
            writer->matrix({"mix/q", 20, 2, 2, {1.0f, none, 0.5f, 0.25f}});
            writer->matrix({matrix::kSpread, 20, 1, 1, {2.0f}});
            writer->matrix({"mix", 20, 40, 40, std::vector<float>(1600, 1.0f)}); // too many plots
            QVERIFY(writer->flush().ok());
        }
        wanted.insert(wanted.end(), {{"mix/q/0:1", 20, 1.0f}, {"mix/q/0:2", 20, 0.5f}, {"mix/q/1:2", 20, 0.25f}});
        std::vector<Scalar> found;
        for (const auto& entry : fs::recursive_directory_iterator(run)) {
            if (entry.path().filename().string().starts_with("events.out.tfevents.")) {
                const auto events = readRecords(readAll(entry.path()));
                QVERIFY(events.has_value());
                for (const std::string& event : *events) {
                    if (parse(event).bytes.contains(5)) { // a summary
                        found.push_back(scalarOf(event));
                    }
                }
            }
        }
        QVERIFY(found == wanted);
    }

    /// A limit on file sizes fails a write as a full disk does: in part, and the same flush again goes through.
    void aWriteThatFailsInPartLeavesWholeRecords()
    {
        auto writer = TensorBoardWriter::create(m_path, std::nullopt);
        QVERIFY(writer);
        const fs::path file = eventFiles(m_path).front();
        for (std::int64_t step = 1; step <= 100; ++step) {
            writer->scalar("loss/train", step, 1);
        }
        rlimit before = {};
        ::getrlimit(RLIMIT_FSIZE, &before);
        const auto heard = ::signal(SIGXFSZ, SIG_IGN);
        const rlimit full{fs::file_size(file) + 1000, before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &full);
        const bool flushed = writer->flush().ok();
        ::setrlimit(RLIMIT_FSIZE, &before);
        ::signal(SIGXFSZ, heard);
        QVERIFY(!flushed);
        QCOMPARE(readRecords(readAll(file)).value_or(std::vector<std::string>{}).size(), 1u);
        QVERIFY(writer->flush());
        QCOMPARE(readRecords(readAll(file)).value_or(std::vector<std::string>{}).size(), 101u);
    }

    void notANumberStays()
    {
        auto writer = TensorBoardWriter::create(m_path, std::nullopt);
        QVERIFY(writer);
        writer->scalar("loss/train", 3, std::numeric_limits<double>::quiet_NaN());
        QVERIFY(writer->flush());
        const auto events = readRecords(readAll(eventFiles(m_path)[0]));
        QVERIFY(events.has_value());
        QVERIFY(std::isnan(scalarOf(events->back()).value));
    }

    void goingOnPurges()
    {
        const auto first = TensorBoardWriter::create(m_path, std::nullopt);
        const auto second = TensorBoardWriter::create(m_path, 501);
        QVERIFY(first);
        QVERIFY(second);
        std::multiset<std::size_t> sizes;
        for (const fs::path& file : eventFiles(m_path)) {
            const auto events = readRecords(readAll(file));
            QVERIFY(events.has_value());
            sizes.insert(events->size());
            if (events->size() == 2) {
                const Message start = parse(events->back());
                QCOMPARE(start.numbers.at(2), 501u);
                QCOMPARE(parse(start.bytes.at(7)).numbers.at(1), 1u); // SessionLog.START
            }
        }
        QCOMPARE(sizes, (std::multiset<std::size_t>{1, 2}));
    }

    void nowhereToWrite()
    {
        const auto writer = TensorBoardWriter::create(m_path / "missing", std::nullopt);
        QVERIFY(!writer);
        QVERIFY(writer.error().text().find("missing") != std::string::npos);
    }

private:
    std::unique_ptr<QTemporaryDir> m_folder;
    fs::path m_path;
};

RESIDUA_TEST(TestTensorBoard)
#include "tst_tensorboard.moc"
