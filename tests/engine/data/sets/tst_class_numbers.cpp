// SPDX-License-Identifier: GPL-3.0-or-later
// The numbers of the classes that labels name, and the splits of their rows.
#include "engine/data/sets/class_numbers.h"
#include "projects/base/text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <map>
#include <numeric>

using namespace residua;
using namespace residua::engine;

namespace {

std::vector<std::string> words(const QString& text)
{
    std::vector<std::string> list;
    for (const QString& word : text.split('|', Qt::SkipEmptyParts)) {
        list.push_back(word.toStdString());
    }
    return list;
}

/// Returns the numbers of the labels and the names by number, or the error.
std::string numbered(const QString& labels, int classes, const Reading& reading, const QString& asked)
{
    const auto numbers = ClassNumbers::of(words(labels), classes, reading);
    if (!numbers) {
        return numbers.error().message;
    }
    std::string text;
    for (const std::string& label : words(asked.isEmpty() ? labels : asked)) {
        const auto number = numbers->numberOf(label);
        if (!number) {
            return number.error().message;
        }
        text += std::to_string(*number) + " ";
    }
    return text + "of " + joinedText(numbers->names());
}

std::array<int, kSplits> sizesOf(const std::vector<Split>& splits)
{
    std::array<int, kSplits> sizes{};
    for (const Split split : splits) {
        ++sizes[static_cast<std::size_t>(split)];
    }
    return sizes;
}

} // namespace

