// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/api/matrix_name.h"
#include "engine/runs/results/run_reader.h"
#include "tests/support/test_program.h"
#include "tests/visualizers/begun_run.h"
#include "tests/visualizers/legend_of.h"
#include "visualizers/heatmap/heatmap_frames.h"
#include "visualizers/heatmap/heatmap_view.h"
#include "visualizers/heatmap/shown_matrices.h"
#include "visualizers/plot/plot_style.h"
#include "visualizers/runs/loss_view.h"
#include "visualizers/runs/metrics_view.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QSignalSpy>
#include <QSlider>
#include <QSpinBox>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace residua::visualizers;
using residua::engine::Matrix;
using residua::engine::RunEventKind;
using residua::engine::StepRecord;

namespace {

std::vector<StepRecord> descent(std::int64_t from, std::int64_t to)
{
    std::vector<StepRecord> steps;
    for (std::int64_t step = from; step <= to; ++step) {
        const double loss = 1 + 4.0 / static_cast<double>(step);
        steps.push_back(
            {.step = step, .loss = loss, .learningRate = 0, .gradientNorm = 0, .tokens = step, .seconds = 0});
    }
    return steps;
}

} // namespace

class TestViews : public QObject {
    Q_OBJECT
private slots:
    void lossFollowsUntilZoomedAndDoubleClickResets()
    {
        ShownRuns runs;
        LossView view(runs);
        view.resize(700, 400);
        view.setTheme(residua::resources::Theme::Dark);
        begin(runs, "a", {.name = "first"});
        runs.add("a", {.steps = descent(1, 50),
                       .rows = {{residua::engine::metric::kValidationLoss, 25, 2},
                                {residua::engine::metric::kValidationLoss, 50, 1.5}}});
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        auto* plot = view.findChild<QCustomPlot*>();
        QVERIFY(plot != nullptr);
        QVERIFY(plot->xAxis->range().upper >= 50);

        QTest::mousePress(plot, Qt::LeftButton, {}, plot->axisRect()->center() - QPoint(60, 40));
        QTest::mouseMove(plot, plot->axisRect()->center() + QPoint(60, 40));
        QTest::mouseRelease(plot, Qt::LeftButton, {}, plot->axisRect()->center() + QPoint(60, 40));
        const QCPRange zoomed = plot->xAxis->range();
        QVERIFY(zoomed.size() < 30);
        runs.add("a", {.steps = descent(51, 100)});
        QCOMPARE(plot->xAxis->range(), zoomed);

        QTest::mouseDClick(plot, Qt::LeftButton, {}, plot->axisRect()->center());
        QVERIFY(plot->xAxis->range().upper >= 100);
    }

    /// The measured curve is behind its average: lighter than that, and seen in both themes in every curve's colour.
    void theRawCurveIsSeenBehindItsAverage()
    {
        const auto luminance = [](const QColor& colour) {
            const auto linear = [](double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
            return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) + 0.0722 * linear(colour.blueF());
        };
        for (const auto theme : {residua::resources::Theme::Light, residua::resources::Theme::Dark}) {
            ShownRuns runs;
            LossView view(runs);
            view.setTheme(theme);
            for (char key = 'a'; key < 'i'; ++key) {
                begin(runs, std::string(1, key), {.name = QString(QLatin1Char(key))});
                runs.add(std::string(1, key), {.steps = descent(1, 50)});
            }
            view.findChild<QSlider*>("smoothing")->setValue(50);
            auto* plot = view.findChild<QCustomPlot*>();
            plot->resize(600, 400);
            plot->replot();
            const QColor ground = toQColor(residua::resources::themeColours(theme).surface);
            int raw = 0;
            for (int i = 0; i < plot->graphCount(); ++i) {
                const QPen pen = plot->graph(i)->pen();
                const double alpha = pen.color().alphaF();
                if (plot->graph(i)->data()->isEmpty() || alpha == 0 || alpha == 1) {
                    continue;
                }
                ++raw;
                const auto over = [&](double c, double below) { return alpha * c + (1 - alpha) * below; };
                const QColor seen = QColor::fromRgbF(static_cast<float>(over(pen.color().redF(), ground.redF())),
                                                     static_cast<float>(over(pen.color().greenF(), ground.greenF())),
                                                     static_cast<float>(over(pen.color().blueF(), ground.blueF())));
                const double a = luminance(seen);
                const double b = luminance(ground);
                QVERIFY((std::max(a, b) + 0.05) / (std::min(a, b) + 0.05) > 2.25);
                QVERIFY(pen.widthF() > 1); // thinner than a point vanishes where there are two pixels in one
            }
            QCOMPARE(raw, 8);
        }
    }

