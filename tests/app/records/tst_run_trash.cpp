// SPDX-License-Identifier: GPL-3.0-or-later
// Runs that go to the trash in the window, and come back.
#include "app/engine/background.h"
#include "tests/app/runs/runs_harness.h"
#include "tests/support/test_program.h"
#include "visualizers/runs/metrics_view.h"

#include <QApplication>
#include <QScopeGuard>
#include <QSemaphore>
#include <QThreadPool>

#include <memory>

using namespace residua;
using namespace residua::app;

class TestRunTrash : public RunsHarness {
    Q_OBJECT

private slots:
    void init() { openWindowOn(quickExample()); }

    void cleanup() { m_window.reset(); }

    void aDeletedRunLeavesEveryPlotAndComesBack()
    {
        train();
        QTRY_COMPARE(model().rowCount(), 1);
        QVERIFY(points(lossCsv()) > 0);
        QVERIFY(points(m_window->workspace().view<visualizers::MetricsView>().csv()) > 0);
        tree()->setFocus();
        tree()->setCurrentIndex(tree()->model()->index(0, 0));
        QTest::keyClick(tree(), Qt::Key_Delete);
        QTRY_VERIFY(m_window->bannerText().contains("trash?"));
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape); // after all not
        QVERIFY(tree()->hasFocus());
        QTRY_COMPARE(m_window->bannerText(), QString());
        QTest::keyClick(tree(), Qt::Key_Delete);
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
        QTRY_COMPARE(model().rowCount(), 0);
        QCOMPARE(points(lossCsv()), 0);
        QCOMPARE(points(heatmap().csv()), 0);
        const QModelIndex row = m_window->workspace().outlineModel().indexOf(ShortcutsPlace{{{0, 1}}});
        QVERIFY(!isNumber(row.siblingAtColumn(OutlineModel::Value))); // no weight of it stands anywhere
        QCOMPARE(points(m_window->workspace().view<visualizers::MetricsView>().csv()), 0);
        QTRY_VERIFY(m_window->bannerText().contains("trash"));
        button(QStringLiteral("Bring it back"))->click();
        QTRY_COMPARE(model().rowCount(), 1);
    }

    /// That a run in the trash can no longer be read is no error, and does not hide the way to bring it back.
    void aRunDeletedWhileItIsReadCanBeBroughtBack()
    {
        write("one", 0.25F);
        write("two", 0.5F);
        QTRY_COMPARE(model().rowCount(), 2);
        auto& shown = m_window->workspace().shownRuns();
        const std::string one = (m_project / projects::kRunsFolder / "one").string();
        QTRY_VERIFY(points(lossCsv()) > 0);
        shown.removeOverlay(one);
        shown.bringToFront({});
        QThreadPool& readers = backgroundPool();
        readers.waitForDone();
        const int threads = readers.maxThreadCount();
        const auto held = std::make_shared<QSemaphore>();
        const auto release = qScopeGuard([&] { held->release(threads); });
        for (int i = 0; i < threads; ++i) {
            readers.start([held] { held->acquire(); });
        }
        shown.overlay(one); // read once the threads are free
        shown.choose(one);
        tree()->setFocus();
        QTest::keyClick(tree(), Qt::Key_Delete);
        QTRY_VERIFY(m_window->bannerText().contains("trash?"));
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
        QTRY_VERIFY(m_window->bannerText().contains("in the trash"));
        held->release(threads);
        readers.waitForDone();
        QTest::qWait(0); // what they found out reaches the window
        QVERIFY2(m_window->bannerText().contains("in the trash"), qPrintable(m_window->bannerText()));
        button(QStringLiteral("Bring it back"))->click();
        QTRY_COMPARE(model().rowCount(), 2);
    }

    void severalRunsGoAndComeBackTogether()
    {
        write("one", 0.25F);
        write("two", 0.5F);
        QTRY_COMPARE(model().rowCount(), 2);
        tree()->setFocus();
        tree()->selectAll();
        QTest::keyClick(tree(), Qt::Key_Delete);
        QTRY_VERIFY(m_window->bannerText().contains("2 runs"));
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
        QTRY_COMPARE(model().rowCount(), 0);
        QTRY_VERIFY(button(QStringLiteral("Bring them back")) != nullptr);
        QTest::mouseClick(button(QStringLiteral("Bring them back")), Qt::LeftButton);
        QTRY_COMPARE(model().rowCount(), 2);
    }
};

RESIDUA_TEST_IN(QApplication, TestRunTrash)
#include "tst_run_trash.moc"
