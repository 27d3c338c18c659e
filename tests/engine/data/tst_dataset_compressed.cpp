// SPDX-License-Identifier: GPL-3.0-or-later
// Texts and JSON Lines that are compressed, folders of them, and what is wrong with such files.
#include "dataset_harness.h"
#include "engine/host/machine_memory.h"
#include "engine/text/compressed_file.h"
#include "engine/text/text_files.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <array>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;

namespace {

std::string littleEndian(std::uint64_t value, int bytes)
{
    std::string text;
    for (int i = 0; i < bytes; ++i) {
        text += static_cast<char>(value >> (8 * i) & 0xff);
    }
    return text;
}

std::uint32_t crc32(const std::string& text)
{
    std::uint32_t sum = 0xffffffff;
    for (const char byte : text) {
        sum ^= static_cast<unsigned char>(byte);
        for (int bit = 0; bit < 8; ++bit) {
            sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
        }
    }
    return ~sum;
}

/// A file of gzip (RFC 1952) with one stored block; less than 64 KiB.
std::string gzipped(const std::string& text)
{
    const std::size_t size = text.size();
    return std::string("\x1f\x8b\x08\0\0\0\0\0\0\3", 10) + "\1" + littleEndian(size, 2) + littleEndian(~size, 2) +
           text + littleEndian(crc32(text), 4) + littleEndian(size, 4);
}

/// A frame of Zstandard (RFC 8878) with one raw block; less than 128 KiB.
std::string zstandard(const std::string& text)
{
    return std::string("\x28\xb5\x2f\xfd\xa0") + littleEndian(text.size(), 4) + littleEndian(text.size() << 3 | 1, 3) +
           text;
}

std::string lines(const std::string& word, const char* key = "text")
{
    std::string text;
    for (int i = 0; i < 30; ++i) {
        text += "{\"" + std::string(key) + "\": \"" + word + " " + std::to_string(i) + "\"}\n";
    }
    return text;
}

} // namespace

class TestDatasetCompressed : public DatasetHarness {
    Q_OBJECT

private slots:
    void init() { newFolder(); }

    void whatIsCompressedIsRead()
    {
        std::string text;
        for (int i = 0; i < 90; ++i) {
            text += "gr\u00fc\u00dft die Welt " + std::to_string(i) + "\n";
        }
        writeAll(m_folder / "t.txt", text);
        writeAll(m_folder / "t.txt.gz", gzipped(text));
        writeAll(m_folder / "t.txt.zst", zstandard(text));
        writeAll(m_folder / "two.txt.zst", zstandard(text.substr(0, 500)) + zstandard(text.substr(500)));
        const auto plain = open(projects::TextData{"t.txt", {}});
        QVERIFY(plain);
        for (const char* name : {"t.txt.gz", "t.txt.zst", "two.txt.zst"}) {
            const auto packed = open(projects::TextData{name, {}});
            QVERIFY2(packed, packed ? "" : packed.error().text().c_str());
            for (const Split split : {Split::Train, Split::Validation, Split::Test}) {
                QVERIFY(tokensOf(**packed, split) == tokensOf(**plain, split));
            }
        }
    }

    void aFolderOfShardsIsOneText()
    {
        writeAll(m_folder / "all.jsonl", lines("one") + lines("two") + lines("three"));
        writeAll(m_folder / "shards/a.jsonl", lines("one"));
        writeAll(m_folder / "shards/b.jsonl.gz", gzipped(lines("two")));
        writeAll(m_folder / "shards/more/c.jsonl.zst", zstandard(lines("three")));
        writeAll(m_folder / "shards/readme.md", "no data");
        const auto all = open(projects::JsonLinesData{.path = "all.jsonl", .tokeniser = {}});
        const auto shards = open(projects::JsonLinesData{.path = "shards", .tokeniser = {}});
        QVERIFY(all);
        QVERIFY2(shards, shards ? "" : shards.error().text().c_str());
        QVERIFY(tokensOf(**shards, Split::Train) == tokensOf(**all, Split::Train));
        QCOMPARE((*shards)->size(Split::Test), (*all)->size(Split::Test));
    }

    /// As gzip -k leaves them; and by both.
    void theSameTwiceIsReadOnce()
    {
        writeAll(m_folder / "all.txt", lines("one") + lines("two"));
        writeAll(m_folder / "texts/a.txt", lines("one"));
        writeAll(m_folder / "texts/a.txt.gz", gzipped(lines("one")));
        writeAll(m_folder / "texts/a.txt.zst", zstandard(lines("one")));
        writeAll(m_folder / "texts/b.txt.gz", gzipped(lines("two")));
        const auto all = open(projects::TextData{"all.txt", {}});
        const auto texts = open(projects::TextData{"texts", {}});
        QVERIFY(all && texts);
        QVERIFY((*all)->notes().empty());
        QVERIFY(tokensOf(**texts, Split::Train) == tokensOf(**all, Split::Train));
        QCOMPARE((*texts)->notes().size(), std::size_t{1});
        const QString note = QString::fromStdString((*texts)->notes().front());
        QVERIFY2(note.contains("texts/a.txt.gz is not read, for a.txt lies beside it, and so is 1 more"),
                 qPrintable(note));
        writeAll(m_folder / "texts/b.txt.zst", zstandard(lines("two")));
        const auto both = open(projects::TextData{"texts", {}});
        QCOMPARE((*both)->size(Split::Train), (*all)->size(Split::Train));
    }

