// SPDX-License-Identifier: GPL-3.0-or-later
// Figure 2 at a small scale: the loss after training against the error of the start's fit.
#include "engine/maths/lowrank/start_and_loss.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <vector>

using namespace residua::engine;

namespace {

StartStudy smallStudy()
{
    StartStudy study;
    study.width = 32;
    study.samples = 600;
    study.held = 300;
    study.steps = 150;
    study.networks = 2;
    return study;
}

} // namespace

class TestStartAndLoss : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void moreStepsFitCloser_data()
    {
        QTest::addColumn<int>("method");
        QTest::newRow("warm") << static_cast<int>(LowRankMethod::LfaiWs);
        QTest::newRow("from the draw") << static_cast<int>(LowRankMethod::Lfai);
    }
    void moreStepsFitCloser()
    {
        QFETCH(int, method);
        const std::vector<std::int64_t> steps{0, 8, 32};
        StartStudy study = smallStudy();
        study.method = static_cast<LowRankMethod>(method);
        const auto points = lossByStart(study, steps, 1);
        QVERIFY(points.ok());
        QCOMPARE(points->size(), std::size_t{3});
        for (std::size_t k = 0; k < 3; ++k) {
            const StartPoint& point = (*points)[k];
            QCOMPARE(point.fitSteps, steps[k]);
            QVERIFY(k == 0 || point.fitError < (*points)[k - 1].fitError);
            QVERIFY(point.loss > 0 && point.loss < 0.8 * point.lossAtStart);
            QVERIFY(point.lossError > 0 && point.lossError < point.loss);
        }
    }

    void sameNumbersOnAnyThreads()
    {
        const std::vector<std::int64_t> steps{0, 4};
        const auto one = lossByStart(smallStudy(), steps, 1);
        const auto three = lossByStart(smallStudy(), steps, 3);
        QVERIFY(one.ok() && three.ok());
        for (std::size_t k = 0; k < 2; ++k) {
            QCOMPARE((*one)[k].loss, (*three)[k].loss);
            QCOMPARE((*one)[k].fitError, (*three)[k].fitError);
        }
        StartStudy other = smallStudy();
        other.seed = 1;
        QVERIFY(lossByStart(other, steps, 1)->front().loss != one->front().loss);
    }

    void badInput()
    {
        const std::vector<std::int64_t> steps{0};
        StartStudy none = smallStudy();
        none.networks = 0;
        QVERIFY(lossByStart(none, steps, 1).error().message.find("expected at least 1") != std::string::npos);
        StartStudy exact = smallStudy();
        exact.method = LowRankMethod::Exact;
        QVERIFY(lossByStart(exact, steps, 1).error().message.find("expected lfai or lfai-ws") != std::string::npos);
        StartStudy scale = smallStudy();
        scale.rankScale = 0;
        QVERIFY(lossByStart(scale, steps, 1).error().message.find("rank scale") != std::string::npos);
        const std::vector<std::int64_t> negative{-1};
        QVERIFY(lossByStart(smallStudy(), negative, 1).error().message.find("got -1 steps") != std::string::npos);
        std::stop_source stop;
        stop.request_stop();
        QCOMPARE(lossByStart(smallStudy(), steps, 1, stop.get_token()).error().message, stoppedFit().message);
    }
};

RESIDUA_TEST(TestStartAndLoss)
#include "tst_start_and_loss.moc"
