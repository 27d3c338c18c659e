// SPDX-License-Identifier: GPL-3.0-or-later
// The window as a person uses it: mouse and keyboard only, on a real screen.
#include "app/actions/open_commands.h"
#include "app/commands/command_palette.h"
#include "app/inspector/inspector.h"
#include "app/outline/outline_view.h"
#include "app/views/document_views.h"
#include "projects/shipped/examples.h"
#include "tests/app/window_harness.h"
#include "tests/support/test_program.h"
#include "visualizers/heatmap/heatmap_view.h"
#include "visualizers/runs/loss_view.h"
#include "visualizers/runs/metrics_view.h"

#include <QApplication>
#include <QComboBox>
#include <QDockWidget>
#include <QFrame>
#include <QLabel>
#include <QLineEdit>
#include <QMenuBar>
#include <QPointer>
#include <QPushButton>
#include <QSet>
#include <QSignalSpy>
#include <QSlider>
#include <QToolButton>

using namespace residua;
using namespace residua::app;

namespace {

/// A stack whose shortcuts are chosen one by one.
projects::Project chosenShortcuts()
{
    projects::Project project = quickExample();
    auto& mix = std::get<projects::DepthMix>(project.stack().topology.wiring);
    mix.sources = projects::ExplicitSources{{{0, 1}, {1, 2}, {2, 3}}};
    return project;
}

} // namespace

class TestMainWindow : public WindowHarness {
    Q_OBJECT

private slots:
    void init()
    {
        m_project = newProject(chosenShortcuts());
        QVERIFY(!m_project.empty());
        openWindow();
    }

    void cleanup() { m_window.reset(); }

    void anExampleCardOpensWithAClick()
    {
        const QList<QFrame*> cards = m_window->findChildren<QFrame*>(QStringLiteral("card"));
        QCOMPARE(cards.size(), static_cast<qsizetype>(projects::examples().size()));
        QTest::mouseClick(cards.front(), Qt::LeftButton);
        QVERIFY(m_window->session().isOpen());
        QVERIFY(m_window->session().isDraft());
        QCOMPARE(m_window->session().project(), projects::examples().front().project);
        QVERIFY(m_window->workspace().isVisible());
    }

    void aCardOpensFromTheKeyboard()
    {
        QFrame* card = m_window->findChildren<QFrame*>(QStringLiteral("card")).at(1);
        card->setFocus();
        QTest::keyClick(card, Qt::Key_Return);
        QCOMPARE(m_window->session().project(), projects::examples()[1].project);
    }

    /// Sizes that are set before the workspace has been laid out have no effect.
    void theFirstProjectFindsTheDocksInTheirPlaces()
    {
        openWindow({1280, 720});
        m_window->openProject(m_project);
        QTRY_VERIFY(m_window->workspace().view<OutlineView>().width() >= 280);
        QTRY_VERIFY2(m_window->workspace().view<Inspector>().width() >= 300,
                     qPrintable(QString::number(m_window->workspace().view<Inspector>().width())));
        QVERIFY(m_window->workspace().canvas().width() >= 600);
    }

    void aReopenedProjectShowsItsNewestRun()
    {
        m_window->openProject(m_project);
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        QTest::keyClick(m_window.get(), Qt::Key_R, Qt::ControlModifier);
        QTRY_COMPARE(ended.count(), 1);
        openWindow();
        m_window->openProject(m_project);
        const RunsModel& model = m_window->workspace().runsModel();
        QTRY_COMPARE(model.runs().size(), std::size_t(1));
        QVERIFY(m_window->workspace().shownRuns().isOverlaid(model.runs().front().directory));
        const auto* scrubber = m_window->workspace().view<visualizers::HeatmapView>().findChild<QSlider*>();
        QTRY_VERIFY(scrubber->maximum() > 0);
    }

