// SPDX-License-Identifier: GPL-3.0-or-later
// The plots as a person uses them: pointer, keys and menu.
#include "tests/support/test_program.h"
#include "tests/visualizers/begun_run.h"
#include "visualizers/heatmap/heatmap_view.h"
#include "visualizers/heatmap/shown_matrices.h"
#include "visualizers/pareto/pareto_view.h"
#include "visualizers/plot/reading_table.h"
#include "visualizers/runs/loss_view.h"
#include "visualizers/runs/metrics_view.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QDialog>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSlider>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include <qcustomplot.h>

#include <cmath>
#include <limits>
#include <memory>

using namespace residua::visualizers;
using residua::engine::Matrix;
using residua::engine::StepRecord;

namespace {

constexpr double kGap = std::numeric_limits<double>::quiet_NaN();

std::vector<StepRecord> falling(std::int64_t count)
{
    std::vector<StepRecord> steps;
    for (std::int64_t step = 1; step <= count; ++step) {
        steps.push_back({.step = step,
                         .loss = 100.0 - static_cast<double>(step),
                         .learningRate = 0,
                         .gradientNorm = 0,
                         .tokens = step * 10,
                         .seconds = static_cast<double>(step) / 4});
    }
    return steps;
}

Matrix cellAt(std::int64_t step)
{
    return {.name = "mix", .step = step, .rows = 1, .columns = 2, .values = {0.25F, static_cast<float>(step)}};
}

QByteArray contentsOf(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace

class TestPlotInput : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_view.reset();
        m_runs.clear();
        m_view = std::make_unique<LossView>(m_runs);
        m_view->resize(900, 400);
        begin(m_runs, "a", {.name = "first"});
        m_runs.add("a", {.steps = falling(40), .rows = {{residua::engine::metric::kValidationLoss, 20, 90}}});
        m_view->show();
        m_view->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_view.get()));
        m_plot = m_view->findChild<QCustomPlot*>();
        m_plot->replot();
    }

    void cleanup() { m_view.reset(); }

    /// An average lags behind a falling loss, so nothing is smoothed by default.
    void theLossIsDrawnAsItWasRecorded()
    {
        int drawn = 0;
        for (int i = 0; i < m_plot->graphCount(); ++i) {
            const QCPGraph* graph = m_plot->graph(i);
            if (graph->pen().color().alpha() == 255 && graph->pen().style() == Qt::SolidLine &&
                graph->dataCount() > 0) {
                ++drawn;
                for (const QCPGraphData& point : *graph->data()) {
                    QCOMPARE(point.value, 100 - point.key); // as falling() has it
                }
            }
        }
        QCOMPARE(drawn, 1);
        QTest::mouseMove(m_plot, pointAt(20.4));
        QTRY_VERIFY(reading().contains("training 80"));
        QVERIFY(!reading().contains("smoothed"));
    }

    void theCrosshairReadsWhatWasRecorded()
    {
        auto steps = falling(30);
        steps[9].loss = kGap;
        m_runs.add("a", {.steps = steps});
        m_plot->replot();
        QCOMPARE(reading(), QString());
        m_view->findChild<QSlider*>("smoothing")->setValue(4);
        QTest::mouseMove(m_plot, pointAt(20.4));
        QTRY_VERIFY(reading().startsWith("step 20\nfirst   training 80   smoothed "));
        QTest::mouseMove(m_plot, pointAt(10.4));
        QTRY_VERIFY(reading().contains("training nan"));
        m_view->findChild<QSlider*>("smoothing")->setValue(0);
        QTest::mouseMove(m_plot, pointAt(20.6));
        QTRY_VERIFY(reading().contains("training 80"));
        QVERIFY(!reading().contains("smoothed"));
        QTest::mouseMove(m_plot, QPoint(2, 2)); // beside the axes
        QTRY_COMPARE(reading(), QString());
    }

    void readingStaysInThePictureAboveTheCurves()
    {
        m_view->resize(420, 300);
        QTRY_COMPARE(m_view->width(), 420);
        m_plot->replot();
        for (const double step : {2.4, 18.4, 22.4, 39.4}) {
            QTest::mouseMove(m_plot, pointAt(step));
            QTRY_VERIFY(reading().startsWith(QString("step %1\n").arg(std::floor(step))));
            m_plot->replot();
            const ReadingTable* table = readingItem();
            QCOMPARE(table->layer()->name(), QString("overlay"));
            QVERIFY(table->rect().left() >= m_plot->axisRect()->left());
            QVERIFY(table->rect().right() <= m_plot->axisRect()->right() + 1);
        }
    }

    void keysPanZoomAndShowEverything()
    {
        m_plot->setFocus();
        const QCPRange all = m_plot->xAxis->range();
        QTest::keyClick(m_plot, Qt::Key_Plus);
        const QCPRange near = m_plot->xAxis->range();
        QVERIFY(near.size() < all.size());
        QCOMPARE(near.center(), all.center());
        QTest::keyClick(m_plot, Qt::Key_Right);
        QVERIFY(m_plot->xAxis->range().center() > near.center());
        QTest::keyClick(m_plot, Qt::Key_Left);
        QTest::keyClick(m_plot, Qt::Key_Left);
        QVERIFY(m_plot->xAxis->range().center() < near.center());
        m_runs.add("a", {.steps = falling(60)}); // does not follow while a person looks elsewhere
        QVERIFY(m_plot->xAxis->range().center() < near.center());
        QTest::keyClick(m_plot, Qt::Key_Minus);
        QVERIFY(m_plot->xAxis->range().size() > near.size());
        QTest::keyClick(m_plot, Qt::Key_Home);
        QCOMPARE(m_plot->xAxis->range(), QCPRange(1, 60));
    }

    /// The axis has room for a mark at the last step. Without a mark it ends at the last step.
    void theMarkOfTheLastStepIsWhole()
    {
        QCOMPARE(m_plot->xAxis->range(), QCPRange(1, 40));
        m_runs.add("a", {.rows = {{residua::engine::metric::kValidationLoss, 40, 2.5}}});
        QVERIFY(pointAt(40).x() + 4 <= m_plot->axisRect()->right());
    }

    void choicesAreMadeByKey()
    {
        auto* axis = m_view->findChild<QComboBox*>("horizontalAxis");
        axis->setFocus();
        QTest::keyClick(axis, Qt::Key_Down);
        QCOMPARE(m_plot->xAxis->range(), QCPRange(10, 400));
        QTest::keyClick(axis, Qt::Key_Tab);
        auto* scale = m_view->findChild<QComboBox*>("scale");
        QVERIFY(scale->hasFocus());
        QTest::keyClick(scale, Qt::Key_Down);
        QCOMPARE(m_plot->yAxis->scaleType(), QCPAxis::stLogarithmic);
        QTest::keyClick(scale, Qt::Key_End);
        QCOMPARE(scale->currentText(), QString("symmetric log y"));
        QCOMPARE(m_plot->yAxis->scaleType(), QCPAxis::stLinear);
        QTest::keyClick(scale, Qt::Key_Tab);
        auto* smoothing = m_view->findChild<QSlider*>("smoothing");
        QVERIFY(smoothing->hasFocus());
        const QString before = m_view->csv().section('\n', 40, 40);
        QTest::keyClick(smoothing, Qt::Key_Right);
        QVERIFY(m_view->csv().section('\n', 40, 40) != before);
        QTest::keyClick(smoothing, Qt::Key_Home);
        QCOMPARE(smoothing->value(), 0);
        QCOMPARE(m_view->csv().section('\n', 40, 40), QString("\"first\",40,400,60,,"));
    }

    /// The average is computed in parts over turns of the event loop, and is complete at the end.
    void theAverageOfALongRunArrives()
    {
        constexpr std::int64_t kLong = 500'000;
        m_runs.add("a", {.steps = falling(kLong)});
        auto* smoothing = m_view->findChild<QSlider*>("smoothing");
        smoothing->setFocus();
        QTest::keyClick(smoothing, Qt::Key_Right);
        QVERIFY(lastSmoothed() < kLong);
        QTRY_COMPARE(lastSmoothed(), static_cast<double>(kLong));
    }

    void theMenuExportsNumbersAndPictures()
    {
        const QTemporaryDir folder;
        const QString path = folder.filePath("numbers.csv");
        chooseFromMenu(0);
        QTRY_VERIFY(m_view->findChild<QDialog*>("exportDialog"));
        auto* dialog = m_view->findChild<QDialog*>("exportDialog");
        dialog->findChild<QLineEdit*>("exportFolder")->setText(folder.path());
        dialog->findChild<QLineEdit*>("exportName")->setText("numbers");
        auto* format = dialog->findChild<QComboBox*>("exportFormat");
        format->setCurrentIndex(format->findData("csv"));
        QTest::mouseClick(dialog->findChild<QPushButton*>("exportGo"), Qt::LeftButton);
        QTRY_COMPARE(contentsOf(path), m_view->csv().toUtf8());
        QGuiApplication::clipboard()->clear();
        chooseFromMenu(2);
        QTRY_COMPARE(QGuiApplication::clipboard()->text(), m_view->csv());
        chooseFromMenu(1);
        QTRY_VERIFY(!QGuiApplication::clipboard()->image().isNull());
    }

    /// The menu receives the release of the button. The plot keeps no state of the press.
    void theRightButtonLeavesNothingBehind()
    {
        m_plot->replot();
        const QImage before = m_plot->grab().toImage();
        QTest::mousePress(m_plot, Qt::RightButton, {}, pointAt(20));
        QVERIFY(!m_plot->selectionRect()->isActive());
        QTest::mouseMove(m_plot, pointAt(24));
        QVERIFY(!m_plot->selectionRect()->isActive());
        QEvent leave(QEvent::Leave);
        QCoreApplication::sendEvent(m_plot, &leave);
        m_plot->replot();
        QCOMPARE(m_plot->grab().toImage(), before);
    }

    /// Every plot forwards the right button to the view that owns the menu.
    void everyPlotHasTheMenu()
    {
        ShownMatrices matrices;
        HeatmapView heatmap(matrices);
        MetricsView metrics(m_runs);
        ParetoView pareto(m_runs);
        for (QWidget* view : std::initializer_list<QWidget*>{&heatmap, &metrics, &pareto}) {
            view->resize(400, 300);
            view->show();
            QMenu* menu = menuOf(*view);
            QVERIFY(menu && menu->isVisible());
            QCOMPARE(menu->actions().size(), 3);
            menu->close();
        }
    }

    /// The file shows the plot as it was at the request.
    void anExportOutlivesItsView()
    {
        const QTemporaryDir folder;
        const QString expected = m_view->csv();
        auto written = m_view->exportTo(folder.filePath("a.csv"));
        m_runs.add("a", {.steps = falling(3)});
        m_view.reset();
        QVERIFY(written.result().ok());
        QCOMPARE(contentsOf(folder.filePath("a.csv")), expected.toUtf8());
    }

    void playRunsThroughTheRecordedSteps()
    {
        ShownMatrices matrices;
        HeatmapView view(matrices);
        view.resize(500, 300);
        for (const std::int64_t step : {0, 10, 20, 30}) {
            matrices.append({cellAt(step)});
        }
        view.show();
        view.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&view));
        auto* scrubber = view.findChild<QSlider*>();
        auto* map = view.findChild<QCustomPlot*>()->findChild<QCPColorMap*>();
        QToolButton* play = nullptr;
        for (auto* button : view.findChildren<QToolButton*>()) {
            play = button->isCheckable() ? button : play;
        }
        QVERIFY(play);
        std::vector<double> shown;
        connect(&matrices, &ShownMatrices::changed, this, [&] {
            if (const double cell = map->data()->cell(1, 0); shown.empty() || shown.back() != cell) {
                shown.push_back(cell);
            }
        });
        QTest::mouseClick(play, Qt::LeftButton); // from the end: it begins anew
        QVERIFY(play->isChecked());
        QTRY_VERIFY(!play->isChecked());
        QCOMPARE(shown, (std::vector<double>{0, 10, 20, 30}));
        QCOMPARE(scrubber->value(), 3);
        view.findChild<QCustomPlot*>()->setFocus();
        QTest::keyClick(view.findChild<QCustomPlot*>(), Qt::Key_Space);
        QVERIFY(play->isChecked());
        QTest::keyClick(view.findChild<QCustomPlot*>(), Qt::Key_Space);
        QVERIFY(!play->isChecked());
    }