class TestClassNumbers : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void labelsAreNumbered_data()
    {
        QTest::addColumn<QString>("labels"); // of the training data, separated by |
        QTest::addColumn<int>("classes");
        QTest::addColumn<QString>("names"); // of the network
        QTest::addColumn<QString>("asked"); // the labels to number, if other ones
        QTest::addColumn<QString>("expected");
        const auto row = [](const char* test, const char* labels, int classes, const char* names, const char* asked,
                            const char* expected) {
            QTest::newRow(test) << QString(labels) << classes << QString(names) << QString(asked) << QString(expected);
        };
        row("words by their text", "pos|neg|pos", 2, "", "", "1 0 1 of neg, pos");
        row("blanks around words", " pos|neg |pos", 2, "", "", "1 0 1 of neg, pos");
        row("numbers of their classes", "0|2", 3, "", "", "0 2 of 0, 1, 2");
        row("an unused class", "1|2", 4, "", "", "1 2 of 0, 1, 2");
        row("other numbers by value", "10|9|-1", 3, "", "", "2 1 0 of -1, 9, 10");
        row("from 1 on", "1|3|2", 3, "", "", "0 2 1 of 1, 2, 3");
        row("two of any numbers", "0|2", 2, "", "", "0 1 of 0, 2");
        row("equal numbers", "01|1|1.0| 1|1e0|+1|0", 2, "", "", "1 1 1 1 1 1 0 of 0, 1");
        row("fractions", "0.5|.5|10.25|2", 3, "", "", "0 0 2 1 of 0.5, 2, 10.25");
        row("no numbers", "nan|inf|1e999", 3, "", "", "2 1 0 of 1e999, inf, nan");
        row("large numbers", "9007199254740993|9007199254740992", 2, "", "",
            "1 0 of 9007199254740992, "
            "9007199254740993");
        row("words and numbers", "07|7|a", 2, "", "", "0 0 1 of 7, a");
        row("too many", "a|b|c", 2, "", "",
            "has 3 different classes, expected at most 2: set the number of classes to 3");
        row("a second table", "neg|pos", 2, "", "pos", "1 of neg, pos");
        row("a word that it lacks", "neg|pos", 2, "", "pso",
            "has the class \"pso\", which is none of the 2 of the training data, such as \"pos\": rename it, or leave "
            "it out");
        row("numbers where the table has words", "neg|pos", 2, "", "1",
            "has the class \"1\", which is none of the 2 of "
            "the training data: rename it, or leave it out");
        row("another number", "0|1", 3, "", "2", "2 of 0, 1");
        row("a number above all", "0|1", 3, "", "3",
            "has the class \"3\", which is none of the 2 of the training "
            "data, such as \"0\": rename it, or leave it out");
        row("names of the network", "pos|neg", 2, "pos|neg", "", "0 1 of pos, neg");
        row("some of them", "bee|cow", 3, "ant|bee|cow", "", "1 2 of ant, bee, cow");
        row("numbers of named classes", "1|0", 2, "pos|neg", "", "1 0 of pos, neg");
        row("numbers of LABEL_0 …", "1|LABEL_0", 2, "LABEL_0|LABEL_1", "", "1 0 of LABEL_0, LABEL_1");
        row("names that are numbers", "1|5", 5, "1|2|3|4|5", "", "0 4 of 1, 2, 3, 4, 5");
        row("a number that is no name", "0|1", 5, "1|2|3|4|5", "",
            "has the class \"0\", which is none of the 5 of the network, such as \"1\": rename it, or leave it out");
        row("a name that it lacks", "ant|dog", 3, "ant|bee|cow", "",
            "has the class \"dog\", which is none of the 3 of the network, such as \"cow\": rename it, or leave it "
            "out");
        row("equal names", "crane", 3, "crane|hen|crane", "",
            "has the class \"crane\", which several classes of the network are called: expected the number of one");
        row("the number of equal names", "2|hen", 3, "crane|hen|crane", "", "2 1 of crane, hen, crane");
        row("another number of classes", "a", 2, "a|b|c", "",
            "the network was trained with 3 classes, the project has 2");
    }
    void labelsAreNumbered()
    {
        QFETCH(QString, labels);
        QFETCH(int, classes);
        QFETCH(QString, names);
        QFETCH(QString, asked);
        QFETCH(QString, expected);
        QCOMPARE(QString::fromStdString(numbered(labels, classes, {kNewestReading, words(names)}, asked)), expected);
    }

    void notesTheNumbersOfLabels_data()
    {
        QTest::addColumn<QString>("labels"); // of the training data, separated by |
        QTest::addColumn<int>("classes");
        QTest::addColumn<QString>("names");    // of the network
        QTest::addColumn<QString>("expected"); // the notes, separated by ;
        const auto row = [](const char* test, const char* labels, int classes, const char* names,
                            const char* expected) {
            QTest::newRow(test) << QString(labels) << classes << QString(names) << QString(expected);
        };
        row("words", "pos|neg|pos", 2, "", "");
        row("numbers", "0|1|1", 2, "", "");
        row("from 1 on", "1|2", 2, "", "");
        row("spellings", "01|1|1.0|2|1", 2, "", "the labels \"01\", \"1\", \"1.0\" are one class, 1");
        row("blanks", "pos|pos |neg", 2, "", "the labels \"pos\", \"pos \" are one class, pos");
        row("many spellings", "1|01|001|1.|1.0|1.00|+1|0", 2, "",
            "the labels \"+1\", \"001\", \"01\", \"1\", \"1.\" … are one class, 1");
        row("no 0", "1|2", 3, "",
            "no example of the training data has the class 0: labels that are whole numbers below the number of "
            "classes number them from 0");
        row("gaps", "0|3", 5, "",
            "no example of the training data has one of the 2 classes 1, 2: labels that are whole numbers below the "
            "number of classes number them from 0");
        row("both", "1|01|2", 3, "",
            "the labels \"01\", \"1\" are one class, 1;no example of the training data has the class 0: labels that "
            "are whole numbers below the number of classes number them from 0");
        row("names of the network", "ant|cow", 3, "ant|bee|cow", "no example of the training data has the class bee");
        row("a name and its number", "neg|0|pos", 2, "neg|pos", "the labels \"0\", \"neg\" are one class, neg");
    }
    void notesTheNumbersOfLabels()
    {
        QFETCH(QString, labels);
        QFETCH(int, classes);
        QFETCH(QString, names);
        QFETCH(QString, expected);
        const auto numbers = ClassNumbers::of(words(labels), classes, {kNewestReading, words(names)});
        QVERIFY2(numbers.ok(), numbers ? "" : numbers.error().text().c_str());
        QCOMPARE(QString::fromStdString(joinedText(numbers->notesOn(words(labels)), ";")), expected);
    }

    /// A run that was made before labels were numbered by these rules keeps its numbers.
    void theFirstReadingStays()
    {
        const Reading first{ReadingVersion::First, {}};
        QCOMPARE(numbered("2|0", 3, first, {}), std::string("1 0 of 0, 2"));
        QCOMPARE(numbered("1|01|2", 3, first, {}), std::string("1 0 2 of 01, 1, 2"));
        QCOMPARE(numbered("1.0|10|9", 3, first, {}), std::string("0 1 2 of 1.0, 10, 9"));
        QCOMPARE(numbered("x| x", 2, first, {}), std::string("1 0 of  x, x"));
    }

    void newNetworksHaveTheClassesOfTheData()
    {
        QCOMPARE(classesOf({"a", "b", "c", "a"}), 3);
        QCOMPARE(classesOf({"0", "2", "2.0"}), 2);
        QCOMPARE(classesOf({"a"}), 2);
    }

    /// Every class is in each split as far as there are rows enough, and the sizes are those of the fractions.
    void splitsAreStratified_data()
    {
        QTest::addColumn<QList<int>>("rows"); // of each class
        QTest::addColumn<double>("validation");
        QTest::addColumn<double>("test");
        QTest::addColumn<QList<int>>("validated"); // of each class
        QTest::newRow("even") << QList<int>{40, 40, 40} << 0.1 << 0.1 << QList<int>{4, 4, 4};
        QTest::newRow("by share") << QList<int>{60, 30, 10} << 0.2 << 0.0 << QList<int>{12, 6, 2};
        QTest::newRow("one rare class") << QList<int>{96, 2, 2} << 0.1 << 0.0 << QList<int>{8, 1, 1};
        QTest::newRow("a class of one row") << QList<int>{50, 49, 1} << 0.1 << 0.0 << QList<int>{5, 5, 0};
        QTest::newRow("fewer rows than classes") << QList<int>{4, 4, 4, 4} << 0.125 << 0.0 << QList<int>{1, 1, 0, 0};
        QTest::newRow("nothing but single rows") << QList<int>{1, 1, 1, 1} << 0.25 << 0.25 << QList<int>{1, 0, 0, 0};
    }
    void splitsAreStratified()
    {
        QFETCH(QList<int>, rows);
        QFETCH(double, validation);
        QFETCH(double, test);
        QFETCH(QList<int>, validated);
        std::vector<std::int64_t> labels;
        for (int label = 0; label < rows.size(); ++label) {
            labels.insert(labels.end(), static_cast<std::size_t>(rows[label]), label);
        }
        const auto splits = splitsOf(labels, validation, test, 3, kNewestReading);
        QCOMPARE(splits.size(), labels.size());
        QCOMPARE(sizesOf(splits), sizesOf(splitsOf(labels, validation, test, 3, ReadingVersion::First)));
        std::map<std::pair<std::int64_t, Split>, int> counts;
        for (std::size_t row = 0; row < labels.size(); ++row) {
            ++counts[{labels[row], splits[row]}];
        }
        for (int label = 0; label < rows.size(); ++label) {
            QCOMPARE((counts[{label, Split::Validation}]), validated[label]);
            const bool enough = rows[label] > 1;
            QVERIFY((counts[{label, Split::Train}]) > 0 || !enough);
        }
        QVERIFY(splits == splitsOf(labels, validation, test, 3, kNewestReading));
        QVERIFY(labels.size() < 20 || splits != splitsOf(labels, validation, test, 4, kNewestReading));
    }

    void rowsToShowAreOfAllClasses_data()
    {
        QTest::addColumn<QList<int>>("labels");
        QTest::addColumn<int>("count");
        QTest::addColumn<QList<int>>("shown");
        QTest::newRow("by class") << QList<int>{0, 0, 0, 0, 1, 1, 2} << 4 << QList<int>{0, 4, 6, 1};
        QTest::newRow("mixed") << QList<int>{1, 0, 1, 0} << 3 << QList<int>{1, 0, 3};
        QTest::newRow("one class") << QList<int>{5, 5, 5} << 2 << QList<int>{0, 1};
        QTest::newRow("fewer than asked for") << QList<int>{0, 0, 1} << 9 << QList<int>{0, 2, 1};
        QTest::newRow("more classes than asked for") << QList<int>{0, 1, 2, 3, 4, 5} << 3 << QList<int>{0, 2, 4};
        QTest::newRow("none") << QList<int>{} << 3 << QList<int>{};
    }
    void rowsToShowAreOfAllClasses()
    {
        QFETCH(QList<int>, labels);
        QFETCH(int, count);
        QFETCH(QList<int>, shown);
        const auto rows = evenRows({labels.begin(), labels.end()}, static_cast<std::size_t>(count));
        QCOMPARE(QList<int>(rows.begin(), rows.end()), shown);
    }
};

RESIDUA_TEST(TestClassNumbers)
#include "tst_class_numbers.moc"
