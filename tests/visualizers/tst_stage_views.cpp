// SPDX-License-Identifier: GPL-3.0-or-later
// The stages in the plots of a run: bands, the transitions, and the validation of the parts that a stage trains.
#include "engine/runs/results/run_reader.h"
#include "tests/support/test_program.h"
#include "tests/visualizers/begun_run.h"
#include "tests/visualizers/legend_of.h"
#include "visualizers/runs/loss_view.h"

#include <QApplication>
#include <QComboBox>
#include <QSet>
#include <QSlider>
#include <QTableView>
#include <QTest>

#include <qcustomplot.h>

#include <algorithm>
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
        runs.add("a", {.steps = stepsOf(1, 4),
                       .rows = {{residua::engine::metric::kValidationLoss, 2, 2.5},
                                {residua::engine::metric::kValidationLoss, 4, 2.25}}});
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
        runs.add("a", {.rows = {{residua::engine::metric::kStageLoss, 2, 2.75},
                                {residua::engine::metric::kStageLoss, 4, 2.5}}});
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
        group(runs, {{"staged", {"a", "b"}}});
        for (const char* const run : {"a", "b"}) {
            begin(runs, run, {.name = QString("staged-%1").arg(run)});
            runs.add(run, {.steps = stepsOf(1, 4),
                           .rows = {{residua::engine::metric::kValidationLoss, 2, 2.5},
                                    {residua::engine::metric::kStageLoss, 2, *run == 'a' ? 2.0 : 3.0}}});
        }
        QCOMPARE(legendOf(view), (QStringList{"staged, 2 seeds", "training", "validation", "validation of the stage"}));
    }

    /// The losses at the border are shown as they are, not as a mean of the steps around it.
    void theTableHasTheLossesThatTheRunTook()
    {
        ShownRuns runs;
        LossView view(runs);
        begin(runs, "a");
        runs.add("a", {.steps = stepsOf(1, 50)});
        runs.add("a", {.stages = {{.step = 0, .name = "6 of 12 layers", .note = {}},
                                  {.step = 20,
                                   .name = "12 layers",
                                   .trainBefore = 2.5,
                                   .trainAfter = 2.75,
                                   .validationBefore = 3.5,
                                   .validationAfter = 3.25,
                                   .note = {}}}});
        const QAbstractItemModel* const model = view.findChild<QTableView*>()->model();
        const auto cell = [model](int row, int column) { return model->index(row, column).data().toString(); };
        QStringList row;
        for (int column = 0; column < 8; ++column) {
            row << cell(1, column);
        }
        QCOMPARE(row, (QStringList{"20", "12 layers", "30", "2.5000", "2.7500", "+0.2500", "3.5000", "3.2500"}));
        QCOMPARE(cell(0, 3), QString::fromUtf8("–")); // nothing comes before the first
        runs.add("a",
                 {.stages = {
                      {.step = 20, .name = "12 layers", .trainBefore = 2, .trainAfter = 1.75, .note = {}}}}); // resumed
        QCOMPARE(model->rowCount(), 2);
        QCOMPARE(cell(1, 5), QString("-0.2500"));
        QCOMPARE(cell(1, 6), QString::fromUtf8("–"));
    }

    /// Of several staged runs, bands and table are of the one in front, which they name, or of one that is chosen.
    void theStagesAreThoseOfTheRunInFront()
    {
        ShownRuns runs;
        LossView view(runs);
        show(view);
        for (const char* const run : {"a", "b", "plain"}) {
            begin(runs, run, {.name = QString("run %1").arg(run)});
            runs.add(run, {.steps = stepsOf(1, 50)});
        }
        runs.add("a", {.stages = {{.step = 0, .name = "a one", .note = {}}}});
        runs.add("b",
                 {.stages = {{.step = 0, .name = "b one", .note = {}}, {.step = 25, .name = "b two", .note = {}}}});
        const QAbstractItemModel* const model = view.findChild<QTableView*>()->model();
        const auto header = [model] { return model->headerData(1, Qt::Horizontal).toString(); };
        QSet<QString> heads; // each names one thing
        for (int column = 0; column < model->columnCount(); ++column) {
            heads << model->headerData(column, Qt::Horizontal).toString();
        }
        QCOMPARE(heads.size(), qsizetype{model->columnCount()});
        auto* choice = view.findChild<QComboBox*>("stagesOf");
        QVERIFY(choice->isVisible());
        runs.bringToFront("b");
        QCOMPARE(bandsOf(view), (QStringList{"b one", "b two"}));
        QCOMPARE(legendOf(view).back(), QString("stages of run b"));
        QCOMPARE(choice->currentText(), QString("stages of run b"));
        QCOMPARE(header(), QString("stage of run b"));
        QCOMPARE(model->rowCount(), 2);
        choice->setCurrentIndex(0);
        QCOMPARE(bandsOf(view), QStringList("a one"));
        QCOMPARE(header(), QString("stage of run a"));
        QCOMPARE(model->rowCount(), 1);
        runs.bringToFront("plain"); // it has none: those of another are named
        QCOMPARE(choice->currentText(), QString("stages of run a"));
        runs.bringToFront("b");
        QCOMPARE(choice->currentText(), QString("stages of run b"));
        choice->setCurrentIndex(2);
        QCOMPARE(bandsOf(view), QStringList());
        QCOMPARE(model->rowCount(), 0);
        choice->setCurrentIndex(1);
        runs.removeOverlay("a");
        runs.removeOverlay("plain");
        QCOMPARE(legendOf(view).back(), QString("run b")); // alone it needs no name
    }

    void namesOfBandsCoverNoOther()
    {
        ShownRuns runs;
        LossView view(runs);
        begin(runs, "a", {.name = "a run"});
        runs.add("a", {.steps = stepsOf(1, 400)});
        std::vector<residua::engine::StageRecord> stages;
        for (const std::int64_t step : {0, 20, 40, 60, 65, 70, 300}) {
            stages.push_back({.step = step, .name = std::to_string(step) + " of 400 layers", .note = {}});
        }
        runs.add("a", {.stages = stages});
        for (const int width : {300, 700, 1400}) {
            view.resize(width, 500);
            view.show();
            QVERIFY(QTest::qWaitForWindowExposed(&view));
            auto* plot = view.findChild<QCustomPlot*>();
            plot->replot();
            std::vector<QRectF> taken{QRectF(plot->findChild<PlotLegend*>()->outerRect())};
            for (const QCPItemText* label : labelsOf(view)) {
                const QRectF place(label->topLeft->pixelPosition(), label->bottomRight->pixelPosition());
                QVERIFY(std::ranges::none_of(taken, [&](const QRectF& other) { return other.intersects(place); }));
                QVERIFY(place.right() <= plot->axisRect()->right() + 1);
                taken.push_back(place);
            }
            QVERIFY(taken.size() > 1);
        }
    }

private:
    static std::vector<const QCPItemText*> labelsOf(const LossView& view)
    {
        std::vector<const QCPItemText*> labels;
        auto* plot = view.findChild<QCustomPlot*>();
        plot->replot();
        for (int i = 0; i < plot->itemCount(); ++i) {
            const auto* text = qobject_cast<const QCPItemText*>(plot->item(i));
            if (text && text->visible()) {
                labels.push_back(text);
            }
        }
        return labels;
    }

    static QStringList bandsOf(const LossView& view)
    {
        QStringList names;
        for (const QCPItemText* label : labelsOf(view)) {
            names << label->text();
        }
        return names;
    }
};

RESIDUA_TEST_IN(QApplication, TestStageViews)
#include "tst_stage_views.moc"
