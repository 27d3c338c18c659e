// SPDX-License-Identifier: GPL-3.0-or-later
// The window while its engine is killed in the middle of a run: it says so, and trains on with another.
#include "app/training/run_controller.h"
#include "tests/app/window_harness.h"
#include "tests/support/child_processes.h"
#include "tests/support/test_program.h"

#include <QAction>
#include <QApplication>
#include <QSignalSpy>

#include <csignal>

using namespace residua;
using namespace residua::app;

class TestKilledEngine : public WindowHarness {
    Q_OBJECT

private slots:
    void init() { openWindowOn(quickExample(1'000'000)); }

    void cleanup() { m_window.reset(); }

    void theWindowSaysItAndTrainsOn()
    {
        RunController& runs = m_window->runs();
        QSignalSpy ended(&runs, &RunController::ended);
        QSignalSpy progressed(&runs, &RunController::progressed);
        m_window->actions().run.run->trigger();
        QTRY_VERIFY(progressed.count() > 0);
        QCOMPARE(residua::tests::childProcesses().size(), std::size_t{1});
        const pid_t killed = *residua::tests::childProcesses().begin();
        ::kill(killed, SIGKILL);
        QTRY_COMPARE(ended.count(), 1);
        QCOMPARE(ended.front().front().value<engine::RunEnded>().status, engine::RunStatus::Interrupted);
        QTRY_VERIFY(m_window->bannerText().contains(QLatin1String("was ended by signal 9")));
        QVERIFY(m_window->bannerText().contains(QLatin1String("resume it")));
        QVERIFY(m_window->actions().run.run->isEnabled());

        progressed.clear();
        m_window->actions().run.run->trigger(); // with another engine
        QTRY_VERIFY(progressed.count() > 0);
        QVERIFY(!residua::tests::childProcesses().contains(killed));
        runs.stop();
        QTRY_COMPARE(ended.count(), 2);
        QCOMPARE(ended.back().front().value<engine::RunEnded>().status, engine::RunStatus::Stopped);
    }
};

RESIDUA_TEST_IN(QApplication, TestKilledEngine)
#include "tst_killed_engine.moc"
