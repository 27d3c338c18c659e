// SPDX-License-Identifier: GPL-3.0-or-later
// The axes of the window's plots under any numbers that a run may have recorded.
#include "tests/support/random_seed.h"
#include "tests/support/test_program.h"
#include "tests/visualizers/begun_run.h"
#include "visualizers/heatmap/heatmap_view.h"
#include "visualizers/heatmap/shown_matrices.h"
#include "visualizers/plot/curve_plot.h"
#include "visualizers/runs/loss_view.h"

#include <QApplication>
#include <QComboBox>
#include <QRegularExpression>
#include <QTest>

#include <qcustomplot.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

using namespace residua::visualizers;
using residua::engine::Matrix;
using residua::engine::StepRecord;

class TestPlotAxes : public QObject {
    Q_OBJECT
private slots:
    /// As in a splitter before its first layout: QCustomPlot would write to the terminal that it cannot.
    void withoutAnAreaNothingIsDrawn()
    {
        QTest::failOnWarning(QRegularExpression(".*"));
        QWidget window;
        window.resize(300, 200);
        CurvePlot plot(&window);
        plot.resize(200, 0);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        plot.resize(0, 100);
        plot.resize(200, 100);
        QCOMPARE(plot.viewport().size(), QSize(200, 100));
    }

    /// Any recorded doubles have, on every scale, a few ticks within each axis, which moves with them.
    void anyNumbersMakeAxes()
    {
        ShownRuns runs;
        LossView view(runs);
        view.resize(500, 300);
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        auto* plot = view.findChild<QCustomPlot*>();
        auto* scale = view.findChild<QComboBox*>("scale");
        std::mt19937_64 random(residua::tests::randomSeed());
        const std::vector<double> edges{0.0,
                                        10'834.0,
                                        -1.0,
                                        1e250,
                                        std::numeric_limits<double>::max(),
                                        std::numeric_limits<double>::lowest(),
                                        std::numeric_limits<double>::denorm_min(),
                                        std::numeric_limits<double>::infinity(),
                                        std::numeric_limits<double>::quiet_NaN()};
        for (int i = 0; i < 400; ++i) {
            begin(runs, "a");
            std::vector<StepRecord> steps(1 + random() % 3);
            for (StepRecord& record : steps) {
                record.step = 1 + (&record - steps.data());
                const bool edge = random() % 2 == 0;
                record.loss = edge ? edges[random() % edges.size()] : std::bit_cast<double>(random());
                record.seconds = edges[random() % edges.size()];
            }
            runs.add("a", {.steps = steps});
            scale->setCurrentIndex(i % scale->count());
            plot->replot();
            for (const QCPAxis* axis : {plot->xAxis, plot->yAxis}) {
                const QVector<double> ticks = axis->tickVector();
                QVERIFY2(ticks.size() <= 12, qPrintable(QString::number(ticks.size())));
                QVERIFY(std::is_sorted(ticks.begin(), ticks.end()));
                QVERIFY(std::all_of(ticks.begin(), ticks.end(), [](double tick) { return std::isfinite(tick); }));
            }
            const QCPGraph& line = *plot->graph(0);
            for (const QCPGraphData& point : *line.data()) {
                const bool shown = std::isnan(point.value) || (point.value <= plot->yAxis->range().upper &&
                                                               point.value >= plot->yAxis->range().lower);
                QVERIFY2(shown || scale->currentText().startsWith("log"), qPrintable(QString::number(point.value)));
            }
        }
    }

    /// Also of a single point, and with room around the curve.
    void anAccuracyEndsAtOne()
    {
        ShownRuns runs;
        LossView view(runs);
        view.showAccuracy(true);
        view.resize(900, 400);
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        auto* plot = view.findChild<PlotView*>()->findChild<QCustomPlot*>();
        begin(runs, "a");
        std::int64_t step = 0;
        for (const double accuracy : {1.0, 0.0, 0.5}) {
            runs.add("a", {.rows = {{"accuracy/validation", ++step, accuracy}}});
            plot->replot();
            const QCPRange range = plot->yAxis->range();
            QVERIFY2(range.lower >= 0 && range.upper <= 1 && range.size() > 0,
                     qPrintable(QString("%1 to %2").arg(range.lower).arg(range.upper)));
        }
    }

    void coloursFollowWeightsOfAnySize()
    {
        ShownMatrices matrices;
        HeatmapView view(matrices);
        view.resize(400, 300);
        view.show();
        auto* scale = view.findChild<QCustomPlot*>()->findChild<QCPColorScale*>();
        QVERIFY(scale != nullptr);
        const float most = std::numeric_limits<float>::max();
        for (const float value : {1e10F, -1e10F, most, -most, 1e-40F, 0.0F, 10'834.0F}) {
            matrices.clear();
            matrices.append(
                {Matrix{"mix", 0, 2, 2, std::vector<float>(4)}, Matrix{"mix", 1, 2, 2, std::vector<float>(4, value)}});
            QVERIFY2(scale->dataRange().contains(value), qPrintable(QString::number(value)));
            QVERIFY(scale->dataRange().size() > 0);
        }
    }
};

RESIDUA_TEST_IN(QApplication, TestPlotAxes)
#include "tst_plot_axes.moc"
