// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/markdown.h"

#include "tests/support/test_program.h"

#include <QTest>

#include <string>

using namespace residua::resources;
using Style = MarkdownSpan::Style;

class TestMarkdown : public QObject {
    Q_OBJECT
private slots:
    void pagesAreSplit()
    {
        const auto blocks = markdownBlocks("# A title\r\ntwo\nlines\n\n- item\n  goes on\n2. second\n    not code\n"
                                           "\n    code\n```\n# code\n```\n| a | b |\n|---|:-:|\n| - c | |\n#tag\n");
        std::string kinds;
        for (const MarkdownBlock& block : blocks) {
            kinds += "HPIRC."[static_cast<int>(block.kind)];
        }
        QCOMPARE(kinds, std::string("HP.II.CCRRP"));
        QCOMPARE(blocks[0].text, std::string("A title"));
        QCOMPARE(blocks[1].text, std::string("two lines"));
        QCOMPARE(blocks[3].text, std::string("item goes on"));
        QCOMPARE(blocks[4].marker, std::string("2."));
        QCOMPARE(blocks[4].text, std::string("second not code"));
        QCOMPARE(blocks[6].text, std::string("code"));
        QCOMPARE(blocks[7].text, std::string("# code"));
        QCOMPARE(blocks[9].cells, (std::vector<std::string>{"- c", ""}));
    }

    void textHasStyles_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("words");
        QTest::addColumn<int>("span"); ///< the one that is asked about
        QTest::addColumn<int>("style");
        QTest::addColumn<QString>("link");
        QTest::newRow("emphasis") << "an *old* one"
                                  << "an old one" << 1 << int(Style::Emphasis) << "";
        QTest::newRow("strong") << "**old** one"
                                << "old one" << 0 << int(Style::Strong) << "";
        QTest::newRow("product") << "2 * 3 * 4 and a*b*c"
                                 << "2 * 3 * 4 and a*b*c" << 0 << int(Style::Plain) << "";
        QTest::newRow("code") << "`*x*` is"
                              << "*x* is" << 0 << int(Style::Code) << "";
        QTest::newRow("unclosed code") << "a `b"
                                       << "a b" << 1 << int(Style::Code) << "";
        QTest::newRow("link") << "[a page](b.md)."
                              << "a page." << 0 << int(Style::Plain) << "b.md";
        QTest::newRow("brackets in a link") << "[a](b(1)) c"
                                            << "a c" << 0 << int(Style::Plain) << "b(1)";
        QTest::newRow("picture") << "![a](b.png)"
                                 << "a" << 0 << int(Style::Plain) << "";
        QTest::newRow("brackets") << "x[1] [y] !["
                                  << "x[1] [y] ![" << 0 << int(Style::Plain) << "";
        QTest::newRow("unclosed link") << "[a](b"
                                       << "a" << 0 << int(Style::Plain) << "b";
        QTest::newRow("stars") << "** a ** ***"
                               << "** a ** ***" << 0 << int(Style::Plain) << "";
    }
    void textHasStyles()
    {
        QFETCH(QString, text);
        QFETCH(QString, words);
        QFETCH(int, span);
        QFETCH(int, style);
        QFETCH(QString, link);
        const auto spans = markdownSpans(text.toStdString());
        QCOMPARE(QString::fromStdString(markdownWords(text.toStdString())), words);
        QCOMPARE(int(spans.at(static_cast<std::size_t>(span)).style), style);
        QCOMPARE(QString::fromStdString(spans.at(static_cast<std::size_t>(span)).link), link);
    }

    /// The time is linear in marks that are never closed.
    void hostileTextEnds()
    {
        for (const char* const mark : {"[", "*", "**", "` ", "![", "[]", " *"}) {
            std::string text;
            while (text.size() < 500'000) {
                text += mark;
            }
            QVERIFY(!markdownSpans(text).empty());
        }
    }
};

RESIDUA_TEST(TestMarkdown)
#include "tst_markdown.moc"
