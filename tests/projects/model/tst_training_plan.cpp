// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/model/training_plan.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>

using namespace residua::projects;

class TestTrainingPlan : public QObject {
    Q_OBJECT

private slots:
    void learningRate_data();
    void learningRate();
    void fallsInTheLastStage();
    void noWarmup();
};

void TestTrainingPlan::learningRate_data()
{
    QTest::addColumn<int>("curve");
    QTest::addColumn<qint64>("step");
    QTest::addColumn<double>("expected");
    const auto row = [](const char* name, RateCurve curve, qint64 step, double expected) {
        QTest::addRow("%s, step %lld", name, static_cast<long long>(step))
            << static_cast<int>(curve) << step << expected;
    };
    // Peak 2 after 100 of 500 steps, a tenth of it at the end.
    row("warm-up", RateCurve::Cosine, 1, 0.02);
    row("warm-up", RateCurve::Linear, 50, 1.0);
    row("peak", RateCurve::Cosine, 100, 2.0);
    row("cosine", RateCurve::Cosine, 300, 0.2 + 1.8 * 0.5);
    row("cosine", RateCurve::Cosine, 200, 0.2 + 1.8 * 0.5 * (1 + std::sqrt(0.5)));
    row("cosine", RateCurve::Cosine, 500, 0.2);
    row("linear", RateCurve::Linear, 200, 0.2 + 1.8 * 0.75);
    row("linear", RateCurve::Linear, 500, 0.2);
    row("constant", RateCurve::Constant, 500, 2.0);
    row("inverse square root", RateCurve::InverseSquareRoot, 400, 1.0);
}

void TestTrainingPlan::learningRate()
{
    QFETCH(int, curve);
    QFETCH(qint64, step);
    QFETCH(double, expected);
    TrainingPlan plan;
    plan.steps = 500;
    plan.learningRate = {2.0, 100, static_cast<RateCurve>(curve), 0.1};
    QVERIFY2(std::abs(learningRateAt(plan, {}, step) - expected) < 1e-12,
             qPrintable(QString::number(learningRateAt(plan, {}, step), 'g', 17)));
}

/// Constant until the last stage begins, and down to its end from there (RaPTr, appendix D).
void TestTrainingPlan::fallsInTheLastStage()
{
    TrainingPlan plan;
    plan.steps = 400;
    plan.learningRate = {2.0, 50, RateCurve::Linear, 0.0, RateDecay::InLastStage};
    const StageSchedule schedule{.stages = {{0, 6, {}}, {100, 8, {}}, {300, 12, {}}}};
    QCOMPARE(learningRateAt(plan, schedule, 25), 1.0);
    QCOMPARE(learningRateAt(plan, schedule, 51), 2.0);
    QCOMPARE(learningRateAt(plan, schedule, 300), 2.0);
    QCOMPARE(learningRateAt(plan, schedule, 350), 1.0);
    QCOMPARE(learningRateAt(plan, schedule, 400), 0.0);
    QVERIFY(learningRateAt(plan, {}, 300) < 1.0);
}

void TestTrainingPlan::noWarmup()
{
    TrainingPlan plan;
    plan.steps = 10;
    plan.learningRate = {1.0, 0, RateCurve::InverseSquareRoot, 0.0};
    QCOMPARE(learningRateAt(plan, {}, 1), 1.0);
    QCOMPARE(learningRateAt(plan, {}, 4), 0.5);
    plan.learningRate.curve = RateCurve::Linear;
    QCOMPARE(learningRateAt(plan, {}, 10), 0.0);
}

RESIDUA_TEST(TestTrainingPlan)
#include "tst_training_plan.moc"
