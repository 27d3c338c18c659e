// SPDX-License-Identifier: GPL-3.0-or-later
// Comparing many runs: columns, order, groups, filter, and the runs that are overlaid after a restart.
#include "app/runs/run_table.h"
#include "app/runs/runs_panel.h"
#include "app/sides/sides_panel.h"
#include "tests/app/runs/runs_harness.h"
#include "tests/support/test_program.h"
#include "tests/visualizers/legend_of.h"

#include <QApplication>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QSettings>
#include <qcustomplot.h>

using namespace residua;
using namespace residua::app;

class TestComparingRuns : public RunsHarness {
    Q_OBJECT

private slots:
    void init()
    {
        QSettings().clear();
        m_project = newProject(quickExample());
        projects::Project other = quickExample();
        other.training.learningRate.peak = 0.375;
        write("one", 0.1F);
        write("two", 0.2F, other);
        projects::Project third = quickExample(); // the same project would be another seed of "one"
        third.training.clipNorm = 0.5;
        write("three", 0.3F, third);
        open();
    }

    void cleanup()
    {
        m_window.reset();
        QSettings().clear();
    }

    void aFieldThatDiffersIsAColumnOfChoice()
    {
        const QString key = QStringLiteral("/training/learning_rate/peak");
        QTRY_VERIFY(offers(key));
        emit tree()->header()->customContextMenuRequested({5, 5});
        auto* menu = tree()->findChild<QMenu*>(QStringLiteral("runColumns"));
        QVERIFY(menu);
        menu->findChild<QAction*>(key)->trigger();
        menu->findChild<QAction*>(QStringLiteral("started"))->trigger();
        menu->close();
        checkColumns();
        open(); // as after a restart
        QTRY_VERIFY(offers(key));
        checkColumns();
    }

    void selectedRunsStandSideBySide()
    {
        m_window->workspace().showPanelOf(*tree());
        tree()->selectAll();
        auto* show = m_window->findChild<QAction*>("run:sides");
        QVERIFY(show && show->isEnabled());
        const DockExtents before = m_window->workspace().dockExtents();
        show->trigger();
        QVERIFY(m_window->workspace().dockExtents().below > before.below);
        auto& sides = m_window->workspace().view<SidesPanel>();
        QCOMPARE(sides.findChildren<CanvasWidget*>().size(), 3);
        const auto saysStep = [](const QLabel* whose) {
            return whose->text().contains("ANCRe, ingoing · step 0 · stored");
        };
        QTRY_VERIFY(std::ranges::all_of(sides.findChildren<QLabel*>("whose"), saysStep));
        const auto maps = sides.findChildren<QCPColorMap*>();
        for (const QCPColorMap* map : maps) { // one scale
            QCOMPARE(map->dataRange().upper, maps.front()->dataRange().upper);
            QVERIFY(map->dataRange().upper >= 0.3 - 1e-6);
        }
        QTest::keyClick(&sides, Qt::Key_Escape);
        QVERIFY(sides.findChildren<CanvasWidget*>().isEmpty());
        QCOMPARE(m_window->workspace().dockExtents(), before);
        QTRY_VERIFY(tree()->isVisible());
    }

    void aClickOnAHeadingSorts()
    {
        QCOMPARE(shownNames().size(), 3);
        tree()->sortByColumn(RunsModel::Name, Qt::AscendingOrder);
        QCOMPARE(shownNames(), QStringList({"one", "three", "two"}));
        tree()->sortByColumn(RunsModel::Name, Qt::DescendingOrder);
        QCOMPARE(shownNames(), QStringList({"two", "three", "one"}));
    }

    void runsAreGroupedByAFieldOfChoice()
    {
        const QString key = QStringLiteral("/training/learning_rate/peak");
        QTRY_VERIFY(offers(key));
        emit tree()->header()->customContextMenuRequested({5, 5});
        auto* menu = tree()->findChild<QMenu*>(QStringLiteral("runGroupings"));
        QVERIFY(menu);
        menu->findChild<QAction*>(key)->trigger();
        qobject_cast<QMenu*>(menu->parent())->close();
        QTRY_COMPARE(shownNames().filter("0.375 (1)").size(), 1);
        QCOMPARE(shownNames().size(), 2);
        const QModelIndex alone = tree()->model()->index(int(shownNames().indexOf("0.375 (1)")), 0);
        QCOMPARE(tree()->model()->index(0, 0, alone).data().toString(), QString("two"));
        QVERIFY(tree()->isExpanded(alone));

        auto* search = m_window->workspace().view<RunsPanel>().findChild<QLineEdit*>();
        search->setText(QStringLiteral("0.375")); // the title of a group alone
        QCOMPARE(shownNames(), QStringList({"0.375 (1)"}));
        QVERIFY(!m_window->workspace().shownRuns().isLeftOut(directoryOf("two")));
        QVERIFY(m_window->workspace().shownRuns().isLeftOut(directoryOf("one")));
        search->clear();
        QCOMPARE(shownNames().size(), 2);
        open(); // as after a restart, by groups
        QTRY_COMPARE(shownNames().filter("0.375 (1)").size(), 1);
    }

