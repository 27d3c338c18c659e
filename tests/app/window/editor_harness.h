// SPDX-License-Identifier: GPL-3.0-or-later
// A window whose editors are left with Return, Tab, Escape and a click elsewhere.
#pragma once

#include "app/schedule/schedule_page.h"
#include "app/schedule/schedule_ribbon.h"
#include "tests/app/runs/runs_harness.h"

#include <QApplication>
#include <QLineEdit>

#include <utility>

namespace residua::app {

enum class End { Return, Tab, Escape, ClickElsewhere };
constexpr std::pair<const char*, End> kEnds[] = {
    {"Return", End::Return}, {"Tab", End::Tab}, {"Escape", End::Escape}, {"click elsewhere", End::ClickElsewhere}};

/// The columns of the list of runs that are edited.
constexpr int kRunColumns[] = {RunsModel::Name, RunsModel::Tags, RunsModel::Notes};

/// A window on a language model with stages, a sweep and a run. Derive the test class from it, call open() in init().
/// GUI thread.
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
        openWindow({1400, 900});
        m_window->openProject(m_project);
        QTRY_VERIFY(model().rowCount() == 1);
        m_before = this->project();
    }

    static void type(QLineEdit& line, const QString& text)
    {
        line.selectAll();
        QTest::keyClicks(&line, text);
    }

    void leave(QWidget& field, End end, QWidget* over = nullptr)
    {
        switch (end) {
        case End::Return:
            QTest::keyClick(&field, Qt::Key_Return);
            break;
        case End::Tab:
            QTest::keyClick(&field, Qt::Key_Tab);
            break;
        case End::Escape:
            QTest::keyClick(&field, Qt::Key_Escape);
            break;
        case End::ClickElsewhere:
            over ? field.clearFocus() : clickElsewhere();
            break;
        }
        QCoreApplication::processEvents();
    }

    /// Clicks on free ground of the depth canvas.
    void clickElsewhere()
    {
        QWidget* const popup = QApplication::activePopupWidget();
        CanvasWidget* const canvas = m_window->workspace().frontCanvas();
        QWidget* elsewhere = &m_window->workspace().schedule().ribbon();
        if (canvas) { // it has no surface before it is first drawn
            elsewhere = canvas->surface() ? canvas->surface() : canvas;
        }
        QTest::mouseClick(popup ? popup : elsewhere, Qt::LeftButton, {}, popup ? QPoint(-3, -3) : QPoint(2, 2));
        QCoreApplication::processEvents();
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

    void showRuns()
    {
        for (const Panel& panel : panels()) {
            if (QString(panel.view) == "runs") {
                m_window->workspace().arrange({.front = &panel}, m_window->size());
            }
        }
        QCoreApplication::processEvents();
    }

    projects::Project m_before; ///< as it was opened
};

} // namespace residua::app
