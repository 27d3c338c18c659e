// SPDX-License-Identifier: GPL-3.0-or-later
// The terminal's view: widths, escape sequences, help; and the times that the command line accepts.
#include "app/cli/arguments/help.h"
#include "app/cli/commands/commands.h"
#include "app/cli/runs/engine_client.h"
#include "app/cli/runs/run_monitor.h"
#include "app/cli/terminal/process.h"
#include "app/cli/terminal/terminal_text.h"
#include "projects/base/text.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QRegularExpression>
#include <QSet>
#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <filesystem>
#include <set>
#include <sstream>

using namespace residua;
using namespace residua::cli;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

std::size_t widestLine(const std::string& text)
{
    std::istringstream lines(text);
    std::size_t widest = 0;
    for (std::string line; std::getline(lines, line);) {
        widest = std::max(widest, columnsOf(line));
    }
    return widest;
}

class TestTerminal : public QObject {
    Q_OBJECT

private slots:
    void speltOutIsWhatActsOnATerminal_data()
    {
        QTest::addColumn<std::string>("text");
        QTest::addColumn<std::string>("shown");
        QTest::newRow("plain") << std::string("loss – 1\t2") << std::string("loss – 1\t2");
        QTest::newRow("colour") << std::string("\x1b[31mred") << std::string("\\x1b[31mred");
        QTest::newRow("a title") << std::string("\x1b]0;t\a") << std::string("\\x1b]0;t\\x07");
        QTest::newRow("to the line's begin") << std::string("a\rb") << std::string("a\\x0db");
        QTest::newRow("C1, as UTF-8") << std::string("\xC2\x9B"
                                                     "31m")
                                      << std::string("\\x9b31m");
        QTest::newRow("C1, as a byte") << std::string("\x9B"
                                                      "31m")
                                       << std::string("\uFFFD31m");
        QTest::newRow("right to left") << std::string("a\u202Eb") << std::string("a\\u202eb");
        QTest::newRow("a zero") << std::string("a\0b", 3) << std::string("a\\x00b");
        QTest::newRow("delete") << std::string("a\x7F") << std::string("a\\x7f");
        QTest::newRow("a line end in a name") << std::string("a\nb") << std::string("a\\x0ab");
        QTest::newRow("no UTF-8") << std::string("\xFF\xC3(") << std::string("\uFFFD\uFFFD(");
        QTest::newRow("overlong") << std::string("\xC0\x9B\xE0\x80\x9B")
                                  << std::string("\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD");
        QTest::newRow("cut off") << std::string("\xE4\xBD") << std::string("\uFFFD\uFFFD");
        QTest::newRow("a surrogate") << std::string("\xED\xA0\x80") << std::string("\uFFFD\uFFFD\uFFFD");
        QTest::newRow("wide") << std::string("名前 😀") << std::string("名前 😀");
    }
    void speltOutIsWhatActsOnATerminal()
    {
        QFETCH(std::string, text);
        QFETCH(std::string, shown);
        QCOMPARE(printable(text, LineEnds::Escape), shown);
    }

    void tokensAreVisible_data()
    {
        QTest::addColumn<std::string>("token");
        QTest::addColumn<std::string>("shown");
        QTest::newRow("a word") << std::string("word") << std::string("word");
        QTest::newRow("nothing") << std::string() << std::string();
        QTest::newRow("a space") << std::string(" ") << std::string("▁");
        QTest::newRow("spaces") << std::string("   ") << std::string("▁▁▁");
        QTest::newRow("a line end") << std::string("\n") << std::string("\\x0a");
        QTest::newRow("a tab") << std::string("\t") << std::string("\\x09");
        QTest::newRow("a space before") << std::string(" the") << std::string("▁the");
        QTest::newRow("blanks behind") << std::string("a b \n") << std::string("a b▁\\x0a");
        QTest::newRow("within") << std::string("a\nb c") << std::string("a\\x0ab c");
        QTest::newRow("no break") << std::string("\u00a0") << std::string("\\xa0");
        QTest::newRow("zero width") << std::string("\u200b") << std::string("\\u200b");
        QTest::newRow("an escape") << std::string("\x1b[0m ") << std::string("\\x1b[0m▁");
        QTest::newRow("no UTF-8") << std::string("\xff") << std::string("\uFFFD");
    }
    void tokensAreVisible()
    {
        QFETCH(std::string, token);
        QFETCH(std::string, shown);
        QCOMPARE(visible(token), shown);
    }

