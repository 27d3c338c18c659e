// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/launch/launch_options.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QRegularExpression>
#include <QSet>
#include <QTest>

using namespace residua;
using namespace residua::app;

namespace {

/// Every --word of a text.
QSet<QString> optionsIn(const QString& text)
{
    static const QRegularExpression kOption(QStringLiteral("(?<![\\w-])--[a-z]+"));
    QSet<QString> options;
    for (auto match = kOption.globalMatch(text); match.hasNext();) {
        options.insert(match.next().captured());
    }
    return options;
}

} // namespace

class TestLaunchOptions : public QObject {
    Q_OBJECT

private slots:
    void everythingOfAScreenshot()
    {
        const auto options =
            parseLaunch({"residua", "--example", "ancre-language", "--steps", "20", "--screenshot", "a.png", "--size",
                         "1280x720", "--theme", "dark", "--scale", "2", "--view", "train"});
        QVERIFY(options.ok());
        QCOMPARE(options->verb, LaunchVerb::Screenshot);
        QCOMPARE(options->example, QString("ancre-language"));
        QCOMPARE(options->steps, std::int64_t(20));
        QCOMPARE(options->output, QString("a.png"));
        QCOMPARE(options->size, QSize(1280, 720));
        QCOMPARE(options->theme, std::optional(ThemeKind::Dark));
        QCOMPARE(options->scale, 2.0);
        QCOMPARE(options->arrangement.layout->name, "train");
    }

    void everyViewOfTheHelpCanBeAskedFor_data()
    {
        QTest::addColumn<WorkspaceView>("view");
        QTest::addColumn<PictureFront>("front");
        const auto row = [](const char* name, WorkspaceView view, PictureFront front = PictureFront::Workspace) {
            QTest::newRow(name) << view << front;
        };
        row("depth", WorkspaceView::Depth);
        row("matrix", WorkspaceView::Matrix);
        row("block", WorkspaceView::Block);
        row("schedule", WorkspaceView::Schedule);
        row("start", WorkspaceView::Depth, PictureFront::Start);
        row("comparison", WorkspaceView::Depth, PictureFront::Comparison);
        row("keys", WorkspaceView::Depth, PictureFront::Keys);
        row("commands", WorkspaceView::Depth, PictureFront::Commands);
        row("help", WorkspaceView::Depth, PictureFront::Help);
    }

    void everyViewOfTheHelpCanBeAskedFor()
    {
        QFETCH(WorkspaceView, view);
        QFETCH(PictureFront, front);
        const QString name = QTest::currentDataTag();
        const auto options = parseLaunch({"residua", "--screenshot", "a.png", "--view", name});
        QVERIFY(options.ok());
        QCOMPARE(options->arrangement.view, view);
        QCOMPARE(options->front, front);
        QVERIFY(QString::fromStdString(launchHelp()).contains(name));
    }

    void everyPanelCanBeAskedFor()
    {
        for (const Panel& panel : panels()) {
            const auto options = parseLaunch({"residua", "--screenshot", "a.png", "--view", panel.view});
            QVERIFY(options.ok());
            QCOMPARE(options->arrangement.front, &panel);
            QVERIFY(QString::fromStdString(launchHelp()).contains(panel.view));
        }
    }

    void everyLayoutCanBeAskedFor()
    {
        for (const Layout& layout : layouts()) {
            const auto options = parseLaunch({"residua", "--screenshot", "a.png", "--view", layout.name});
            QVERIFY(options.ok());
            QCOMPARE(options->arrangement.layout, &layout);
            QVERIFY(QString::fromStdString(launchHelp()).contains(layout.name));
        }
    }

    /// Those of the help, and no others.
    void theManualPageHasEveryOption()
    {
        QFile file(QStringLiteral(RESIDUA_MAN_PAGE));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QString page = QString::fromUtf8(file.readAll()).remove(QLatin1Char('\\'));
        QVERIFY(optionsIn(page) == optionsIn(QString::fromStdString(launchHelp())));
    }

    void aReport()
    {
        const auto options = parseLaunch({"residua", "report", "runs/one", "-o", "one.html"});
        QVERIFY(options.ok());
        QCOMPARE(options->verb, LaunchVerb::Report);
        QCOMPARE(options->run, QString("runs/one"));
        QCOMPARE(options->output, QString("one.html"));
    }

    void mistakesNameTheOptionAndWhatWasExpected_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("part");
        QTest::newRow("size") << QStringList{"residua", "--size", "wide"} << "WIDTHxHEIGHT";
        QTest::newRow("tiny") << QStringList{"residua", "--size", "10x10"} << "320";
        QTest::newRow("theme") << QStringList{"residua", "--theme", "blue"} << "light or dark";
        QTest::newRow("view that is not there") << QStringList{"residua", "--view", "inside"} << "depth, matrix, block";
        QTest::newRow("steps") << QStringList{"residua", "--steps", "few"} << "--steps";
        QTest::newRow("scale") << QStringList{"residua", "--scale", "9"} << "--scale";
        QTest::newRow("two projects") << QStringList{"residua", "a", "b"} << "one argument too many";
        QTest::newRow("project and example") << QStringList{"residua", "a", "--example", "b"} << "got both";
        QTest::newRow("report without a file") << QStringList{"residua", "report", "a"} << "-o FILE";
        QTest::newRow("unknown option") << QStringList{"residua", "--colour"} << "colour";
    }

    void mistakesNameTheOptionAndWhatWasExpected()
    {
        QFETCH(QStringList, arguments);
        QFETCH(QString, part);
        const auto options = parseLaunch(arguments);
        QVERIFY(!options.ok());
        const QString text = QString::fromStdString(options.error().text());
        QVERIFY2(text.contains(part), qPrintable(text));
    }
};

RESIDUA_TEST(TestLaunchOptions)
#include "tst_launch_options.moc"