    void logarithmicAxisKeepsTheCurve()
    {
        ShownRuns runs;
        LossView view(runs);
        begin(runs, "a");
        view.resize(700, 400);
        runs.add("a", {.steps = descent(1, 50)});
        auto* plot = view.findChild<QCustomPlot*>();
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        view.findChild<QComboBox*>("scale")->setCurrentIndex(1);
        QCOMPARE(plot->yAxis->scaleType(), QCPAxis::stLogarithmic);
        QVERIFY(plot->yAxis->range().lower > 0);
        QVERIFY(plot->yAxis->range().upper >= 5);
    }

    void theLegendCoversNoCurveWhereACornerIsFree_data()
    {
        QTest::addColumn<bool>("rises");
        QTest::newRow("a falling loss") << false;
        QTest::newRow("a rising loss") << true;
    }

    void theLegendCoversNoCurveWhereACornerIsFree()
    {
        QFETCH(bool, rises);
        ShownRuns runs;
        LossView view(runs);
        view.resize(500, 300);
        std::vector<StepRecord> steps = descent(1, 40);
        for (StepRecord& record : steps) {
            record.loss = static_cast<double>(rises ? record.step : 41 - record.step);
        }
        begin(runs, "a", {.name = "a run"});
        runs.add("a", {.steps = steps});
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        auto* plot = view.findChild<QCustomPlot*>();
        plot->replot(); // measures the legend, and sets it aside
        const PlotLegend& box = *plot->findChild<PlotLegend*>();
        QVERIFY(box.visible() && !box.isBeside());
        const QRectF legend = box.outerRect();
        for (const StepRecord& record : steps) {
            const QPointF at(plot->xAxis->coordToPixel(static_cast<double>(record.step)),
                             plot->yAxis->coordToPixel(record.loss));
            QVERIFY(!legend.contains(at));
        }
    }

    void aLowPlotKeepsMostOfTheRoom()
    {
        ShownRuns runs;
        LossView view(runs);
        view.resize(700, 240);
        begin(runs, "a");
        runs.add("a", {.steps = descent(1, 400)});
        runs.add("a", {.stages = {{.step = 0, .name = "6 of 12", .note = {}},
                                  {.step = 100, .name = "8 of 12", .note = {}},
                                  {.step = 200, .name = "10", .note = {}}}});
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        auto* plot = view.findChild<QCustomPlot*>();
        auto* table = view.findChild<QTableView*>();
        QVERIFY(table->isVisible());
        QTRY_VERIFY(plot->height() > 100 && plot->width() > table->width()); // which stands beside it
        plot->replot();
        double above = -1;
        for (const double tick : plot->yAxis->tickVector()) {
            const double at = plot->yAxis->coordToPixel(tick);
            if (above >= 0 && plot->yAxis->range().contains(tick)) {
                QVERIFY(above - at > QFontMetrics(plot->yAxis->tickLabelFont()).height());
            }
            above = plot->yAxis->range().contains(tick) ? at : above;
        }
    }

    /// The numbers of the axis never cover each other.
    void aLowPlotKeepsItsLegend()
    {
        ShownRuns runs;
        LossView view(runs);
        for (const char* const run : {"a", "b", "c"}) {
            begin(runs, run, {.name = QString("start %1").arg(run)});
            runs.add(run, {.steps = descent(1, 40),
                           .rows = {{residua::engine::metric::kValidationLoss, 20, 2},
                                    {residua::engine::metric::kValidationLoss, 40, 1.5}}});
        }
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        auto* plot = view.findChild<QCustomPlot*>();
        const PlotLegend& legend = *plot->findChild<PlotLegend*>();
        for (const int height : {900, 280, 130}) {
            view.resize(760, height);
            plot->replot();
            QVERIFY(legend.visible());
            QCOMPARE(legend.shownTexts(), (QStringList{"start a", "start b", "start c", "training", "validation"}));
            QVERIFY(QRect(QPoint(), plot->size()).contains(legend.outerRect()));
        }
        QVERIFY(plot->yAxis->ticker()->tickCount() < 5);
    }

