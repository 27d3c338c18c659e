// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of texts with labels: what is read, split, padded and refused.
#include "dataset_harness.h"

#include "engine/base/api/data_summary.h"
#include "engine/data/sets/fingerprint.h"
#include "engine/data/text/data_files.h"
#include "tests/support/refusal.h"
#include "tests/support/test_program.h"

#include <map>
#include <set>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;

namespace {

const std::vector<float>& maskIn(const Batch& batch)
{
    return batch.values<float>(2);
}

/// A text whose first byte tells its row, with its row's label.
std::string labelledRows(int count)
{
    std::string table = "text,label\n";
    for (int row = 0; row < count; ++row) {
        table += std::string(1, static_cast<char>('A' + row)) + std::string(static_cast<std::size_t>(row % 5), 'x') +
                 (row < count / 2 ? ",no\n" : ",yes\n");
    }
    return table;
}

} // namespace

class TestDatasetLabelled : public DatasetHarness {
    Q_OBJECT

private Q_SLOTS:
    void init() { newFolder(); }

    void tablesAreRead_data()
    {
        QTest::addColumn<QByteArray>("name");
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("expected"); ///< "line: text|label" of each row, or the error
        const auto row = [](const char* test, const char* name, const char* text, const char* expected) {
            QTest::newRow(test) << QByteArray(name) << QByteArray(text) << QByteArray(expected);
        };
        row("csv", "a.csv", "id,text,label\n1,one,0\n2,two,1\n", "2: one|0\n3: two|1\n");
        row("quotes", "a.csv", "label,text\n0,\"a, \"\"b\"\"\"\n1,c \"d\"\n", "2: a, \"b\"|0\n3: c \"d\"|1\n");
        row("quoted lines", "a.csv", "label,text\n0,\"a\nb\"\n1,c\n", "2: a\nb|0\n4: c|1\n");
        row("windows", "a.csv", "text,label\r\none,0\r\n\r\ntwo,1", "2: one|0\n4: two|1\n");
        row("tsv", "a.tsv", "label\ttext\n0\t\"a\", b\n", "2: \"a\", b|0\n");
        row("json", "a.jsonl", "{\"text\": \"one\", \"label\": 1}\n\n{\"label\": \"x\", \"text\": \"t\\nu\"}\n",
            "1: one|1\n3: t\nu|x\n");
        row("no column", "a.csv", "text,class\na,1\n",
            "a.csv:1] has no column \"label\"; its columns are: text, class");
        row("row too short", "a.csv", "text,label\na,1\nb\n", "a.csv:3] has 1 values, expected 2");
        row("open quote", "a.csv", "text,label\n\"a,1\n", "a.csv:2] has a quote that does not end");
        row("header alone", "a.csv", "text,label\n", "a.csv] has no rows");
        row("empty", "a.csv", "", "a.csv] has no rows");
        row("no object", "a.jsonl", "[1]\n", "a.jsonl:1] is no JSON object, expected one in each line");
        row("no key", "a.jsonl", "{\"text\": \"a\"}\n", "a.jsonl:1] has no column \"label\"; its columns are: text");
        row("null", "a.jsonl", "{\"text\": null, \"label\": 1}\n",
            "a.jsonl:1] key \"text\" is a JSON null, expected text, a number or a truth value");
        row("latin", "a.csv", "text,label\n\xe9,1\n", "UTF-8");
    }
    void tablesAreRead()
    {
        QFETCH(QByteArray, name);
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, expected);
        writeAll(m_folder / name.toStdString(), text.toStdString());
        const auto table = readTable(m_folder / name.toStdString(), {"text", "label"});
        std::string got;
        if (table) {
            for (const TableRow& row : *table) {
                got += std::to_string(row.line) + ": " + row.values[0] + "|" + row.values[1] + "\n";
            }
            QCOMPARE(QByteArray::fromStdString(got), expected);
        } else {
            QVERIFY2(table.error().text().find(expected.toStdString()) != std::string::npos,
                     table.error().text().c_str());
        }
    }

    void examplesArePadded()
    {
        writeAll(m_folder / "a.csv", "text,label\nabc,10\nlonger than eight,9\n");
        const auto dataset = open(source("a.csv"), 0, 0);
        QVERIFY2(dataset.ok(), dataset ? "" : dataset.error().text().c_str());
        QVERIFY((*dataset)->schema() == projects::ExampleSchema::labelledText(256, 2, false));
        std::map<std::string, std::pair<std::int64_t, float>> found;
        Batch batch;
        QVERIFY((*dataset)->fillSequential(batch, Split::Train, 0, 2).ok());
        QCOMPARE(batch.batch, 2);
        for (std::size_t row = 0; row < 2; ++row) {
            std::string text;
            float length = 0;
            for (std::size_t t = 0; t < kTime; ++t) {
                const auto token = tokensIn(batch)[row * kTime + t];
                const float mask = maskIn(batch)[row * kTime + t];
                QCOMPARE(mask, token == 0 ? 0.0F : 1.0F);
                text += token == 0 ? "" : std::string(1, static_cast<char>(token));
                length += mask;
            }
            found[text] = {targetsIn(batch)[row], length};
        }
        QCOMPARE(found.size(), std::size_t{2});
        QVERIFY(found.at("abc") == std::pair(std::int64_t{1}, 3.0F)); // 9 < 10 as numbers
        QVERIFY(found.at("longer t") == std::pair(std::int64_t{0}, 8.0F));
        QVERIFY((*dataset)->notes().front().find("9, 10") != std::string::npos);
    }

    void pairsHaveSegments()
    {
        writeAll(m_folder / "a.tsv", "text\tother\tlabel\nab\tc\tx\nabcdefgh\tABCDEFGH\ty\n");
        projects::LabelledTextData pairs = source("a.tsv");
        pairs.second = "other";
        const auto dataset = open(pairs, 0, 0);
        QVERIFY2(dataset.ok(), dataset ? "" : dataset.error().text().c_str());
        Batch batch;
        QVERIFY((*dataset)->fillSequential(batch, Split::Train, 0, 2).ok());
        for (std::size_t row = 0; row < 2; ++row) {
            std::string segments;
            std::string text;
            for (std::size_t t = 0; t < kTime; ++t) {
                segments += std::to_string(batch.values<std::int64_t>(3)[row * kTime + t]);
                const auto token = tokensIn(batch)[row * kTime + t];
                text += token == 0 ? '.' : static_cast<char>(token);
            }
            const bool isShort = targetsIn(batch)[row] == 0;
            QCOMPARE(text, std::string(isShort ? "abc....." : "abcdABCD"));
            QCOMPARE(segments, std::string(isShort ? "00100000" : "00001111"));
        }
    }

    /// As the strategy longest_first of `tokenizers` has it; a run of the first reading keeps what it had.
    void theLongerOfTwoTextsKeepsTheOddToken()
    {
        writeAll(m_folder / "a.tsv", "text\tother\tlabel\nabcdefgh\tABCDEF\tx\nabcdef\tABCDEFGH\tx\n"
                                     "abcdef\tABCDEF\tx\nabcdefgh\tAB\ty\n");
        projects::LabelledTextData pairs = source("a.tsv");
        pairs.second = "other";
        projects::Project project = projectOf(pairs, 0, 0);
        project.training.sequenceLength = 7;
        for (const ReadingVersion version : {kNewestReading, ReadingVersion::First}) {
            const auto dataset = Dataset::open(project, m_folder, {}, {version, {}});
            QVERIFY2(dataset.ok(), dataset ? "" : dataset.error().text().c_str());
            Batch batch;
            QVERIFY((*dataset)->fillSequential(batch, Split::Train, 0, 4).ok());
            std::vector<std::string> texts;
            for (std::size_t row = 0; row < 4; ++row) {
                std::string text;
                for (std::size_t t = 0; t < 7; ++t) {
                    text += static_cast<char>(tokensIn(batch)[row * 7 + t]);
                }
                texts.push_back(text);
            }
            std::ranges::sort(texts);
            const char* const firstIsLonger = version == kNewestReading ? "abcdABC" : "abcABCD";
            std::vector<std::string> expected{firstIsLonger, "abcABCD", "abcABCD", "abcdeAB"};
            std::ranges::sort(expected);
            QCOMPARE(texts, expected);
        }
    }

    /// Rows sorted by label come into both splits, each row once, in an order that the seed decides.
    void splitsAreDrawn()
    {
        writeAll(m_folder / "a.csv", labelledRows(40));
        const auto dataset = open(source("a.csv"), 0.5, 0);
        QVERIFY(dataset.ok());
        QCOMPARE((*dataset)->size(Split::Train), std::int64_t{20 * kTime});
        QCOMPARE((*dataset)->size(Split::Validation), std::int64_t{20 * kTime});
        std::set<std::int64_t> seen;
        for (const Split split : {Split::Train, Split::Validation}) {
            Batch batch;
            QVERIFY((*dataset)->fillSequential(batch, split, 0, 100).ok());
            QCOMPARE(batch.batch, 20);
            const auto ones = std::ranges::count(targetsIn(batch), 1);
            QCOMPARE(ones, 10); // of two equal classes
            for (std::size_t row = 0; row < 20; ++row) {
                QVERIFY(seen.insert(tokensIn(batch)[row * kTime]).second);
            }
        }
        QCOMPARE(seen.size(), std::size_t{40});
    }

    /// Every epoch has each row once; a batch is a function of its number.
    void drawsAreEpochs()
    {
        writeAll(m_folder / "a.csv", labelledRows(12));
        const auto dataset = open(source("a.csv"), 0, 0);
        QVERIFY(dataset.ok());
        Batch first;
        Batch second;
        std::multiset<std::int64_t> seen;
        for (std::int64_t index = 0; index < 6; ++index) {
            QVERIFY((*dataset)->fill(first, Split::Train, 3, index, 4).ok());
            QVERIFY((*dataset)->fill(second, Split::Train, 3, index, 4).ok());
            QVERIFY(first.fields == second.fields);
            for (std::size_t row = 0; row < 4; ++row) {
                seen.insert(tokensIn(first)[row * kTime]);
            }
        }
        for (int row = 0; row < 12; ++row) {
            QCOMPARE(seen.count('A' + row), std::size_t{2});
        }
    }

    void validationFileIsRead()
    {
        writeAll(m_folder / "a.csv", labelledRows(12));
        writeAll(m_folder / "b.csv", "text,label\nq,yes\n");
        projects::LabelledTextData both = source("a.csv");
        both.validationPath = "b.csv";
        const auto dataset = open(both, 0.1, 0);
        QVERIFY(dataset.ok());
        QCOMPARE((*dataset)->size(Split::Train), std::int64_t{12 * kTime});
        Batch batch;
        QVERIFY((*dataset)->fillSequential(batch, Split::Validation, 0, 4).ok());
        QCOMPARE(batch.batch, 1);
        QCOMPARE(targetsIn(batch)[0], 1);
        writeAll(m_folder / "b.csv", "text,label\nq,other\n");
        const auto other = open(both, 0.1, 0);
        QVERIFY(!other.ok());
        QVERIFY(other.error().text().find("b.csv:2] has the class \"other\"") != std::string::npos);
    }

    /// Labels have the numbers of the network's classes, whatever the table holds of them.
    void spellingsOfBothTablesAreNoted()
    {
        writeAll(m_folder / "a.csv", "text,label\na,1\nb,2\n");
        writeAll(m_folder / "v.csv", "text,label\nc,1.0\nd,2\n");
        projects::LabelledTextData both = source("a.csv");
        both.validationPath = "v.csv";
        both.classes = 3;
        const auto dataset = open(both, 0, 0);
        QVERIFY2(dataset.ok(), dataset ? "" : dataset.error().text().c_str());
        QCOMPARE((*dataset)->notes().front(), std::string("the labels \"1\", \"1.0\" are one class, 1"));
        QVERIFY((*dataset)->notes()[1].starts_with("no example of the training"));
    }

    void labelsAreThoseOfTheNetwork()
    {
        writeAll(m_folder / "a.csv", "text,label\na,bee\nb,cow\nc,bee\n");
        projects::LabelledTextData three = source("a.csv");
        three.classes = 3;
        const auto labelsOf = [&](const Reading& reading) {
            const auto dataset = Dataset::open(projectOf(three, 0, 0), m_folder, {}, reading);
            Batch batch;
            return dataset && (*dataset)->fillSequential(batch, Split::Train, 0, 3) ? targetsIn(batch)
                                                                                    : std::vector<std::int64_t>();
        };
        QCOMPARE(labelsOf({kNewestReading, {"ant", "bee", "cow"}}), (std::vector<std::int64_t>{1, 2, 1}));
        QCOMPARE(labelsOf({ReadingVersion::First, {"cow", "bee"}}), (std::vector<std::int64_t>{1, 0, 1}));
        QCOMPARE(labelsOf({}), (std::vector<std::int64_t>{0, 1, 0}));
        const auto other = Dataset::open(projectOf(three, 0, 0), m_folder, {}, {kNewestReading, {"ant", "cow"}});
        QVERIFY(!other.ok());
        QVERIFY2(other.error().text().find("a.csv:2] has the class \"bee\"") != std::string::npos,
                 other.error().text().c_str());
    }

    /// Data that a run would refuse are refused before it, with the number of classes that it needs.
    void dataAreJudgedBeforeARun()
    {
        writeAll(m_folder / "a.csv", "text,label\na,x\nb,y\nc,z\nd,z\n");
        QCOMPARE(std::get<projects::LabelledTextData>(*dataAt(m_folder / "a.csv")).classes, 3);
        projects::Project project = projectOf(source("a.csv"), 0, 0);
        const auto judged = [&] { return judgeData(project, m_folder); };
        const DataJudgement few = judged();
        QCOMPARE(few.problems.size(), 1u);
        QVERIFY(hasErrors(few.problems) && !few.summary);
        QCOMPARE(few.problems[0].path, "/data/source/classes");
        QCOMPARE(few.problems[0].wanted, std::optional<std::int64_t>(3));
        *projects::classCountOf(project.data.source) = 3;
        QVERIFY(judged().problems.empty() && judged().summary && judged().whole);
        *projects::classCountOf(project.data.source) = 5;
        const DataJudgement many = judged();
        QCOMPARE(many.problems.size(), 1u);
        QVERIFY(!hasErrors(many.problems) && many.summary);
        QCOMPARE(many.problems[0].wanted, std::optional<std::int64_t>(3));
        writeAll(m_folder / "a.csv", "text,class\na,x\n");
        const DataJudgement broken = judged();
        QVERIFY(hasErrors(broken.problems));
        QVERIFY(broken.problems[0].text().find("has no column \"label\"") != std::string::npos);
        QVERIFY(broken.problems[0].text() == Dataset::open(project, m_folder).error().text());
    }

    void judgingReadsTheDataOnce()
    {
        std::string table = "text,label\n";
        for (int row = 0; row < 12; ++row) { // the reader asks if it is still wanted once a part of 1 MiB
            table += std::to_string(row) + std::string(std::size_t{1} << 18, 'x') + (row < 6 ? ",no\n" : ",yes\n");
        }
        writeAll(m_folder / "a.csv", table);
        const projects::Project project = projectOf(source("a.csv"), 0.5, 0);
        int opening = 0;
        QVERIFY(Dataset::open(project, m_folder, [&](double) { return ++opening > 0; }));
        int judging = 0;
        QVERIFY(judgeData(project, m_folder, CheckedData::Whole, [&] { return ++judging > 0; }).summary);
        QVERIFY(opening > 0);
        QCOMPARE(judging, opening);
    }

    /// Links to folders lead to data as well, and to each folder once.
    void largeDataAreNotReadAtOnce()
    {
        writeAll(m_folder / "d/a.txt", std::string(1000, 'a'));
        writeAll(m_folder / "shelf/b.txt", std::string(1000, 'b'));
        std::filesystem::create_directory_symlink(".", m_folder / "d/self");
        std::filesystem::create_directory_symlink("..", m_folder / "d/up");
        std::filesystem::create_directory_symlink("../shelf", m_folder / "d/more");
        projects::Project project;
        project.data.source = projects::TextData{"d", {}};
        project.training.sequenceLength = kTime;
        const auto judged = [&] { return judgeData(project, m_folder, CheckedData::Small); };
        QVERIFY(judged().whole && judged().summary);
        std::filesystem::resize_file(m_folder / "shelf/b.txt", std::uintmax_t{300} << 20); // no blocks on the disk
        QVERIFY(!judged().whole);
    }

    void badTablesAreRefused()
    {
        writeAll(m_folder / "a.csv", "text,label\na,1\nb,2\nc,3\n");
        const auto many = open(source("a.csv"), 0, 0);
        QVERIFY(tests::isRefusedAt(many, "", "at most 2"));
        writeAll(m_folder / "a.csv", "text,label\na,1\nb,\n");
        const auto unlabelled = open(source("a.csv"), 0, 0);
        QVERIFY(tests::isRefusedAt(unlabelled, "a.csv:3", "label"));
        writeAll(m_folder / "a.csv", "text,label\na,1\n,2\n");
        const auto empty = open(source("a.csv"), 0, 0);
        QVERIFY(tests::isRefusedAt(empty, "a.csv:3", "no tokens"));
        QVERIFY(!open(source("none.csv"), 0, 0).ok());
        const auto away = open(source("texts/../none.csv"), 0, 0);
        QVERIFY(!away.ok());
        QVERIFY2(away.error().place == (m_folder / "none.csv").string(), away.error().place.c_str());
    }

    void summaryAndFingerprintFollowTheFile()
    {
        writeAll(m_folder / "a.csv", labelledRows(12));
        projects::Project project = projectOf(source("a.csv"), 0.25, 0);
        const auto summary = summariseData(project, m_folder);
        QVERIFY2(summary.ok(), summary ? "" : summary.error().text().c_str());
        QCOMPARE(summary->train, std::int64_t{9 * kTime});
        QCOMPARE(summary->texts.size(), kSplits);
        QCOMPARE(summary->texts[0].texts, 9);
        QCOMPARE(summary->texts[1].texts, 3);
        QCOMPARE(summary->texts[0].tokens + summary->texts[1].tokens, 2 * (1 + 2 + 3 + 4 + 5) + 1 + 2); // no padding
        const auto before = fingerprintOf(project, m_folder, {}, LargeFiles::AsKnown);
        writeAll(m_folder / "a.csv", labelledRows(14));
        const auto after = fingerprintOf(project, m_folder, {}, LargeFiles::AsKnown);
        QVERIFY(before.ok() && after.ok() && differenceOf(*before, *after).has_value());
        const auto preview = previewData(project, m_folder, {});
        QVERIFY(preview.ok());
        QVERIFY(!preview->tokens.empty() && preview->tokens.size() <= 5); // without padding
        QCOMPARE(preview->first.examples.front().input.size(), preview->tokens.size());
        const auto fed = firstFedBatch(project, m_folder, 3);
        QVERIFY(fed.ok() && fed->examples.size() == 3);
        const std::vector<std::string> classes = (*Dataset::open(project, m_folder))->classes();
        QVERIFY(classes.size() > 1);
        for (const FedExample& example : fed->examples) {
            QVERIFY(!example.input.empty() && example.input.size() <= 5);
            QCOMPARE(std::ranges::count(classes, example.target), 1);
        }
    }

private:
    static projects::LabelledTextData source(const char* path)
    {
        return {.path = path, .validationPath = {}, .second = {}, .tokeniser = {}};
    }

    static projects::Project projectOf(projects::LabelledTextData source, double validation, double test)
    {
        projects::Project project;
        project.data = {std::move(source), validation, test};
        project.network.objective = projects::Objective::Classification;
        project.training.sequenceLength = kTime;
        return project;
    }

    [[nodiscard]] Result<std::unique_ptr<Dataset>> open(projects::LabelledTextData source, double validation,
                                                        double test) const
    {
        return Dataset::open(projectOf(std::move(source), validation, test), m_folder);
    }
};

RESIDUA_TEST(TestDatasetLabelled)
#include "tst_dataset_labelled.moc"