private:
    [[nodiscard]] QPoint pointAt(double step) const
    {
        return {static_cast<int>(m_plot->xAxis->coordToPixel(step)), m_plot->axisRect()->center().y()};
    }

    /// Beside the crosshair; null where there is none.
    [[nodiscard]] const ReadingTable* readingItem() const
    {
        const auto* table = m_plot->findChild<ReadingTable*>();
        return table && table->visible() ? table : nullptr;
    }

    [[nodiscard]] QString reading() const { return readingItem() ? readingItem()->text() : QString(); }

    /// Where the last point is of the curve that the average is drawn in.
    [[nodiscard]] double lastSmoothed() const
    {
        m_plot->replot();
        for (int i = 0; i < m_plot->graphCount(); ++i) {
            const QCPGraph* graph = m_plot->graph(i);
            if (graph->pen().widthF() > 1.5 && graph->dataCount() > 0) {
                return graph->data()->at(graph->dataCount() - 1)->key;
            }
        }
        return 0;
    }

    /// Opens it as the right button does.
    static QMenu* menuOf(QWidget& view)
    {
        auto* plot = view.findChild<QCustomPlot*>();
        QContextMenuEvent asked(QContextMenuEvent::Mouse, plot->rect().center(),
                                plot->mapToGlobal(plot->rect().center()));
        QApplication::sendEvent(plot, &asked);
        return view.findChild<QMenu*>();
    }

    /// Goes to its entry by key.
    void chooseFromMenu(int entry)
    {
        QMenu* menu = menuOf(*m_view);
        QVERIFY(menu && menu->isVisible());
        for (int i = 0; i <= entry; ++i) {
            QTest::keyClick(menu, Qt::Key_Down);
        }
        QTest::keyClick(menu, Qt::Key_Return);
        QTRY_VERIFY(!m_view->findChild<QMenu*>());
    }

    ShownRuns m_runs;
    std::unique_ptr<LossView> m_view;
    QCustomPlot* m_plot = nullptr;
};

RESIDUA_TEST_IN(QApplication, TestPlotInput)
#include "tst_plot_input.moc"