    void removedRunsLeaveNothing()
    {
        ShownRuns runs;
        LossView view(runs);
        begin(runs, "a");
        begin(runs, "b");
        runs.add("a", {.steps = descent(1, 5)});
        runs.add("b", {.steps = descent(1, 5)});
        auto* plot = view.findChild<QCustomPlot*>();
        const int both = plot->graphCount();
        runs.removeOverlay("a");
        QCOMPARE(plot->graphCount(), both / 2);
        runs.clear();
        QCOMPARE(plot->graphCount(), 0);
    }

    void brokenLossesAreMarks()
    {
        ShownRuns runs;
        LossView view(runs);
        begin(runs, "a");
        view.resize(700, 400);
        auto steps = descent(1, 9);
        steps[4].loss = std::numeric_limits<double>::quiet_NaN();
        steps[6].loss = std::numeric_limits<double>::infinity();
        runs.add("a", {.steps = steps});
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        auto* plot = view.findChild<QCustomPlot*>();
        plot->replot();
        int crosses = 0;
        for (int i = 0; i < plot->graphCount(); ++i) {
            crosses += plot->graph(i)->lineStyle() == QCPGraph::lsNone ? plot->graph(i)->dataCount() : 0;
        }
        QCOMPARE(crosses, 2);
    }