    /// Space and a click on a tick act on all selected rows.
    void aTickOfASelectedRowTicksAllSelectedRows()
    {
        const auto& shown = m_window->workspace().shownRuns();
        const auto overlaid = [&] {
            return std::ranges::count_if(model().runs(),
                                         [&](const auto& run) { return shown.isOverlaid(run.directory); });
        };
        m_window->workspace().showPanelOf(*tree());
        tree()->setCurrentIndex(tree()->model()->index(0, 0));
        const bool first =
            shown.isOverlaid(directoryOf(qPrintable(tree()->currentIndex().data(Qt::EditRole).toString())));
        const QModelIndex clicked = tree()->currentIndex().siblingAtColumn(RunsModel::State);
        tree()->selectionModel()->setCurrentIndex(clicked, QItemSelectionModel::NoUpdate);
        tree()->selectAll();
        QTest::keyClick(tree(), Qt::Key_Space);
        QCOMPARE(overlaid(), first ? 0 : 3);
        QStyleOptionViewItem option;
        option.initFrom(tree());
        option.rect = tree()->visualRect(tree()->currentIndex());
        option.features = QStyleOptionViewItem::HasCheckIndicator;
        option.widget = tree();
        const QRect box = tree()->style()->subElementRect(QStyle::SE_ItemViewItemCheckIndicator, &option, tree());
        QTest::mouseClick(tree()->viewport(), Qt::LeftButton, {}, box.center());
        QCOMPARE(overlaid(), first ? 3 : 0);
    }

    /// That the other columns leave, until the user drags the column.
    void namesHaveTheRoomThatThereIs()
    {
        projects::Project other = quickExample();
        other.training.batch += 1;
        write("a run whose name says in many words how it differs", 0.4F, other);
        openWindow({1590, 850}, Memory::UserSettings);
        m_window->openProject(m_project);
        QTRY_COMPARE(model().runs().size(), std::size_t(4));
        m_window->workspace().showPanelOf(*tree());
        const QString longest = indexOf("a run whose name says in many words how it differs").data().toString();
        const int wanted = tree()->fontMetrics().horizontalAdvance(longest);
        QTRY_VERIFY(tree()->header()->sectionSize(RunsModel::Name) > wanted);
        QCOMPARE(tree()->header()->length(), tree()->viewport()->width()); // no column is pushed out
        tree()->header()->resizeSection(RunsModel::Name, 150);             // as a drag does it
        m_window->resize(1400, 850);
        QCoreApplication::processEvents();
        QCOMPARE(tree()->header()->sectionSize(RunsModel::Name), 150);
    }

    void theFilterReachesThePlot()
    {
        for (const char* name : {"one", "two", "three"}) {
            QVERIFY(model().setData(indexOf(name), Qt::Checked, Qt::CheckStateRole));
        }
        QTRY_COMPARE(runsInLegend(), QStringList({"one", "three", "two"}));
        auto* search = m_window->workspace().view<RunsPanel>().findChild<QLineEdit*>();
        search->setText(QStringLiteral("T"));
        QCOMPARE(runsInLegend(), QStringList({"three", "two"}));
        search->clear();
        QCOMPARE(runsInLegend(), QStringList({"one", "three", "two"}));
    }

    void overlaysAndTheirColoursAreRemembered()
    {
        auto& shown = m_window->workspace().shownRuns();
        for (const visualizers::ShownRuns::Run& run : std::vector(shown.runs())) {
            shown.removeOverlay(run.key);
        }
        for (const char* name : {"three", "one", "two"}) {
            shown.overlay(directoryOf(name));
        }
        QTRY_VERIFY(shown.lookOf(directoryOf("two")));
        const std::size_t colour = shown.find(directoryOf("two"))->colour;
        QVERIFY(colour != shown.find(directoryOf("one"))->colour);
        shown.removeOverlay(directoryOf("one"));
        m_window->openProject(folder("none")); // what cannot be opened changes nothing
        open();
        auto& again = m_window->workspace().shownRuns();
        QTRY_VERIFY(again.isOverlaid(directoryOf("two")));
        QTRY_VERIFY(again.lookOf(directoryOf("two")));
        QCOMPARE(again.find(directoryOf("two"))->colour, colour);
        QVERIFY(!again.isOverlaid(directoryOf("one")));
    }

private:
    void open()
    {
        openWindow({1280, 800}, Memory::UserSettings);
        m_window->openProject(m_project);
        QTRY_COMPARE(model().runs().size(), std::size_t(3));
    }

    std::string directoryOf(const char* name) { return (m_project / projects::kRunsFolder / name).string(); }

    bool offers(const QString& key)
    {
        const auto columns = model().offeredColumns();
        return std::ranges::find(columns, key, &RunColumn::key) != columns.end();
    }

    void checkColumns()
    {
        QCOMPARE(model().columnCount(), RunsModel::ColumnCount + 1);
        QCOMPARE(indexOf("two").siblingAtColumn(RunsModel::ColumnCount).data().toString(), QString("0.375"));
        QVERIFY(tree()->isColumnHidden(RunsModel::Started));
        QVERIFY(!tree()->isColumnHidden(RunsModel::State));
    }

    QStringList shownNames()
    {
        QStringList names;
        for (int row = 0; row < tree()->model()->rowCount(); ++row) {
            names << tree()->model()->index(row, RunsModel::Name).data().toString();
        }
        return names;
    }

    QStringList runsInLegend()
    {
        QStringList names;
        for (const QString& text : legendOf(loss())) {
            const bool isRun = indexOf(text.toStdString()).isValid();
            names << (isRun ? QStringList{text} : QStringList());
        }
        names.sort();
        return names;
    }
};

RESIDUA_TEST_IN(QApplication, TestComparingRuns)
#include "tst_comparing_runs.moc"
