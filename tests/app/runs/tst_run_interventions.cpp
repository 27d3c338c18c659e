// SPDX-License-Identifier: GPL-3.0-or-later
// Interventions on the parallel streams of a run, asked for and shown in a window.
#include "app/runs/intervention_dialog.h"
#include "tests/app/window_harness.h"
#include "tests/support/test_program.h"

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTableWidget>
#include <QTreeView>

using namespace residua;
using namespace residua::app;

class TestRunInterventions : public WindowHarness {
    Q_OBJECT

private slots:
    void cleanup() { m_window.reset(); }

    void theEffectsAreShown()
    {
        projects::Project project = quickLanguage();
        project.stack().topology.wiring = projects::MultiStream{.streams = 2};
        InterventionDialog* const dialog = ask(project);
        QVERIFY(dialog);
        auto* streams = dialog->findChild<QLineEdit*>(QStringLiteral("interventionStreams"));
        auto* table = dialog->findChild<QTableWidget*>(QStringLiteral("interventionTable"));
        auto* reason = dialog->findChild<QLabel*>(QStringLiteral("interventionReason"));
        streams->setText("3");
        press(*dialog);
        QTRY_VERIFY2(reason->text().contains("different streams of 1 to 2"), qPrintable(reason->text()));
        streams->setText("1, 2");
        auto* after = dialog->findChild<QLineEdit*>(QStringLiteral("interventionAfter"));
        after->setText("0, 1");
        press(*dialog);
        QTRY_COMPARE(table->rowCount(), 8); // two routings
        QVERIFY(table->isVisible());
        QCOMPARE(table->columnCount(), 5);
        QCOMPARE(table->item(0, 0)->text(), QString("stream 1 zero after the entry"));
        QCOMPARE(table->item(1, 1)->text(), QString("frozen"));
        QVERIFY(table->item(0, 2)->text().toDouble() != 0);
        QVERIFY2(reason->text().contains("without interventions"), qPrintable(reason->text()));

        auto* what = dialog->findChild<QComboBox*>(QStringLiteral("interventionWhat"));
        what->setCurrentIndex(static_cast<int>(projects::InterventionKind::Transitions));
        QVERIFY(!streams->isVisible());
        QVERIFY(!dialog->findChild<QSpinBox*>(QStringLiteral("interventionTop"))->isVisible());
        auto* by = dialog->findChild<QComboBox*>(QStringLiteral("interventionBy"));
        QVERIFY(by->isVisible());
        by->setCurrentIndex(static_cast<int>(projects::TransitionForm::Top));
        QVERIFY(dialog->findChild<QSpinBox*>(QStringLiteral("interventionTop"))->isVisible());
        after->setText("1, 1-2");
        press(*dialog);
        QTRY_COMPARE(table->rowCount(), 4);
        QVERIFY(table->item(0, 0)->text().contains("top 1"));
    }

    void aRunWithoutStreamsIsToldSo()
    {
        InterventionDialog* const dialog = ask(quickLanguage());
        QVERIFY(dialog);
        press(*dialog);
        auto* reason = dialog->findChild<QLabel*>(QStringLiteral("interventionReason"));
        QTRY_VERIFY2(reason->text().contains("no parallel streams"), qPrintable(reason->text()));
        QVERIFY(dialog->findChild<QPushButton*>(QStringLiteral("interventionGo"))->isEnabled());
    }

private:
    /// Trains the project and opens the dialog on its run.
    InterventionDialog* ask(const projects::Project& project)
    {
        openWindowOn(project);
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        m_window->actions().run.run->trigger();
        const auto listed = [&] {
            const auto& runs = m_window->workspace().runsModel().runs();
            return ended.count() == 1 && !runs.empty() && runs.front().status == engine::RunStatus::Finished;
        };
        if (!QTest::qWaitFor(listed, kPatience)) {
            return nullptr;
        }
        auto* tree = m_window->findChild<QTreeView*>(QStringLiteral("runsTree"));
        tree->setCurrentIndex(tree->model()->index(0, 0));
        m_window->findChild<QAction*>(QStringLiteral("run:interventions"))->trigger();
        InterventionDialog* dialog = nullptr;
        const auto isOpen = [&] {
            dialog = m_window->findChild<InterventionDialog*>();
            return dialog && dialog->isVisible();
        };
        return QTest::qWaitFor(isOpen, kPatience) ? dialog : nullptr;
    }

    static void press(const QWidget& dialog)
    {
        QTest::mouseClick(dialog.findChild<QPushButton*>(QStringLiteral("interventionGo")), Qt::LeftButton);
    }
};

RESIDUA_TEST_IN(QApplication, TestRunInterventions)
#include "tst_run_interventions.moc"
