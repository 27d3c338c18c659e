// SPDX-License-Identifier: GPL-3.0-or-later
// A loop over its visits, asked for and drawn in a window: of the open project, and of a run.
#include "app/runs/visits_dialog.h"
#include "tests/app/window_harness.h"
#include "tests/support/test_program.h"
#include "visualizers/runs/visits_view.h"

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>

using namespace residua;
using namespace residua::app;

class TestRunVisits : public WindowHarness {
    Q_OBJECT

private slots:
    void cleanup() { m_window.reset(); }

    void measuresAreDrawn()
    {
        projects::Project project = quickLanguage();
        project.stack().loops = {{.first = 1, .last = 2, .visits = 3}};
        openWindowOn(project);
        VisitsDialog* dialog = ask();
        QVERIFY(dialog);
        auto* from = dialog->findChild<QComboBox*>(QStringLiteral("visitsFrom"));
        QCOMPARE(from->count(), 1); // there is no run
        press(*dialog);
        auto* view = dialog->findChild<visualizers::VisitsView*>();
        auto* measure = dialog->findChild<QComboBox*>(QStringLiteral("visitsMeasure"));
        QTRY_VERIFY_WITH_TIMEOUT(view->isVisible(), kPatience);
        QCOMPARE(measure->count(), 11);
        auto* reason = dialog->findChild<QLabel*>(QStringLiteral("visitsReason"));
        QVERIFY2(reason->text().contains("at step 0"), qPrintable(reason->text()));
        measure->setCurrentIndex(3);
        const QString initial = view->csv();
        QVERIFY(initial.startsWith("measure,layer,visit,value\nchange,,1,"));

        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        m_window->actions().run.run->trigger();
        QTRY_COMPARE_WITH_TIMEOUT(ended.count(), 1, kPatience);
        dialog->reject();
        dialog = ask();
        QVERIFY(dialog);
        from = dialog->findChild<QComboBox*>(QStringLiteral("visitsFrom"));
        QTRY_VERIFY(from->count() > 1);
        dialog->findChild<QDoubleSpinBox*>(QStringLiteral("visitsApart"))->setValue(0.5);
        press(*dialog);
        view = dialog->findChild<visualizers::VisitsView*>();
        QTRY_VERIFY_WITH_TIMEOUT(view->isVisible(), kPatience);
        reason = dialog->findChild<QLabel*>(QStringLiteral("visitsReason"));
        QVERIFY2(reason->text().contains("at step 4"), qPrintable(reason->text()));
        QVERIFY(view->csv() != initial);
    }

    void aProjectWithoutALoopIsToldSo()
    {
        openWindowOn(quickLanguage());
        VisitsDialog* const dialog = ask();
        QVERIFY(dialog);
        press(*dialog);
        auto* reason = dialog->findChild<QLabel*>(QStringLiteral("visitsReason"));
        QTRY_VERIFY2_WITH_TIMEOUT(reason->text().contains("has no loop"), qPrintable(reason->text()), kPatience);
    }

private:
    VisitsDialog* ask()
    {
        m_window->actions().visits->trigger();
        VisitsDialog* dialog = nullptr;
        const auto isOpen = [&] {
            for (VisitsDialog* each : m_window->findChildren<VisitsDialog*>()) {
                dialog = each->isVisible() ? each : dialog;
            }
            return dialog != nullptr;
        };
        return QTest::qWaitFor(isOpen, kPatience) ? dialog : nullptr;
    }

    static void press(const QWidget& dialog)
    {
        QTest::mouseClick(dialog.findChild<QPushButton*>(QStringLiteral("visitsGo")), Qt::LeftButton);
    }
};

RESIDUA_TEST_IN(QApplication, TestRunVisits)
#include "tst_run_visits.moc"
