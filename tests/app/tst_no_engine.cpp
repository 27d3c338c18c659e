// SPDX-License-Identifier: GPL-3.0-or-later
// The window where its engine is missing: it opens, says so, and all but training works.
#include "app/runs/run_controller.h"
#include "tests/app/window_harness.h"
#include "tests/support/test_program.h"

#include <QAction>
#include <QApplication>
#include <QSignalSpy>

using namespace residua;
using namespace residua::app;

class TestNoEngine : public WindowHarness {
    Q_OBJECT

private slots:
    void initTestCase() { qputenv("RESIDUA_ENGINE", "/nowhere/at/all.so"); }

    void init()
    {
        const std::filesystem::path project = newProject(quickExample());
        QVERIFY(!project.empty());
        openWindow();
        m_window->openProject(project);
    }

    void cleanup() { m_window.reset(); }

    void theWindowSaysAtItsStartThatThereIsNone()
    {
        openWindow(); // without a project, which somebody has then acted on
        QTRY_VERIFY_WITH_TIMEOUT(saysWhatIsMissing(), kPatience);
    }

    void aRunFailsWithTheReasonAndTheProjectStaysInUse()
    {
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        m_window->actions().run.run->trigger();
        QTRY_COMPARE_WITH_TIMEOUT(ended.count(), 1, kPatience);
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
        return text.contains(QLatin1String("[libresidua_engine.so]")) &&
               text.contains(QLatin1String("install it again"));
    }
};

RESIDUA_TEST_IN(QApplication, TestNoEngine)
#include "tst_no_engine.moc"