    void whatGrowsBeyondTheMemoryIsRefused()
    {
        const std::string text(5000, 'a');
        writeAll(m_folder / "a.txt.gz", gzipped(text));
        writeAll(m_folder / "a.txt.zst", zstandard(text));
        for (const char* name : {"a.txt.gz", "a.txt.zst"}) {
            QVERIFY(decompressed(m_folder / name, {}, TextMemory(5000)));
            const auto refused = decompressed(m_folder / name, {}, TextMemory(4999));
            QVERIFY(!refused);
            const QString error = QString::fromStdString(refused.error().text());
            QVERIFY2(error.contains(QString(name) + "] does not fit in memory"), qPrintable(error));
            QVERIFY2(error.contains("may hold 4.88 KiB"), qPrintable(error));
            QVERIFY2(error.contains("unpack it with"), qPrintable(error));
        }
        QVERIFY(mostTextInMemory() > 0);
        QVERIFY(mostTextInMemory() <= static_cast<std::uint64_t>(machineMemory().totalBytes));
    }

    /// The limit is on all files of a source together; what is no longer held no longer counts.
    void theMemoryOfASourceIsOne()
    {
        const std::string text(5000, 'a');
        for (const char* name : {"many/a.txt.gz", "many/b.txt.gz", "many/c.txt.gz"}) {
            writeAll(m_folder / name, gzipped(text));
        }
        const TextMemory memory(15'000);
        {
            const auto all = readTextFiles(m_folder / "many", {}, memory);
            QVERIFY2(all, all ? "" : all.error().text().c_str());
            QCOMPARE(memory.left(), std::uint64_t{0});
        }
        QCOMPARE(memory.left(), std::uint64_t{15'000});
        const auto refused = readTextFiles(m_folder / "many", {}, TextMemory(12'000));
        QVERIFY(!refused);
        QVERIFY2(QString::fromStdString(refused.error().text()).contains("c.txt.gz] does not fit in memory"),
                 refused.error().text().c_str());
        for (const char* name : {"records/a.jsonl", "records/b.jsonl"}) {
            writeAll(m_folder / name, "{\"text\": \"" + text + "\"}\n");
        }
        QVERIFY(readRecords(m_folder / "records", "text", {}, TextMemory(12'000)));
        const auto records = readRecords(m_folder / "records", "text", {}, TextMemory(9'000));
        QVERIFY(!records);
        QVERIFY2(QString::fromStdString(records.error().text()).contains("b.jsonl] does not fit in memory"),
                 records.error().text().c_str());
        QVERIFY2(QString::fromStdString(records.error().text()).contains("take fewer files"),
                 records.error().text().c_str());
    }

    void tokensAreNotCompressed()
    {
        for (const char* name : {"t.bin.gz", "t.bin.zst"}) {
            writeAll(m_folder / name, gzipped(std::string(2000, '\0')));
            const auto dataset = open(projects::TokenFileData{.path = name, .validationPath = {}});
            QVERIFY(!dataset);
            QVERIFY2(dataset.error().text().find("is compressed, expected ready-made tokens as they are") !=
                         std::string::npos,
                     dataset.error().text().c_str());
        }
    }

    void whatIsWrongIsNamed_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("message");
        const auto row = [](const char* name, const std::string& bytes, const char* message) {
            QTest::newRow(name) << QString(name) << QByteArray::fromStdString(bytes) << QString(message);
        };
        const std::string gzip = gzipped(lines("x"));
        const std::string zstd = zstandard(lines("x"));
        row("cut.jsonl.gz", gzip.substr(0, gzip.size() / 2), "cut.jsonl.gz] cannot be decompressed: cut off, damaged");
        row("cut.jsonl.zst", zstd.substr(0, zstd.size() / 2),
            "cut.jsonl.zst] cannot be decompressed: cut off, damaged");
        row("plain.jsonl.gz", lines("x"), "plain.jsonl.gz] is not compressed by gzip, as its name says");
        row("other.jsonl.zst", gzip, "other.jsonl.zst] is not compressed by zstd, as its name says");
        row("empty.jsonl.gz", gzipped(""), "empty.jsonl.gz] is empty, expected one JSON object per line");
        row("field.jsonl.zst", zstandard(lines("x", "body")),
            "field.jsonl.zst:1] has no field \"text\"; its fields are: body");
        row("latin.jsonl.gz", gzipped("{\"text\": \"\xe9\"}\n"),
            "latin.jsonl.gz:1] byte 0xe9 at offset 10 is not valid");
    }
    void whatIsWrongIsNamed()
    {
        QFETCH(QString, name);
        QFETCH(QByteArray, bytes);
        QFETCH(QString, message);
        writeAll(m_folder / name.toStdString(), bytes.toStdString());
        const auto dataset = open(projects::JsonLinesData{.path = name.toStdString(), .tokeniser = {}});
        QVERIFY(!dataset);
        QVERIFY2(QString::fromStdString(dataset.error().text()).contains(message), dataset.error().text().c_str());
    }
};

RESIDUA_TEST(TestDatasetCompressed)
#include "tst_dataset_compressed.moc"
