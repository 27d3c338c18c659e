// SPDX-License-Identifier: GPL-3.0-or-later
// A run in the background: it outlives the window, and the next window shows it as its own and steers it.
#include "app/actions/training_commands.h"
#include "app/runs/remotes_dialog.h"
#include "app/training/run_controller.h"
#include "app/workspace/workspace.h"
#include "engine/runs/results/remotes.h"
#include "engine/runs/results/run_reader.h"
#include "tests/app/window_harness.h"
#include "tests/support/background_engine.h"
#include "tests/support/test_program.h"

#include <QAction>
#include <QApplication>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableWidget>
#include <QToolButton>

#include <algorithm>
#include <csignal>

using namespace residua;
using namespace residua::app;

class TestBackgroundRun : public WindowHarness {
    Q_OBJECT

private slots:
    void init()
    {
        openWindowOn(quickExample(1'000'000));
        trainInBackground();
    }

    void cleanup()
    {
        m_window.reset();
        tests::endBackgroundEngine();
        QTRY_VERIFY(!tests::hasBackgroundEngine());
    }

    void theNextWindowFindsAndSteersIt()
    {
        const std::filesystem::path run = m_window->runs().runDirectory();
        QVERIFY(m_window->trainingCommands().mayClose()); // asks nothing
        openWindow();
        m_window->openProject(m_project);
        RunController& runs = m_window->runs();
        QSignalSpy progressed(&runs, &RunController::progressed);
        QTRY_COMPARE(runs.phase(), RunPhase::Running);
        QCOMPARE(runs.runDirectory(), run);
        QVERIFY(runs.isOfDocument());
        QTRY_VERIFY(progressed.count() > 0);
        QTRY_COMPARE(m_window->workspace().shownRuns().front(), run.string());
        m_window->actions().run.pause->trigger();
        QTRY_COMPARE(runs.phase(), RunPhase::Paused);
        const std::int64_t paused = runs.progress().step;
        m_window->actions().run.step->trigger();
        QTRY_COMPARE(runs.progress().step, paused + 1);
        QSignalSpy ended(&runs, &RunController::ended);
        m_window->actions().run.stop->trigger();
        QTRY_COMPARE(ended.count(), 1);
        QCOMPARE(ended[0][0].value<engine::RunEnded>().status, engine::RunStatus::Stopped);
        QVERIFY(engine::backgroundRun().empty());
    }

    /// Leaving the place leaves the run, and coming back finds it.
    void theWindowLeavesItAndComesBack()
    {
        RunController& runs = m_window->runs();
        const std::filesystem::path run = runs.runDirectory();
        runs.setPlace({});
        QCOMPARE(runs.phase(), RunPhase::Idle);
        QCOMPARE(engine::backgroundRun(), run);
        runs.setPlace(engine::backgroundRemote());
        QTRY_COMPARE(runs.phase(), RunPhase::Running);
        QCOMPARE(runs.runDirectory(), run);
    }

    /// The place is the project's, and the bar shows it before Run.
    void aPlaceIsOfItsProject()
    {
        RunController& runs = m_window->runs();
        m_window->findChild<QAction*>("trainInBackground")->trigger();
        auto* place = m_window->findChild<QToolButton*>("placeChooser");
        QTRY_VERIFY(place->isVisible());
        QCOMPARE(place->text(), QString("in the background"));
        const std::filesystem::path run = runs.runDirectory();
        const std::filesystem::path other = folder("other");
        QVERIFY(projects::saveProject(other, {quickExample(), {}}).ok());
        m_window->openProject(other);
        QTRY_VERIFY(!place->isVisible()); // the bar lays its items out later
        QVERIFY(runs.place() == engine::EngineRemote{});
        QCOMPARE(engine::backgroundRun(), run); // it continues
        m_window->openProject(m_project);
        QTRY_VERIFY(place->isVisible());
        QTRY_COMPARE(runs.phase(), RunPhase::Running);
        QCOMPARE(runs.runDirectory(), run);
    }

    /// It trains nothing, so another project need not wait for it.
    void aStoppedQueueKeepsNoPlace()
    {
        RunController& runs = m_window->runs();
        m_window->findChild<QAction*>("trainInBackground")->trigger();
        runs.enqueue();
        QCOMPARE(runs.queued(), std::size_t{1});
        const std::filesystem::path other = folder("other");
        QVERIFY(projects::saveProject(other, {quickExample(), {}}).ok());
        m_window->openProject(other);
        QVERIFY(runs.place() == engine::backgroundRemote()); // the queued run is for it
        runs.stop();
        QTRY_VERIFY(runs.place() == engine::EngineRemote{});
        QCOMPARE(runs.queued(), std::size_t{1});
        QVERIFY(engine::backgroundRun().empty()); // it has ended
        runs.clearQueue();
    }

    void aWindowThatTrainsKeepsItsPlace()
    {
        RunController& runs = m_window->runs();
        runs.setPlace({});
        m_window->actions().run.run->trigger();
        QTRY_COMPARE(runs.phase(), RunPhase::Running);
        QVERIFY(!runs.mayChangePlace());
        runs.setPlace(engine::backgroundRemote());
        QCOMPARE(runs.phase(), RunPhase::Running);
        QVERIFY(m_window->bannerText().contains("Another run is under way"));
        runs.stop();
        QTRY_COMPARE(runs.phase(), RunPhase::Idle);
    }

    void theWindowSurvivesTheEngine()
    {
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        ::kill(tests::backgroundEngine(), SIGKILL);
        QTRY_COMPARE(ended.count(), 1);
        QCOMPARE(ended[0][0].value<engine::RunEnded>().status, engine::RunStatus::Interrupted);
        QTRY_VERIFY(m_window->bannerText().contains("in the background ended"));
        QVERIFY(m_window->actions().run.run->isEnabled());
    }

    /// A command line gets its name in a dialog, and is then a choice of the menu.
    void aPlaceIsNamed()
    {
        qputenv("XDG_CONFIG_HOME", folder("config").c_str());
        menu()->actions().last()->trigger();
        auto* dialog = m_window->findChild<RemotesDialog*>();
        QVERIFY(dialog);
        auto* table = dialog->findChild<QTableWidget*>();
        QCOMPARE(table->rowCount(), 0);
        for (QPushButton* button : dialog->findChildren<QPushButton*>()) {
            if (button->text() == "&Add") {
                button->click();
            }
        }
        QCOMPARE(table->rowCount(), 1);
        table->item(0, 0)->setText("gpu1");
        table->item(0, 1)->setText("ssh gpu1 residua-engine --stdio");
        dialog->accept();
        QCOMPARE(engine::chooseRemote("gpu1")->place.command, std::string("ssh gpu1 residua-engine --stdio"));
        const QList<QAction*> choices = menu()->actions();
        QVERIFY(std::ranges::any_of(choices, [](const QAction* choice) { return choice->text() == "gpu1"; }));
        QVERIFY(choices.at(1)->isChecked()); // the background
    }

private:
    /// The menu as it is when it opens.
    QMenu* menu()
    {
        for (QMenu* each : m_window->findChildren<QMenu*>()) {
            if (each->title() == "&Train in") {
                emit each->aboutToShow();
                return each;
            }
        }
        return nullptr;
    }

    void trainInBackground()
    {
        QSignalSpy progressed(&m_window->runs(), &RunController::progressed);
        m_window->runs().setPlace(engine::backgroundRemote());
        m_window->actions().run.run->trigger();
        QTRY_VERIFY(progressed.count() > 0);
    }
};

RESIDUA_TEST_IN(QApplication, TestBackgroundRun)
#include "tst_background_run.moc"
