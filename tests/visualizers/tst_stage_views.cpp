// SPDX-License-Identifier: GPL-3.0-or-later
// What the plots of a run show of its stages: bands, the transitions, and the validation of what a stage trains.
#include "engine/results/run_reader.h"
#include "tests/support/test_program.h"
#include "tests/visualizers/begun_run.h"
#include "tests/visualizers/legend_of.h"
#include "visualizers/runs/loss_view.h"

#include <QApplication>
#include <QSlider>
#include <QTableView>
#include <QTest>

#include <qcustomplot.h>

#include <vector>

using namespace residua::visualizers;
using residua::engine::StepRecord;

namespace {

std::vector<StepRecord> stepsOf(std::int64_t from, std::int64_t to)
{
    std::vector<StepRecord> steps;
    for (std::int64_t step = from; step <= to; ++step) {
        steps.push_back({.step = step, .loss = 1 + 4.0 / static_cast<double>(step)});
    }
    return steps;
}

/// Wide enough for whole names.
void show(LossView& view)
{
    view.resize(1400, 700);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
}

} // namespace

class TestStageViews : public QObject {
    Q_OBJECT
private slots:
    /// The validation of what a stage trains is a curve of its own, in the legend and among the exported numbers, but
    /// only where a run has recorded one.
    void theStageHasItsOwnValidationCurve()
    {
        ShownRuns runs;
        LossView view(runs);
        show(view);
        view.findChild<QSlider*>("smoothing")->setValue(0);
        begin(runs, "a", {.name = "first"});
        runs.add("a", {.steps = stepsOf(1, 4), .validations = {{2, 2.5}, {4, 2.25}}});
        QCOMPARE(legendOf(view), (QStringList{"first", "training", "validation"}));
        QCOMPARE(view.csv().section('\n', 0, 0), QString("run,step,training,smoothed,validation"));
        const auto drawnWith = [&view](Qt::PenStyle line) {
            auto* plot = view.findChild<QCustomPlot*>();
            plot->replot();
            int points = 0;
            for (int i = 0; i < plot->graphCount(); ++i) {
                points += plot->graph(i)->pen().style() == line ? plot->graph(i)->dataCount() : 0;
            }
            return points;
        };
        QCOMPARE(drawnWith(Qt::DotLine), 0);
        runs.add("a", {.metrics = {{residua::engine::metric::kStageLoss, {{2, 2.75}, {4, 2.5}}}}});
        QCOMPARE(legendOf(view), (QStringList{"first", "training", "validation", "validation of the stage"}));
        QCOMPARE(drawnWith(Qt::DotLine), 2);
        const QStringList lines = view.csv().split('\n');
        QCOMPARE(lines[0], QString("run,step,training,smoothed,validation,validation of the stage"));
        QCOMPARE(lines[1], QString("\"first\",1,5,,,"));
        QCOMPARE(lines[2], QString("\"first\",2,3,,2.5,2.75"));
        runs.add("a", {.steps = stepsOf(2, 3)}); // gone on with from an earlier checkpoint
        QCOMPARE(legendOf(view), (QStringList{"first"}));
    }

    /// Where runs differ in their seeds alone, one curve is the mean of the stage's loss, as it is of the other losses.
    void seedsShareTheCurveOfTheStage()
    {
        ShownRuns runs;
        LossView view(runs);
        show(view);
        for (const char* const run : {"a", "b"}) {
            begin(runs, run, {.name = QString("staged-%1").arg(run), .study = "staged"});
            runs.add(run, {.steps = stepsOf(1, 4),
                           .validations = {{2, 2.5}},
                           .metrics = {{residua::engine::metric::kStageLoss, {{2, *run == 'a' ? 2.0 : 3.0}}}}});
        }
        QCOMPARE(legendOf(view), (QStringList{"staged, 2 seeds", "training", "validation", "validation of the stage"}));
    }

    /// What the run took at the border is shown as it is, not as a mean of the steps around it.
    void theTableHasTheLossesThatTheRunTook()
    {
        ShownRuns runs;
        LossView view(runs);
        begin(runs, "a");
        runs.add("a", {.steps = stepsOf(1, 50)});
        runs.setStages("a", {{.step = 0, .name = "6 of 12 layers", .note = {}},
                             {.step = 20,
                              .name = "12 layers",
                              .trainBefore = 2.5,
                              .trainAfter = 2.75,
                              .validationBefore = 3.5,
                              .validationAfter = 3.25,
                              .note = {}}});
        const QAbstractItemModel* const model = view.findChild<QTableView*>()->model();
        const auto cell = [model](int row, int column) { return model->index(row, column).data().toString(); };
        QStringList row;
        for (int column = 0; column < 8; ++column) {
            row << cell(1, column);
        }
        QCOMPARE(row, (QStringList{"20", "12 layers", "30", "2.5000", "2.7500", "+0.2500", "3.5000", "3.2500"}));
        QCOMPARE(cell(0, 3), QString::fromUtf8("–")); // nothing comes before the first
        runs.addStages(
            "a", {{.step = 20, .name = "12 layers", .trainBefore = 2, .trainAfter = 1.75, .note = {}}}); // resumed
        QCOMPARE(model->rowCount(), 2);
        QCOMPARE(cell(1, 5), QString("-0.2500"));
        QCOMPARE(cell(1, 6), QString::fromUtf8("–"));
    }
};

RESIDUA_TEST_IN(QApplication, TestStageViews)
#include "tst_stage_views.moc"
