// SPDX-License-Identifier: GPL-3.0-or-later
// The schedule ribbon by mouse and keyboard.
#include "app/look/theme.h"
#include "app/schedule/schedule_panel.h"
#include "app/schedule/schedule_ribbon.h"
#include "projects/edit/edit.h"
#include "projects/library/presets.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

#include <cmath>

using namespace residua;
using namespace residua::app;

class TestSchedule : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { m_look = std::make_unique<Look>(ThemeKind::Light); }

    void init()
    {
        m_project = projects::findExample("linear-ancre")->project;
        m_project.training.steps = 1000;
        m_depth = m_project.network.depth();
        m_panel = std::make_unique<SchedulePanel>(*m_look);
        m_panel->resize(900, 420);
        connect(m_panel.get(), &SchedulePanel::edited, this, [this](const projects::StageSchedule& schedule) {
            m_project.schedule = schedule;
            ++m_edits;
            show();
        });
        m_edits = 0;
        show();
        m_panel->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_panel.get()));
    }

    void whatIsBeingTypedIsTakenBeforeThePanelGoes()
    {
        twoStages();
        m_panel->ribbon().choose(1);
        auto* start = m_panel->findChild<QLineEdit*>("stageStart");
        m_panel->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_panel.get()));
        start->setFocus();
        start->setText("600");
        m_panel = std::make_unique<SchedulePanel>(*m_look);
        QCOMPARE(m_project.schedule.stages.back().start, std::int64_t(600));
    }

    void stagesAreAddedToAProjectWithout()
    {
        QVERIFY(m_panel->findChild<QLabel*>("scheduleSummary")->text().contains("No stages"));
        QTest::mouseClick(m_panel->findChild<QPushButton*>("addStages"), Qt::LeftButton);
        QVERIFY(!m_project.schedule.stages.empty());
        QCOMPARE(m_project.schedule.stages.back().averageLength, static_cast<double>(m_depth));
        QVERIFY(m_panel->findChild<QLabel*>("scheduleSummary")->text().contains("saved"));
    }

    void aBorderIsDraggedAndToldOnce()
    {
        twoStages();
        ScheduleRibbon& ribbon = m_panel->ribbon();
        const QPoint from = point(500, 1);
        const QPoint to = point(700, 1);
        QTest::mousePress(&ribbon, Qt::LeftButton, {}, from);
        QTest::mouseMove(&ribbon, (from + to) / 2);
        QTest::mouseMove(&ribbon, to);
        QCOMPARE(m_edits, 0);
        QVERIFY(std::abs(static_cast<double>(ribbon.shown().stages[1].start) - 700) < 5);
        QTest::mouseRelease(&ribbon, Qt::LeftButton, {}, to);
        QCOMPARE(m_edits, 1);
        QVERIFY(std::abs(static_cast<double>(m_project.schedule.stages[1].start) - 700) < 5);
    }

    void anUpperEdgeIsDraggedToAnotherLength()
    {
        twoStages();
        const QPoint from = point(250, 2);
        const QPoint to = point(250, static_cast<double>(m_depth));
        drag(from, to);
        QCOMPARE(m_project.schedule.stages[0].averageLength, static_cast<double>(m_depth));
    }

    void escapeGivesADragUp()
    {
        twoStages();
        ScheduleRibbon& ribbon = m_panel->ribbon();
        QTest::mousePress(&ribbon, Qt::LeftButton, {}, point(500, 1));
        QTest::mouseMove(&ribbon, point(700, 1));
        QTest::keyClick(&ribbon, Qt::Key_Escape);
        QTest::mouseRelease(&ribbon, Qt::LeftButton, {}, point(700, 1));
        QCOMPARE(m_edits, 0);
        QCOMPARE(ribbon.shown(), m_project.schedule);
    }

    void theKeysDoWhatTheMouseDoes()
    {
        twoStages();
        ScheduleRibbon& ribbon = m_panel->ribbon();
        ribbon.setFocus();
        QTest::keyClick(&ribbon, Qt::Key_Right);
        QCOMPARE(ribbon.chosen(), std::optional<std::size_t>(1));
        QTest::keyClick(&ribbon, Qt::Key_Left, Qt::ControlModifier);
        QCOMPARE(m_project.schedule.stages[1].start, std::int64_t(490));
        QTest::keyClick(&ribbon, Qt::Key_Left);
        QTest::keyClick(&ribbon, Qt::Key_Up);
        QCOMPARE(m_project.schedule.stages[0].averageLength, 3.0);
        QTest::keyClick(&ribbon, Qt::Key_Down);
        QCOMPARE(m_project.schedule.stages[0].averageLength, 2.0);
        QTest::keyClick(&ribbon, Qt::Key_Insert);
        QCOMPARE(m_project.schedule.stages.size(), std::size_t(3));
        QTest::keyClick(&ribbon, Qt::Key_Delete);
        QCOMPARE(m_project.schedule.stages.size(), std::size_t(2));
    }

    void aDoubleClickDivides()
    {
        twoStages();
        QTest::mouseDClick(&m_panel->ribbon(), Qt::LeftButton, {}, point(250, 1));
        QCOMPARE(m_project.schedule.stages.size(), std::size_t(3));
        QVERIFY(std::abs(static_cast<double>(m_project.schedule.stages[1].start) - 250) < 5);
    }

    void numbersAreTyped()
    {
        twoStages();
        m_panel->ribbon().choose(1);
        type("stageStart", "600");
        QCOMPARE(m_project.schedule.stages[1].start, std::int64_t(600));
        m_panel->ribbon().choose(0);
        type("stageAlways", "1, 2, 2");
        QCOMPARE(m_project.schedule.stages[0].always, (std::vector<std::int64_t>{1, 2}));
        type("stageStart", "many");
        QCOMPARE(m_panel->findChild<QLineEdit*>("stageStart")->text(), QString("0"));
    }

    void generatorsMakeWholeSchedules()
    {
        twoStages();
        m_panel->findChild<QComboBox*>("stageSplit")->setCurrentIndex(1); // proportional
        type("stageLengths", "2-3-" + QByteArray::number(qlonglong(m_depth)));
        QCOMPARE(m_project.schedule.stages.size(), std::size_t(3));
        QCOMPARE(m_project.schedule.stages[1].start, std::int64_t(167));
        QCOMPARE(m_project.schedule.stages[2].start, std::int64_t(500));
        QSignalSpy refused(m_panel.get(), &SchedulePanel::refused);
        type("stageLengths", "3-2");
        QCOMPARE(refused.count(), 1);
        QCOMPARE(m_project.schedule.stages.size(), std::size_t(3));
    }

    void theCursorStandsAtTheRunsStep()
    {
        twoStages();
        const QImage before = m_panel->ribbon().grab().toImage();
        m_panel->ribbon().setCursorStep(250);
        const QImage with = m_panel->ribbon().grab().toImage();
        QVERIFY(before != with);
        m_panel->ribbon().setCursorStep(std::nullopt);
        QCOMPARE(m_panel->ribbon().grab().toImage(), before);
    }

