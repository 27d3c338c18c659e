// SPDX-License-Identifier: GPL-3.0-or-later
// Which curve is which run: the legend of every plot, on screen and in pictures, and the colours beside the crosshair.
#include "tests/support/test_program.h"
#include "tests/visualizers/begun_run.h"
#include "tests/visualizers/legend_of.h"
#include "visualizers/plot/reading_table.h"
#include "visualizers/plot/series.h"
#include "visualizers/runs/loss_view.h"
#include "visualizers/runs/metrics_view.h"

#include <QApplication>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <memory>

using namespace residua;
using namespace residua::visualizers;

namespace {

QString nameOf(int run)
{
    return QString("a run whose name is long enough %1").arg(run);
}

std::string keyOf(int run)
{
    return std::to_string(run);
}

void add(ShownRuns& runs, int count)
{
    for (int run = 0; run < count; ++run) {
        begin(runs, keyOf(run), {.name = nameOf(run)});
        std::vector<engine::StepRecord> steps;
        for (std::int64_t step = 1; step <= 40; ++step) {
            steps.push_back({.step = step, .loss = 2 + run + 4.0 / static_cast<double>(step)});
        }
        runs.add(keyOf(run), {.steps = steps,
                              .rows = {{residua::engine::metric::kValidationLoss, 20, 2.0 + run},
                                       {residua::engine::metric::kValidationLoss, 40, 1.5 + run}}});
    }
}

} // namespace

class TestLegend : public QObject {
    Q_OBJECT
private slots:
    void init()
    {
        m_runs = std::make_unique<ShownRuns>();
        m_view = std::make_unique<LossView>(*m_runs);
    }
    void cleanup()
    {
        m_view.reset();
        m_runs.reset();
    }

    void everyRunHasAnEntryAtEverySize_data()
    {
        QTest::addColumn<int>("count");
        QTest::addColumn<QSize>("size");
        for (const int count : {1, 3, 8}) {
            for (const QSize size : {QSize(420, 240), QSize(700, 260), QSize(1400, 700)}) {
                QTest::addRow("%d runs, %d × %d", count, size.width(), size.height()) << count << size;
            }
        }
    }

    void everyRunHasAnEntryAtEverySize()
    {
        QFETCH(int, count);
        QFETCH(QSize, size);
        add(*m_runs, count);
        show(size);
        QStringList expected;
        for (int run = 0; run < count; ++run) {
            expected << nameOf(run);
        }
        QCOMPARE(legendOf(*m_view), expected + QStringList({"training", "validation"}));
        QVERIFY(legend().visible());
        QVERIFY(QRect(QPoint(), plot().size()).contains(legend().outerRect()));
        QCOMPARE(legend().shownTexts().size(), count + 2);
        QCOMPARE(QSet<QString>(legend().shownTexts().begin(), legend().shownTexts().end()).size(), count + 2);
        QVERIFY(!legend().isBeside() || !legend().outerRect().intersects(plot().axisRect()->rect()));
        QVERIFY(plot().axisRect()->width() > size.width() / 3);
    }

    /// Entries that no size of letters would fit are counted.
    void aLegendThatCannotFitSaysHowManyAreMissing()
    {
        add(*m_runs, 60);
        show({420, 200});
        QVERIFY(legend().shownTexts().back().contains("more"));
        QCOMPARE(legendOf(*m_view).size(), 62);
    }

    void coloursAndStrokesAreThoseOfTheCurves()
    {
        add(*m_runs, 3);
        show({900, 500});
        const std::vector<PlotLegend::Entry>& entries = legend().entries();
        for (std::size_t run = 0; run < 3; ++run) {
            const resources::Rgb colour = resources::curveColour(run, resources::Theme::Light);
            QCOMPARE(entries[run].colour, QColor(colour.r, colour.g, colour.b));
        }
        QCOMPARE(entries[3].line, Qt::SolidLine); // training
        QCOMPARE(entries[4].line, Qt::DashLine);  // validation
    }

    void aClickHidesARunAndShowsItAgain()
    {
        add(*m_runs, 3);
        show({900, 500});
        const double before = plot().yAxis->range().upper;
        const int all = visibleCurves();
        click(2);
        QCOMPARE(visibleCurves(), all * 2 / 3);
        QVERIFY(legend().entries()[2].hidden);
        QVERIFY(plot().yAxis->range().upper < before); // the others have the room
        click(2);
        QCOMPARE(visibleCurves(), all);
        QCOMPARE(plot().yAxis->range().upper, before);
        click(4);                           // validation
        QCOMPARE(visibleCurves(), all / 2); // training stays
    }

