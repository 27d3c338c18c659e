// SPDX-License-Identifier: GPL-3.0-or-later
// Texts and JSON Lines that are compressed, folders of them, and what is wrong with such files.
#include "dataset_harness.h"
#include "engine/base/machine/machine.h"
#include "engine/data/text/compressed_file.h"
#include "engine/data/text/data_files.h"
#include "engine/data/text/text_files.h"
#include "tests/support/file_bytes.h"
#include "tests/support/refusal.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <array>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;

namespace {

/// A frame of Zstandard (RFC 8878) with one raw block; less than 128 KiB.
std::string zstandard(const std::string& text)
{
    return std::string("\x28\xb5\x2f\xfd\xa0") + littleEndian(text.size(), 4) + littleEndian(text.size() << 3 | 1, 3) +
           text;
}

/// The same with a window of 256 MiB, as zstd --long=28 writes it; less than 128 KiB.
std::string longWindow(const std::string& text)
{
    return std::string("\x28\xb5\x2f\xfd\x00\x90", 6) + littleEndian(text.size() << 3 | 1, 3) + text;
}

/// "hello hello\n", compressed.
const std::string kXz("\xfd\x37\x7a\x58\x5a\x00\x00\x01\x69\x22\xde\x36\x02\x00\x21\x01\x16\x00\x00\x00\x74\x2f"
                      "\xe5\xa3\x01\x00\x0b\x68\x65\x6c\x6c\x6f\x20\x68\x65\x6c\x6c\x6f\x0a\x00\xa5\x6a\x0a\x44"
                      "\x00\x01\x20\x0c\xa2\xdd\xb4\xbc\x90\x42\x99\x0d\x01\x00\x00\x00\x00\x01\x59\x5a",
                      64);
const std::string kBzip2("\x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\x85\x74\x6e\x41\x00\x00\x02\xd1\x00\x00\x10\x40"
                         "\x00\x02\x44\xa0\x00\x30\xc0\x04\xa6\x98\x52\x0d\xc2\x86\x17\x72\x45\x38\x50\x90\x85\x74"
                         "\x6e\x41",
                         46);

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

