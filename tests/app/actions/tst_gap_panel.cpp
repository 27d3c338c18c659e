// SPDX-License-Identifier: GPL-3.0-or-later
// The gap of low-rank weights in the window: computed, stopped, linked to the canvases, and trained from each start.
#include "tests/app/window_harness.h"

#include "app/training/run_controller.h"
#include "app/views/document_views.h"
#include "tests/support/test_program.h"
#include "visualizers/gap/gap_bars.h"
#include "visualizers/gap/gap_view.h"
#include "visualizers/gap/start_losses.h"

#include <QAction>
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTableView>
#include <QToolButton>

using namespace residua;
using namespace residua::app;
using visualizers::GapView;

namespace {

projects::Project thinLanguage()
{
    projects::Project project = quickLanguage();
    project.network.rank = projects::RankScale{0.25};
    project.initialisation.lowRank = projects::LowRankMethod::Spectral;
    return project;
}

} // namespace

class TestGapPanel : public WindowHarness {
    Q_OBJECT

private slots:
    void init()
    {
        openWindowOn(thinLanguage());
        m_window->workspace().showPanelOf(view());
    }

    void cleanup() { m_window.reset(); }

    /// All weights by the chosen methods, the whole network first; the numbers leave as CSV.
    void itIsComputedAndLeavesAsNumbers()
    {
        compute();
        QCOMPARE(table().rowCount(), 3 + 2 * 7 * 3);
        QCOMPARE(text(0, "weight"), QString("all weights"));
        QVERIFY(text(0, "output gap").toDouble() > 0);
        QVERIFY(text(3, "function error").toDouble() > 0);
        QCOMPARE(view().csv().count('\n'), 1 + 2 * 7 * 3);
        QVERIFY(state().isEmpty() || !state().contains("changed"));
        m_window->findChild<QComboBox*>(QStringLiteral("gapSort"))->setCurrentIndex(1);
        QCOMPARE(table().rowCount(), 3 + 2 * 7 * 3);
        set("/seeds/init", "77");
        QTRY_VERIFY(state().contains("has changed"));
    }

    void weightsAndLayersAreSelectedTogether()
    {
        compute();
        int second = 0;
        while (!text(second, "weight").startsWith("2 ")) {
            ++second;
        }
        tableView().setCurrentIndex(table().index(second, 0));
        QVERIFY(m_window->documents().selection().layers == std::set<std::int64_t>{2});
        m_window->documents().select({.layers = {1}});
        const int row = tableView().currentIndex().row();
        QVERIFY2(text(row, "weight").startsWith("1 "), qPrintable(text(row, "weight")));
        m_window->workspace().showCanvas(WorkspaceView::Block);
        tableView().setCurrentIndex(table().index(second, 0));
        QVERIFY(std::holds_alternative<NodePlace>(m_window->documents().place()));
        m_window->documents().select({});
        QVERIFY(tableView().selectionModel()->selectedRows().isEmpty());
    }

    /// Fits that take minutes can be stopped; the earlier result stays, and another can be asked for.
    void itIsStopped()
    {
        set("/network/width", "192");
        auto stack = project().stack().segments;
        stack.front().repeat = 12;
        QVERIFY(m_window->session().perform(projects::SetStack{stack}).ok());
        for (QAction* method : methods().actions()) {
            method->setChecked(method->text() == "LFAI-WS");
        }
        press("gapCompute");
        QCOMPARE(button("gapCompute").text(), QString("Stop"));
        QTRY_VERIFY(table().rowCount() > 0);
        press("gapCompute");
        QTRY_COMPARE(button("gapCompute").text(), QString("Compute"));
        QVERIFY2(state().contains("given up"), qPrintable(state()));
        QCOMPARE(table().rowCount(), 1 + 12 * 7);
    }

