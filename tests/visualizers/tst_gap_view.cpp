// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/test_program.h"
#include "tests/visualizers/begun_run.h"
#include "visualizers/gap/gap_bars.h"
#include "visualizers/gap/gap_view.h"
#include "visualizers/gap/start_losses.h"

#include <QApplication>
#include <QComboBox>
#include <QScrollBar>
#include <QSplitter>
#include <QTableView>
#include <QTest>

#include <qcustomplot.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace residua::visualizers;

class TestGapView : public QObject {
    Q_OBJECT
private slots:
    /// The losses from each start: below the bars where there is room, else beside them; each has its share.
    void theGapsLossesHaveTheirShare()
    {
        ShownRuns runs;
        GapView view(runs);
        view.resize(900, 620);
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        auto* losses = view.findChild<StartLosses*>();
        QVERIFY(!losses->isVisible());
        QVERIFY(!view.findChild<GapBars*>()->axisRect()->visible()); // no empty figure
        begin(runs, "a", {.name = "first", .start = residua::projects::LowRankMethod::Spectral});
        std::vector<residua::engine::StepRecord> steps;
        for (std::int64_t step = 1; step <= 20; ++step) {
            steps.push_back({.step = step, .loss = 1.0 / static_cast<double>(step), .tokens = step});
        }
        runs.add("a", {.steps = steps});
        QVERIFY(losses->isVisible());
        auto* split = view.findChild<QSplitter*>(QStringLiteral("gapSplit"));
        QTRY_VERIFY(std::min(split->sizes()[0], split->sizes()[1]) > 150);
        QCOMPARE(split->orientation(), Qt::Vertical);
        view.resize(900, 240);
        QTRY_COMPARE(split->orientation(), Qt::Horizontal);
        QTRY_VERIFY(std::min(split->sizes()[0], split->sizes()[1]) > 150);
        QVERIFY(losses->height() > 80);
    }

    /// In a narrow panel one part has the whole width, and every bar is wide enough to be seen.
    void aNarrowPanelShowsOnePart()
    {
        ShownRuns runs;
        GapView view(runs);
        view.resize(600, 240);
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        residua::engine::Gap gap;
        gap.methods = {residua::projects::LowRankMethod::Spectral, residua::projects::LowRankMethod::ReluSvd,
                       residua::projects::LowRankMethod::Exact};
        for (int layer = 1; layer <= 126; ++layer) {
            residua::engine::GapWeight weight;
            weight.name = "layers." + std::to_string(layer) + ".up";
            gap.weights.push_back(weight);
        }
        gap.fits.resize(gap.weights.size() * gap.methods.size());
        gap.outputs.resize(gap.methods.size());
        view.setGap(gap);
        auto* bars = view.findChild<GapBars*>();
        const auto* table = view.findChild<QTableView*>(QStringLiteral("gapTable"));
        auto* part = view.findChild<QComboBox*>(QStringLiteral("gapPart"));
        QVERIFY(part->isVisible() && bars->isVisible() && !table->isVisible());
        QTRY_VERIFY(bars->width() > 500);
        auto* scroll = view.findChild<QScrollBar*>(QStringLiteral("gapScroll"));
        QTRY_VERIFY(scroll->isVisible());
        const auto bar = [bars] { return bars->axisRect()->width() / bars->xAxis->range().size() / 3; };
        QVERIFY2(bar() >= 2, qPrintable(QString::number(bar())));
        scroll->setValue(scroll->maximum());
        QVERIFY(bars->xAxis->range().contains(125));
        part->setCurrentIndex(1);
        QVERIFY(table->isVisible() && !bars->isVisible());
        view.resize(1200, 240);
        QTRY_VERIFY(table->isVisible() && bars->isVisible() && !part->isVisible());
    }

    /// The losses from each start have the stages of training as bands, as the other losses have.
    void theLossesFromAStartShowItsStages()
    {
        ShownRuns runs;
        GapView view(runs);
        begin(runs, "a", {.name = "first", .start = residua::projects::LowRankMethod::Spectral});
        runs.add("a", {.steps = {{.step = 1, .loss = 2}, {.step = 9, .loss = 1}}});
        view.resize(900, 600);
        view.show();
        auto* plot = view.findChild<StartLosses*>()->findChild<QCustomPlot*>();
        const auto shows = [plot](const QString& text) {
            plot->replot();
            const auto items = plot->findChildren<QCPItemText*>();
            return std::ranges::any_of(items, [&](const QCPItemText* item) { return item->text() == text; });
        };
        runs.add("a", {.stages = {{.step = 0, .name = "6 of 12 layers", .note = {}}}});
        QVERIFY(shows("6 of 12 layers"));
        runs.add("a", {.stages = {{.step = 5, .name = "12 layers", .note = {}}}});
        QVERIFY(shows("12 layers"));
    }
};

RESIDUA_TEST_IN(QApplication, TestGapView)
#include "tst_gap_view.moc"
