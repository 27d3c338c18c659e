// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/test_program.h"
#include "tests/visualizers/begun_run.h"
#include "visualizers/heatmap/heatmap_grid.h"
#include "visualizers/heatmap/heatmap_view.h"
#include "visualizers/heatmap/shown_matrices.h"

#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QSignalSpy>
#include <QSlider>
#include <QSpinBox>
#include <QTest>
#include <QToolButton>

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace residua::visualizers;
using residua::engine::Matrix;

class TestHeatmapView : public QObject {
    Q_OBJECT
private slots:
    void numbersInCells()
    {
        using residua::visualizers::cellText;
        QCOMPARE(cellText(-0.0001, 2), QString("0.00"));
        QCOMPARE(cellText(29, 0), QString("29"));
        QCOMPARE(cellText(-0.01, 2), QString("-0.01"));
    }

    void heatmapComparesAndMovesByKey()
    {
        ShownMatrices matrices;
        HeatmapView view(matrices);
        view.resize(500, 400);
        matrices.append({triangle(0, 0.5F)});
        matrices.append({triangle(10, 0.6F)});
        matrices.append({triangle(20, 0.75F)});
        matrices.compareWith("other");
        matrices.appendCompared({triangle(0, 0.25F)});
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        auto* map = view.findChild<QCustomPlot*>()->findChild<QCPColorMap*>();
        QVERIFY(map != nullptr);
        auto* plot = view.findChild<QCustomPlot*>();
        plot->setFocus();
        auto* value = view.findChild<QComboBox*>("value");
        value->setCurrentIndex(static_cast<int>(CellValue::AgainstRun));
        QCOMPARE(map->data()->cell(1, 1), 0.5);
        QTest::keyClick(plot, Qt::Key_PageUp);
        QTest::keyClick(plot, Qt::Key_P);
        QCOMPARE(value->currentIndex(), static_cast<int>(CellValue::SincePinned));
        QTest::keyClick(plot, Qt::Key_End);
        QVERIFY(std::abs(map->data()->cell(1, 1) - 0.15) < 1e-6);
        QSignalSpy hovered(&view, &HeatmapView::cellHovered);
        QTest::keyClick(plot, Qt::Key_Down);
        QTest::keyClick(plot, Qt::Key_Down);
        QTest::keyClick(plot, Qt::Key_Right);
        QCOMPARE(hovered.last(), (QVariantList{1, 1}));
    }

    /// Where each feature has a weight of its own, one of them can be asked for and put back.
    void heatmapShowsOneFeature()
    {
        ShownMatrices matrices;
        HeatmapView view(matrices);
        view.resize(500, 400);
        auto* feature = view.findChild<QSpinBox*>("feature");
        auto* kind = view.findChild<QComboBox*>("kind");
        auto* map = view.findChild<QCustomPlot*>()->findChild<QCPColorMap*>();
        matrices.append({triangle(0, 0.5F), triangle(10, 0.6F)});
        QVERIFY(feature->isHidden()); // one weight for all
        Matrix spread = triangle(10, 0.1F);
        spread.name = "spread";
        matrices.append({spread});
        QVERIFY(!feature->isHidden());
        QCOMPARE(kind->count(), 2);
        QSignalSpy wanted(&matrices, &ShownMatrices::featureWanted);
        feature->setValue(7);
        QCOMPARE(wanted.takeFirst(), QVariantList{7});
        matrices.setFeature(7, {triangle(10, 0.9F)});
        QCOMPARE(kind->currentText(), QString("feature 7"));
        QVERIFY(std::abs(map->data()->cell(1, 1) - 0.9) < 1e-6);
        matrices.append({triangle(20, 0.7F)}); // training goes on beside it
        QCOMPARE(kind->currentText(), QString("feature 7"));
        matrices.appendFeature({triangle(20, 0.8F)}); // and leaves another checkpoint
        QCOMPARE(matrices.feature(), std::optional(7));
        QVERIFY(std::abs(map->data()->cell(1, 1) - 0.8) < 1e-6);
        matrices.setFeature(8, {}); // there is none
        QCOMPARE(matrices.feature(), std::nullopt);
        QCOMPARE(feature->value(), -1);
        QCOMPARE(kind->count(), 2);
        QCOMPARE(kind->currentText(), QString("weights applied"));
        QVERIFY(std::abs(map->data()->cell(1, 1) - 0.7) < 1e-6);
        matrices.setFeature(7, {triangle(10, 0.9F)});
        feature->setValue(-1);
        QCOMPARE(kind->currentText(), QString("weights applied"));
        QCOMPARE(wanted.count(), 0);
    }

