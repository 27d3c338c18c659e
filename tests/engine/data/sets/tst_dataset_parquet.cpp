// SPDX-License-Identifier: GPL-3.0-or-later
// Texts in columns of Parquet files as Arrow writes them, folders of them, and what is wrong with such files.
#include "dataset_harness.h"
#include "engine/base/api/tokeniser_training.h"
#include "engine/base/machine/preparation.h"
#include "engine/data/sets/fingerprint.h"
#include "engine/data/text/data_files.h"
#include "engine/data/text/parquet_table.h"
#include "parquet_files.h"
#include "tests/support/refusal.h"
#include "tests/support/test_program.h"

#include <QCoreApplication>
#include <QProcess>
#include <QProcessEnvironment>
#include <QTest>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;

namespace {

using Texts = std::vector<std::optional<std::string>>;

Texts rows(const std::string& word, std::size_t count = 60)
{
    Texts texts;
    for (std::size_t i = 0; i < count; ++i) {
        texts.emplace_back(word + " größe\n" + std::to_string(i));
    }
    return texts;
}

std::string linesOf(const Texts& texts)
{
    std::string lines;
    for (const auto& text : texts) {
        if (!text) {
            continue;
        }
        std::string escaped;
        for (const char c : *text) {
            escaped += c == '\n' ? "\\n" : std::string(1, c);
        }
        lines += "{\"text\": \"" + escaped + "\"}\n";
    }
    return lines;
}

std::string textOf(const std::vector<Document>& documents)
{
    std::string all;
    for (const Document& document : documents) {
        std::string text(document.size, '\0');
        if (document.source->read(document.begin, std::as_writable_bytes(std::span(text)))) {
            all += text;
        }
    }
    return all;
}

} // namespace

class TestDatasetParquet : public DatasetHarness {
    Q_OBJECT

private slots:
    void init() { newFolder(); }

    void aColumnIsReadAsJsonLinesAre_data()
    {
        QTest::addColumn<int>("type");
        QTest::addColumn<int>("packing");
        const auto row = [](const char* name, TextType type, Packing packing) {
            QTest::newRow(name) << static_cast<int>(type) << static_cast<int>(packing);
        };
        row("string", TextType::String, Packing::None);
        row("large string", TextType::LargeString, Packing::Snappy);
        row("dictionary", TextType::Dictionary, Packing::Zstd);
        row("gzip", TextType::String, Packing::Gzip);
        row("lz4", TextType::String, Packing::Lz4);
        row("brotli", TextType::LargeString, Packing::Brotli);
    }
    void aColumnIsReadAsJsonLinesAre()
    {
        QFETCH(int, type);
        QFETCH(int, packing);
        Texts texts = rows("welcome", 5000); // more than are decoded at once
        texts[0] = std::nullopt;
        texts[17] = std::nullopt;
        texts[18] = "";
        texts[4000] = "welcome größe\n1"; // which is there already
        const ParquetWriting writing{static_cast<TextType>(type), static_cast<Packing>(packing), Secrecy::Open, 1500};
        writeAll(m_folder / "t.parquet", parquetOf(texts, writing));
        writeAll(m_folder / "t.jsonl", linesOf(texts));
        const auto parquet = readRecords(m_folder / "t.parquet", "text");
        const auto lines = readRecords(m_folder / "t.jsonl", "text");
        QVERIFY2(parquet, parquet ? "" : parquet.error().text().c_str());
        QVERIFY(lines);
        QCOMPARE(parquet->size(), std::size_t{4998});
        QCOMPARE(parquet->size(), lines->size());
        QVERIFY(textOf(*parquet) == textOf(*lines));
    }

    void aFieldOfAGroupIsNamedWithADot()
    {
        writeAll(m_folder / "t.parquet", parquetOf(rows("x", 5)));
        const auto titles = readParquet(m_folder / "t.parquet", "origin.title");
        QVERIFY2(titles, titles ? "" : titles.error().text().c_str());
        QCOMPARE(textOf(*titles), std::string("title 0\ntitle 2\ntitle 4\n"));
    }

