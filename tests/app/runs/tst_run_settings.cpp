// SPDX-License-Identifier: GPL-3.0-or-later
// The settings of a run are shown, taken over into the project, and changed for a fork.
#include "app/runs/go_on_dialog.h"
#include "app/runs/runs_panel.h"
#include "app/views/run_settings_dialog.h"
#include "engine/runs/results/run_reader.h"
#include "projects/library/presets.h"
#include "tests/app/runs/runs_harness.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QPushButton>
#include <QTreeWidget>

using namespace residua;
using namespace residua::app;

class TestRunSettings : public RunsHarness {
    Q_OBJECT

private slots:
    void init()
    {
        openWindowOn(quickExample());
        train();
        m_trained = project();
        set("/training/learning_rate/peak", "0.125");
        set("/training/batch", "3");
        const auto presets = projects::topologyPresets(project().network);
        const auto plain = std::ranges::find(presets, std::string("plain"), &projects::TopologyPreset::name);
        QVERIFY(m_window->session().perform(projects::SetTopology{{plain->name, plain->wiring}}).ok());
    }

    void cleanup() { m_window.reset(); }

    void theWiringOfARunIsShownWhileTheProjectHasAnother()
    {
        RunSettingsDialog* dialog = openSettings();
        QVERIFY(dialog);
        auto* wiring = dialog->findChild<CanvasWidget*>(QStringLiteral("runWiring"));
        QVERIFY(wiring->isVisible());
        const auto drawn = [&](CanvasWidget& canvas, const projects::Shortcut& shortcut) {
            return canvas.canvas().locate(shortcut).has_value();
        };
        const projects::Shortcut learned{0, 2};
        QTRY_VERIFY(drawn(*wiring, learned));
        QVERIFY(!drawn(m_window->workspace().canvas(), learned));
    }

    void theSettingsOfARunComeBackInOneStep()
    {
        RunSettingsDialog* dialog = openSettings();
        QVERIFY(dialog);
        QCOMPARE(settings(*dialog)->topLevelItemCount(), 3);
        const projects::Project before = project();
        dialog->findChild<QPushButton*>(QStringLiteral("useSettings"))->click();
        QVERIFY(project() == m_trained);
        QCOMPARE(settings(*dialog)->topLevelItemCount(), 0); // it follows the document
        QVERIFY(!dialog->findChild<QPushButton*>(QStringLiteral("useSettings"))->isEnabled());
        m_window->session().undo();
        QVERIFY(project() == before);
        QCOMPARE(settings(*dialog)->topLevelItemCount(), 3);
    }

    void oneSettingIsTakenOverAlone()
    {
        RunSettingsDialog* dialog = openSettings();
        QVERIFY(dialog);
        check(*dialog, "peak");
        dialog->findChild<QPushButton*>(QStringLiteral("useSettings"))->click();
        QCOMPARE(project().training.learningRate.peak, m_trained.training.learningRate.peak);
        QCOMPARE(project().training.batch, std::int64_t{3});
        QVERIFY(project().stack().topology != m_trained.stack().topology);
    }

    void aForkTrainsWithAnotherLearningRate()
    {
        emit m_window->workspace().view<RunsPanel>().goOnRequested(m_window->runs().runDirectory().string(),
                                                                   GoOnKind::Fork);
        GoOnDialog* dialog = nullptr;
        QTRY_VERIFY((dialog = m_window->findChild<GoOnDialog*>()) != nullptr);
        QCOMPARE(settings(*dialog)->topLevelItemCount(), 2); // a fork keeps its wiring
        check(*dialog, "peak");
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        dialog->findChild<QPushButton*>(QStringLiteral("goOnGo"))->click();
        QTRY_COMPARE(ended.count(), 1);
        const auto reader = engine::RunReader::open(m_window->runs().runDirectory());
        QVERIFY(reader.ok());
        QCOMPARE(reader->project()->training.learningRate.peak, 0.125);
        QCOMPARE(reader->project()->training.batch, m_trained.training.batch);
        QVERIFY(reader->info()->step > m_trained.training.steps);
        QVERIFY(reader->project()->stack().topology == m_trained.stack().topology);
    }

private:
    void set(const std::string& pointer, const std::string& value)
    {
        QVERIFY(m_window->session().perform(projects::SetField{pointer, {value}}).ok());
    }

    static QTreeWidget* settings(const QDialog& dialog)
    {
        return dialog.findChild<QTreeWidget*>(QStringLiteral("settings"));
    }

    /// Chooses the one setting whose place ends so, and no other.
    static void check(const QDialog& dialog, const QString& end)
    {
        QTreeWidget* tree = settings(dialog);
        for (int row = 0; row < tree->topLevelItemCount(); ++row) {
            QTreeWidgetItem* item = tree->topLevelItem(row);
            item->setCheckState(0, item->text(0).endsWith(end) ? Qt::Checked : Qt::Unchecked);
        }
    }

    RunSettingsDialog* openSettings()
    {
        const std::string run = m_window->runs().runDirectory().string();
        const auto isListed = [&] { return m_window->workspace().runsModel().indexOf(run).isValid(); };
        if (!QTest::qWaitFor(isListed, kPatience)) {
            return nullptr;
        }
        m_window->workspace().shownRuns().choose(run);
        m_window->findChild<QAction*>(QStringLiteral("run:settings"))->trigger();
        RunSettingsDialog* dialog = nullptr;
        const auto isOpen = [&] { return (dialog = m_window->findChild<RunSettingsDialog*>()) != nullptr; };
        return QTest::qWaitFor(isOpen, kPatience) ? dialog : nullptr;
    }

    projects::Project m_trained;
};

RESIDUA_TEST_IN(QApplication, TestRunSettings)
#include "tst_run_settings.moc"