    void heatmapFollowsTheNewestUntilScrubbed()
    {
        ShownMatrices matrices;
        HeatmapView view(matrices);
        view.resize(500, 400);
        auto* scrubber = view.findChild<QSlider*>();
        matrices.append({triangle(0, 0.5F)});
        matrices.append({triangle(10, 0.6F)});
        matrices.append({triangle(20, 0.7F)});
        QCOMPARE(scrubber->maximum(), 2);
        QCOMPARE(scrubber->value(), 2);
        scrubber->setValue(1);
        matrices.append({triangle(30, 0.8F)});
        QCOMPARE(scrubber->maximum(), 3);
        QCOMPARE(scrubber->value(), 1);
    }

    void aLowHeatmapCutsNoLabelOff()
    {
        ShownMatrices matrices;
        HeatmapView view(matrices);
        matrices.append({triangle(0, 1)});
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        auto* plot = view.findChild<QCustomPlot*>();
        const auto* axis = plot->findChild<QCPColorScale*>()->axis();
        for (const int height : {400, 180}) {
            view.resize(500, height);
            QTRY_COMPARE(view.height(), height);
            plot->replot();
            QVERIFY(plot->fontMetrics().horizontalAdvance(axis->label()) <= plot->axisRect()->height());
            QCOMPARE(axis->label().isEmpty(), height == 180);
        }
    }

    void heatmapFillsItsCellsAndNoOthers_data()
    {
        QTest::addColumn<Matrix>("matrix");
        QTest::newRow("one cell") << Matrix{.name = "mix", .step = 1, .rows = 1, .columns = 1, .values = {1}};
        QTest::newRow("two rows") << triangle(0, 1);
    }

    void heatmapFillsItsCellsAndNoOthers()
    {
        QFETCH(Matrix, matrix);
        ShownMatrices matrices;
        HeatmapView view(matrices);
        view.resize(400, 300);
        matrices.append({matrix});
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        auto* plot = view.findChild<QCustomPlot*>();
        plot->replot();
        const QImage drawn = plot->grab().toImage();
        const auto at = [&](double source, double target) { // beside the cells' numbers
            const QPointF pixel(plot->xAxis->coordToPixel(source), plot->yAxis->coordToPixel(target));
            return drawn.pixelColor((pixel * plot->devicePixelRatioF()).toPoint());
        };
        const auto rgb = residua::resources::magnitude(1, residua::resources::Theme::Light);
        const QColor full(rgb.r, rgb.g, rgb.b);
        QCOMPARE(at(-0.42, 0.58), full); // 0:1
        QCOMPARE(at(0.42, 1.42), full);
        if (matrix.rows > 1) {
            QCOMPARE(at(1.42, 2.42), full);  // 1:2
            QVERIFY(at(0.58, 1.42) != full); // 1:1 is none
        }
    }

    /// A confusion matrix has the names of its classes at both axes, counts from 0, and no shortcuts to point at.
    void confusionIsOfClasses()
    {
        ShownRuns runs;
        ShownMatrices matrices(ShownMatrices::Of::Outputs);
        matrices.follow(runs);
        HeatmapView view(matrices);
        view.resize(500, 400);
        runs.bringToFront("a");
        ShownRuns::Facts facts;
        facts.classes = {"cat", "dog"};
        begin(runs, "a", facts);
        const Matrix confusion{
            .name = "confusion", .step = 5, .rows = 3, .columns = 3, .values = {12345, 2, 0, 1, 20, 0, 0, 0, 4}};
        runs.add("a", {.matrices = {confusion}});
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        auto* plot = view.findChild<QCustomPlot*>();
        QVERIFY(!view.findChild<QComboBox*>("kind")->isVisible()); // there is no other
        QCOMPARE(plot->xAxis->label(), QString("predicted class"));
        QCOMPARE(plot->yAxis->label(), QString("true class"));
        const auto names = [&](QCPAxis* axis) {
            return QStringList(axis->ticker().dynamicCast<QCPAxisTickerText>()->ticks().values());
        };
        QCOMPARE(names(plot->xAxis), (QStringList{"cat", "dog", "2"}));
        QCOMPARE(names(plot->yAxis), (QStringList{"cat", "dog", "2"}));
        auto* map = plot->findChild<QCPColorMap*>();
        QCOMPARE(map->data()->cell(1, 0), 2.0); // column 1 of row 0
        QCOMPARE(map->dataRange().lower, 0.0);
        QVERIFY(map->dataRange().upper >= 12345);
        QVERIFY(!view.findChild<QToolButton*>("byDistance")->isEnabled());
        QSignalSpy hovered(&view, &HeatmapView::cellHovered);
        QTest::keyClick(plot, Qt::Key_Down);
        QStringList readings;
        for (const QLabel* label : view.findChildren<QLabel*>()) {
            readings << label->text();
        }
        QVERIFY2(readings.contains("cat predicted as cat = 12345"), qPrintable(readings.join(" | ")));
        QVERIFY2(readings.contains("step 5 · 99.98 % right"), qPrintable(readings.join(" | ")));
        ShownMatrices weights; // has a panel of its own
        weights.append({confusion});
        QVERIFY(!weights.any());
        QCOMPARE(hovered.count(), 0);
        QString csv;
        QTextStream out(&csv);
        view.csvText()(out);
        QVERIFY2(csv.contains("predicted,true,count") && csv.contains(",5,1,0,2\n"), qPrintable(csv));
    }

