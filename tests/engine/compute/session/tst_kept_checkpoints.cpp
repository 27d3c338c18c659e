// SPDX-License-Identifier: GPL-3.0-or-later
// Which checkpoints a training leaves, over a stop and what comes after it. The rule itself: tst_checkpoint.
#include "run_harness.h"

#include "engine/runs/results/run_reader.h"
#include "engine/runs/store/checkpoint.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <set>

using namespace residua;
using namespace residua::engine;

class TestKeptCheckpoints : public QObject {
    Q_OBJECT

private slots:
    void checkpointsAreKeptByTheirLoss()
    {
        const std::filesystem::path run = std::filesystem::path(m_folder.path().toStdString()) / "run";
        // Stopped in between: what was found best before is known after.
        QVERIFY(tests::trainTo(project(), run, 15));
        QCOMPARE(tests::resumeToEnd(run), std::string());
        const auto reader = RunReader::open(run);
        const auto losses = reader->metric(metric::kValidationLoss);
        const auto best = std::ranges::min_element(losses, {}, &MetricPoint::value);
        QVERIFY(best != losses.end());
        const std::set<std::int64_t> expected{10, 20, 30, best->step};
        const auto steps = reader->checkpoints();
        QCOMPARE(std::set<std::int64_t>(steps.begin(), steps.end()), expected);
        QCOMPARE(*loadCheckpoint(run, best->step, nullptr)->state.judged, best->value);
    }

    /// The judged tower's objective is the run's loss, over a stop too. The run trains as if the first tower judged.
    void theTowerThatJudgesSaysWhichIsBest()
    {
        projects::Project made = project();
        projects::Tower other{made.network};
        other.network.name = "other";
        other.network.stack().segments.front().repeat += 1;
        made.towers = {other};
        const std::filesystem::path folder(m_folder.path().toStdString());
        QCOMPARE(tests::lossesOf(made, folder / "first").size(), std::size_t{30});
        made.training.judgedBy = "other";
        QVERIFY(tests::trainTo(made, folder / "other", 15));
        QCOMPARE(tests::resumeToEnd(folder / "other"), std::string());
        const auto first = RunReader::open(folder / "first");
        const auto judged = RunReader::open(folder / "other");
        const auto losses = judged->metric(metric::kValidationLoss);
        const auto wanted = first->metric("loss of other/validation");
        QVERIFY(!losses.empty() && std::ranges::equal(losses, wanted, {}, &MetricPoint::value, &MetricPoint::value));
        QVERIFY(!std::ranges::equal(losses, first->metric(metric::kValidationLoss), {}, &MetricPoint::value,
                                    &MetricPoint::value));
        const auto best = std::ranges::min_element(losses, {}, &MetricPoint::value);
        QCOMPARE(*bestCheckpoint(folder / "other", judged->info()->judge()), best->step);
        QCOMPARE(*loadCheckpoint(folder / "other", best->step, nullptr)->state.judged, best->value);
        QCOMPARE(judged->info()->judged(), losses.back().value);
    }

private:
    static projects::Project project()
    {
        projects::Project made = tests::quickLanguage(30);
        made.training.accumulate = 2;
        made.training.checkpointEvery = 2;
        made.training.validateEvery = 2;
        made.training.keepCheckpoints = 1;
        made.training.keepEvery = 10;
        made.training.keepBest = 1;
        return made;
    }

    QTemporaryDir m_folder;
};

RESIDUA_TEST(TestKeptCheckpoints)
#include "tst_kept_checkpoints.moc"