    void thePointerOnAnEntryIsolatesTheRun()
    {
        add(*m_runs, 3);
        show({900, 500});
        const auto strengths = [this] {
            std::array<float, 3> found{};
            for (int i = 0; i < plot().graphCount(); ++i) {
                const QColor colour = plot().graph(i)->pen().color();
                for (std::size_t run = 0; run < 3; ++run) {
                    const resources::Rgb own = resources::curveColour(run, resources::Theme::Light);
                    const bool same = colour.rgb() == QColor(own.r, own.g, own.b).rgb();
                    found[run] = same ? std::max(found[run], colour.alphaF()) : found[run];
                }
            }
            return found;
        };
        QTest::mouseMove(&plot(), centreOf(1));
        QTRY_COMPARE(strengths()[1], 1.0F);
        QTRY_VERIFY(strengths()[0] < 0.3F && strengths()[2] < 0.3F);
        QVERIFY(!table().visible()); // the crosshair gives way
        QTest::mouseMove(&plot(), QPoint(1, 1));
        QTRY_COMPARE(strengths()[0], 1.0F);
    }

    void theCrosshairHasTheColours()
    {
        add(*m_runs, 3);
        show({900, 500});
        QTest::mouseMove(&plot(), plot().axisRect()->center());
        QTRY_VERIFY(table().visible());
        QCOMPARE(table().rows().size(), 3U);
        for (std::size_t run = 0; run < 3; ++run) {
            QCOMPARE(table().rows()[run].colour, legend().entries()[run].colour);
        }
    }

    /// A picture for a paper has the runs that are shown, and no trace of the pointer.
    void picturesHaveTheLegend()
    {
        const QTemporaryDir folder;
        add(*m_runs, 4);
        show({420, 200});
        click(3);
        QTest::mouseMove(&plot(), plot().axisRect()->center());
        QTRY_VERIFY(table().visible());
        const QString path = folder.filePath("loss.svg");
        QVERIFY(m_view->exportTo(path).result().ok());
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QString svg = QString::fromUtf8(file.readAll());
        for (int run = 0; run < 3; ++run) {
            QCOMPARE(svg.count(nameOf(run)), 1);
        }
        QVERIFY(!svg.contains(nameOf(3)));
        QVERIFY(svg.contains("validation"));
        QCOMPARE(legendOf(*m_view).size(), 6); // on the screen it is there to be clicked
    }

    void otherPlotsOfRunsHaveIt()
    {
        MetricsView view(*m_runs);
        add(*m_runs, 4);
        QCOMPARE(legendOf(view), (QStringList{nameOf(0), nameOf(1), nameOf(2), nameOf(3)}));
    }

    void namesAreNeverCutWhereTheyDiffer_data()
    {
        QTest::addColumn<QStringList>("names");
        QTest::newRow("end") << QStringList{"a wiring of the project 1", "a wiring of the project 2"};
        QTest::newRow("start") << QStringList{"1 a wiring of the project", "2 a wiring of the project"};
        QTest::newRow("middle") << QStringList{"a wiring of the 1 project here", "a wiring of the 2 project here"};
    }

    void namesAreNeverCutWhereTheyDiffer()
    {
        QFETCH(QStringList, names);
        const QFontMetrics metrics(QApplication::font());
        const int width = metrics.horizontalAdvance(names[0]) / 2;
        const QStringList shown = distinctNames(names, metrics, width);
        QVERIFY(shown[0] != shown[1]);
        for (const QString& name : shown) {
            QVERIFY(metrics.horizontalAdvance(name) <= width);
        }
        QCOMPARE(distinctNames(names, metrics, 2 * width + 20), names);
    }

    /// The topology tells runs apart better than the steps behind it.
    void namesLoseTheirCommonPartsFirst()
    {
        const QStringList names{"Learned shortcuts", "Learned shortcuts, DeepCrossAttention, block transformer",
                                "Learned shortcuts, Plain residual, 12 steps", "Learned shortcuts, MUDD, 24 steps"};
        const QFontMetrics metrics(QApplication::font());
        const int width = metrics.horizontalAdvance("…DeepCrossAttention, block");
        const QStringList shown = distinctNames(names, metrics, width);
        QCOMPARE(shown[0], names[0]);
        QVERIFY2(shown[1].startsWith("…DeepCrossAttention"), qPrintable(shown[1]));
        QVERIFY(shown[2].startsWith("…Plain residual") && shown[3].startsWith("…MUDD"));
    }

private:
    void show(QSize size)
    {
        m_view->resize(size);
        m_view->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_view.get()));
        plot().replot();
    }

    [[nodiscard]] Plot& plot() const { return *m_view->findChild<Plot*>(); }
    [[nodiscard]] const PlotLegend& legend() const { return *plot().plotLegend(); }
    [[nodiscard]] const ReadingTable& table() const { return *plot().findChild<ReadingTable*>(); }

    /// The middle of an entry of a legend in one column.
    [[nodiscard]] QPoint centreOf(int entry) const { return legend().cell(entry).center(); }

    void click(int entry)
    {
        QTest::mouseClick(&plot(), Qt::LeftButton, {}, centreOf(entry));
        plot().replot();
    }

    [[nodiscard]] int visibleCurves() const
    {
        int count = 0;
        for (int i = 0; i < plot().graphCount(); ++i) {
            count += plot().graph(i)->visible() && plot().graph(i)->dataCount() > 0 ? 1 : 0;
        }
        return count;
    }

    std::unique_ptr<ShownRuns> m_runs;
    std::unique_ptr<LossView> m_view;
};

RESIDUA_TEST_IN(QApplication, TestLegend)
#include "tst_legend.moc"