    /// A sweep of the document, and their losses over each other, named after their starts.
    void itTrainsFromEachStart()
    {
        auto& losses = m_window->workspace().view<visualizers::StartLosses>();
        QVERIFY(!losses.isVisible());
        QVERIFY(!m_window->findChild<visualizers::GapBars*>()->axisRect()->visible()); // no empty figure
        m_window->findChild<QSpinBox*>(QStringLiteral("gapSeeds"))->setValue(2);
        for (QAction* method : methods().actions()) {
            method->setChecked(method->text() == "spectral" || method->text() == "baseline");
        }
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        QCOMPARE(button("gapTrain").text(), QString("Queue 4 runs"));
        press("gapTrain");
        const projects::Sweep* sweep = projects::findSweep(project().sweeps, "starts");
        QVERIFY(sweep && sweep->axes.size() == 2);
        QTRY_COMPARE(ended.count(), 4);
        m_window->findChild<QComboBox*>(QStringLiteral("gapPart"))->setCurrentIndex(2); // for a narrow panel
        QTRY_VERIFY(losses.isVisible());
        QTRY_VERIFY(losses.csv().contains("baseline") && losses.csv().contains("spectral"));
        // The values that a run recorded of its start are read from its directory.
        m_window->findChild<QComboBox*>(QStringLiteral("gapSubject"))->setCurrentIndex(2);
        press("gapCompute");
        QTRY_COMPARE(table().rowCount(), 1 + 2 * 7);
        // It stays where another run comes to the front, and says of which run it is.
        auto& shown = m_window->workspace().shownRuns();
        const std::string asked = shown.front();
        const auto& runs = m_window->workspace().runsModel().runs();
        shown.bringToFront(runs.front().directory == asked ? runs.back().directory : runs.front().directory);
        QVERIFY2(state().contains("compute again"), qPrintable(state()));
        shown.bringToFront(asked);
        QVERIFY2(!state().contains("compute again"), qPrintable(state()));
    }

    /// Where no weight has a rank below the full one, the panel says so, and how to give the network one.
    void wholeWeightsAreReported()
    {
        set("/network/rank", R"({"kind": "full"})");
        press("gapCompute");
        QTRY_VERIFY(state().contains("no weight is below full rank"));
        press("gapTrain");
        QVERIFY(state().contains("give its network a rank"));
        QVERIFY(!projects::findSweep(project().sweeps, "starts"));
        m_window->findChild<QComboBox*>(QStringLiteral("gapRank"))->setCurrentIndex(2); // 0.25
        compute();
        QCOMPARE(table().rowCount(), 3 + 2 * 7 * 3);
        m_window->findChild<QComboBox*>(QStringLiteral("gapSubject"))->setCurrentIndex(1);
        press("gapCompute");
        QVERIFY(state().contains("no run in front"));
    }

private:
    [[nodiscard]] GapView& view() const { return m_window->workspace().view<GapView>(); }
    [[nodiscard]] QTableView& tableView() const
    {
        return *m_window->findChild<QTableView*>(QStringLiteral("gapTable"));
    }
    [[nodiscard]] QAbstractItemModel& table() const { return *tableView().model(); }
    [[nodiscard]] QPushButton& button(const char* name) const
    {
        return *m_window->findChild<QPushButton*>(QLatin1String(name));
    }
    [[nodiscard]] QMenu& methods() const
    {
        return *m_window->findChild<QToolButton*>(QStringLiteral("gapMethods"))->menu();
    }
    [[nodiscard]] QString state() const { return m_window->findChild<QLabel*>(QStringLiteral("gapState"))->text(); }

    [[nodiscard]] QString text(int row, const char* column) const
    {
        for (int i = 0; i < table().columnCount(); ++i) {
            if (table().headerData(i, Qt::Horizontal, Qt::DisplayRole) == QLatin1String(column)) {
                return table().index(row, i).data().toString();
            }
        }
        return {};
    }

    void set(const char* field, const char* value)
    {
        const Status done = m_window->session().perform(projects::SetField{field, {value}});
        QVERIFY2(done.ok(), done ? "" : done.error().text().c_str());
    }

    void press(const char* name) { QTest::mouseClick(&button(name), Qt::LeftButton); }

    void compute()
    {
        press("gapCompute");
        QTRY_COMPARE(button("gapCompute").text(), QString("Compute"));
    }
};

RESIDUA_TEST_IN(QApplication, TestGapPanel)
#include "tst_gap_panel.moc"