    /// The bar beside a picture of episodes names its colours, and none of them is a right answer.
    void episodesHaveALegend()
    {
        ShownMatrices matrices(ShownMatrices::Of::Outputs);
        HeatmapView view(matrices);
        view.resize(500, 400);
        matrices.append({{residua::engine::matrix::kRollout, 7, 2, 2, {0, 0.25F, 0.6F, 1}}});
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        auto* plot = view.findChild<QCustomPlot*>();
        const auto* scale = plot->findChild<QCPColorScale*>();
        QCOMPARE(QStringList(scale->axis()->ticker().dynamicCast<QCPAxisTickerText>()->ticks().values()),
                 (QStringList{"free", "wall", "path", "goal"}));
        QTest::keyClick(plot, Qt::Key_Right);
        QTest::keyClick(plot, Qt::Key_Right);
        QStringList readings;
        for (const QLabel* label : view.findChildren<QLabel*>()) {
            readings << label->text();
        }
        QVERIFY2(readings.contains("row (y) 0, column (x) 1 = wall"), qPrintable(readings.join(" | ")));
        QVERIFY2(readings.contains("step 7"), qPrintable(readings.join(" | ")));
    }

    /// The bar beside counts has whole numbers alone: not 1.5 between 0 and 3.
    void theBarOfCountsHasWholeNumbers()
    {
        ShownRuns runs;
        ShownMatrices matrices(ShownMatrices::Of::Outputs);
        matrices.follow(runs);
        HeatmapView view(matrices);
        view.resize(500, 400);
        runs.bringToFront("a");
        begin(runs, "a");
        view.show();
        std::int64_t step = 0;
        for (const float most : {1.0F, 3.0F, 4.0F}) {
            runs.add("a", {.matrices = {Matrix{"confusion", ++step, 2, 2, {most, 0, 0, 1}}}});
            auto* bar = view.findChild<QCustomPlot*>()->findChild<QCPColorScale*>();
            const auto ticks = bar->axis()->ticker().dynamicCast<QCPAxisTickerText>()->ticks().keys();
            QVERIFY(!ticks.isEmpty() && ticks.last() == static_cast<double>(most));
            for (const double tick : ticks) {
                QCOMPARE(tick, std::round(tick));
            }
        }
    }

    /// The value beside the marked cell is that of the shown step.
    void theReadingFollowsTheStep()
    {
        ShownMatrices matrices;
        HeatmapView view(matrices);
        view.resize(500, 400);
        matrices.append({triangle(0, 0.5F), triangle(10, 0.6F)});
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        view.setHighlighted(1, 1);
        const auto reads = [&](const QString& text) {
            const auto labels = view.findChildren<QLabel*>();
            return std::ranges::any_of(labels, [&](const QLabel* label) { return label->text() == text; });
        };
        QVERIFY(reads("1:2 = 0.600"));
        view.findChild<QSlider*>()->setValue(0);
        QVERIFY(reads("1:2 = 0.500"));
        matrices.append({triangle(20, 0.7F)}); // the step stays
        QVERIFY(reads("1:2 = 0.500"));
    }

    /// Rows and columns are called what they are.
    void axesAreNamedByTheMatrix()
    {
        ShownMatrices matrices;
        HeatmapView view(matrices);
        view.resize(500, 400);
        matrices.append({{.name = "active", .step = 0, .rows = 1, .columns = 6, .values = {1, 1, 0, 1, 0.5F, 1}}});
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        auto* plot = view.findChild<QCustomPlot*>();
        plot->replot(QCustomPlot::rpImmediateRefresh);
        QCOMPARE(plot->xAxis->label(), QString("layer"));
        QCOMPARE(plot->yAxis->label(), QString());
        QCOMPARE(plot->xAxis->tickVectorLabels().first(), QString("1"));
        QCOMPARE(plot->xAxis->tickVectorLabels().last(), QString("6"));
        QSignalSpy hovered(&view, &HeatmapView::cellHovered);
        QTest::keyClick(plot, Qt::Key_Right);
        QCOMPARE(hovered.count(), 0); // it is no shortcut
        QCOMPARE(axesOf("read"), HeatmapAxes::Streams);
        for (const char* const name : {"mix/q", "coefficient", "spread", "feature", "feature/q"}) {
            QCOMPARE(axesOf(name), HeatmapAxes::Shortcuts);
        }
        QCOMPARE(axesOf("carry"), HeatmapAxes::Other);
    }

