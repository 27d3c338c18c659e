// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/command_palette.h"
#include "tests/support/test_program.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTest>
#include <QTreeView>

#include <memory>

using namespace residua::app;

class TestCommandPalette : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_window = std::make_unique<QWidget>();
        m_window->resize(800, 600);
        m_window->show();
        m_palette = new CommandPalette(m_window.get());
        m_taken.clear();
    }
    void cleanup() { m_window.reset(); }

    void wordsGoBeforeWhatIsInsideWords()
    {
        open({"Edit › Back to the preset", "View › Reset the layout", "Reset › All", "Train › Run"});
        type("reset the");
        QCOMPARE(shown(), QStringList({"View › Reset the layout", "Edit › Back to the preset"}));
        type("reset");
        QCOMPARE(shown(), QStringList({"View › Reset the layout", "Reset › All", "Edit › Back to the preset"}));
        type("layout view"); // in any order
        QCOMPARE(shown(), QStringList{"View › Reset the layout"});
    }

    /// A text that nothing matches leads to the help, and is not remembered.
    void aTextWithoutAMatchIsSearchedInTheHelp()
    {
        open({"Edit › Back to the preset"});
        const QAbstractItemModelTester tester(list().model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
        type("nothing  such");
        QCOMPARE(shown(), QStringList({"No command, topology or field has “nothing such”",
                                       "Search the help for “nothing such”"}));
        QSignalSpy wanted(m_palette, &CommandPalette::helpWanted);
        take();
        QCOMPARE(wanted.first().first().toString(), QString("nothing such"));
        QVERIFY(m_palette->recent().isEmpty());
        open({"Edit › Back to the preset"});
        type("preset");
        QCOMPARE(shown(), QStringList("Edit › Back to the preset"));
    }

    void helpIsSearchedLast()
    {
        m_palette->open({{.text = "View › Dark theme",
                          .id = "theme",
                          .toolTip = "Switch between light and dark",
                          .note = {},
                          .take = [] {}},
                         {.text = "Twilight", .id = "twilight", .toolTip = {}, .note = {}, .take = [] {}}});
        type("light");
        QCOMPARE(shown(), QStringList({"Twilight", "View › Dark theme"}));
        type("theme light");
        QCOMPARE(shown(), QStringList("View › Dark theme"));
        type("witch"); // only where a word begins
        QCOMPARE(shown().size(), 2);
        QVERIFY(shown().first().startsWith("No command"));
    }

    void recentCommandsComeFirst()
    {
        const QStringList texts{"File › Save", "File › Save as", "Edit › Unsaved"};
        open(texts);
        type("save");
        QCOMPARE(shown(), QStringList({"File › Save", "File › Save as", "Edit › Unsaved"}));
        type("unsaved");
        take();
        QCOMPARE(m_taken, QStringList{"Edit › Unsaved"});
        open(texts);
        type("save as");
        take();
        open(texts);
        QCOMPARE(shown().first(), QString("File › Save as")); // before anything is typed
        type("save");
        QCOMPARE(shown(), QStringList({"File › Save as", "File › Save", "Edit › Unsaved"})); // words before recent ones
        QCOMPARE(m_palette->recent(), QStringList({"File › Save as", "Edit › Unsaved"}));
    }

    void keysAreSearchedAfterTheTexts()
    {
        const auto rank = [](const char* text, const QStringList& words) {
            return matchRank({QString::fromUtf8(text), QStringLiteral("/training/learning_rate/peak")}, words);
        };
        QVERIFY(rank("Training › Peak", {"learning_rate"}));
        QVERIFY(rank("Training › Peak", {"training.learning_rate.peak"}));
        QVERIFY(rank("Training › Peak", {"/training/learning_rate/peak"}));
        QVERIFY(!rank("Training › Peak", {"batch"}));
        QVERIFY(*rank("Training › Learning_rate", {"learning_rate"}) < *rank("Training › Peak", {"learning_rate"}));
        QVERIFY(*rank("Training › Peak", {"learning_rate"}) < kInsideWord);
        QVERIFY(*rank("Training › Peak", {"arning"}) >= kInsideWord);
    }

    void theModelIsSound()
    {
        open({"File › Save", "Edit › Unsaved"});
        const QAbstractItemModelTester tester(list().model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
        type("save");
    }

    void aRowThatIsNotSeenIsNotPriced()
    {
        int asked = 0;
        std::vector<PaletteEntry> entries;
        for (int i = 0; i < 200; ++i) {
            entries.push_back({.text = QString("topology %1").arg(i),
                               .id = QString::number(i),
                               .toolTip = {},
                               .note =
                                   [&asked] {
                                       ++asked;
                                       return QString("parameters +1");
                                   },
                               .take = [] {}});
        }
        m_palette->open(std::move(entries));
        QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
        m_palette->grab();
        QVERIFY2(asked > 0 && asked < 100, qPrintable(QString::number(asked)));
        QCOMPARE(list().model()->index(0, 1).data().toString(), QString("parameters +1"));
    }

    void disabledCommandsAreNotRun()
    {
        m_palette->open(
            {{.text = "Stop", .id = "stop", .toolTip = {}, .isEnabled = false, .note = {}, .take = [] {}},
             {.text = "Stop all", .id = "all", .toolTip = {}, .note = {}, .take = [this] { m_taken << "all"; }}});
        type("stop");
        take();
        QCOMPARE(m_taken, QStringList{"all"});
    }

private:
    void open(const QStringList& texts)
    {
        std::vector<PaletteEntry> entries;
        for (const QString& text : texts) {
            entries.push_back(
                {.text = text, .id = text, .toolTip = {}, .note = {}, .take = [this, text] { m_taken << text; }});
        }
        m_palette->open(std::move(entries));
    }
    QLineEdit& field() { return *m_window->findChild<QLineEdit*>("commandSearch"); }
    QTreeView& list() { return *m_palette->findChild<QTreeView*>(); }
    void type(const QString& text) { field().setText(text); }
    void take() { QTest::keyClick(&field(), Qt::Key_Return); }
    QStringList shown()
    {
        QStringList rows;
        for (int row = 0; row < list().model()->rowCount(); ++row) {
            rows << list().model()->index(row, 0).data().toString();
        }
        return rows;
    }

    std::unique_ptr<QWidget> m_window;
    CommandPalette* m_palette = nullptr;
    QStringList m_taken;
};

RESIDUA_TEST_IN(QApplication, TestCommandPalette)
#include "tst_command_palette.moc"
