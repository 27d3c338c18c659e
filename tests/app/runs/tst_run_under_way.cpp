// SPDX-License-Identifier: GPL-3.0-or-later
// The window's questions while a run is under way: before it closes, and if the disk is full.
#include "app/actions/training_commands.h"
#include "app/workspace/banner.h"
#include "engine/runs/results/remotes.h"
#include "engine/runs/results/run_reader.h"
#include "tests/app/runs/runs_harness.h"
#include "tests/support/background_engine.h"
#include "tests/support/child_processes.h"
#include "tests/support/full_disk.h"
#include "tests/support/test_program.h"

#include <QPushButton>
#include <QSignalSpy>

using namespace residua;
using namespace residua::app;

class TestRunUnderWay : public RunsHarness {
    Q_OBJECT

private slots:
    void init() { openWindowOn(quickExample()); }

    void cleanup()
    {
        m_window.reset();
        tests::endBackgroundEngine();
        QTRY_VERIFY(!tests::hasBackgroundEngine());
    }

    /// Ctrl+Q asks, however short the run has been, and the answer counts.
    void aRunIsAskedAboutBeforeTheWindowCloses()
    {
        QVERIFY(m_window->trainingCommands().mayClose()); // there is none
        m_window->runs().runSteps(3);
        QCOMPARE(m_window->runs().phase(), RunPhase::Starting);
        QTest::keyClick(m_window.get(), Qt::Key_Q, Qt::ControlModifier);
        auto* banner = m_window->findChild<Banner*>();
        QVERIFY2(banner->text().contains("about to begin"), qPrintable(banner->text()));
        QTest::mouseClick(banner->findChildren<QPushButton*>().at(1), Qt::LeftButton); // stay
        QTRY_COMPARE(m_window->runs().phase(), RunPhase::Paused);
        QTest::keyClick(m_window.get(), Qt::Key_Q, Qt::ControlModifier);
        QVERIFY2(banner->text().contains("step 3 of 8"), qPrintable(banner->text()));
        QTest::mouseClick(banner->findChildren<QPushButton*>().at(1), Qt::LeftButton); // stay
        QVERIFY(banner->text().isEmpty() && m_window->isVisible());
        QTest::keyClick(m_window.get(), Qt::Key_Q, Qt::ControlModifier);
        QTest::mouseClick(banner->findChildren<QPushButton*>().first(), Qt::LeftButton);
        QVERIFY(!m_window->isVisible());
    }

    /// Left in the background, the run is trained to its end by the background engine.
    void aRunIsLeftTraining()
    {
        openWindowOn(quickExample(400));
        m_window->runs().runSteps(3);
        QTRY_COMPARE(m_window->runs().phase(), RunPhase::Paused);
        const std::filesystem::path run = m_window->runs().runDirectory();
        QVERIFY(!m_window->trainingCommands().mayClose());
        QTest::mouseClick(m_window->findChild<Banner*>()->findChildren<QPushButton*>().at(2), Qt::LeftButton);
        QTRY_VERIFY(!m_window->isVisible());
        m_window.reset();
        const auto status = [&] {
            const auto reader = engine::RunReader::open(run);
            return reader ? reader->info()->status : engine::RunStatus::Failed;
        };
        const std::filesystem::path background = engine::backgroundRun(); // empty once the run has ended
        QVERIFY(background == run || status() == engine::RunStatus::Finished);
        QTRY_COMPARE(status(), engine::RunStatus::Finished);
        QCOMPARE(engine::RunReader::open(run)->info()->step, std::int64_t{400});
    }

    /// A run that cannot be written waits for the disk, and the banner has the way on.
    void aFullDiskPausesTheRun()
    {
        m_window->runs().runSteps(1);
        QTRY_COMPARE(m_window->runs().phase(), RunPhase::Paused);
        auto* banner = m_window->findChild<Banner*>();
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        {
            const tests::FullDisk full(1, *tests::childProcesses().begin());
            m_window->actions().run.run->trigger();
            QTRY_VERIFY(banner->text().contains("cannot be written"));
            QCOMPARE(m_window->runs().phase(), RunPhase::Paused);
        }
        QTest::mouseClick(banner->findChildren<QPushButton*>().first(), Qt::LeftButton); // go on
        QTRY_COMPARE(ended.count(), 1);
        QVERIFY(ended.first().first().value<engine::RunEnded>().status == engine::RunStatus::Finished);
        QVERIFY(banner->text().isEmpty());
    }
};

RESIDUA_TEST_IN(QApplication, TestRunUnderWay)
#include "tst_run_under_way.moc"