    void aFolderOfShardsIsOneText()
    {
        writeAll(m_folder / "all.jsonl", linesOf(rows("one")) + linesOf(rows("two")) + linesOf(rows("three")));
        writeAll(m_folder / "shards/train-00000-of-00002.parquet", parquetOf(rows("one")));
        writeAll(m_folder / "shards/train-00001-of-00002.parquet", parquetOf(rows("two"), {.rowsOfGroup = 7}));
        writeAll(m_folder / "shards/x/last.jsonl", linesOf(rows("three")));
        writeAll(m_folder / "shards/README.md", "no data");
        const auto all = open(projects::JsonLinesData{.path = "all.jsonl", .tokeniser = {}});
        const auto shards = open(projects::JsonLinesData{.path = "shards", .tokeniser = {}});
        QVERIFY(all);
        QVERIFY2(shards, shards ? "" : shards.error().text().c_str());
        for (const Split split : {Split::Train, Split::Validation, Split::Test}) {
            QVERIFY(tokensOf(**shards, split) == tokensOf(**all, split));
        }
        QVERIFY(kindAt(m_folder / "shards") == DataKind::Records);
        QVERIFY(kindAt(m_folder / "shards/train-00000-of-00002.parquet") == DataKind::Records);
        writeAll(m_folder / "shards/a.txt", "text");
        QVERIFY(kindAt(m_folder / "shards") == DataKind::Records);
        writeAll(m_folder / "shards/a.txt", std::string(100'000, 'a'));
        QVERIFY(kindAt(m_folder / "shards") == DataKind::Text); // which has more bytes
        std::filesystem::rename(m_folder / "shards/train-00000-of-00002.parquet", m_folder / "unnamed");
        QVERIFY(kindAt(m_folder / "unnamed") == DataKind::Records);
        const auto unnamed = open(projects::JsonLinesData{.path = "unnamed", .tokeniser = {}});
        QVERIFY2(unnamed, unnamed ? "" : unnamed.error().text().c_str());
    }

    void aFileIsInTheFingerprint()
    {
        projects::Project project;
        project.data.source = projects::JsonLinesData{.path = "shards", .tokeniser = {}};
        writeAll(m_folder / "shards/a.parquet", parquetOf(rows("one")));
        const auto one = fingerprintOf(project, m_folder);
        writeAll(m_folder / "shards/b.parquet", parquetOf(rows("two")));
        const auto two = fingerprintOf(project, m_folder);
        QVERIFY(one && two);
        QCOMPARE(one->front().files, std::int64_t{1});
        QCOMPARE(two->front().files, std::int64_t{2});
        QVERIFY(differenceOf(*one, *two));
    }

    void aTokeniserIsLearnedOfAColumn()
    {
        writeAll(m_folder / "t.parquet", parquetOf(rows("the cat sat on the mat", 300)));
        TokeniserTraining training;
        training.text = m_folder / "t.parquet";
        training.output = m_folder / "m.model";
        training.model = PieceModel::Bpe;
        training.pieces = 300;
        const auto trained = trainTokeniser(training, {});
        QVERIFY2(trained, trained ? "" : trained.error().text().c_str());
        QCOMPARE(trained->pieces, std::int64_t{300});
    }

    void invalidFilesAreErrors_data()
    {
        QTest::addColumn<QString>("column");
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("message");
        const auto row = [](const char* name, const char* column, const std::string& bytes, const char* message) {
            QTest::newRow(name) << QString(column) << QByteArray::fromStdString(bytes) << QString::fromUtf8(message);
        };
        const std::string sound = parquetOf(rows("x"));
        row("no column", "texts", sound,
            "d.parquet] has no column \"texts\", did you mean \"text\"? Its columns are: id, text, blob, "
            "tags.list.element, origin.title (data.source.field says which is read)");
        row("nothing near", "paragraph", sound, "d.parquet] has no column \"paragraph\"; its columns are: id, text, ");
        row("numbers", "id", sound,
            "d.parquet] column \"id\" is INT64, expected strings; its columns of strings are: text, origin.title");
        row("bytes", "blob", sound, "column \"blob\" is BYTE_ARRAY, expected strings");
        row("list", "tags.list.element", sound, "column \"tags.list.element\" is a list of String, expected strings");
        row("cut off", "text", sound.substr(0, sound.size() - 30), "bytes: it begins as a Parquet file and does not");
        row("four bytes", "text", "PAR1", "d.parquet] is cut off after 4 bytes");
        row("eight bytes", "text", "PAR1PAR1", "d.parquet] is cut off after 8 bytes");
        row("no Parquet", "text", "id,text\n1,one\n", "d.parquet] is not a Parquet file, as its name says");
        row("nothing", "text", "", "d.parquet] is empty");
        row("LFS", "text", "version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "is a pointer of Git LFS");
        row("footer", "text", "PAR1" + std::string(40, 'x') + std::string("\x20\0\0\0PAR1", 8),
            "d.parquet] is a Parquet file that is damaged, or of a kind that is not read (");
        std::string flipped = parquetOf(rows("x"), {.packing = Packing::None});
        flipped[flipped.find("größe")] ^= 0x10; // another letter, which only the page's sum tells
        row("page", "text", flipped, "d.parquet] is a Parquet file that is damaged");
        row("encrypted", "text", parquetOf(rows("x"), {.secrecy = Secrecy::Whole}), "d.parquet] is encrypted, and");
        row("encrypted column", "text", parquetOf(rows("x"), {.secrecy = Secrecy::Columns}),
            "d.parquet] column \"text\" is encrypted, and");
        row("no rows", "text", parquetOf({}), "d.parquet] is empty");
        row("nulls", "text", parquetOf(Texts(9)),
            "d.parquet] column \"text\" has no text: 9 rows, of which 0 are empty");
        row("empty", "text", parquetOf({"", std::nullopt, ""}), "3 rows, of which 2 are empty and the others null");
        Texts latin = rows("x");
        latin[41] = "sch\xf6n";
        row("latin", "text", parquetOf(latin, {.rowsOfGroup = 10}),
            "d.parquet · row 42:1] byte 0xf6 at offset 3 is not valid UTF-8");
    }
    void invalidFilesAreErrors()
    {
        QFETCH(QString, column);
        QFETCH(QByteArray, bytes);
        QFETCH(QString, message);
        writeAll(m_folder / "d.parquet", bytes.toStdString());
        const auto dataset = open(projects::JsonLinesData{"d.parquet", column.toStdString(), {}});
        QVERIFY(!dataset);
        QVERIFY2(QString::fromStdString(dataset.error().text()).contains(message), dataset.error().text().c_str());
    }

    void otherColumnsOfAnEncryptedFileAreRead()
    {
        writeAll(m_folder / "d.parquet", parquetOf(rows("x", 3), {.secrecy = Secrecy::Columns}));
        const auto titles = readParquet(m_folder / "d.parquet", "origin.title");
        QVERIFY2(titles, titles ? "" : titles.error().text().c_str());
        QCOMPARE(textOf(*titles), std::string("title 0\ntitle 2\n"));
    }

    void unsupportedUsesOfParquetAreErrors()
    {
        writeAll(m_folder / "d.parquet", parquetOf(rows("x")));
        writeAll(m_folder / "d.parquet.gz", QByteArray::fromHex("1f8b08000000000002030b700c32ac000200c3d12e4208000000")
                                                .toStdString()); // gzip of "PAR1xxxx"
        const auto text = open(projects::TextData{"d.parquet", {}});
        QVERIFY(!text);
        QVERIFY2(QString::fromStdString(text.error().text()).contains("JSON Lines or Parquet"),
                 text.error().text().c_str());
        const auto packed = open(projects::JsonLinesData{.path = "d.parquet.gz", .tokeniser = {}});
        QVERIFY(tests::isRefusedAt(packed, "d.parquet.gz", "compressed Parquet"));
    }

    /// One small file has a dictionary with one text for very many rows. The only page of the other expands to 64 MiB.
    void textLargerThanTheMemoryIsRefused()
    {
        constexpr std::size_t kMiB = std::size_t{1} << 20;
        writeAll(m_folder / "rows.parquet", parquetOf(Texts(2000, std::string(kMiB / 16, 'a')),
                                                      {.type = TextType::Dictionary, .packing = Packing::Zstd}));
        writeAll(m_folder / "page.parquet",
                 parquetOf(Texts(1, std::string(64 * kMiB, 'a')), {.packing = Packing::Zstd}));
        for (const char* name : {"rows.parquet", "page.parquet"}) {
            const auto texts = readParquet(m_folder / name, "text", {}, TextMemory(32 * kMiB));
            QVERIFY(!texts);
            const QString error = QString::fromStdString(texts.error().text());
            QVERIFY2(error.contains(QString(name) + "] does not fit in memory"), qPrintable(error));
            QVERIFY2(error.contains("may hold 32") && error.contains("take fewer files"), qPrintable(error));
        }
        QVERIFY(readParquet(m_folder / "page.parquet", "text", {}, TextMemory(512 * kMiB)));
    }

    void readingIsGivenUp()
    {
        writeAll(m_folder / "d.parquet", parquetOf(Texts(2000, std::string(2000, 'a')), {.rowsOfGroup = 2000}));
        int asked = 0;
        const auto texts = readParquet(m_folder / "d.parquet", "text", [&asked](double) { return ++asked < 2; });
        QVERIFY(!texts);
        QVERIFY(texts.error() == preparationGivenUp());
        QCOMPARE(asked, 2); // within the row group
    }

    void aMissingLibraryIsReported()
    {
        writeAll(m_folder / "d.parquet", parquetOf(rows("x")));
        QProcess other; // a process looks for the library once
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("RESIDUA_PARQUET", "/nowhere/at/all.so");
        environment.insert("RESIDUA_TEST_PARQUET", QString::fromStdString((m_folder / "d.parquet").string()));
        other.setProcessEnvironment(environment);
        other.start(QCoreApplication::applicationFilePath(), {"tst_dataset_parquet", "readInAnotherProcess"});
        QVERIFY(other.waitForFinished());
        const QString said = QString::fromUtf8(other.readAllStandardOutput());
        QVERIFY2(said.contains("without Apache Arrow"), qPrintable(said));
        QVERIFY2(said.contains("packaging/setup.sh") && said.contains("pandas.read_parquet"), qPrintable(said));
    }
    void readInAnotherProcess()
    {
        if (const char* const path = std::getenv("RESIDUA_TEST_PARQUET")) {
            const auto texts = readParquet(path, "text");
            qInfo("%s", texts ? "it is read" : texts.error().text().c_str());
        }
    }
};

RESIDUA_TEST_IN(QCoreApplication, TestDatasetParquet)
#include "tst_dataset_parquet.moc"
