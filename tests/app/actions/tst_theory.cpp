// SPDX-License-Identifier: GPL-3.0-or-later
// The results of theorems for the open project, in the window.
#include "app/report/low_rank_theory.h"
#include "projects/shipped/examples.h"
#include "tests/app/window_harness.h"
#include "tests/support/test_program.h"
#include "visualizers/theory/theory_view.h"

#include <QComboBox>
#include <QLabel>
#include <QSpinBox>
#include <QTableWidget>

using namespace residua;
using namespace residua::app;

class TestTheory : public WindowHarness {
    Q_OBJECT

private slots:
    void cleanup() { m_window.reset(); }

    void theTableIsThatOfTheTerminal()
    {
        openTheoryOf(projects::findExample("low-rank-regression")->project);
        const auto model = report::lowRankModelOf(project());
        QVERIFY(model.ok());
        const report::TheoryTable wanted = report::theoryTable(*model);
        auto* table = view().findChild<QTableWidget*>(QStringLiteral("theoryTable"));
        QTRY_COMPARE(table->rowCount(), static_cast<int>(wanted.rows.size()));
        QVERIFY(table->isVisible());
        QCOMPARE(table->item(0, 0)->text(), QString::fromStdString(wanted.rows[0].name));
        QCOMPARE(table->item(0, 2)->text(), QString::number(wanted.rows[0].resNet, 'g', 6));
        QCOMPARE(table->horizontalHeaderItem(5)->text(), QString("GRN-v3"));
        const auto gains = report::gainCurves(*model);
        const qsizetype drawn = gains ? static_cast<qsizetype>(gains->size()) : 0;
        QCOMPARE(view().csv().split('\n', Qt::SkipEmptyParts).size(), 1 + drawn);
    }

    void anotherProjectShowsWhyNothingIsKnown()
    {
        openTheoryOf(quickExample());
        auto* table = view().findChild<QTableWidget*>(QStringLiteral("theoryTable"));
        const auto reason = [this] {
            for (const QLabel* label : view().findChildren<QLabel*>()) {
                if (label->isVisible() && label->text().contains("low-rank linear models")) {
                    return true;
                }
            }
            return false;
        };
        QTRY_VERIFY(reason());
        QVERIFY(!table->isVisible());
    }

    /// Any project: the model of typed numbers has the terminal's table, and both panels of figure 5.
    void typedNumbersHaveTheirTheory()
    {
        openTheoryOf(quickExample());
        auto* rank = view().findChild<QSpinBox*>(QStringLiteral("theoryRank"));
        QVERIFY(!rank->isVisible());
        view().findChild<QComboBox*>(QStringLiteral("theoryModel"))->setCurrentIndex(1);
        QVERIFY(rank->isVisible());
        view().findChild<QSpinBox*>(QStringLiteral("theoryDimension"))->setValue(300);
        rank->setValue(20);
        const report::LowRankModel model = report::lowRankModelOf(300, 20, 10, 0.5, 10);
        const report::TheoryTable wanted = report::theoryTable(model);
        auto* table = view().findChild<QTableWidget*>(QStringLiteral("theoryTable"));
        const QString gain = QString::number(wanted.rows[1].v1, 'g', 6);
        QTRY_VERIFY(table->rowCount() == static_cast<int>(wanted.rows.size()) && table->item(1, 3)->text() == gain);
        QVERIFY(table->isVisible());
        const QStringList byRank = view().csv().split('\n', Qt::SkipEmptyParts);
        QCOMPARE(byRank.size(), 300);
        QCOMPARE(byRank[0], QString("collective_rank,g1,g2,g3"));
        view().findChild<QComboBox*>(QStringLiteral("theoryAxis"))->setCurrentIndex(1);
        const QStringList byComplexity = view().csv().split('\n', Qt::SkipEmptyParts);
        QCOMPARE(byComplexity.size(), 1 + report::kComplexityParts);
        QCOMPARE(byComplexity[0], QString("kappa,g1,g2,g3"));
        // Both panels meet at the model itself.
        QCOMPARE(byComplexity[50].section(',', 1), byRank[20].section(',', 1));
        view().findChild<QComboBox*>(QStringLiteral("theoryModel"))->setCurrentIndex(0);
        QTRY_VERIFY(!table->isVisible());
    }

private:
    [[nodiscard]] visualizers::TheoryView& view() const
    {
        return m_window->workspace().view<visualizers::TheoryView>();
    }

    void openTheoryOf(const projects::Project& project)
    {
        openWindowOn(project);
        m_window->workspace().showPanelOf(view());
        QTRY_VERIFY(view().isVisible());
    }
};

RESIDUA_TEST_IN(QApplication, TestTheory)
#include "tst_theory.moc"