    void lineEndsOfATextStay() { QCOMPARE(printable("a\nb\x1b", LineEnds::Keep), std::string("a\nb\\x1b")); }

    void fieldsOfTablesAreQuotedIfNeeded()
    {
        QCOMPARE(csvField("a b"), std::string("a b"));
        QCOMPARE(csvField("a,b"), std::string("\"a,b\""));
        QCOMPARE(csvField("a \"b\""), std::string("\"a \"\"b\"\"\""));
        QCOMPARE(csvField("a\r"), std::string("\"a\r\""));
        QCOMPARE(csvField("a\nb"), std::string("\"a\nb\""));
    }

    void countsColumns()
    {
        QCOMPARE(columnsOf("abc"), std::size_t{3});
        QCOMPARE(columnsOf("– é"), std::size_t{3});
        QCOMPARE(columnsOf("e\u0301"), std::size_t{1});
        QCOMPARE(columnsOf("名前"), std::size_t{4});
        QCOMPARE(columnsOf("😀"), std::size_t{2});
        QCOMPARE(clipped("名前は", 5), std::string("名前…"));
        QCOMPARE(clipped("名前は", 4), std::string("名…"));
        QCOMPARE(clipped("abc", 3), std::string("abc"));
        QCOMPARE(clipped("abc", 0), std::string());
        QCOMPARE(table({{"名", "1"}, {"abc", "2"}}), std::string("名   1\nabc  2"));
        QCOMPARE(table({{"a\nb", "\x1b[2J"}}), std::string("a\\x0ab  \\x1b[2J"));
    }

    void breaksBetweenWords()
    {
        QCOMPARE(wrapped("one two three", 7, 0), std::string("one two\nthree"));
        QCOMPARE(wrapped("one two three", 9, 4), std::string("one\n    two\n    three"));
        QCOMPARE(wrapped("a-very-long-word b", 4, 0), std::string("a-very-long-word\nb"));
        QCOMPARE(wrapped("a\nb", 10, 2), std::string("a\n  b"));
        QCOMPARE(wrapped("", 10, 2), std::string());
    }

