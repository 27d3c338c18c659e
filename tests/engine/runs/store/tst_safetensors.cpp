// SPDX-License-Identifier: GPL-3.0-or-later
// The format that tensors are kept in, and the checksum beside it.
#include "engine/base/files/safetensors.h"

#include "engine/base/files/content_hash.h"
#include "engine/base/files/safetensors_header.h"
#include "engine/base/files/safetensors_writer.h"
#include "projects/base/files.h"
#include "projects/base/whole_file.h"
#include "tests/engine/runs/store/stored_tensors.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <cstring>
#include <memory>

#include <sys/stat.h>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;
namespace fs = std::filesystem;

namespace {

std::string withHeader(const std::string& header, const std::string& data)
{
    const std::uint64_t length = header.size();
    std::string file(sizeof(length), '\0');
    std::memcpy(file.data(), &length, sizeof(length));
    return file + header + data;
}

} // namespace

class TestSafetensors : public QObject {
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
        const ExampleTensors example;
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
        const ExampleTensors example;
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

    /// The same bytes as in one piece, each tensor when it is its turn.
    void writesInPieces()
    {
        const ExampleTensors example;
        const auto tensors = example.model();
        QVERIFY(writeSafetensors(m_run / "whole", tensors, {{"format", "residua"}}));
        auto writer = SafetensorsWriter::begin(m_run / "pieces", formsOf(tensors), {{"format", "residua"}});
        QVERIFY2(writer, writer ? "" : writer.error().text().c_str());
        QVERIFY(!writer->end()); // all are missing
        while (const std::string* const name = writer->next()) {
            const auto& bytes = tensors.at(*name).bytes;
            const Status wrong = writer->write(asBytes("seventeen letters"));
            QVERIFY(!wrong && wrong.error().place.ends_with(*name));
            QVERIFY(writer->write(bytes));
        }
        QVERIFY(!writer->write({}));
        const auto checksum = writer->end();
        QVERIFY(checksum);
        const std::string whole = readAll(m_run / "whole");
        QCOMPARE(readAll(m_run / "pieces"), whole);
        QCOMPARE(*checksum, crc32c(asBytes(whole)));
    }

    void writerRefusesWrongSizes()
    {
        const ExampleTensors example;
        auto tensors = example.model();
        tensors["layers.1.weight"].shape = {7};
        const auto status = writeSafetensors(m_run / "t.safetensors", tensors, {});
        QVERIFY(!status);
        QVERIFY(status.error().text().find("layers.1.weight") != std::string::npos);
        QVERIFY(entriesBelow(m_run).empty());
    }

    /// Whoever wants the tensor says that it is of no type for weights.
    void otherTypesKeepNoFileFromBeingRead()
    {
        const std::string fields = R"({"w":{"dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8]}})";
        QVERIFY(writeFileAtomically(m_run / "t.safetensors", withHeader(fields, "12345678")));
        const auto file = InputFile::open(m_run / "t.safetensors");
        const auto header = file ? readSafetensorsHeader(*file) : Result<SafetensorsHeader>(file.error());
        QVERIFY2(header, header ? "" : header.error().text().c_str());
        const TensorPlace& place = header->tensors.at("w");
        QVERIFY(place.type == StoredType::Other && !isWeightType(place.type));
        QCOMPARE(typeText(place), std::string("F8_E4M3"));
        QCOMPARE(place.bytes, std::uint64_t{8});
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
        row("no dtype", tensor(R"("shape":[2],"data_offsets":[0,8])"), "dtype is missing");
        row("no shape", tensor(R"("dtype":"F32","data_offsets":[0,8])"), "shape is missing");
        row("negative", tensor(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"), "shape holds -2");
        row("fraction", tensor(R"("dtype":"F32","shape":[2.0],"data_offsets":[0,8])"), "shape holds 2.0");
        row("no offsets", tensor(R"("dtype":"F32","shape":[2])"), "data_offsets are missing");
        row("past the end", tensor(R"("dtype":"F32","shape":[4],"data_offsets":[0,16])"), "0..16");
        row("backwards", tensor(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"), "8..0");
        row("wrong size", tensor(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"), "8 bytes do not hold F32 [3]");
        row("overflow", tensor(R"("dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0])"), "do not hold");
        row("huge size", tensor(R"("dtype":"U8","shape":[18446744073709551615],"data_offsets":[0,8])"), "do not hold");
        const auto nothing = [](const char* shape) {
            return withHeader(R"({"w":{"dtype":"F32","shape":)" + std::string(shape) + R"(,"data_offsets":[0,0]}})",
                              "");
        };
        row("negative beside none", nothing("[0,18446744073709551615]"), "0 bytes do not hold F32 [0, -1]");
        row("overflow beside none", nothing("[0,4611686018427387904,4]"), "0 bytes do not hold");
        row("overflow before none", nothing("[4611686018427387904,4,0]"), "0 bytes do not hold");
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
        overwrite(path, file.toStdString());
        const auto opened = SafetensorsFile::open(path);
        QVERIFY(!opened);
        QVERIFY2(opened.error().text().find(says.toStdString()) != std::string::npos, opened.error().text().c_str());
        QVERIFY(opened.error().place.starts_with(path.string()));
    }

    /// Other files are refused by their header, whatever their size and kind.
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

private:
    std::unique_ptr<QTemporaryDir> m_folder;
    fs::path m_run;
};

RESIDUA_TEST(TestSafetensors)
#include "tst_safetensors.moc"
