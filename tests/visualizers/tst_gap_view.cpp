// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/test_program.h"
#include "tests/visualizers/begun_run.h"
#include "visualizers/gap/gap_bars.h"
#include "visualizers/gap/gap_view.h"
#include "visualizers/gap/start_losses.h"

#include <QApplication>
#include <QSplitter>
#include <QTest>

#include <qcustomplot.h>

#include <algorithm>
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
        runs.setStages("a", {{.step = 0, .name = "6 of 12 layers", .note = {}}});
        QVERIFY(shows("6 of 12 layers"));
        runs.addStages("a", {{.step = 5, .name = "12 layers", .note = {}}});
        QVERIFY(shows("12 layers"));
    }
};

RESIDUA_TEST_IN(QApplication, TestGapView)
#include "tst_gap_view.moc"
