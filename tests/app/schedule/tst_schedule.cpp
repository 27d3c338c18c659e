// SPDX-License-Identifier: GPL-3.0-or-later
// The schedule ribbon by mouse and keyboard.
#include "app/look/format.h"
#include "app/look/theme.h"
#include "app/schedule/ribbon_scene.h"
#include "app/schedule/schedule_page.h"
#include "app/schedule/schedule_ribbon.h"
#include "projects/edit/edit.h"
#include "projects/library/schedule_presets.h"
#include "projects/schedule/kept_parts.h"
#include "projects/shipped/examples.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QComboBox>
#include <QHelpEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QToolTip>

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
        m_panel = std::make_unique<SchedulePage>(*m_look);
        m_panel->resize(900, 420);
        connect(m_panel.get(), &SchedulePage::edited, this, [this](const projects::StageSchedule& schedule) {
            m_project.stack().schedule = schedule;
            ++m_edits;
            show();
        });
        m_edits = 0;
        show();
        m_panel->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_panel.get()));
    }

    void textBeingTypedIsKeptWhenThePanelCloses()
    {
        twoStages();
        m_panel->ribbon().choose(1);
        auto* start = m_panel->findChild<QLineEdit*>("stageStart");
        m_panel->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_panel.get()));
        start->setFocus();
        start->setText("600");
        m_panel = std::make_unique<SchedulePage>(*m_look);
        QCOMPARE(m_project.stack().schedule.stages.back().start, std::int64_t(600));
    }

    /// The panel refers to the project that all views share, and makes no copy.
    void aHiddenPanelShowsTheProjectWhenItIsShown()
    {
        m_panel->hide();
        twoStages();
        const auto shared = std::make_shared<const projects::Project>(m_project);
        m_panel->setProject(shared, std::nullopt);
        QCOMPARE(shared.use_count(), 2L);
        QVERIFY(m_panel->ribbon().shown().stages.empty());
        m_panel->show();
        QCOMPARE(m_panel->ribbon().shown(), m_project.stack().schedule);
    }

    void stagesAreAddedToAProjectWithout()
    {
        QVERIFY(m_panel->findChild<QLabel*>("scheduleSummary")->text().contains("No stages"));
        QTest::mouseClick(m_panel->findChild<QPushButton*>("addStages"), Qt::LeftButton);
        QVERIFY(!m_project.stack().schedule.stages.empty());
        QCOMPARE(m_project.stack().schedule.stages.back().averageLength, static_cast<double>(m_depth));
        QVERIFY(m_panel->findChild<QLabel*>("scheduleSummary")->text().contains("saved"));
    }

    /// The choice of whole visits is there if a loop is, and the texts and costs follow it.
    void wholeVisitsAreChosen()
    {
        twoStages();
        auto* const unit = m_panel->findChild<QComboBox*>("stageUnit");
        QVERIFY(!unit->isVisible());
        m_project.stack().loops = {{.first = 1, .last = m_depth, .visits = 4}};
        m_project.stack().schedule.stages = {{0, 2.0 * static_cast<double>(m_depth), {}}};
        show();
        QVERIFY(unit->isVisible());
        unit->setCurrentIndex(1);
        emit unit->activated(1);
        QCOMPARE(m_edits, 1);
        QVERIFY(m_project.stack().schedule.unit == projects::DropUnit::Visit);
        QCOMPARE(unit->currentIndex(), 1);
        const QStringList texts =
            spanTexts(projects::drawnSchedule(m_panel->ribbon().shown(), m_project.stack()),
                      projects::spansOf(m_panel->ribbon().shown(), 4 * m_depth, 1000).front(), 4 * m_depth, 1000, {});
        QVERIFY2(texts.front().contains("by whole visits\neach kept with p = 0.50"), qPrintable(texts.front()));
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
        QVERIFY(std::abs(static_cast<double>(m_project.stack().schedule.stages[1].start) - 700) < 5);
    }

    /// The costs of the previous plan arrive during a drag.
    void aDragOutlivesTheCostsOfTheSamePlan()
    {
        twoStages();
        ScheduleRibbon& ribbon = m_panel->ribbon();
        QTest::mousePress(&ribbon, Qt::LeftButton, {}, point(500, 1));
        QTest::mouseMove(&ribbon, point(600, 1));
        show();
        QVERIFY(std::abs(static_cast<double>(ribbon.shown().stages[1].start) - 600) < 5);
        const QPoint to = point(700, 1);
        QTest::mouseMove(&ribbon, to);
        QTest::mouseRelease(&ribbon, Qt::LeftButton, {}, to);
        QCOMPARE(m_edits, 1);
        QVERIFY(std::abs(static_cast<double>(m_project.stack().schedule.stages[1].start) - 700) < 5);
    }

    void anotherPlanEndsADrag()
    {
        twoStages();
        ScheduleRibbon& ribbon = m_panel->ribbon();
        QTest::mousePress(&ribbon, Qt::LeftButton, {}, point(500, 1));
        QTest::mouseMove(&ribbon, point(600, 1));
        m_project.stack().schedule.stages[1].start = 400;
        show();
        QTest::mouseRelease(&ribbon, Qt::LeftButton, {}, point(600, 1));
        QCOMPARE(m_edits, 0);
        QCOMPARE(ribbon.shown(), m_project.stack().schedule);
    }

    void anUpperEdgeIsDraggedToAnotherLength()
    {
        twoStages();
        const QPoint from = point(250, 2);
        const QPoint to = point(250, static_cast<double>(m_depth));
        drag(from, to);
        QCOMPARE(m_project.stack().schedule.stages[0].averageLength, static_cast<double>(m_depth));
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
        QCOMPARE(ribbon.shown(), m_project.stack().schedule);
    }

    void theKeysDoWhatTheMouseDoes()
    {
        twoStages();
        ScheduleRibbon& ribbon = m_panel->ribbon();
        ribbon.setFocus();
        QTest::keyClick(&ribbon, Qt::Key_Right);
        QCOMPARE(ribbon.chosen(), std::optional<std::size_t>(1));
        QTest::keyClick(&ribbon, Qt::Key_Left, Qt::ControlModifier);
        QCOMPARE(m_project.stack().schedule.stages[1].start, std::int64_t(490));
        QTest::keyClick(&ribbon, Qt::Key_Left);
        QTest::keyClick(&ribbon, Qt::Key_Up);
        QCOMPARE(m_project.stack().schedule.stages[0].averageLength, 3.0);
        QTest::keyClick(&ribbon, Qt::Key_Down);
        QCOMPARE(m_project.stack().schedule.stages[0].averageLength, 2.0);
        QTest::keyClick(&ribbon, Qt::Key_Insert);
        QCOMPARE(m_project.stack().schedule.stages.size(), std::size_t(3));
        QTest::keyClick(&ribbon, Qt::Key_Delete);
        QCOMPARE(m_project.stack().schedule.stages.size(), std::size_t(2));
    }

    void aDoubleClickDivides()
    {
        twoStages();
        QTest::mouseDClick(&m_panel->ribbon(), Qt::LeftButton, {}, point(250, 1));
        QCOMPARE(m_project.stack().schedule.stages.size(), std::size_t(3));
        QVERIFY(std::abs(static_cast<double>(m_project.stack().schedule.stages[1].start) - 250) < 5);
    }

    void numbersAreTyped()
    {
        twoStages();
        m_panel->ribbon().choose(1);
        type("stageStart", "600");
        QCOMPARE(m_project.stack().schedule.stages[1].start, std::int64_t(600));
        m_panel->ribbon().choose(0);
        type("stageAlways", "1, 2, 2");
        QCOMPARE(m_project.stack().schedule.stages[0].always, (std::vector<std::int64_t>{1, 2}));
        type("stageStart", "many");
        QCOMPARE(m_panel->findChild<QLineEdit*>("stageStart")->text(), QString("0"));
    }

    void generatorsMakeWholeSchedules()
    {
        twoStages();
        m_panel->findChild<QComboBox*>("stageSplit")->setCurrentIndex(1); // proportional
        type("stageLengths", "2-3-" + QByteArray::number(qlonglong(m_depth)));
        QCOMPARE(m_project.stack().schedule.stages.size(), std::size_t(3));
        QCOMPARE(m_project.stack().schedule.stages[1].start, std::int64_t(167));
        QCOMPARE(m_project.stack().schedule.stages[2].start, std::int64_t(500));
        QSignalSpy refused(m_panel.get(), &SchedulePage::refused);
        type("stageLengths", "3-2");
        QCOMPARE(refused.count(), 1);
        QCOMPARE(m_project.stack().schedule.stages.size(), std::size_t(3));
    }

    /// Each kind of schedule shows what trains, how it is chosen, and the saving if that is known.
    void aBarSaysWhatItsStageTrains_data()
    {
        QTest::addColumn<QString>("schedule");
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("brief");
        QTest::newRow("layers") << "raptr 6-12"
                                << "6 of 12 layers\nothers kept with p = 0.40\n50.0 % of the FLOP, saves 50.0 %"
                                << "6";
        QTest::newRow("none always kept") << "raptr-free 6-12"
                                          << "6 of 12 layers\neach kept with p = 0.50\n50.0 % of the FLOP, saves 50.0 %"
                                          << "6";
        QTest::newRow("heads") << "raptr-heads 6-12"
                               << "50 % of the heads\neach kept with p = 0.50\n50.0 % of the FLOP, saves 50.0 %"
                               << "50 %";
        QTest::newRow("MLP") << "raptr-mlp 3-12"
                             << "25 % of the MLP\neach kept with p = 0.25\n50.0 % of the FLOP, saves 50.0 %"
                             << "25 %";
        QTest::newRow("growth") << "stacking 4-12"
                                << "4 layers\nthe first ones\n50.0 % of the FLOP, saves 50.0 %"
                                << "4";
        QTest::newRow("heads that grow")
            << "msg-heads 6-12"
            << "50 % of the heads\nthe first ones of each layer\n50.0 % of the FLOP, saves "
               "50.0 %"
            << "50 %";
        QTest::newRow("whole visits") << "raptr-free 6-12 visits"
                                      << "6 of 12 layers by whole visits\neach kept with p = 0.50\n50.0 % of the "
                                         "FLOP, saves 50.0 %"
                                      << "6";
        QTest::newRow("deeper layers less often")
            << "stochastic-depth"
            << "8.75 of 12 layers\np from 0.96 to 0.50 with the depth\n50.0 % of the FLOP, saves 50.0 %"
            << "8.75";
    }
    void aBarSaysWhatItsStageTrains()
    {
        QFETCH(QString, schedule);
        QFETCH(QString, text);
        QFETCH(QString, brief);
        const auto made = projects::scheduleFrom(schedule.toStdString(), 12, 100);
        QVERIFY(made.ok());
        const auto spans = projects::spansOf(*made, 12, 100);
        const QStringList texts = spanTexts(*made, spans.front(), 12, 100, projects::SpanCost{.flopShare = 0.5});
        QCOMPARE(texts.front(), text);
        QCOMPARE(texts.back(), brief);
        QVERIFY(texts.contains(brief + "\n50 % FLOP"));
        const QStringList unknown = spanTexts(*made, spans.front(), 12, 100, std::nullopt);
        QVERIFY(unknown.filter("FLOP").isEmpty());
    }

    void aBarOfAllLayersSavesNothing()
    {
        const projects::StageSchedule schedule = *projects::scheduleFrom("raptr 6-12", 12, 100);
        const auto spans = projects::spansOf(schedule, 12, 100);
        QCOMPARE(spanTexts(schedule, spans.back(), 12, 100, projects::SpanCost()), (QStringList{"every layer", "all"}));
    }

    void aCurveSaysWhatItSavesInAll()
    {
        const projects::StageSchedule schedule = *projects::scheduleFrom("pld 0.5", 4, 1000);
        std::vector<projects::SpanCost> costs(projects::spansOf(schedule, 4, 1000).size(), {.flopShare = 0.75});
        QCOMPARE(curveTexts(schedule, 4, 1000, costs).back(), QString("saves 25.0 % of the FLOP"));
        costs.front().flopShare = 1;
        QVERIFY(curveTexts(schedule, 4, 1000, costs).front().contains("a step takes 100.0 to 75.0 % of the FLOP"));
        QCOMPARE(curveTexts(schedule, 4, 1000, {}).size(), 1);
        QVERIFY(curveTexts(schedule, 4, 1000, {}).front().endsWith("falling to 3.25")); // 1 − (l − 1)/4·0.5
    }

    void aBorderTellsItsLosses()
    {
        const engine::StageRecord border{
            .step = 500, .name = "12 layers", .trainBefore = 2.5, .trainAfter = 2.75, .note = {}};
        QCOMPARE(borderTexts(border), (QStringList{QString::fromUtf8("loss 2.500 → 2.750 (+0.2500)"),
                                                   QString::fromUtf8("2.500 → 2.750"), "+0.2500"}));
        QVERIFY(borderTexts({.step = 500, .name = "12 layers", .note = {}}).isEmpty()); // none was taken
    }

    /// A border of the run is drawn if the ribbon has one at that step. A run with another schedule has none.
    void theBordersOfARunAreDrawnOverTheirBars()
    {
        twoStages();
        ScheduleRibbon& ribbon = m_panel->ribbon();
        const QImage before = ribbon.grab().toImage();
        engine::StageRecord border{.step = 400, .name = "all", .trainBefore = 2.5, .trainAfter = 2.75, .note = {}};
        ribbon.setBorders({border});
        QCOMPARE(ribbon.grab().toImage(), before);
        border.step = 500;
        ribbon.setBorders({border});
        QVERIFY(ribbon.grab().toImage() != before);
        ribbon.setBorders({});
        QCOMPARE(ribbon.grab().toImage(), before);
    }

    /// A narrow bar has no room for its text, so the tooltip shows it.
    void thePointerTellsOfABar()
    {
        twoStages();
        ScheduleRibbon& ribbon = m_panel->ribbon();
        const QPoint at = point(250, 1);
        QHelpEvent help(QEvent::ToolTip, at, ribbon.mapToGlobal(at));
        QCoreApplication::sendEvent(&ribbon, &help);
        QVERIFY(QToolTip::text().startsWith(QString("2 of %1 layers").arg(m_depth)));
        QVERIFY(QToolTip::text().contains("of the FLOP, saves "));
        QToolTip::hideText();
    }

    /// The cost, saving and memory of the selected stage are shown beside its numbers.
    void theChosenStageTellsItsCost()
    {
        twoStages();
        m_panel->ribbon().choose(0);
        const QString cost = m_panel->findChild<QLabel*>("stageCost")->text();
        QVERIFY2(cost.contains("% of a full step, saves ") && cost.contains("memory "), qPrintable(cost));
        const QString summary = m_panel->findChild<QLabel*>("scheduleSummary")->text();
        QVERIFY2(summary.contains("at most ") && summary.endsWith(" of memory"), qPrintable(summary));
        projects::CostReport report;
        report.total.weightBytes = 1024;
        report.total.optimiserBytes = 2048;
        QCOMPARE(memoryText(report, {1, 1024, 2048}), formatBytes(4096) + ", at most " + formatBytes(5120));
        QCOMPARE(memoryText(report, {1, 1024, 1024}), formatBytes(4096));
    }

    void aPublishedScheduleIsOneEdit()
    {
        auto* preset = m_panel->findChild<QComboBox*>("schedulePreset");
        preset->setFocus();
        QTest::keyClick(preset, Qt::Key_Down); // from that of all layers to RaPTr
        QCOMPARE(m_edits, 1);
        QCOMPARE(m_project.stack().schedule,
                 projects::scheduleOf(*projects::findSchedulePreset("raptr"), m_depth, m_project.training.steps));
        QCOMPARE(preset->currentText(), QString("RaPTr"));
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
        m_panel->setProject(std::make_shared<const projects::Project>(m_project),
                            cost ? std::optional(*cost) : std::nullopt);
    }

    void twoStages()
    {
        m_project.stack().schedule.stages = {{0, 2, {1, m_depth}}, {500, static_cast<double>(m_depth), {1, m_depth}}};
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
    std::unique_ptr<SchedulePage> m_panel;
    projects::Project m_project;
    std::int64_t m_depth = 0;
    int m_edits = 0;
};

RESIDUA_TEST_IN(QApplication, TestSchedule)
#include "tst_schedule.moc"