    void aPropertyIsEditedUndoneRedoneSavedAndReopened()
    {
        m_window->openProject(m_project);
        m_window->documents().choose(SectionPlace{Section::Training});
        typeInto("property:/training/steps", "12");
        QCOMPARE(project().training.steps, std::int64_t(12));
        QVERIFY(m_window->isWindowModified());

        QTest::keyClick(m_window.get(), Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(project().training.steps, std::int64_t(8));
        QTRY_COMPARE(field("property:/training/steps")->text(), QString("8"));
        QTest::keyClick(m_window.get(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
        QCOMPARE(project().training.steps, std::int64_t(12));

        QTest::keyClick(m_window.get(), Qt::Key_S, Qt::ControlModifier);
        QVERIFY(!m_window->isWindowModified());
        openWindow();
        m_window->openProject(m_project);
        QCOMPARE(project().training.steps, std::int64_t(12));
    }

    void textBeingTypedIsKeptWhenTheWindowCloses()
    {
        m_window->openProject(m_project);
        m_window->documents().choose(SectionPlace{Section::Training});
        QLineEdit* steps = field("property:/training/steps");
        steps->setFocus();
        steps->selectAll();
        QTest::keyClicks(steps, "12");
        openWindow(); // in the place of the other, which nobody closed
        m_window->openProject(m_project);
        QCOMPARE(project().training.steps, std::int64_t(12));
    }

    void invalidTextIsNotApplied()
    {
        m_window->openProject(m_project);
        m_window->documents().choose(SectionPlace{Section::Training});
        typeInto("property:/training/steps", "many");
        QCOMPARE(project().training.steps, std::int64_t(8));
        QVERIFY(field("property:/training/steps")->property("invalid").toBool());
        QTest::keyClick(field("property:/training/steps"), Qt::Key_Escape);
        QCOMPARE(field("property:/training/steps")->text(), QString("8"));
        typeInto("property:/training/steps", "0"); // below its minimum
        QCOMPARE(project().training.steps, std::int64_t(8));
        QVERIFY(m_window->session().perform(projects::SetField{"/training/steps", {"9"}}).ok());
        m_window->documents().refresh();
        QCOMPARE(field("property:/training/steps")->text(), QString("0")); // as it is typed
        QTest::keyClick(field("property:/training/steps"), Qt::Key_Escape);
        QCOMPARE(field("property:/training/steps")->text(), QString("9"));
    }

    /// The number of steps changes one at a time, or at once.
    void stagesKeepTheirSharesOfTheSteps()
    {
        m_window->openProject(m_project);
        const projects::Project before = project();
        projects::StageSchedule schedule = before.stack().schedule;
        schedule.stages = {{0, 1, {}}, {2, 2, {}}};
        QVERIFY(m_window->session().perform(projects::SetSchedule{schedule}).ok());
        m_window->documents().choose(SectionPlace{Section::Training});
        const auto press = [this](Qt::Key key, int times) {
            for (int i = 0; i < times; ++i) {
                field("property:/training/steps")->setFocus();
                QTest::keyClick(field("property:/training/steps"), key);
                m_window->documents().refresh();
            }
        };
        press(Qt::Key_Up, 8);
        QCOMPARE(project().training.steps, std::int64_t(16));
        QCOMPARE(project().stack().schedule.stages.back().start, std::int64_t(4));
        press(Qt::Key_Down, 8);
        QCOMPARE(project().training.steps, std::int64_t(8));
        QCOMPARE(project().stack().schedule, schedule);
        press(Qt::Key_Down, 7); // the second stage would have no step
        QCOMPARE(project().stack().schedule.stages.size(), std::size_t(1));
        typeInto("property:/training/steps", "12");
        QCOMPARE(project().stack().schedule.stages.back().start, std::int64_t(3));
        // A stage that was dropped does not come back after another edit, which may have changed what it referred to.
        press(Qt::Key_Down, 11);
        QCOMPARE(project().stack().schedule.stages.size(), std::size_t(1));
        QVERIFY(m_window->session().perform(projects::SetField{"/training/batch", {"3"}}).ok());
        typeInto("property:/training/steps", "12");
        QCOMPARE(project().stack().schedule.stages.size(), std::size_t(1));
    }

    void aDragAddsAShortcutAndDeleteTakesItAway()
    {
        m_window->openProject(m_project);
        CanvasWidget& canvas = m_window->workspace().canvas();
        QVERIFY(canvas.drawable());
        const projects::Shortcut added{0, 3};
        QVERIFY(!reads(added));
        QTRY_VERIFY(canvas.canvas().locate(editor::LayerTarget{0, editor::LayerPart::Handle}).has_value());
        waitUntilStill(canvas, [&] {
            return pointOf(canvas.canvas().locate(editor::LayerTarget{3, editor::LayerPart::Centre}));
        });
        drag(canvas, pointOf(canvas.canvas().locate(editor::LayerTarget{0, editor::LayerPart::Handle})),
             pointOf(canvas.canvas().locate(editor::LayerTarget{3, editor::LayerPart::Centre})));
        QTRY_VERIFY(reads(added));
        QVERIFY(m_window->documents().place() == Place(ShortcutsPlace{{added}}));
        QCOMPARE(m_window->actions().undo->text(),
                 "&Undo " + QString::fromStdString(projects::titleOf(projects::AddShortcut{added})));

        QTest::keyClick(canvas.surface(), Qt::Key_Delete);
        QTRY_VERIFY(!reads(added));
        QTest::keyClick(m_window.get(), Qt::Key_Z, Qt::ControlModifier);
        QVERIFY(reads(added));
    }

    void fFreezesWhatIsSelected()
    {
        m_window->openProject(m_project);
        const projects::Shortcut shortcut{0, 1};
        m_window->documents().choose(ShortcutsPlace{{shortcut}});
        const auto frozen = [&] {
            return std::get<projects::DepthMix>(project().stack().topology.wiring).states.contains(shortcut);
        };
        QTest::keyClick(m_window->workspace().canvas().surface(), Qt::Key_F);
        QTRY_VERIFY(frozen());
        QTest::keyClick(m_window->workspace().canvas().surface(), Qt::Key_F);
        QTRY_VERIFY(!frozen());
    }

    void theOutlineSelectsAndDeletesByKeyboard()
    {
        m_window->openProject(m_project);
        OutlineView& outline = m_window->workspace().view<OutlineView>();
        OutlineModel& model = m_window->workspace().outlineModel();
        outline.setFocus();
        const projects::Shortcut shortcut{1, 2};
        outline.setCurrentIndex(model.indexOf(ShortcutsPlace{{shortcut}}));
        QVERIFY(m_window->documents().place() == Place(ShortcutsPlace{{shortcut}}));
        QTest::keyClick(&outline, Qt::Key_Delete);
        QVERIFY(!reads(shortcut));
    }

    void runTrainsAndShowsWhatItLearned()
    {
        m_window->openProject(m_project);
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        QTest::keyClick(m_window.get(), Qt::Key_R, Qt::ControlModifier);
        QTRY_COMPARE(ended.count(), 1);
        QCOMPARE(m_window->runs().progress().step, std::int64_t(8));
        QCOMPARE(m_window->bannerText(), QString());
        const std::vector<engine::RunInfo>& runs = m_window->workspace().runsModel().runs();
        QTRY_COMPARE(runs.size(), std::size_t(1));
        QTRY_COMPARE(runs.front().status, engine::RunStatus::Finished);
        QVERIFY(m_window->workspace().shownRuns().isOverlaid(runs.front().directory));
        // The weight that the outline reads out is a number now.
        const QModelIndex row = m_window->workspace().outlineModel().indexOf(ShortcutsPlace{{{1, 2}}});
        const auto isNumber = [&] {
            bool number = false;
            row.siblingAtColumn(OutlineModel::Value).data().toString().toDouble(&number);
            return number;
        };
        QTRY_VERIFY(isNumber());
    }

    void theValueBeingEditedIsExplained()
    {
        m_window->openProject(m_project);
        m_window->documents().choose(SectionPlace{Section::Training});
        auto* reference = m_window->findChild<QLabel*>(QStringLiteral("propertyReference"));
        QVERIFY(reference->isHidden());
        field("property:/training/steps")->setFocus();
        QVERIFY(reference->isVisible() && reference->text().contains("Default"));
        m_window->workspace().view<OutlineView>().setFocus();
        QVERIFY(reference->isHidden());
    }

    void buttonsTellTheKeysOfTheirCommands()
    {
        const auto tip = [this](const char* name) {
            return m_window->findChild<QAbstractButton*>(QString::fromLatin1(name))->toolTip();
        };
        QVERIFY(tip("startOpen").contains("Ctrl+O"));
        QVERIFY(tip("blockTidy").contains("(L)"));
        m_window->findChild<QAction*>(QStringLiteral("tidy"))->setToolTip("moved");
        QCOMPARE(tip("blockTidy"), QString("moved"));
    }

    void aValueBeingTypedCounts()
    {
        m_window->openProject(m_project);
        m_window->documents().choose(SectionPlace{Section::Training});
        const auto type = [this](const char* text) {
            QLineEdit* steps = field("property:/training/steps");
            steps->setFocus();
            steps->selectAll();
            QTest::keyClicks(steps, text);
        };
        type("11");
        QTest::keyClick(field("property:/training/steps"), Qt::Key_S, Qt::ControlModifier);
        QCOMPARE(projects::loadProject(m_project)->project.training.steps, std::int64_t(11));
        type("5");
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        QTest::mouseClick(m_window->findChild<QToolButton*>(QStringLiteral("runButton")), Qt::LeftButton);
        QTRY_COMPARE(ended.count(), 1);
        QCOMPARE(m_window->runs().progress().step, std::int64_t(5));
        type("9");
        QVERIFY(m_window->openCommands().openExample("linear-ancre").ok());
        QCOMPARE(project(), projects::findExample("linear-ancre")->project);
        QCOMPARE(projects::readJournal(m_project)->value().project.training.steps, std::int64_t(9));
        m_window->openProject(m_project);
        m_window->documents().choose(SectionPlace{Section::Training});
        type("7");
        m_window->close();
        QCOMPARE(projects::readJournal(m_project)->value().project.training.steps, std::int64_t(7));
    }

    /// A folder has the name of the project's journal, so nothing can be written there.
    void changesThatCannotBeKeptAreAskedFor()
    {
        m_window->openProject(m_project);
        QVERIFY(std::filesystem::create_directories(m_project / projects::kJournalFile / "x"));
        QVERIFY(m_window->session().perform(projects::SetField{"/name", {"Unsaved"}}).ok());
        m_window->close();
        QVERIFY(m_window->isVisible());
        QVERIFY(m_window->bannerText().contains("kept apart"));
        QCOMPARE(QApplication::focusWidget(), buttonThatSays("Save to another folder…"));
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);
        QCOMPARE(m_window->bannerText(), QString());

        m_window->close();
        QTest::mouseClick(buttonThatSays("Leave; the start page offers them"), Qt::LeftButton);
        QVERIFY(!m_window->isVisible());
        m_window.reset();
        const std::vector<Draft> drafts = leftDrafts(folder("drafts"));
        QCOMPARE(drafts.size(), std::size_t(1));
        QCOMPARE(drafts.front().name, QString("Unsaved"));
    }

    void anotherWindowOnTheProjectWarns()
    {
        m_window->openProject(m_project);
        MainWindow second(*m_look, WindowFolders{folder("drafts"), folder("Residua"), {}}, Memory::None);
        second.openProject(m_project);
        QVERIFY(second.bannerText().contains("another window"));
    }

    void stepPausesAndRunGoesOn()
    {
        m_window->openProject(m_project);
        QTest::keyClick(m_window.get(), Qt::Key_F10);
        QTRY_COMPARE(m_window->runs().phase(), RunPhase::Paused);
        QTRY_COMPARE(m_window->runs().progress().step, std::int64_t(1));
        QTest::keyClick(m_window.get(), Qt::Key_F10);
        QTRY_COMPARE(m_window->runs().progress().step, std::int64_t(2));
        QTRY_COMPARE(m_window->runs().phase(), RunPhase::Paused);
        QTest::mouseClick(m_window->findChild<QToolButton*>(QStringLiteral("runButton")), Qt::LeftButton);
        QTRY_COMPARE(m_window->runs().phase(), RunPhase::Idle);
        QCOMPARE(m_window->runs().progress().step, std::int64_t(8));
    }

    void runningAnExampleGivesItAPlace()
    {
        QVERIFY(m_window->openCommands().openExample("linear-ancre").ok());
        QVERIFY(m_window->session().perform(projects::SetField{"/training/steps", {"3"}}).ok());
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        QTest::keyClick(m_window.get(), Qt::Key_R, Qt::ControlModifier);
        QTRY_COMPARE(ended.count(), 1);
        QVERIFY(!m_window->session().isDraft());
        QVERIFY(m_window->session().directory().string().starts_with(m_folder->filePath("Residua").toStdString()));
        QVERIFY(projects::loadProject(m_window->session().directory()).ok());
    }

    void aProblemStopsTheRunAndSaysWhy()
    {
        m_window->openProject(m_project);
        QVERIFY(m_window->session().perform(projects::SetField{"/training/batch", {"0"}}).ok());
        QTest::keyClick(m_window.get(), Qt::Key_R, Qt::ControlModifier);
        QCOMPARE(m_window->runs().phase(), RunPhase::Idle);
        QVERIFY(m_window->bannerText().contains("batch"));
    }

    void aTopologyIsOneChoiceAway()
    {
        m_window->openProject(m_project);
        const auto presets = projects::topologyPresets(project().network.depth());
        auto* chooser = m_window->findChild<QWidget*>(QStringLiteral("topologyChooser"));
        chooser->setFocus();
        QTest::keyClick(chooser, Qt::Key_Down);
        const auto isPreset = [&](const auto& preset) {
            return preset.name == project().stack().topology.preset &&
                   preset.wiring == project().stack().topology.wiring;
        };
        QVERIFY(std::any_of(presets.begin(), presets.end(), isPreset));
        QVERIFY(m_window->session().modified());
    }

    void thePaletteWiresByKeyboard()
    {
        m_window->openProject(m_project);
        QTest::keyClick(m_window.get(), Qt::Key_L, Qt::ControlModifier);
        auto* search = m_window->findChild<QLineEdit*>(QStringLiteral("paletteSearch"));
        QVERIFY(search->isVisible() && search->hasFocus());
        QTest::keyClicks(search, "GRN-v1");
        QTest::keyClick(search, Qt::Key_Return);
        QCOMPARE(project().stack().topology.preset, std::string("grn-v1"));
        QTest::keyClick(m_window.get(), Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(project(), chosenShortcuts());
    }

    void aCustomWiringGoesBackToItsPreset()
    {
        m_window->openProject(m_project); // its sources were chosen by hand
        m_window->documents().choose(SectionPlace{Section::Topology});
        auto* back = m_window->findChild<QPushButton*>(QStringLiteral("backToPreset"));
        QVERIFY(back->isVisible());
        QVERIFY(m_window->findChild<QLabel*>(QStringLiteral("customChanges"))->text().contains("sources"));
        QTest::mouseClick(back, Qt::LeftButton);
        QTRY_VERIFY(!back->isVisible());
        QVERIFY(!m_window->actions().backToPreset->isEnabled());
        QTest::keyClick(m_window.get(), Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(project(), chosenShortcuts());
    }

    void anEditorStaysWhereItsGroupGetsATitle()
    {
        m_window->openProject(m_project);
        m_window->actions().backToPreset->trigger();
        m_window->documents().choose(SectionPlace{Section::Topology});
        const QPointer<QComboBox> preset = visible<QComboBox>(QStringLiteral("property:preset"));
        const auto* const notice = m_window->findChild<QWidget*>(QStringLiteral("customNotice"));
        QVERIFY(preset && !notice->isVisible());
        m_window->documents().applyEdit(projects::SetShortcutState{{0, 1}, projects::ShortcutState::Frozen});
        QTRY_VERIFY(notice->isVisible()); // and the preset stands under "Custom, from …" too
        QVERIFY(preset && preset->isVisible());
        const auto headings = m_window->workspace().view<Inspector>().findChildren<QLabel*>();
        QVERIFY(std::ranges::any_of(headings, [](const QLabel* each) {
            return each->isVisible() && each->property("role") == "group" && each->text().startsWith("Custom, from");
        }));
    }

    void thePanelInFrontFloatsAndComesBack()
    {
        m_window->openProject(m_project);
        QDockWidget* loss = m_window->findChild<QDockWidget*>(QStringLiteral("lossDock"));
        loss->raise();
        auto* within = loss->widget()->findChild<QComboBox*>();
        within->setFocus();
        QTest::keyClick(within, Qt::Key_D, Qt::ControlModifier | Qt::ShiftModifier);
        QTRY_VERIFY(loss->isFloating() && loss->isActiveWindow());
        within->setFocus();
        QTest::keyClick(within, Qt::Key_D, Qt::ControlModifier | Qt::ShiftModifier);
        QTRY_VERIFY(!loss->isFloating());
    }

    void viewsChangeByKey()
    {
        m_window->openProject(m_project);
        Workspace& workspace = m_window->workspace();
        const std::pair<Qt::Key, CanvasWidget*> views[] = {
            {Qt::Key_2, &workspace.matrix()}, {Qt::Key_3, &workspace.block()}, {Qt::Key_1, &workspace.canvas()}};
        for (const auto& [key, canvas] : views) {
            QTest::keyClick(m_window.get(), key, Qt::ControlModifier);
            QTRY_VERIFY(canvas->isVisible());
            QCOMPARE(workspace.frontCanvas(), canvas);
        }
    }

    /// Every command of a menu has a name to search for and to assign another key to.
    void everyCommandHasAName()
    {
        m_window->openProject(m_project);
        QSet<QString> names;
        for (const MenuCommand& command : commandsOf(*m_window->menuBar())) {
            const bool ofAList = command.path.contains("example") || command.path.contains("recent");
            QVERIFY2(ofAList || !command.action->objectName().isEmpty(), qPrintable(command.path));
            QVERIFY2(ofAList || !names.contains(command.action->objectName()), qPrintable(command.path));
            names << command.action->objectName();
        }
    }

    void theThemeSwitches()
    {
        m_window->openProject(m_project);
        const QColor before = m_window->palette().color(QPalette::Window);
        QTest::keyClick(m_window.get(), Qt::Key_T, Qt::ControlModifier);
        QVERIFY(m_window->palette().color(QPalette::Window) != before);
        QVERIFY(m_window->actions().theme->isChecked() && !m_window->actions().theme->isIconVisibleInMenu()); // seen
        QTest::keyClick(m_window.get(), Qt::Key_T, Qt::ControlModifier);
        QCOMPARE(m_window->palette().color(QPalette::Window), before);
    }

private:
    [[nodiscard]] QWidget* buttonThatSays(const char* text) const
    {
        for (QPushButton* each : m_window->findChildren<QPushButton*>()) {
            if (each->isVisible() && each->text() == QString::fromUtf8(text)) {
                return each;
            }
        }
        return nullptr;
    }

    QLineEdit* field(const QString& name) const { return visible<QLineEdit>(name); }

    void typeInto(const QString& name, const QString& text)
    {
        QLineEdit* edit = field(name);
        QVERIFY(edit);
        edit->setFocus();
        QTest::keyClick(edit, Qt::Key_A, Qt::ControlModifier);
        QTest::keyClicks(edit, text);
        QTest::keyClick(edit, Qt::Key_Return);
    }
};

RESIDUA_TEST_IN(QApplication, TestMainWindow)
#include "tst_main_window.moc"
