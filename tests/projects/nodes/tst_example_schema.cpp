// SPDX-License-Identifier: GPL-3.0-or-later
// What the document says of its examples: fields, and what follows from them.
#include "projects/model/data_source.h"
#include "projects/nodes/example_schema.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace residua::projects;

class TestExampleSchema : public QObject {
    Q_OBJECT

private slots:
    void tokensHaveTime_data()
    {
        QTest::addColumn<int>("index");
        QTest::newRow("text") << 0;
        QTest::newRow("JSON Lines") << 1;
        QTest::newRow("mixture") << 2;
        QTest::newRow("token file") << 3;
        QTest::newRow("synthetic language") << 4;
    }
    void tokensHaveTime()
    {
        QFETCH(int, index);
        Tokeniser tokeniser{TokeniserKind::Characters, {}, 77};
        const Source sources[] = {TextData{"a.txt", tokeniser},
                                  JsonLinesData{.path = "a.jsonl", .tokeniser = tokeniser}, MixtureData{{}, tokeniser},
                                  TokenFileData{.path = "a.bin", .validationPath = {}, .vocabulary = 77},
                                  SyntheticLanguage{.vocabulary = 77}};
        const ExampleSchema examples = examplesOf({.source = sources[index]});
        QVERIFY(examples == ExampleSchema::nextToken(77));
        QVERIFY(examples.hasTime());
        QVERIFY(examples.input().isTokens() && examples.target().isTokens());
        QCOMPARE(examples.units(3, 5), 15);
        QCOMPARE(examples.numbersPerUnit(), 2);
        QCOMPARE(examples.input().shape.text(), std::string("tokens [batch, time]"));
        QCOMPARE(examples.entry(8).text(), std::string("[batch, time, 8]"));
        QCOMPARE(examples.output().text(), std::string("[batch, time, 77]"));
    }

    void vectorsHaveFeatures_data()
    {
        QTest::addColumn<int>("index");
        QTest::addColumn<qint64>("outputs");
        QTest::newRow("linear regression") << 0 << qint64{6};
        QTest::newRow("low-rank regression") << 1 << qint64{6};
        QTest::newRow("boolean polynomial") << 2 << qint64{1};
    }
    void vectorsHaveFeatures()
    {
        QFETCH(int, index);
        QFETCH(qint64, outputs);
        const Source sources[] = {LinearRegression{.dim = 6}, LowRankRegression{.dim = 6}, BooleanPolynomial{.dim = 6}};
        const ExampleSchema examples = examplesOf({.source = sources[index]});
        QVERIFY(examples == ExampleSchema::vectors(6, outputs));
        QVERIFY(!examples.hasTime());
        QVERIFY(!examples.input().isTokens() && !examples.target().isTokens());
        QCOMPARE(examples.units(3, 5), 3);
        QCOMPARE(examples.numbersPerUnit(), 6 + outputs);
        QCOMPARE(examples.input().shape.text(), std::string("[batch, 6]"));
        QCOMPARE(examples.entry(8).text(), std::string("[batch, 8]"));
        QCOMPARE(examples.output().text(), "[batch, " + std::to_string(outputs) + "]");
    }
};

RESIDUA_TEST(TestExampleSchema)
#include "tst_example_schema.moc"