    void compressedTextIsRead()
    {
        std::string text;
        for (int i = 0; i < 90; ++i) {
            text += "gr\u00fc\u00dft die Welt " + std::to_string(i) + "\n";
        }
        writeAll(m_folder / "t.txt", text);
        writeAll(m_folder / "t.txt.gz", gzipOf(text));
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

    void xzAndBzip2AreRead()
    {
        std::string xz;
        std::string bzip2;
        std::string plain;
        for (int i = 0; i < 30; ++i) { // streams one behind the other are one text
            xz += kXz;
            bzip2 += kBzip2;
            plain += "hello hello\n";
        }
        writeAll(m_folder / "t.txt", plain);
        writeAll(m_folder / "t.txt.xz", xz);
        writeAll(m_folder / "t.txt.bz2", bzip2);
        const auto expected = open(projects::TextData{"t.txt", {}});
        for (const char* name : {"t.txt.xz", "t.txt.bz2"}) {
            const auto packed = open(projects::TextData{name, {}});
            QVERIFY2(packed, packed ? "" : packed.error().text().c_str());
            QVERIFY(tokensOf(**packed, Split::Train) == tokensOf(**expected, Split::Train));
        }
    }

    void aLongWindowOfZstandardIsReadAndNoted()
    {
        writeAll(m_folder / "t.jsonl.zst", longWindow(lines("x")));
        const auto dataset = open(projects::JsonLinesData{.path = "t.jsonl.zst", .tokeniser = {}});
        QVERIFY2(dataset, dataset ? "" : dataset.error().text().c_str());
        QCOMPARE((*dataset)->notes().size(), std::size_t{1});
        QVERIFY((*dataset)->notes().front().ends_with("a window of 256 MiB"));
    }

    void contentTellsTheKind_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<int>("kind");
        QTest::addColumn<QString>("files");
        const auto row = [](const char* name, const std::string& bytes, DataKind kind, const char* files) {
            QTest::newRow(name) << QByteArray::fromStdString(bytes) << static_cast<int>(kind) << QString(files);
        };
        const std::string records = lines("x");
        row("c4.json.gz", gzipOf(records), DataKind::Records, "1 file of JSON Lines, compressed by gzip");
        row("A.JSONL", records, DataKind::Records, "1 file of JSON Lines");
        row("a.json", "\n " + records, DataKind::Records, "1 file of JSON Lines");
        row("corpus", records, DataKind::Records, "1 file of JSON Lines");
        row("unnamed", zstandard(records), DataKind::Records, "1 file of JSON Lines, compressed by zstd");
        row("long", "{\"text\": \"" + std::string(100'000, 'a') + "\"}\n", DataKind::Records, "1 file of JSON Lines");
        row("A.TXT", "text", DataKind::Text, "1 file of plain text");
        row("notes.txt", records, DataKind::Text, "1 file of plain text"); // its name is taken at its word
        row("code", "{\n\"text\": 1\n}\n", DataKind::Text, "1 file of plain text");
        row("T.BIN", gzipOf(""), DataKind::Tokens, "1 file of ready-made tokens");
    }
    void contentTellsTheKind()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(int, kind);
        QFETCH(QString, files);
        const std::filesystem::path path = m_folder / QTest::currentDataTag();
        writeAll(path, bytes.toStdString());
        QCOMPARE(static_cast<int>(kindAt(path)), kind);
        QCOMPARE(QString::fromStdString(lookAt(path, kindAt(path)).files), files);
    }

    void otherContentThanTheNameSaysIsNoted()
    {
        const auto noted = [this](const char* name, const std::string& bytes, DataKind kind) {
            writeAll(m_folder / name, bytes);
            const auto notes = lookAt(m_folder / name, kind).notes;
            return QString::fromStdString(notes.empty() ? std::string() : notes.front());
        };
        QVERIFY(noted("t.txt", lines("x"), DataKind::Text).contains("looks like JSON Lines"));
        QVERIFY(noted("corpus", lines("x"), DataKind::Records).contains("taken for JSON Lines"));
        QVERIFY(noted("z.jsonl", gzipOf(lines("x")), DataKind::Records).contains("is decompressed by its first bytes"));
        QVERIFY(noted("empty.jsonl", "", DataKind::Records).contains("empty.jsonl is empty"));
        QCOMPARE(noted("a.jsonl", lines("x"), DataKind::Records), QString());
    }

    void formatsThatAreNotReadAreNamed()
    {
        writeAll(m_folder / "t.npy", std::string("\x93NUMPY\1\0", 8) + std::string(500, 'x'));
        writeAll(m_folder / "t.txt", "PK\3\4" + std::string(500, 'x'));
        writeAll(m_folder / "t.tar.gz", gzipOf(std::string(257, 'a') + "ustar" + std::string(300, 'b')));
        const auto says = [this](projects::Source source) {
            const auto dataset = open(std::move(source));
            return QString::fromStdString(dataset ? std::string() : dataset.error().text());
        };
        QVERIFY(kindAt(m_folder / "t.npy") == DataKind::Tokens);
        QVERIFY(
            says(projects::TokenFileData{.path = "t.npy", .validationPath = {}}).contains("t.npy] is a NumPy array"));
        QVERIFY(says(projects::TextData{"t.txt", {}}).contains("t.txt] is a ZIP archive"));
        QVERIFY(
            says(projects::JsonLinesData{.path = "t.tar.gz", .tokeniser = {}}).contains("t.tar.gz] is a tar archive"));
    }

    void hiddenCopiesAreNoData()
    {
        writeAll(m_folder / "shards/a.jsonl", lines("one"));
        writeAll(m_folder / "shards/.ipynb_checkpoints/a-checkpoint.jsonl", lines("one"));
        writeAll(m_folder / "shards/_copy.jsonl", lines("one"));
        writeAll(m_folder / "shards/LICENSE.txt", "short");
        writeAll(m_folder / "shards/dataset_info.json", "{\"splits\": 1}\n");
        QVERIFY(kindAt(m_folder / "shards") == DataKind::Records);
        const auto all = open(projects::JsonLinesData{.path = "shards/a.jsonl", .tokeniser = {}});
        const auto shards = open(projects::JsonLinesData{.path = "shards", .tokeniser = {}});
        QVERIFY(all && shards);
        QCOMPARE((*shards)->size(Split::Train), (*all)->size(Split::Train));
        const auto notes = (*shards)->notes();
        QCOMPARE(notes.size(), std::size_t{2});
        QVERIFY2(notes[0].ends_with(": .ipynb_checkpoints, _copy.jsonl"), notes[0].c_str());
        QVERIFY2(notes[1].ends_with(": LICENSE.txt, dataset_info.json"), notes[1].c_str());
    }

    void jsonShardsOfAFolderAreRead()
    {
        writeAll(m_folder / "c4/c4-0.json.gz", gzipOf(lines("one")));
        writeAll(m_folder / "c4/c4-1.json", lines("two"));
        writeAll(m_folder / "c4/info.json", "{\n  \"splits\": 1\n}\n");
        QVERIFY(kindAt(m_folder / "c4") == DataKind::Records);
        const auto files = filesAt(m_folder / "c4", projects::kRecordEndings);
        QVERIFY(files);
        QCOMPARE(*files, (std::vector<std::filesystem::path>{m_folder / "c4/c4-0.json.gz", m_folder / "c4/c4-1.json"}));
    }

    void nullAndDotsOfFields()
    {
        std::string file = "{\"meta\": {\"text\": null}}\n";
        for (int i = 0; i < 60; ++i) {
            file += "{\"meta\": {\"text\": \"line " + std::to_string(i) + "\"}, \"a.b\": \"dotted\"}\n";
        }
        writeAll(m_folder / "d.jsonl", file);
        const auto nested = open(projects::JsonLinesData{"d.jsonl", "meta.text", {}});
        QVERIFY2(nested, nested ? "" : nested.error().text().c_str());
        QVERIFY((*nested)->decode(tokensOf(**nested, Split::Train)).starts_with("line 0\nline 1\n"));
        const auto missing = open(projects::JsonLinesData{"d.jsonl", "a.b", {}});
        QVERIFY(!missing);
        QVERIFY2(missing.error().text().find("d.jsonl:1] has no field \"a.b\"") != std::string::npos,
                 missing.error().text().c_str());
        writeAll(m_folder / "d.jsonl", file.substr(file.find('\n') + 1));
        const auto dotted = open(projects::JsonLinesData{"d.jsonl", "a.b", {}});
        QVERIFY2(dotted, dotted ? "" : dotted.error().text().c_str());
        writeAll(m_folder / "d.jsonl", "{\"text\": null}\n{\"text\": \"\"}\n");
        const auto nothing = open(projects::JsonLinesData{"d.jsonl", "text", {}});
        QVERIFY(!nothing);
        QVERIFY2(nothing.error().text().find("(2 in all)") != std::string::npos, nothing.error().text().c_str());
    }

    void emptyShardsPassInEveryFormat()
    {
        writeAll(m_folder / "lines/a.jsonl", lines("one"));
        writeAll(m_folder / "texts/a.txt", lines("one"));
        writeAll(m_folder / "tokens/a.bin", std::string(2000, '\1'));
        for (const char* name : {"lines/b.jsonl", "lines/c.jsonl.gz", "lines/d.parquet", "texts/b.txt",
                                 "texts/c.txt.zst", "tokens/b.bin"}) {
            writeAll(m_folder / name, "");
        }
        writeAll(m_folder / "lines/e.jsonl.gz", gzipOf(""));
        const auto check = [this](projects::Source source, const char* note) {
            const auto dataset = open(std::move(source));
            QVERIFY2(dataset, dataset ? "" : dataset.error().text().c_str());
            const std::vector<std::string> notes = (*dataset)->notes();
            QVERIFY2(std::ranges::any_of(notes, [note](const std::string& each) { return each.ends_with(note); }),
                     note);
        };
        check(projects::JsonLinesData{.path = "lines", .tokeniser = {}},
              "b.jsonl is empty, and so on for 3 more files");
        check(projects::TextData{"texts", {}}, "b.txt is empty, and so on for 1 more file");
        check(projects::TokenFileData{.path = "tokens", .validationPath = {}, .vocabulary = 300}, "b.bin is empty");
        std::filesystem::remove(m_folder / "lines/a.jsonl");
        const auto none = open(projects::JsonLinesData{.path = "lines", .tokeniser = {}});
        QVERIFY(!none);
        QVERIFY(QString::fromStdString(none.error().text()).contains("all its files are empty"));
    }

    void aFolderOfShardsIsOneText()
    {
        writeAll(m_folder / "all.jsonl", lines("one") + lines("two") + lines("three"));
        writeAll(m_folder / "shards/a.jsonl", lines("one"));
        writeAll(m_folder / "shards/b.jsonl.gz", gzipOf(lines("two")));
        writeAll(m_folder / "shards/more/c.jsonl.zst", zstandard(lines("three")));
        writeAll(m_folder / "shards/readme.md", "no data");
        const auto all = open(projects::JsonLinesData{.path = "all.jsonl", .tokeniser = {}});
        const auto shards = open(projects::JsonLinesData{.path = "shards", .tokeniser = {}});
        QVERIFY(all);
        QVERIFY2(shards, shards ? "" : shards.error().text().c_str());
        QVERIFY(tokensOf(**shards, Split::Train) == tokensOf(**all, Split::Train));
        QCOMPARE((*shards)->size(Split::Test), (*all)->size(Split::Test));
    }

    /// gzip -k and zstd leave such files beside the original.
    void theSameTwiceIsReadOnce()
    {
        writeAll(m_folder / "all.txt", lines("one") + lines("two"));
        writeAll(m_folder / "texts/a.txt", lines("one"));
        writeAll(m_folder / "texts/a.txt.gz", gzipOf(lines("one")));
        writeAll(m_folder / "texts/a.txt.zst", zstandard(lines("one")));
        writeAll(m_folder / "texts/b.txt.gz", gzipOf(lines("two")));
        const auto all = open(projects::TextData{"all.txt", {}});
        const auto texts = open(projects::TextData{"texts", {}});
        QVERIFY(all && texts);
        QVERIFY(tokensOf(**texts, Split::Train) == tokensOf(**all, Split::Train));
        const auto isTold = [](const std::string& note) {
            return note.find("texts/a.txt.gz is not read, for a.txt lies beside it, and so is 1 more") !=
                   std::string::npos;
        };
        QCOMPARE(std::ranges::count_if((*texts)->notes(), isTold), 1);
        QCOMPARE(std::ranges::count_if((*all)->notes(), isTold), 0);
        writeAll(m_folder / "texts/b.txt.zst", zstandard(lines("two")));
        const auto both = open(projects::TextData{"texts", {}});
        QCOMPARE((*both)->size(Split::Train), (*all)->size(Split::Train));
    }

    void textLargerThanTheMemoryIsRefused()
    {
        const std::string text(5000, 'a');
        writeAll(m_folder / "a.txt.gz", gzipOf(text));
        writeAll(m_folder / "a.txt.zst", zstandard(text));
        for (const char* name : {"a.txt.gz", "a.txt.zst"}) {
            const auto compression = compressionOf(m_folder / name);
            QVERIFY(compression && *compression != nullptr);
            QVERIFY(decompressed(m_folder / name, **compression, {}, TextMemory(5000)));
            const auto refused = decompressed(m_folder / name, **compression, {}, TextMemory(4999));
            QVERIFY(!refused);
            const QString error = QString::fromStdString(refused.error().text());
            QVERIFY2(error.contains(QString(name) + "] does not fit in memory"), qPrintable(error));
            QVERIFY2(error.contains("may hold 4.88 KiB"), qPrintable(error));
            QVERIFY2(error.contains("unpack it with"), qPrintable(error));
        }
        QVERIFY(mostTextInMemory() > 0);
        QVERIFY(mostTextInMemory() <= static_cast<std::uint64_t>(machineMemory().totalBytes));
    }

    /// The limit covers all files of a source together. Released text no longer counts.
    void theMemoryOfASourceIsOne()
    {
        const std::string text(5000, 'a');
        for (const char* name : {"many/a.txt.gz", "many/b.txt.gz", "many/c.txt.gz"}) {
            writeAll(m_folder / name, gzipOf(text));
        }
        const TextMemory memory(15'000);
        {
            const auto all = readTextFiles(m_folder / "many", {}, memory);
            QVERIFY2(all, all ? "" : all.error().text().c_str());
            QCOMPARE(memory.left(), std::uint64_t{0});
        }
        QCOMPARE(memory.left(), std::uint64_t{15'000});
        const auto refused = readTextFiles(m_folder / "many", {}, TextMemory(12'000));
        QVERIFY2(tests::isRefusedAt(refused, "c.txt.gz", "memory"), refused ? "" : refused.error().text().c_str());
        for (const char* name : {"records/a.jsonl", "records/b.jsonl"}) {
            writeAll(m_folder / name, "{\"text\": \"" + text + "\"}\n");
        }
        QVERIFY(readRecords(m_folder / "records", "text", {}, TextMemory(12'000)));
        const auto records = readRecords(m_folder / "records", "text", {}, TextMemory(9'000));
        QVERIFY2(tests::isRefusedAt(records, "b.jsonl", "memory"), records ? "" : records.error().text().c_str());
        QVERIFY2(QString::fromStdString(records.error().text()).contains("take fewer files"),
                 records.error().text().c_str());
    }

    void tokensAreNotCompressed()
    {
        for (const char* name : {"t.bin.gz", "t.bin.zst"}) {
            writeAll(m_folder / name, gzipOf(std::string(2000, '\0')));
            const auto dataset = open(projects::TokenFileData{.path = name, .validationPath = {}});
            QVERIFY(!dataset);
            QVERIFY2(dataset.error().text().find("is compressed") != std::string::npos, dataset.error().text().c_str());
        }
    }

    void invalidFilesAreErrors_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("message");
        const auto row = [](const char* name, const std::string& bytes, const char* message) {
            QTest::newRow(name) << QString(name) << QByteArray::fromStdString(bytes) << QString(message);
        };
        const std::string gzip = gzipOf(lines("x"));
        const std::string zstd = zstandard(lines("x"));
        row("cut.jsonl.gz", gzip.substr(0, gzip.size() / 2), "cut.jsonl.gz] cannot be decompressed: cut off, damaged");
        row("cut.jsonl.zst", zstd.substr(0, zstd.size() / 2),
            "cut.jsonl.zst] cannot be decompressed: cut off, damaged");
        row("plain.jsonl.gz", lines("x"), "plain.jsonl.gz] is not compressed by gzip, as its name says");
        row("other.jsonl.zst", gzip, "other.jsonl.zst] is not compressed by zstd, as its name says");
        row("empty.jsonl.gz", gzipOf(""),
            "empty.jsonl.gz] is empty, expected one JSON object per line or rows of Parquet");
        row("field.jsonl.zst", zstandard(lines("x", "body")),
            "field.jsonl.zst:1] has no field \"text\"; its fields are: body");
        row("latin.jsonl.gz", gzipOf("{\"text\": \"\xe9\"}\n"),
            "latin.jsonl.gz:1] byte 0xe9 at offset 10 is not valid");
    }
    void invalidFilesAreErrors()
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
