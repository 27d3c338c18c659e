// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/test_program.h"
#include "visualizers/runs/curve_name.h"
#include "visualizers/runs/run_csv.h"
#include "visualizers/runs/run_curves.h"

#include <QTest>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using residua::engine::MetricPoint;
using residua::engine::StepRecord;
using namespace residua::visualizers;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kAll = 1'000'000;

StepRecord at(std::int64_t step, double loss)
{
    return {.step = step,
            .loss = loss,
            .learningRate = 1 / static_cast<double>(step),
            .gradientNorm = 0,
            .tokens = step * 64,
            .seconds = static_cast<double>(step) / 2};
}

RunCurves::Fields lossAndRate()
{
    return {{"loss", &StepRecord::loss}, {"rate", &StepRecord::learningRate}};
}

QString rowsOf(RunCurves& run, const std::vector<std::string>& names)
{
    QString text;
    QTextStream out(&text);
    std::vector<const Series*> beside;
    for (const std::string& name : names) {
        beside.push_back(&run.series(name));
    }
    RunRows(csvQuoted("a \"run\""), run.series("loss"), beside).write(out);
    out.flush();
    return text;
}

} // namespace

class TestRunCurves : public QObject {
    Q_OBJECT
private slots:
    /// A row's columns are found in their order, however many digits they have, and no metric or other row with them.
    void theCurvesOfARowAreFoundByColumn()
    {
        RunCurves run(lossAndRate());
        const CurveRow row("norms", 1);
        for (const std::int64_t column : {123'456, 9, 1}) {
            run.append(ColumnCurve(row, column), {{1, 2.0}});
        }
        run.append(ColumnCurve(CurveRow("norms", 0), 2), {{1, 2.0}});
        run.append(ColumnCurve(CurveRow("norms of gradients", 1), 3), {{1, 2.0}});
        run.append("norms/1/00004", {{1, 2.0}});
        QVERIFY((run.columnsOf(row) ==
                 std::vector<CurveName>{ColumnCurve(row, 1), ColumnCurve(row, 9), ColumnCurve(row, 123'456)}));
        QVERIFY(run.columnsOf(CurveRow("norms", 2)).empty());
    }

    /// A damaged record's times run to and fro; what is drawn against them goes one way.
    void timesAscend()
    {
        RunCurves run(lossAndRate());
        std::vector<StepRecord> steps;
        for (const double seconds : {2.0, kNaN, 1.0, kInfinity, -kInfinity, 3.0}) {
            steps.push_back(at(static_cast<std::int64_t>(steps.size()) + 1, 1));
            steps.back().seconds = seconds;
        }
        run.append(steps);
        run.setAxis(XAxis::Seconds);
        QCOMPARE(run.series("loss").raw().positions(2), (std::vector<double>{2, 2, 2, 2, 2, 3}));
    }

    void axesReadTheirField()
    {
        RunCurves run(lossAndRate());
        run.append({at(1, 3), at(2, 2)});
        run.append("validation", {{2, 2.5}});
        const Curve& loss = run.series("loss").raw();
        const Curve& validation = run.series("validation").raw();
        QCOMPARE(loss.at(1).x, 2.0);
        QCOMPARE(run.xOf(2), 2.0);
        run.setAxis(XAxis::Units);
        QCOMPARE(loss.at(1).x, 128.0);
        QCOMPARE(validation.at(0).x, 128.0);
        QCOMPARE(run.xOf(7), 128.0); // the last step at or before it
        run.setAxis(XAxis::Seconds);
        QCOMPARE(loss.at(1).x, 1.0);
        QCOMPARE(run.xOf(0), 0.0);
        run.setAxis(XAxis::Flop);
        run.setFlops({.perUnit = 1000});
        QCOMPARE(loss.at(1).x, 128'000.0);
        QCOMPARE(run.xOf(1), 64'000.0);
        QCOMPARE(run.series("rate").raw().at(1).x, 128'000.0);
    }

    /// Parts that a stage leaves out are not counted: two steps at half of the FLOP, then whole ones.
    void flopsAreThoseOfEachStep()
    {
        RunCurves run(lossAndRate());
        run.setFlops({.perUnit = 1000, .course = {{2, 0.5}, {4, 1}}});
        run.append({at(1, 3), at(2, 2), at(3, 1), at(4, 1)});
        run.append("validation", {{3, 2.5}});
        run.setAxis(XAxis::Flop);
        const Curve& loss = run.series("loss").raw();
        QCOMPARE(loss.at(0).x, 32'000.0);
        QCOMPARE(loss.at(1).x, 64'000.0);
        QCOMPARE(loss.at(2).x, 128'000.0);
        QCOMPARE(loss.at(3).x, 192'000.0);
        QCOMPARE(run.series("validation").raw().at(0).x, 128'000.0);
        QCOMPARE(run.xOf(2), 64'000.0);
        run.setAxis(XAxis::Units);
        QCOMPARE(loss.at(3).x, 256.0);
    }

    /// Steps that another project trained have the price that was paid for them.
    void flopsBeforeABranchAreThoseThatWereSpent()
    {
        RunCurves run(lossAndRate());
        run.setFlops({.perUnit = 1000, .recorded = {{2, 20'000}}});
        run.append({at(1, 3), at(2, 2), at(3, 1), at(4, 1)});
        run.setAxis(XAxis::Flop);
        const Curve& loss = run.series("loss").raw();
        QCOMPARE(loss.at(0).x, 10'000.0);
        QCOMPARE(loss.at(1).x, 20'000.0);
        QCOMPARE(loss.at(2).x, 84'000.0);
        QCOMPARE(loss.at(3).x, 148'000.0);
    }

    /// The minima and maxima above the points are those of every axis.
    void aChangeOfAxisKeepsEverySpike()
    {
        RunCurves run(lossAndRate());
        std::vector<StepRecord> steps;
        for (std::int64_t step = 1; step <= 20'000; ++step) {
            steps.push_back(at(step, step == 7777 ? 50 : 1));
        }
        run.append(steps);
        run.setAxis(XAxis::Seconds);
        const auto sample = run.series("loss").raw().sample(std::vector<double>{0, 2500, 5000, 7500, 10'000});
        QVERIFY(sample.line.size() <= 16);
        const auto spike = std::ranges::find(sample.line, 50.0, &Curve::Point::y);
        QVERIFY(spike != sample.line.end());
        QVERIFY(spike->x >= 2500 && spike->x < 5000);
    }

    void resumedRunTakesThePlaceOfWhatItRepeats()
    {
        RunCurves run(lossAndRate());
        run.append({at(1, 5), at(2, 4), at(3, 3), at(4, 2)});
        run.append("validation", {{2, 9}, {4, 8}});
        run.append({at(3, 30), at(4, 20)});
        QCOMPARE(run.series("validation").raw().values(), (std::vector<double>{9}));
        run.append("validation", {{4, 7}});
        QCOMPARE(run.series("loss").raw().values(), (std::vector<double>{5, 4, 30, 20}));
        QCOMPARE(run.series("rate").raw().size(), std::size_t{4});
        QCOMPARE(run.series("validation").raw().values(), (std::vector<double>{9, 7}));
    }

    /// Over at most a fifth of the points so far.
    void smoothingIsAMovingMean()
    {
        RunCurves run(lossAndRate());
        run.setWindow(2);
        Series& loss = run.series("loss");
        run.append({at(1, 4), at(2, 8)});
        QCOMPARE(loss.catchUp(kAll), std::size_t{2});
        run.append({at(3, 2)});
        QCOMPARE(loss.catchUp(kAll), std::size_t{1}); // the new point alone
        // Over 1, 1.2 and 1.4 points.
        QCOMPARE(loss.smooth().values().size(), std::size_t{3});
        QCOMPARE(loss.smooth().values()[0], 4.0);
        QCOMPARE(loss.smooth().values()[1], 4 + 4 / 1.2);
        QCOMPARE(loss.smooth().values()[2], 4 + 4 / 1.2 + (2 - (4 + 4 / 1.2)) / 1.4);
        run.append({at(2, 6)}); // resumed
        loss.catchUp(kAll);
        QCOMPARE(loss.smooth().values(), (std::vector<double>{4, 4 + 2 / 1.2}));
        run.setWindow(1);
        QCOMPARE(loss.catchUp(kAll), std::size_t{0});
        QCOMPARE(loss.smooth().size(), std::size_t{0});
    }

    /// A loss that falls steeply at first does not leave its first points in the mean: the mean of half the slider's
    /// way stays within a tenth of the fall.
    void smoothingFollowsASteepStart()
    {
        RunCurves run(lossAndRate());
        run.setWindow(std::pow(10.0, 1.5));
        std::vector<StepRecord> steps;
        for (std::int64_t step = 1; step <= 100; ++step) {
            steps.push_back(at(step, 3.2 + 3 * std::exp(-static_cast<double>(step) / 10)));
        }
        run.append(steps);
        Series& loss = run.series("loss");
        loss.catchUp(kAll);
        for (std::size_t i = 0; i < steps.size(); ++i) {
            QVERIFY(loss.smooth().values()[i] - loss.raw().values()[i] < 0.3);
        }
    }

    /// A long curve is averaged a piece at a time, to the same end.
    void smoothingInPiecesIsTheSame()
    {
        RunCurves run(lossAndRate());
        RunCurves pieces(lossAndRate());
        std::vector<StepRecord> steps;
        for (std::int64_t step = 1; step <= 100; ++step) {
            steps.push_back(at(step, std::sin(static_cast<double>(step))));
        }
        for (RunCurves* each : {&run, &pieces}) {
            each->setWindow(10);
            each->append(steps);
        }
        run.series("loss").catchUp(kAll);
        while (pieces.series("loss").catchUp(7) > 0) {
        }
        QCOMPARE(pieces.series("loss").smooth().values(), run.series("loss").smooth().values());
    }

    void brokenValuesArePassedOver()
    {
        RunCurves run(lossAndRate());
        run.setWindow(2);
        run.append({at(1, kNaN), at(2, 4), at(3, kInfinity), at(4, 4)});
        Series& loss = run.series("loss");
        loss.catchUp(kAll);
        QCOMPARE(loss.smooth().values(), (std::vector<double>{4, 4, 4}));
        QCOMPARE(loss.smooth().at(0).x, 2.0);
    }

    /// Every recorded value leaves as it came, spikes and what is not finite too.
    void rowsSayWhatWasRecorded()
    {
        RunCurves run(lossAndRate());
        run.setWindow(2);
        run.append({at(1, kNaN), at(2, 4), at(3, 1e30), at(4, -kInfinity)});
        run.append("validation", {{2, 2.5}, {4, 2.25}, {9, 2}});
        QCOMPARE(rowsOf(run, {"validation"}), QString("\"a \"\"run\"\"\",1,nan,,\n"
                                                      "\"a \"\"run\"\"\",2,4,4,2.5\n"
                                                      "\"a \"\"run\"\"\",3,1e+30,8.333333333333334e+29,\n"
                                                      "\"a \"\"run\"\"\",4,-inf,8.333333333333334e+29,2.25\n"
                                                      "\"a \"\"run\"\"\",9,,,2\n"));
        run.append("stage", {{3, 1.5}, {4, 1.25}});
        QCOMPARE(rowsOf(run, {"validation", "stage"}),
                 QString("\"a \"\"run\"\"\",1,nan,,,\n"
                         "\"a \"\"run\"\"\",2,4,4,2.5,\n"
                         "\"a \"\"run\"\"\",3,1e+30,8.333333333333334e+29,,1.5\n"
                         "\"a \"\"run\"\"\",4,-inf,8.333333333333334e+29,2.25,1.25\n"
                         "\"a \"\"run\"\"\",9,,,2,\n"));
        run.setWindow(1);
        run.setAxis(XAxis::Units);
        QCOMPARE(rowsOf(run, {}).section('\n', 1, 1), QString("\"a \"\"run\"\"\",2,128,4,"));
    }
};

RESIDUA_TEST(TestRunCurves)
#include "tst_run_curves.moc"