    void theBarFitsIntoTheColumns()
    {
        const Console console(Output::Text);
        engine::RunStarted started;
        started.steps = 1'000'000;
        started.unitsPerStep = 16384;
        ProgressBar bar(console, started);
        engine::Progress progress;
        progress.steps = {{.step = 123'456, .loss = 3.14159}};
        progress.rows = {{engine::metric::kValidationLoss, 120'000, 3.2}};
        progress.unitsPerSecond = 1'234'567.8;
        for (int round = 0; round < 3; ++round) {
            bar.update(progress);
            for (std::size_t columns = 0; columns <= 140; ++columns) {
                QVERIFY2(columnsOf(bar.line(columns)) <= columns, bar.line(columns).c_str());
            }
            progress.steps = {{.step = 999'999'999'999, .loss = std::nan("")}};
            progress.unitsPerSecond = round == 0 ? 1e-9 : 1e300;
        }
        started.unit = projects::Unit::Sample;
        ProgressBar early(console, started);
        QCOMPARE(early.line(79), std::string("[                    ] step 0/1,000,000  loss –"));
        QCOMPARE(early.line(30), std::string("step 0/1,000,000  loss –"));
        QCOMPARE(early.line(20), std::string("step 0/1,000,000"));
    }

    void helpFitsIntoTheColumns()
    {
        const std::vector<Command> commands = allCommands();
        for (const std::size_t columns : {40U, 80U, 100U}) {
            QVERIFY(widestLine(overview(commands, columns)) <= columns);
            for (const Command& command : commands) {
                std::vector<Command> explained = command.subcommands;
                explained.push_back(command);
                for (const Command& each : explained) {
                    std::string text = explanation(each, columns);
                    text.erase(text.find("\nExample:\n")); // which is copied, and not broken
                    QVERIFY2(widestLine(text) <= columns, text.c_str());
                }
            }
        }
        const std::string text = overview(commands, 80);
        std::set<int> codes;
        for (const ExitCode& code : exitCodes()) {
            QVERIFY(codes.insert(static_cast<int>(code.code)).second);
            QVERIFY2(text.find("  " + std::to_string(static_cast<int>(code.code))) != std::string::npos, code.meaning);
        }
    }

    /// The sources name a variable in a text that begins with its name.
    void helpNamesEveryVariableThatTheProgramReads()
    {
        const fs::path checkout = RESIDUA_CHECKOUT;
        const QRegularExpression name(QStringLiteral("\"(RESIDUA_[A-Z_]+)"));
        QSet<QString> read;
        for (const char* module : {"app", "editor", "engine", "kernels", "projects", "resources", "visualizers"}) {
            for (const auto& entry : fs::recursive_directory_iterator(checkout / module)) {
                const QString path = QString::fromStdString(entry.path().string());
                const bool isSource = path.endsWith(".h") || path.endsWith(".cpp") || path.endsWith(".cu");
                QFile file(path);
                if (!isSource || path.endsWith("app/cli/terminal/environment_variables.cpp") ||
                    !file.open(QIODevice::ReadOnly)) {
                    continue;
                }
                const QString text = QString::fromUtf8(file.readAll());
                for (const QRegularExpressionMatch& match : name.globalMatch(text)) {
                    read.insert(match.captured(1));
                }
            }
        }
        QSet<QString> documented;
        const std::string shown = overview(allCommands(), 100);
        const std::string page = manPage(allCommands());
        for (const EnvironmentVariable& variable : environmentVariables()) {
            documented.insert(variable.name);
            QVERIFY2(shown.find(std::string("  ") + variable.name + "  ") != std::string::npos, variable.name);
            QVERIFY2(page.find(std::string(".B ") + variable.name + "\n") != std::string::npos, variable.name);
        }
        QVERIFY(read.contains("RESIDUA_DIGESTS_MIB"));
        const QStringList untold = QSet<QString>(read).subtract(documented).values();
        QVERIFY2(untold.isEmpty(), qPrintable(untold.join(", ")));
        const QStringList unread = QSet<QString>(documented).subtract(read).values();
        QVERIFY2(unread.isEmpty(), qPrintable(unread.join(", ")));
    }

    void readsTimes_data()
    {
        QTest::addColumn<std::string>("text");
        QTest::addColumn<int>("seconds"); // 0: none
        QTest::newRow("hours and minutes") << std::string("3h55m") << 3 * 3600 + 55 * 60;
        QTest::newRow("minutes") << std::string("90m") << 5400;
        QTest::newRow("hours") << std::string("2h") << 7200;
        QTest::newRow("seconds") << std::string("45s") << 45;
        QTest::newRow("days and hours") << std::string("1d2h") << 26 * 3600;
        QTest::newRow("all") << std::string("1d1h1m1s") << 90061;
        for (const char* wrong : {"", "5", "h", "5x", "1h1h", "1m1h", "-5m", "1.5h", " 5m", "5m ", "0s", "0h0m", "400d",
                                  "99999999999999999999s", "9223372036854775807d", "1h-30m", "5mm"}) {
            QTest::newRow(wrong) << std::string(wrong) << 0;
        }
    }
    void readsTimes()
    {
        QFETCH(std::string, text);
        QFETCH(int, seconds);
        QCOMPARE(durationFrom(text).value_or(0s).count(), seconds);
    }

    void aTimeLimitLeavesWhatACheckpointTakes()
    {
        using Act = TimeLimit::Act;
        const TimeLimit::Clock::time_point begin{};
        TimeLimit limit(begin, 1000s);
        limit.started(begin + 10s);
        limit.heard(begin + 10s);
        limit.heard(begin + 30s); // a step, or a validation, of 20 s
        QCOMPARE(limit.due(begin + 499s), Act::Nothing);
        QVERIFY(limit.next() == begin + 500s);
        limit.heard(begin + 500s); // after many others
        limit = TimeLimit(begin, 1000s);
        limit.started(begin + 10s);
        for (auto now = begin + 10s; now <= begin + 500s; now += 20s) {
            limit.heard(now);
        }
        QCOMPARE(limit.due(begin + 500s), Act::Checkpoint); // none was measured by half of the time
        QCOMPARE(limit.due(begin + 501s), Act::Nothing);
        limit.heard(begin + 510s);
        limit.checkpointed(begin + 550s); // 40 s
        limit.heard(begin + 550s);
        // The longest pause, 40 s, then a checkpoint of twice the longest, and a second.
        QVERIFY(limit.next() == begin + 1000s - 40s - 80s - 1s);
        QCOMPARE(limit.due(begin + 878s), Act::Nothing);
        QVERIFY(!limit.isOver(begin + 878s));
        QCOMPARE(limit.due(begin + 879s), Act::Stop);
        QVERIFY(!limit.next());
        QCOMPARE(limit.due(begin + 2000s), Act::Nothing);
        QVERIFY(limit.isOver(begin + 2000s));
    }

    void aTimeLimitEndsAlsoWhatHasNotBegun()
    {
        const TimeLimit::Clock::time_point begin{};
        TimeLimit limit(begin, 10s);
        QCOMPARE(limit.due(begin + 5s), TimeLimit::Act::Nothing);
        QCOMPARE(limit.due(begin + 9s), TimeLimit::Act::Stop);
    }

    void aTableThatIsTooWideGoesOnBelow()
    {
        const std::vector<std::vector<std::string>> rows{{"name", "first", "second"}, {"a", "1", "22"}};
        QCOMPARE(table(rows), std::string("name  first  second\na         1      22"));
        QCOMPARE(table(rows, 20), table(rows));
        QCOMPARE(table(rows, 15), std::string("name  first\na         1\n\nname  second\na         22"));
        QCOMPARE(table(rows, 1), table(rows, 15)); // one column at least
    }

    void temporaryFoldersOfTheDeadAreSwept()
    {
        QTemporaryDir folder;
        const QByteArray before = qgetenv("TMPDIR");
        qputenv("TMPDIR", folder.path().toLocal8Bit());
        QVERIFY(QDir(folder.path()).mkpath("residua-bench-dead/run"));
        QVERIFY(QDir(folder.path()).mkpath("somebody-elses"));
        {
            const Result<ScratchFolder> first = scratchDirectory("residua-bench-");
            QVERIFY(first.ok());
            QVERIFY(!QDir(folder.filePath("residua-bench-dead")).exists());
            const Result<ScratchFolder> second = scratchDirectory("residua-bench-");
            QVERIFY(second.ok());
            QVERIFY(std::filesystem::exists(first->path())); // it is in use
            QVERIFY(first->path() != second->path());
        }
        QCOMPARE(QDir(folder.path()).entryList(QDir::Dirs | QDir::NoDotAndDotDot), QStringList{"somebody-elses"});
        qputenv("TMPDIR", "/nowhere/at/all");
        const Result<ScratchFolder> none = scratchDirectory("residua-bench-");
        QVERIFY(!none.ok());
        QVERIFY2(none.error().text().find("TMPDIR") != std::string::npos, none.error().text().c_str());
        qputenv("TMPDIR", before);
        if (before.isEmpty()) {
            qunsetenv("TMPDIR");
        }
    }
};

} // namespace

RESIDUA_TEST(TestTerminal)
#include "tst_terminal.moc"