    /// Numbers stay in the cells whatever the step, and have the digits of tooltips and outline.
    void numbersHaveTheDigitsOfTheirScale()
    {
        using residua::projects::WeightScale;
        using residua::projects::weightText;
        QCOMPARE(weightText(0.8824, WeightScale{std::nullopt, 0, 0.9}), std::string("0.882"));
        QCOMPARE(weightText(1.003, WeightScale{1.0, 0.95, 1.05}), std::string("1.0030"));
        QCOMPARE(weightText(-0.0, WeightScale{0.0, -1, 1}), std::string("0.000"));
        QCOMPARE(weightText(0.00034, WeightScale{std::nullopt, 0, 1}), std::string("0.00034"));
        QCOMPARE(residua::projects::decimalsOf({0.0, 0, 0}), 2);
    }

    /// If a row is lower than the font, every n-th class is named.
    void namesOfClassesDoNotOverlap()
    {
        HeatmapGrid grid("", nullptr);
        HeatmapGrid::Picture picture;
        picture.rows = picture.columns = 20;
        picture.cells.assign(400, 1);
        picture.axes = HeatmapAxes::Classes;
        for (int i = 0; i < picture.rows; ++i) {
            picture.classes << QString("class %1").arg(i);
        }
        grid.setPicture(picture);
        grid.show();
        QVERIFY(QTest::qWaitForWindowExposed(&grid));
        const auto named = [&] { return grid.yAxis->ticker().dynamicCast<QCPAxisTickerText>()->ticks().size(); };
        grid.resize(600, 800);
        QTRY_COMPARE(named(), 20);
        grid.resize(600, 260);
        QTRY_VERIFY(named() < 20);
        grid.replot(QCustomPlot::rpImmediateRefresh);
        const double row = std::abs(grid.yAxis->coordToPixel(2) - grid.yAxis->coordToPixel(1));
        const QList<double> at = grid.yAxis->ticker().dynamicCast<QCPAxisTickerText>()->ticks().keys();
        QVERIFY(row * (at[1] - at[0]) >= grid.fontMetrics().height());
    }

    void numbersOfRowsDoNotOverlap()
    {
        HeatmapGrid grid("", nullptr);
        HeatmapGrid::Picture picture;
        picture.rows = picture.columns = 7;
        picture.cells.assign(49, 1);
        grid.setPicture(picture);
        grid.show();
        QVERIFY(QTest::qWaitForWindowExposed(&grid));
        for (const int height : {400, 160, 110}) {
            grid.resize(400, height);
            QTRY_COMPARE(grid.height(), height);
            grid.replot(QCustomPlot::rpImmediateRefresh);
            const QVector<double> at = grid.yAxis->tickVector();
            QVERIFY(!at.isEmpty());
            for (qsizetype i = 1; i < at.size(); ++i) {
                const double apart = std::abs(grid.yAxis->coordToPixel(at[i]) - grid.yAxis->coordToPixel(at[i - 1]));
                QVERIFY2(apart >= grid.fontMetrics().height(), qPrintable(QString::number(height)));
            }
        }
    }

    void heatmapNamesTheCellUnderThePointer()
    {
        ShownMatrices matrices;
        HeatmapView view(matrices);
        view.resize(500, 400);
        matrices.append({triangle(0, 0.75F)});
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        auto* plot = view.findChild<QCustomPlot*>();
        plot->replot();
        QSignalSpy hovered(&view, &HeatmapView::cellHovered);
        const auto pixel = [plot](double column, double target) {
            return QPoint(static_cast<int>(plot->xAxis->coordToPixel(column)),
                          static_cast<int>(plot->yAxis->coordToPixel(target)));
        };
        QTest::mouseMove(plot, pixel(1, 2));
        QTRY_COMPARE(hovered.count(), 1);
        QCOMPARE(hovered.takeFirst(), (QVariantList{1, 1}));
        // No shortcut 1:1: the empty cell is nobody's.
        QTest::mouseMove(plot, pixel(1, 1));
        QTRY_COMPARE(hovered.count(), 1);
        QCOMPARE(hovered.takeFirst(), (QVariantList{-1, -1}));
        QTest::mouseMove(plot, pixel(1, 2));
        QTRY_COMPARE(hovered.count(), 1);
        hovered.clear();
        QEvent leave(QEvent::Leave); // the mouse leaves
        QCoreApplication::sendEvent(plot, &leave);
        QCOMPARE(hovered.count(), 1);
        QCOMPARE(hovered.takeFirst(), (QVariantList{-1, -1}));
    }
};

RESIDUA_TEST_IN(QApplication, TestHeatmapView)
#include "tst_heatmap_view.moc"
