// SPDX-License-Identifier: GPL-3.0-or-later
// Small windows, and docks that keep their size.
#include "app/commands/key_bindings.h"
#include "app/commands/keys_dialog.h"
#include "app/engine/engine_bridge.h"
#include "app/help/help_window.h"
#include "app/start/new_project_dialog.h"
#include "app/workspace/dock_extents.h"
#include "projects/library/examples.h"
#include "tests/app/window_harness.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QDockWidget>
#include <QPushButton>
#include <QScreen>
#include <QSettings>

using namespace residua;
using namespace residua::app;

class TestWindowSizes : public WindowHarness {
    Q_OBJECT

private slots:
    void init()
    {
        m_project = newProject(projects::findExample("linear-ancre")->project);
        QVERIFY(!m_project.empty());
    }

    void cleanup() { m_window.reset(); }

    /// Not wider than the smallest screen, whatever stands in bars and status line; every part keeps some room.
    void aSmallWindowHoldsEverything()
    {
        openWindow({640, 480});
        QCOMPARE(m_window->size(), QSize(640, 480)); // the start page
        m_window->openProject(m_project);
        QCoreApplication::processEvents();
        QVERIFY2(m_window->minimumSizeHint().width() <= 640, qPrintable(text(m_window->minimumSizeHint())));
        QVERIFY2(m_window->minimumSizeHint().height() <= 480, qPrintable(text(m_window->minimumSizeHint())));
        QCOMPARE(m_window->size(), QSize(640, 480));
        const QSize canvas = m_window->workspace().canvas().size();
        QVERIFY2(canvas.width() >= 200 && canvas.height() >= 80, qPrintable(text(canvas)));
        QVERIFY(dock("lossDock")->height() >= 90);
    }

    void theFirstWindowFitsTheScreen()
    {
        const QSize screen = QGuiApplication::primaryScreen()->availableSize();
        MainWindow window(*m_look, WindowFolders{folder("drafts"), folder("Residua"), {}}, Memory::None);
        QVERIFY(window.width() <= screen.width() && window.height() <= screen.height());
    }

    /// Also at twice the size on a small screen, where half as many pixels are left: the buttons stay in sight.
    void dialogsFitASmallScreen()
    {
        openWindow({640, 480});
        const QSize screen(640 - 16, 480 - 48);
        EngineBridge engine;
        NewProjectDialog made(engine, {projects::DeviceKind::Cpu, 1e9});
        KeyBindings bindings({});
        const KeysDialog keys(bindings);
        const HelpWindow help(*m_look);
        for (const QWidget* dialog : std::initializer_list<const QWidget*>{&made, &keys, &help}) {
            const QSize least = dialog->minimumSizeHint().expandedTo(dialog->minimumSize());
            const QString said = dialog->windowTitle() + ": " + text(least);
            QVERIFY2(least.width() <= screen.width() && least.height() <= screen.height(), qPrintable(said));
            const QSize available = dialog->screen()->availableSize();
            QVERIFY(dialog->width() <= available.width() && dialog->height() <= available.height());
        }
        made.resize(screen);
        made.show();
        QCoreApplication::processEvents();
        const auto* create = made.findChild<QPushButton*>("newCreate");
        QVERIFY(made.rect().contains(QRect(create->mapTo(&made, QPoint()), create->size())));
    }

    /// Docks give way to the canvas in a small window, and have their room again in a large one.
    void docksComeBackToTheirSize()
    {
        openWindow({1400, 900});
        m_window->openProject(m_project);
        QCoreApplication::processEvents();
        const int left = dock("outlineDock")->width();
        const int right = dock("inspectorDock")->width();
        const int below = dock("lossDock")->height();
        QCOMPARE(left, DockExtents{}.left);
        QCOMPARE(right, DockExtents{}.right);
        QVERIFY(below > 200);
        m_window->resize(900, 560);
        QCoreApplication::processEvents();
        QVERIFY(dock("outlineDock")->width() < left);
        QVERIFY(dock("lossDock")->height() < below);
        QVERIFY(m_window->workspace().canvas().width() > 300);
        m_window->resize(1400, 900);
        QCoreApplication::processEvents();
        QCOMPARE(dock("outlineDock")->width(), left);
        QCOMPARE(dock("inspectorDock")->width(), right);
        QCOMPARE(dock("lossDock")->height(), below);
    }

    /// What a person drags stays through a resize.
    void aDraggedBorderIsKept()
    {
        openWindow({1400, 900});
        m_window->openProject(m_project);
        QCoreApplication::processEvents();
        Workspace& workspace = m_window->workspace();
        workspace.resizeDocks({dock("outlineDock")}, {220}, Qt::Horizontal); // as a drag of its border does
        QCoreApplication::processEvents();
        QTest::mouseRelease(&workspace, Qt::LeftButton);
        QCOMPARE(workspace.dockExtents().left, 220);
        QCOMPARE(workspace.dockExtents().right, DockExtents{}.right);
        m_window->resize(1000, 700);
        QCoreApplication::processEvents();
        m_window->resize(1400, 900);
        QCoreApplication::processEvents();
        QCOMPARE(dock("outlineDock")->width(), 220);
    }

    void extentsLeaveTheCentreTheLargestPart()
    {
        const DockExtents wide = fitting({}, {1600, 900});
        QCOMPARE(wide, DockExtents{});
        const DockExtents narrow = fitting({}, {900, 500});
        QVERIFY(narrow.left + narrow.right < 900 - 360);
        QCOMPARE(DockExtents::fromSetting(DockExtents{200, 310, 0.4}.toSetting()), (DockExtents{200, 310, 0.4}));
        QVERIFY(!DockExtents::fromSetting({}));
        QVERIFY(!DockExtents::fromSetting(QVariantList{0, 310, 0.4}));
    }

private:
    static QString text(QSize size) { return QStringLiteral("%1 x %2").arg(size.width()).arg(size.height()); }
    QDockWidget* dock(const char* name) { return m_window->findChild<QDockWidget*>(QLatin1String(name)); }
};

RESIDUA_TEST_IN(QApplication, TestWindowSizes)
#include "tst_window_sizes.moc"
