// SPDX-License-Identifier: GPL-3.0-or-later
// Messages and popups of the window move nothing under the pointer, and a key leaves a mark where it went.
#include "app/runs/run_bar.h"
#include "app/workspace/banner.h"
#include "app/workspace/panel_focus.h"
#include "tests/app/window_harness.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QDockWidget>
#include <QEnterEvent>
#include <QStackedWidget>
#include <QTimer>

using namespace residua;
using namespace residua::app;

class TestStillWindow : public WindowHarness {
    Q_OBJECT

private slots:
    void init() { openWindowOn(quickExample()); }
    void cleanup() { m_window.reset(); }

    void aBannerMovesNothing()
    {
        QCoreApplication::processEvents();
        auto* pages = m_window->findChild<QStackedWidget*>(QStringLiteral("pages"));
        const QRect before(pages->mapTo(m_window.get(), QPoint()), pages->size());
        auto* banner = m_window->findChild<Banner*>();
        banner->say(BannerKind::Error, QStringLiteral("A long sentence that needs more than a line. ").repeated(9),
                    {{QStringLiteral("Do"), [] {}}});
        QCoreApplication::processEvents();
        QCOMPARE(QRect(pages->mapTo(m_window.get(), QPoint()), pages->size()), before);
        QVERIFY(banner->isVisible() && banner->parentWidget()->rect().contains(banner->geometry()));
        QVERIFY(banner->height() >= banner->heightForWidth(banner->width()));
        m_window->resize(900, 600);
        QCoreApplication::processEvents();
        QVERIFY(banner->parentWidget()->rect().contains(banner->geometry()));
    }

    /// Plots and tables are below the canvas, whatever is said there.
    void aBannerCoversNoPanel()
    {
        auto* banner = m_window->findChild<Banner*>();
        banner->say(BannerKind::Error, QStringLiteral("Something that stays until it is dismissed."));
        for (const QSize size : {QSize(1280, 800), QSize(1440, 900), QSize(1000, 900)}) {
            m_window->resize(size);
            QCoreApplication::processEvents();
            const QWidget* centre = m_window->workspace().centralWidget();
            const int border = centre->mapTo(m_window.get(), QPoint(0, centre->height())).y();
            QVERIFY(banner->mapTo(m_window.get(), QPoint(0, banner->height())).y() <= border);
        }
    }

    /// A note leaves by itself, but not from under the pointer; what needs an answer stays.
    void aNoteLeavesByItself()
    {
        auto* banner = m_window->findChild<Banner*>();
        auto* reading = banner->findChild<QTimer*>();
        banner->say(BannerKind::Note, QStringLiteral("Done."));
        QVERIFY(reading->isActive());
        QEnterEvent enter({}, {}, {});
        QCoreApplication::sendEvent(banner, &enter);
        QVERIFY(!reading->isActive());
        QEvent leave(QEvent::Leave);
        QCoreApplication::sendEvent(banner, &leave);
        QVERIFY(reading->isActive());
        reading->setInterval(0);
        QTRY_VERIFY(!banner->isVisible());
        banner->say(BannerKind::Error, QStringLiteral("It failed."));
        QVERIFY(!reading->isActive());
        banner->say(BannerKind::Note, QStringLiteral("Moved."), {{QStringLiteral("Undo"), [] {}}});
        QVERIFY(!reading->isActive());
    }

    /// Every stop of F6, until the mouse is used.
    void aKeyMarksThePanelThatItWentTo()
    {
        const auto* mark = m_window->findChild<PanelMark*>();
        QVERIFY(mark->isHidden());
        QSet<QPair<int, int>> places;
        int stops = 0;
        do {
            QTest::keyClick(QApplication::focusWidget(), Qt::Key_F6);
            ++stops;
            QVERIFY(mark->isVisible());
            const QPoint centre = mark->mapToGlobal(mark->rect().center());
            const QWidget* focused = QApplication::focusWidget();
            QVERIFY(mark->rect().contains(QRect(mark->mapFromGlobal(focused->mapToGlobal(QPoint())), QSize(1, 1))));
            places.insert({centre.x(), centre.y()});
        } while (QApplication::focusWidget() != m_window->workspace().canvas().surface() && stops < 20);
        QCOMPARE(places.size(), stops);
        QVERIFY(stops >= 4);
        click(m_window->workspace().canvas(), {10, 10});
        QVERIFY(mark->isHidden());
    }
};

RESIDUA_TEST_IN(QApplication, TestStillWindow)
#include "tst_still_window.moc"
