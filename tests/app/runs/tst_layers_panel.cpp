// SPDX-License-Identifier: GPL-3.0-or-later
// The table of all layers: sorting, the selection that it shares with the canvas, and its CSV.
#include "app/runs/layers_panel.h"
#include "projects/shipped/examples.h"
#include "tests/support/test_program.h"
#include "visualizers/heatmap/shown_effects.h"
#include "visualizers/heatmap/shown_matrices.h"
#include "visualizers/runs/shown_runs.h"

#include <QApplication>
#include <QSignalSpy>
#include <QTableWidget>
#include <QTest>

#include <cstdint>
#include <memory>
#include <vector>

using namespace residua;
using namespace residua::app;

class TestLayersPanel : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { qRegisterMetaType<std::vector<std::int64_t>>(); }

    void init()
    {
        m_panel = std::make_unique<LayersPanel>(m_runs, m_matrices, m_effects);
        m_panel->resize(900, 300);
        m_panel->setProject(std::make_shared<const projects::Project>(projects::findExample("linear-ancre")->project));
        m_panel->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_panel.get()));
        QTRY_COMPARE(table()->rowCount(), 3);
    }

    void aClickOnALayerChoosesItEverywhere()
    {
        QSignalSpy chosen(m_panel.get(), &LayersPanel::layersChosen);
        const QRect cell = table()->visualItemRect(table()->item(1, 0));
        QTest::mouseClick(table()->viewport(), Qt::LeftButton, {}, cell.center());
        QCOMPARE(chosen.count(), 1);
        QCOMPARE(chosen.first().first().value<std::vector<std::int64_t>>(), std::vector<std::int64_t>{2});
        m_panel->choose({1, 3}); // as the canvas has it
        QCOMPARE(chosen.count(), 1);
        QCOMPARE(table()->selectionModel()->selectedRows().size(), 2);
    }

    void aHeadingSortsAndTheSelectionStaysWithItsLayers()
    {
        m_panel->choose({1});
        table()->sortByColumn(0, Qt::DescendingOrder);
        QCOMPARE(table()->item(0, 0)->text(), QString("3"));
        QCOMPARE(table()->selectionModel()->selectedRows().first().data().toString(), QString("1"));
        m_panel->setProject(
            std::make_shared<const projects::Project>(projects::findExample("ancre-case-study")->project));
        m_panel->choose({2});
        const int depth = static_cast<int>(projects::findExample("ancre-case-study")->project.network.depth());
        QTRY_COMPARE(table()->rowCount(), depth);
        QTRY_COMPARE(table()->item(0, 0)->text(), QString::number(depth)); // it stays sorted
        QTRY_COMPARE(table()->selectionModel()->selectedRows().first().data().toString(), QString("2"));
    }

    void theCsvIsInTheOrderOfTheLayers()
    {
        table()->sortByColumn(0, Qt::DescendingOrder);
        const QStringList lines = m_panel->csv().split('\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 4);
        QVERIFY(lines[1].startsWith("1,"));
    }

private:
    [[nodiscard]] QTableWidget* table() const { return m_panel->findChild<QTableWidget*>("layersTable"); }

    visualizers::ShownRuns m_runs;
    visualizers::ShownMatrices m_matrices;
    visualizers::ShownEffects m_effects;
    std::unique_ptr<LayersPanel> m_panel;
};

RESIDUA_TEST_IN(QApplication, TestLayersPanel)
#include "tst_layers_panel.moc"
