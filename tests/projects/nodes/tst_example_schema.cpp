// SPDX-License-Identifier: GPL-3.0-or-later
// The document's description of its examples: fields, and their consequences.
#include "projects/model/data_source.h"
#include "projects/nodes/example_schema.h"
#include "projects/nodes/resolved_graph.h"
#include "tests/support/graph_text.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace residua::projects;
using residua::tests::graphFrom;
using residua::tests::languageProject;
using residua::tests::vectorProject;

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
        QCOMPARE(examples.output().text(), "[batch, " + std::to_string(outputs) + "]");
    }
    /// The entry has the dimensions of the stem's output, and the network's width.
    void entriesFollowTheStem()
    {
        Project project = languageProject("x input; a linear; y output; x > a; a > y");
        QCOMPARE(stackShapeOf(project).text(), std::string("[batch, time, 128]"));
        project.network.stem = graphFrom("x input; e token_embedding; p mean_pool; y output; x > e; e > p; p > y");
        QCOMPARE(stackShapeOf(project).text(), std::string("[batch, 128]"));
        project.network.stem = graphFrom("x input; e token_embedding dim=7; y output; x > e; e > y");
        QCOMPARE(stackShapeOf(project).text(), std::string("[batch, time, 128]"));
        project.network.stem = {}; // no output: as the data
        QCOMPARE(stackShapeOf(project).text(), std::string("[batch, time, 128]"));
        Project vectors = vectorProject("x input; a linear; y output; x > a; a > y");
        vectors.network.stem = {};
        QCOMPARE(stackShapeOf(vectors).dims.size(), std::size_t{2});
    }

    void labelledTextsArePadded()
    {
        const ExampleSchema examples =
            examplesOf({.source = LabelledTextData{
                            .path = "a.csv", .validationPath = {}, .second = "other", .classes = 3, .tokeniser = {}}});
        QVERIFY(examples == ExampleSchema::labelledText(256, 3, true));
        QVERIFY(examples.hasTime());
        QCOMPARE(examples.output().text(), std::string("[batch, 3]"));
        QCOMPARE(examples.conditions().size(), std::size_t{2});
        QCOMPARE(ExampleSchema::labelledText(256, 3, false).conditions().size(), std::size_t{1});
        QVERIFY(fits(traitsOf(Objective::Classification), examples));
        QVERIFY(!fits(traitsOf(Objective::NextToken), examples) && !fits(traitsOf(Objective::MaskedToken), examples));
        const ExampleSchema text = ExampleSchema::nextToken(7);
        QVERIFY(fits(traitsOf(Objective::NextToken), text) && fits(traitsOf(Objective::MaskedToken), text));
        QVERIFY(!fits(traitsOf(Objective::Classification), text));
        QVERIFY(continuesText(traitsOf(Objective::NextToken), text));
        QVERIFY(!continuesText(traitsOf(Objective::MaskedToken), text));
    }

    void conditionsAreFurtherFields()
    {
        ExampleSchema examples = ExampleSchema::nextToken(5);
        QVERIFY(examples.conditions().empty());
        examples.fields.push_back({"mask", FieldRole::Mask, {{kBatch, kTime}}});
        examples.fields.push_back({"class", FieldRole::Condition, {{kBatch}, Element::Token}, 10});
        const auto conditions = examples.conditions();
        QCOMPARE(conditions.size(), std::size_t{2});
        QCOMPARE(conditions.at("mask").text(), std::string("[batch, time]"));
        QCOMPARE(conditions.at("class").text(), std::string("tokens [batch]"));
    }
};

RESIDUA_TEST(TestExampleSchema)
#include "tst_example_schema.moc"