private:
    void show()
    {
        const auto cost = projects::costOf(m_project);
        m_panel->setProject(m_project, cost ? std::optional(*cost) : std::nullopt);
    }

    void twoStages()
    {
        m_project.schedule.stages = {{0, 2, {1, m_depth}}, {500, static_cast<double>(m_depth), {1, m_depth}}};
        show();
        QCoreApplication::processEvents(); // the rows that appear take their room
    }

    QPoint point(double step, double layers)
    {
        const RibbonScene& scene = m_panel->ribbon().scene();
        return QPointF(scene.xOf(step), scene.yOf(layers)).toPoint();
    }

    void drag(QPoint from, QPoint to)
    {
        ScheduleRibbon& ribbon = m_panel->ribbon();
        QTest::mousePress(&ribbon, Qt::LeftButton, {}, from);
        QTest::mouseMove(&ribbon, to);
        QTest::mouseRelease(&ribbon, Qt::LeftButton, {}, to);
    }

    void type(const char* name, const QByteArray& text)
    {
        auto* edit = m_panel->findChild<QLineEdit*>(QString::fromLatin1(name));
        edit->setFocus();
        edit->selectAll();
        QTest::keyClicks(edit, QString::fromLatin1(text));
        QTest::keyClick(edit, Qt::Key_Return);
    }

    std::unique_ptr<Look> m_look;
    std::unique_ptr<SchedulePanel> m_panel;
    projects::Project m_project;
    std::int64_t m_depth = 0;
    int m_edits = 0;
};

RESIDUA_TEST_IN(QApplication, TestSchedule)
#include "tst_schedule.moc"
