// SPDX-License-Identifier: GPL-3.0-or-later
// A window whose editors are left with Return, Tab, Escape and a click elsewhere.
#pragma once

#include "app/schedule/schedule_page.h"
#include "app/schedule/schedule_ribbon.h"
#include "engine/base/api/environment.h"
#include "tests/app/runs/runs_harness.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QDialog>
#include <QLineEdit>

#include <filesystem>
#include <optional>
#include <utility>

namespace residua::app {

enum class End { Return, Tab, Escape, ClickElsewhere };
constexpr std::pair<const char*, End> kEnds[] = {
    {"Return", End::Return}, {"Tab", End::Tab}, {"Escape", End::Escape}, {"click elsewhere", End::ClickElsewhere}};

/// The columns of the list of runs that are edited.
constexpr int kRunColumns[] = {RunsModel::Name, RunsModel::Tags, RunsModel::Notes};

inline constexpr int kFramesOfClick = 3; ///< the press, the release, and what they lead to

/// A window on a language model with stages, a sweep and a run that has a checkpoint. Derive the test class from it,
/// call open() in initTestCase() and putBack() in cleanup(). GUI thread.
class EditorHarness : public RunsHarness {
protected:
    void open()
    {
        projects::Project project = quickLanguage();
        projects::TextData text;
        text.path = "corpus.txt";
        project.data.source = std::move(text);
        project.sweeps = {{"rates", {{"/training/learning_rate/peak", {}, {{{}, {"0.001"}}, {{}, {"0.002"}}}}}}};
        project.stack().schedule.stages = {{0, 1, {}}, {2, 2, {}}};
        m_project = newProject(project);
        write("trained", 0.5F, project);
        const std::filesystem::path run = m_project / projects::kRunsFolder / "trained";
        QVERIFY(std::filesystem::create_directories(engine::checkpointDirectory(run, 8))); // only its name is read
        openWindow({1400, 900});
        m_window->openProject(m_project);
        QTRY_COMPARE(model().rowCount(), 1);
        QTRY_VERIFY(m_window->workspace().canvas().surface()); // once it is drawn
        m_before = this->project();
    }

    /// Closes popups and dialogs, and undoes every edit.
    void putBack()
    {
        while (QWidget* const popup = QApplication::activePopupWidget()) {
            popup->hide();
        }
        for (QDialog* each : m_window->findChildren<QDialog*>()) {
            each->close();
        }
        while (m_window->session().history().canUndo()) {
            m_window->session().undo();
        }
        m_window->documents().refresh(); // else the next test may begin before the views know
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        QCOMPARE(project(), m_before);
        activate(*m_window);
    }

    /// Waits until the window has the focus itself. qWaitForWindowActive() is content if its parent or a dialog has it.
    static void activate(QWidget& window)
    {
        window.activateWindow();
        QTRY_COMPARE(QApplication::activeWindow(), &window);
    }

    /// Returns the widget that gets the keys of the keyboard.
    static QWidget* receiver()
    {
        QWidget* const popup = QApplication::activePopupWidget();
        if (!popup) {
            return QApplication::focusWidget();
        }
        return popup->focusWidget() ? popup->focusWidget() : popup;
    }

    static void press(Qt::Key key) { QTest::keyClick(receiver(), key); }

    static void type(QLineEdit& line, const QString& text)
    {
        line.setFocus();
        line.selectAll();
        for (const char each : text.toLatin1()) {
            QTest::keyClick(receiver(), each); // a list of completions may open meanwhile
        }
    }

    /// Returns true while the list of a combo box or of completions is open.
    static bool hasList()
    {
        const QWidget* const popup = QApplication::activePopupWidget();
        return popup && (qobject_cast<const QAbstractItemView*>(popup) || popup->findChild<QAbstractItemView*>());
    }

    /// Ends the editing of the widget with the focus. Escape and a click elsewhere close its list first. `over` is the
    /// dialog that it is in, if any.
    void leave(End end, const QDialog* over = nullptr)
    {
        const bool twice = hasList();
        switch (end) {
        case End::Return:
            press(Qt::Key_Return);
            break;
        case End::Tab:
            press(Qt::Key_Tab);
            break;
        case End::Escape:
            press(Qt::Key_Escape);
            if (twice) {
                press(Qt::Key_Escape);
            }
            break;
        case End::ClickElsewhere:
            if (over) {
                QApplication::focusWidget()->clearFocus();
                break;
            }
            clickElsewhere();
            if (twice) {
                clickElsewhere();
            }
            break;
        }
        QCoreApplication::processEvents();
    }

    /// Clicks on free ground of the depth canvas, or beside the popup that is open.
    void clickElsewhere()
    {
        QWidget* const popup = QApplication::activePopupWidget();
        CanvasWidget* const canvas = m_window->workspace().frontCanvas();
        QWidget* elsewhere = &m_window->workspace().schedule().ribbon();
        if (canvas) { // it has no surface before it is first drawn
            elsewhere = canvas->surface() ? canvas->surface() : canvas;
        }
        QTest::mouseClick(popup ? popup : elsewhere, Qt::LeftButton, {}, popup ? QPoint(-3, -3) : QPoint(2, 2));
        for (int frame = 0; frame < kFramesOfClick; ++frame) {
            elsewhere->repaint(); // a canvas takes the click frame by frame, and then asks for what it means
            QCoreApplication::processEvents();
        }
    }

    /// Verifies that the edit is one step that can be undone, and that Escape makes no edit.
    void verifyDocument(End end)
    {
        if (end == End::Escape) {
            QCOMPARE(project(), m_before);
            return;
        }
        QVERIFY(project() != m_before);
        m_window->session().undo();
        QCOMPARE(project(), m_before);
        QVERIFY(!m_window->session().history().canUndo());
    }

    /// Brings a panel to the front by its name in panels().
    void showPanel(const QString& view)
    {
        for (const Panel& panel : panels()) {
            if (panel.view == view) {
                arrange({.front = &panel});
            }
        }
    }

    /// Does nothing if it was arranged so last, because rows of one field follow each other.
    void arrange(const Arrangement& arrangement)
    {
        if (m_arranged && m_arranged->view == arrangement.view && m_arranged->front == arrangement.front) {
            return;
        }
        m_arranged = arrangement;
        m_window->workspace().arrange(arrangement, m_window->size());
        if (arrangement.view == WorkspaceView::Schedule) {
            m_window->workspace().schedule().ribbon().choose(1);
        }
        QCoreApplication::processEvents();
    }

    std::optional<Arrangement> m_arranged; ///< nullopt if it may have changed
    projects::Project m_before;            ///< as it was opened
};

} // namespace residua::app
