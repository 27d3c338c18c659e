// SPDX-License-Identifier: GPL-3.0-or-later
// Which metrics the view offers: those of every run, and those that a run has recorded.
#include "tests/support/test_program.h"
#include "tests/visualizers/begun_run.h"
#include "visualizers/runs/metrics_view.h"

#include <QApplication>
#include <QComboBox>
#include <QTest>

using namespace residua::visualizers;

class TestMetricsView : public QObject {
    Q_OBJECT
private slots:
    void aRecordedQuantityIsOffered()
    {
        ShownRuns runs;
        MetricsView view(runs);
        begin(runs, "a", {.name = "first"});
        auto* choice = view.findChild<QComboBox*>("metric");
        const int before = choice->count();
        const residua::engine::Progress numbers{.steps = {{.step = 2, .loss = 1}},
                                                .rows = {{"distance/validation", 2, 0.5}}};
        runs.add("a", numbers);
        QCOMPARE(choice->count(), before + 1);
        QCOMPARE(choice->itemText(before), QString("validation distance"));
        choice->setCurrentIndex(before);
        QCOMPARE(view.csv(), QString("run,step,validation distance,smoothed\n\"first\",2,0.5,\n"));
        runs.add("a", {.rows = {{"distance/validation", 4, 0.25}, {"loss/validation", 4, 1}}});
        QCOMPARE(choice->count(), before + 1); // offered once; losses have their own view
        QVERIFY(view.csv().endsWith(",0.25,\n"));
    }
};

RESIDUA_TEST_IN(QApplication, TestMetricsView)
#include "tst_metrics_view.moc"
