// SPDX-License-Identifier: GPL-3.0-or-later
// The kind of data that a path's name states.
#include "projects/model/data_source.h"
#include "projects/nodes/example_schema.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <string_view>

using namespace residua::projects;

class TestDataSource : public QObject {
    Q_OBJECT

private slots:
    void theNameSaysTheKind_data()
    {
        QTest::addColumn<int>("kind");
        const auto row = [](const char* name, const Source& source) {
            QTest::newRow(name) << static_cast<int>(source.index());
        };
        row("/d/corpus.parquet", JsonLinesData{});
        row("/d/corpus.snappy.parquet", JsonLinesData{});
        row("/d/corpus.jsonl", JsonLinesData{});
        row("/d/corpus.jsonl.gz", JsonLinesData{});
        row("/d/corpus.ndjson.zst", JsonLinesData{});
        row("/d/corpus.parquet.gz", JsonLinesData{}); // which its reader refuses, and says why
        row("/d/corpus.JSONL", JsonLinesData{});
        row("/d/c4.json.gz", JsonLinesData{});
        row("/d/corpus.Parquet", JsonLinesData{});
        row("/d/tokens.bin", TokenFileData{});
        row("/d/TOKENS.BIN", TokenFileData{});
        row("/d/reviews.csv", LabelledTextData{});
        row("/d/reviews.TSV.gz", LabelledTextData{});
        row("/d/corpus.txt.xz", TextData{});
        row("/d/corpus.txt", TextData{});
        row("/d/corpus.parquet.md", TextData{});
        row("/d/parquet", TextData{});
    }
    void theNameSaysTheKind()
    {
        QFETCH(int, kind);
        const std::string path = QTest::currentDataTag();
        const Source source = sourceAt(path);
        QCOMPARE(static_cast<int>(source.index()), kind);
        if (const auto* const records = std::get_if<JsonLinesData>(&source)) {
            QCOMPARE(records->path, path);
            QCOMPARE(records->field, std::string("text"));
        }
    }

    /// Checks every file ending that folders are searched for and dialogs accept.
    void theListsSayTheKindToo()
    {
        for (const std::string_view end : kDataEndings) {
            const std::string path = "/d/corpus" + std::string(end);
            const auto isIn = [&](const auto& list) { return std::ranges::find(list, end) != list.end(); };
            const Source source = sourceAt(path);
            QCOMPARE(std::holds_alternative<TextData>(source), isIn(kTextEndings));
            QCOMPARE(std::holds_alternative<JsonLinesData>(source), isIn(kRecordEndings));
            QCOMPARE(std::holds_alternative<TokenFileData>(source), isIn(kTokenEndings));
            QCOMPARE(std::holds_alternative<LabelledTextData>(source), isIn(kSheetEndings));
            QCOMPARE(mayBeJsonLines(path), !isIn(kTextEndings));
        }
    }

    void dataSourcesNameTheirUnit()
    {
        QCOMPARE(std::string(unitWord({.source = TextData{}})), std::string("token"));
        QCOMPARE(std::string(unitWord({.source = MixtureData{}})), std::string("token"));
        QCOMPARE(std::string(unitWord({.source = LinearRegression{}})), std::string("sample"));
        QCOMPARE(std::string(unitWord({.source = BooleanPolynomial{}})), std::string("sample"));
        QVERIFY(ExampleSchema::nextToken(5).unit() == Unit::Token);
        QVERIFY(ExampleSchema::vectors(3, 2).unit() == Unit::Sample);
    }
};

RESIDUA_TEST(TestDataSource)
#include "tst_data_source.moc"
