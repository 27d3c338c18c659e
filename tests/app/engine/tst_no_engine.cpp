// SPDX-License-Identifier: GPL-3.0-or-later
// The window where its engine is missing: it opens and says so, and nothing is trained or computed.
#include "app/runs/run_bar.h"
#include "app/training/run_controller.h"
#include "tests/app/dead_lock.h"
#include "tests/app/window_harness.h"
#include "tests/support/test_program.h"

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QSignalSpy>

using namespace residua;
using namespace residua::app;

class TestNoEngine : public WindowHarness {
    Q_OBJECT

private slots:
    void initTestCase() { qputenv("RESIDUA_ENGINE", "/nowhere/at/all"); }

    void init() { openWindowOn(quickExample()); }

    void cleanup() { m_window.reset(); }

    void theWindowReportsAMissingEngineAtItsStart()
    {
        openWindow(); // without a project, which somebody has then acted on
        QTRY_VERIFY(saysWhatIsMissing());
    }

    void bannerStaysWhenTheEngineIsMissing()
    {
        const std::filesystem::path path = m_window->session().directory();
        QVERIFY(m_window->session().perform(projects::SetField{"/name", {"Edited"}}).ok());
        m_window->session().flushJournal();
        m_window.reset();
        QVERIFY(leaveDeadLock(path));
        makeWindow();
        m_window->openProject(path);
        QVERIFY(m_window->bannerText().contains(QLatin1String("recovered")));
        const auto* const bar = m_window->findChild<RunBar*>();
        const auto* const devices = bar->findChild<QComboBox*>(QStringLiteral("deviceChooser"));
        QVERIFY(bar->awaitsDevices());
        m_window->show(); // now it asks for its devices
        QTRY_VERIFY(!bar->awaitsDevices());
        QVERIFY(devices->toolTip().contains(QLatin1String("residua-engine")));
        QVERIFY(m_window->bannerText().contains(QLatin1String("recovered")));
    }

    void theDeviceChooserSaysIfAGpuHasTheCustomKernels()
    {
        auto* const bar = m_window->findChild<RunBar*>();
        const auto* const chooser = bar->findChild<QComboBox*>(QStringLiteral("deviceChooser"));
        const auto device = [](const char* key, const char* name) {
            engine::DeviceInfo made;
            made.key = key;
            made.name = name;
            made.usable = true;
            return made;
        };
        engine::DeviceInfo without = device("cuda:1", "Second GPU");
        without.withoutKernels = "they are not beside the program";
        bar->setDevices({device("cpu", "CPU"), device("cuda:0", "First GPU"), without});
        QVERIFY(!chooser->itemText(1).contains(QLatin1String("kernels")));
        QVERIFY(chooser->itemText(2).endsWith(QLatin1String("without custom kernels")));
        QCOMPARE(chooser->itemData(1, Qt::ToolTipRole).toString(), QStringLiteral("custom kernels: in use"));
        QCOMPARE(chooser->toolTip(), QStringLiteral("First GPU: custom kernels: in use\n"
                                                    "Second GPU: custom kernels: not in use: "
                                                    "they are not beside the program"));
    }

    void theQueueKeepsItsRuns()
    {
        const std::filesystem::path path = m_window->session().directory();
        RunController& runs = m_window->runs();
        const std::string first = project().name;
        QSignalSpy ended(&runs, &RunController::ended);
        m_window->actions().enqueue->trigger();
        QTRY_COMPARE(ended.count(), 1);
        QVERIFY(runs.queueHeld());
        QVERIFY(m_window->session().perform(projects::SetField{"/name", {"Second"}}).ok());
        m_window->actions().enqueue->trigger();
        const std::vector<std::string> both{first, "Second"};
        QCOMPARE(runs.queuedNames(), both);
        m_window->actions().goOnWithQueue->trigger();
        QTRY_COMPARE(ended.count(), 2);
        QVERIFY(runs.queueHeld());
        QCOMPARE(runs.queuedNames(), both);
        QVERIFY(saysWhatIsMissing());
        openWindow(); // as after a restart
        m_window->openProject(path);
        QTRY_COMPARE(m_window->runs().queuedNames(), both);
    }

    void aRunFailsWithTheReasonAndTheProjectStaysInUse()
    {
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        m_window->actions().run.run->trigger();
        QTRY_COMPARE(ended.count(), 1);
        const auto event = ended.front().front().value<engine::RunEnded>();
        QCOMPARE(event.status, engine::RunStatus::Failed);
        QVERIFY(saysWhatIsMissing());
        QVERIFY(m_window->actions().run.run->isEnabled());
        QVERIFY(m_window->session().perform(projects::SetField{"/name", {"Edited"}}).ok());
        QCOMPARE(project().name, std::string("Edited"));
    }

private:
    [[nodiscard]] bool saysWhatIsMissing() const
    {
        const QString text = m_window->bannerText();
        return text.contains(QLatin1String("[residua-engine]")) && text.contains(QLatin1String("install it again"));
    }
};

RESIDUA_TEST_IN(QApplication, TestNoEngine)
#include "tst_no_engine.moc"