    void stagesMakeATable()
    {
        ShownRuns runs;
        LossView view(runs);
        begin(runs, "a");
        runs.add("a", {.steps = descent(1, 50)});
        runs.add("a", {.stages = residua::engine::stageStarts(
                           {{0, RunEventKind::Stage, "6"},
                            {20, RunEventKind::Stage, "12; as copies; the function is kept"},
                            {30, RunEventKind::Paused, ""}})});
        auto* table = view.findChild<QTableView*>();
        QVERIFY(!table->isHidden());
        const QAbstractItemModelTester tester(table->model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
        QCOMPARE(table->model()->rowCount(), 2);
        QCOMPARE(table->model()->index(1, 1).data().toString(), QString("12"));
        // The changes of the weights are in the tooltip.
        QCOMPARE(table->model()->index(1, 1).data(Qt::ToolTipRole).toString(),
                 QString("12: as copies; the function is kept"));
        QVERIFY(!table->model()->index(0, 1).data(Qt::ToolTipRole).isValid());
        QCOMPARE(table->model()->index(1, 2).data().toString(), QString("30")); // steps since
        runs.clear();
        QVERIFY(table->isHidden());
    }

    /// While a run trains, its table is told of each batch: what a person has selected and scrolled to stays.
    void aGrowingRunKeepsTheSelectedTransition()
    {
        ShownRuns runs;
        LossView view(runs);
        begin(runs, "a");
        runs.add("a", {.steps = descent(1, 50)});
        runs.add("a", {.stages = residua::engine::stageStarts({{0, RunEventKind::Stage, "6"},
                                                               {20, RunEventKind::Stage, "9"},
                                                               {48, RunEventKind::Stage, "12"}})});
        auto* table = view.findChild<QTableView*>();
        QAbstractItemModel* model = table->model();
        const QAbstractItemModelTester tester(model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        table->selectRow(2);
        QSignalSpy reset(model, &QAbstractItemModel::modelReset);
        QSignalSpy changed(model, &QAbstractItemModel::dataChanged);
        const QString after = model->index(2, 4).data().toString();
        runs.add("a", {.steps = descent(51, 60)});
        QVERIFY(changed.count() > 0);
        // This run took no losses at the border, so the table shows a mean of the steps after.
        QVERIFY(model->index(2, 4).data().toString() != after);
        runs.add("a", {.stages = residua::engine::stageStarts({{0, RunEventKind::Stage, "6"},
                                                               {20, RunEventKind::Stage, "9"},
                                                               {48, RunEventKind::Stage, "12"},
                                                               {55, RunEventKind::Stage, "24"}})});
        QCOMPARE(model->rowCount(), 4);
        QCOMPARE(reset.count(), 0);
        QCOMPARE(table->selectionModel()->selectedRows().size(), 1);
        QCOMPARE(table->selectionModel()->selectedRows().front().row(), 2);
        runs.add("a", {.stages = residua::engine::stageStarts(
                           {{0, RunEventKind::Stage, "6"}, {20, RunEventKind::Stage, "9"}})});
        QCOMPARE(model->rowCount(), 2);
    }

    void theNumbersAreThoseThatWereRecorded()
    {
        ShownRuns runs;
        LossView view(runs);
        begin(runs, "a", {.name = "first, \"best\""});
        auto steps = descent(1, 3);
        steps[0].loss = 1e6; // a spike
        steps[1].loss = std::numeric_limits<double>::quiet_NaN();
        runs.add("a", {.steps = steps, .rows = {{residua::engine::metric::kValidationLoss, 3, 2.5}}});
        QVERIFY(view.csv().contains("\"first, \"\"best\"\"\",1,1000000,,\n"));
        view.findChild<QSlider*>("smoothing")->setValue(1);
        const QStringList lines = view.csv().split('\n');
        QCOMPARE(lines.size(), 5);
        QCOMPARE(lines[0], QString("run,step,training,smoothed,validation"));
        QCOMPARE(lines[1], QString("\"first, \"\"best\"\"\",1,1000000,1000000,"));
        QVERIFY(lines[2].startsWith("\"first, \"\"best\"\"\",2,nan,1000000,"));
        QVERIFY(lines[3].endsWith(",2.5"));
        view.findChild<QComboBox*>("horizontalAxis")->setCurrentIndex(1);
        view.findChild<QSlider*>("smoothing")->setValue(0);
        QCOMPARE(view.csv().section('\n', 0, 0), QString("run,step,tokens or samples,training,smoothed,validation"));
        QCOMPARE(view.csv().section('\n', 1, 1), QString("\"first, \"\"best\"\"\",1,1,1000000,,"));
    }

    /// Offered only while a run acts in a world, and left when the last such run is.
    void curvesOfWorldsAreDrawnByEnvironmentSteps()
    {
        ShownRuns runs;
        MetricsView view(runs);
        auto* const axis = view.findChild<QComboBox*>("horizontalAxis");
        begin(runs, "a", {.name = "first"});
        runs.add("a", {.steps = descent(1, 4)});
        QCOMPARE(axis->count(), 4);
        const residua::projects::WorldData world{.path = {},
                                                 .environments = 2,
                                                 .unroll = 5,
                                                 .updates = 2,
                                                 .prefill = 30}; // 2 · (30 + 5), and 10 more at step 3
        begin(runs, "b", {.name = "second", .world = world});
        runs.add("b", {.steps = descent(1, 4)});
        runs.add("b", {.rows = {{"time_at_goal/validation", 2, 7}, {"time_at_goal/validation", 4, 9}}});
        QCOMPARE(axis->count(), 5);
        auto* const metric = view.findChild<QComboBox*>("metric");
        metric->setCurrentIndex(metric->findText("time at goal", Qt::MatchContains));
        axis->setCurrentIndex(4);
        const QStringList lines = view.csv().split('\n');
        QCOMPARE(lines[0].section(',', 0, 2), QString("run,step,environment steps"));
        QVERIFY(lines.contains("\"second\",2,70,7,"));
        QVERIFY(lines.contains("\"second\",4,80,9,"));
        runs.removeOverlay("b");
        QCOMPARE(axis->count(), 4);
        QCOMPARE(axis->currentIndex(), 0);
        QVERIFY(view.csv().startsWith("run,step,validation"));
    }

    /// Magnitudes and speed have the choices that the loss has, and the stages as bands.
    void everyMetricIsDrawnByUnitsSmoothedAndWithItsStages()
    {
        ShownRuns runs;
        MetricsView view(runs);
        view.resize(900, 600);
        view.show();
        begin(runs, "a", {.name = "first", .flops = {.perUnit = 10}});
        runs.add("a", {.steps = descent(1, 4)});
        runs.add("a", {.rows = {{residua::engine::metric::kPeakBytes, 2, 1024.0 * 1024},
                                {residua::engine::metric::kPeakBytes, 4, 3072.0 * 1024}}});
        runs.add("a", {.stages = residua::engine::stageStarts(
                           {{0, RunEventKind::Stage, "6 layers"}, {2, RunEventKind::Stage, "12 layers"}})});
        view.findChild<QComboBox*>("metric")->setCurrentIndex(3);
        auto* plot = view.findChild<QCustomPlot*>();
        QCOMPARE(plot->yAxis->label(), QString("peak memory (MiB)"));
        view.findChild<QComboBox*>("horizontalAxis")->setCurrentIndex(2);
        QCOMPARE(plot->xAxis->range(), QCPRange(20, 40));
        view.findChild<QSlider*>("smoothing")->setValue(1);
        QCOMPARE(view.csv().section('\n', 0, 0), QString("run,step,FLOP,peak memory,smoothed"));
        QCOMPARE(view.csv().section('\n', 1, 1), QString("\"first\",2,20,1,1"));
        view.findChild<QComboBox*>("scale")->setCurrentIndex(2);
        QCOMPARE(plot->xAxis->scaleType(), QCPAxis::stLogarithmic);
        plot->replot();
        QStringList names;
        for (int i = 0; i < plot->itemCount(); ++i) {
            const auto* text = qobject_cast<QCPItemText*>(plot->item(i));
            names << (text ? text->text() : QString());
        }
        QVERIFY(names.contains("12 layers"));
        runs.clear();
        QCOMPARE(plot->graphCount(), 0);
    }

    /// A curve a layer, as soon as the first norms are there; a layer that was left out has no point.
    void normsAreACurveForEachLayer()
    {
        const float out = std::numeric_limits<float>::quiet_NaN();
        ShownRuns runs;
        MetricsView view(runs);
        begin(runs, "a", {.name = "first"});
        runs.add("a", {.steps = descent(1, 20)});
        view.findChild<QComboBox*>("metric")->setCurrentIndex(5);
        QCOMPARE(view.csv().count('\n'), 1);
        const Matrix early{residua::engine::matrix::kLayerMagnitudes, 10, 2, 3, {1, 2, 3, 0.5F, 0.25F, 0.125F}};
        const Matrix late{residua::engine::matrix::kLayerMagnitudes, 20, 2, 3, {1, 2, 3, 4, out, 6}};
        runs.add("a", {.matrices = {triangle(10, 0.5F), early, late}});
        auto* plot = view.findChild<QCustomPlot*>();
        QCOMPARE(plot->yAxis->label(), QString("branches of layers (root mean square)"));
        QCOMPARE(view.csv(), QString("run,layer,step,branches of layers (root mean square),smoothed\n"
                                     "\"first\",1,10,0.5,\n\"first\",1,20,4,\n\"first\",2,10,0.25,\n"
                                     "\"first\",3,10,0.125,\n\"first\",3,20,6,\n"));
        QCOMPARE(plot->xAxis->range(), QCPRange(10, 20));
        QCOMPARE(legendOf(view), QStringList("first"));
        // Visits of a loop have names.
        begin(runs, "b", {.name = "looped", .layerNames = {.layers = {"1", "2@1", "2@2"}}});
        runs.add("b", {.matrices = {early}});
        QVERIFY2(view.csv().contains("\"looped\",2@2,10,0.125,"), qPrintable(view.csv()));
        const QString sound = view.csv();
        runs.add("a", {.matrices = {Matrix{residua::engine::matrix::kLayerMagnitudes, 30, 5, 2,
                                           std::vector<float>(10, 1)}}}); // of no such shape
        QCOMPARE(view.csv(), sound);
        ShownMatrices shown;
        HeatmapView heatmap(shown);
        shown.append({triangle(10, 0.5F), early});
        QCOMPARE(heatmap.findChild<QComboBox*>("kind")->count(), 1);
    }

    /// A curve a degree, and the measurements of single layers, from their matrices; none of them is a heatmap.
    void degreesAndStabilityAreCurves()
    {
        ShownRuns runs;
        MetricsView view(runs);
        begin(runs, "a", {.name = "first"});
        const std::vector<Matrix> matrices{{residua::engine::matrix::kDegreeErrors, 10, 1, 2, {0.5F, 1}},
                                           {residua::engine::matrix::kStability, 10, 3, 1, {2, 3, 0.25F}},
                                           {residua::engine::matrix::kStabilityGap, 10, 1, 1, {-0.25F}}};
        runs.add("a", {.steps = descent(1, 20), .matrices = matrices});
        auto* metric = view.findChild<QComboBox*>("metric");
        const auto csvOf = [&](const char* title) {
            metric->setCurrentIndex(metric->findText(QString::fromUtf8(title)));
            return view.csv().section('\n', 0, 1);
        };
        QCOMPARE(csvOf("error by degree"), QString("run,degree,step,error by degree (share of the coefficients),"
                                                   "smoothed\n\"first\",1,10,0.5,"));
        QVERIFY(csvOf("Ψ: output without a layer").endsWith("\"first\",1,10,2,"));
        QVERIFY(csvOf("loss without a layer").endsWith("\"first\",1,10,0.25,"));
        QVERIFY(csvOf("loss, less its mean without a layer").endsWith("\"first\",1,10,-0.25,"));
        ShownMatrices shown;
        HeatmapView heatmap(shown);
        shown.append(matrices);
        QCOMPARE(heatmap.findChild<QComboBox*>("kind")->count(), 0);
    }

    /// Two overlaid runs: whatever is told of them, all views agree which they are, and in which colour.
    void everyViewFollowsTheRunsThatAreShown()
    {
        ShownRuns runs;
        LossView loss(runs);
        MetricsView metrics(runs);
        ShownMatrices shown;
        HeatmapView heatmap(shown);
        shown.follow(runs);
        runs.begin("a", {.name = "not shown"});
        runs.add("a", {.steps = descent(1, 5), .matrices = {triangle(5, 0.5F)}});
        QCOMPARE(loss.csv().count('\n') + metrics.csv().count('\n') + heatmap.csv().count('\n'), 3); // headers

        begin(runs, "a", {.name = "first"});
        begin(runs, "b", {.name = "second"});
        QCOMPARE(runs.find("a")->colour, std::size_t(0));
        QCOMPARE(runs.find("b")->colour, std::size_t(1));
        QCOMPARE(runs.compared(), std::string("b"));
        runs.bringToFront("b");
        QCOMPARE(runs.compared(), std::string()); // not with itself
        for (const char* run : {"a", "b"}) {
            runs.begin(run, {.name = run});
            runs.add(run, {.steps = descent(1, 5), .matrices = {triangle(5, *run == 'a' ? 0.5F : 0.75F)}});
        }
        QCOMPARE(loss.csv().count('\n'), 11);
        QCOMPARE(metrics.csv().count('\n'), 11);
        heatmap.findChild<QComboBox*>("value")->setCurrentIndex(static_cast<int>(CellValue::Weight));
        QVERIFY(heatmap.csv().contains("5,1,2,0.75"));
        heatmap.findChild<QComboBox*>("value")->setCurrentIndex(static_cast<int>(CellValue::AgainstRun));
        QVERIFY(heatmap.csv().contains("5,1,2,0.25"));

        runs.removeOverlay("a");
        QCOMPARE(loss.csv().count('\n'), 6);
        QCOMPARE(heatmap.csv().count('\n'), 1); // nothing to compare with
        begin(runs, "c");
        QCOMPARE(runs.find("c")->colour, std::size_t(0)); // is free again
        runs.removeOverlay("b");
        QVERIFY(runs.find("b") != nullptr); // still in front
        runs.clear();
        QVERIFY(runs.runs().empty());
        QVERIFY(runs.front().empty());
    }

    void exportsAllFormats()
    {
        QTemporaryDir folder;
        ShownRuns runs;
        LossView view(runs);
        view.resize(700, 400);
        begin(runs, "a", {.name = "first"});
        runs.add("a", {.steps = descent(1, 3)});
        const auto contents = [&](const char* name) {
            const QString path = folder.filePath(name);
            if (!view.exportTo(path).result()) {
                return QByteArray();
            }
            QFile file(path);
            return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
        };
        QVERIFY(contents("a.png").startsWith("\x89PNG"));
        QVERIFY(contents("a.svg").contains("<svg"));
        QVERIFY(contents("a.pdf").startsWith("%PDF"));
        QCOMPARE(contents("a.csv").split('\n').size(), 5); // a header, three points, the end
        QVERIFY(!view.exportTo(folder.filePath("a.txt")).result());
        QVERIFY(!view.exportTo(folder.filePath("nowhere/a.png")).result());
    }
};

RESIDUA_TEST_IN(QApplication, TestViews)
#include "tst_views.moc"
