// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/views.h"

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QSignalSpy>
#include <QSlider>
#include <QTest>
#include <QToolButton>

#include <qcustomplot.h>

#include <limits>

using namespace residua::visualizers;
using residua::engine::Matrix;
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

Matrix triangle(std::int64_t step, float last)
{
    const float none = std::numeric_limits<float>::quiet_NaN();
    return {.name = "mix", .step = step, .rows = 2, .columns = 2, .values = {1, none, 1 - last, last}};
}

} // namespace

class TestViews : public QObject {
    Q_OBJECT
private slots:
    void lossFollowsUntilZoomedAndDoubleClickResets()
    {
        LossView view;
        view.resize(700, 400);
        view.setTheme(Theme::Dark);
        view.setRun("a", "first");
        view.append("a", descent(1, 50), {{25, 2}, {50, 1.5}});
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
        view.append("a", descent(51, 100), {});
        QCOMPARE(plot->xAxis->range(), zoomed);

        QTest::mouseDClick(plot, Qt::LeftButton, {}, plot->axisRect()->center());
        QVERIFY(plot->xAxis->range().upper >= 100);
    }

    void logarithmicAxisKeepsTheCurve()
    {
        LossView view;
        view.resize(700, 400);
        view.append("a", descent(1, 50), {});
        auto* plot = view.findChild<QCustomPlot*>();
        view.findChild<QCheckBox*>()->setChecked(true);
        QCOMPARE(plot->yAxis->scaleType(), QCPAxis::stLogarithmic);
        QVERIFY(plot->yAxis->range().lower > 0);
        QVERIFY(plot->yAxis->range().upper >= 5);
    }

    void removedRunsLeaveNothing()
    {
        LossView view;
        view.append("a", descent(1, 5), {});
        view.append("b", descent(1, 5), {});
        auto* plot = view.findChild<QCustomPlot*>();
        const int both = plot->graphCount();
        view.removeRun("a");
        QCOMPARE(plot->graphCount(), both / 2);
        view.clear();
        QCOMPARE(plot->graphCount(), 0);
    }

    void heatmapFollowsTheNewestUntilScrubbed()
    {
        HeatmapView view;
        view.resize(500, 400);
        auto* scrubber = view.findChild<QSlider*>();
        view.append({triangle(0, 0.5F)});
        view.append({triangle(10, 0.6F)});
        view.append({triangle(20, 0.7F)});
        QCOMPARE(scrubber->maximum(), 2);
        QCOMPARE(scrubber->value(), 2);
        scrubber->setValue(1);
        view.append({triangle(30, 0.8F)});
        QCOMPARE(scrubber->maximum(), 3);
        QCOMPARE(scrubber->value(), 1);
    }

    void heatmapNamesTheCellUnderThePointer()
    {
        HeatmapView view;
        view.resize(500, 400);
        view.append({triangle(0, 0.75F)});
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
    }
};

QTEST_MAIN(TestViews)
#include "tst_views.moc"
