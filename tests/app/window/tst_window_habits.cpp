// SPDX-License-Identifier: GPL-3.0-or-later
// The state that the window keeps from one day to the next, and offers without being asked.
#include "app/actions/open_commands.h"
#include "app/commands/key_bindings.h"
#include "app/help/help_page.h"
#include "app/help/help_window.h"
#include "app/palette/palette_view.h"
#include "app/runs/samples_panel.h"
#include "app/views/document_views.h"
#include "app/workspace/banner.h"
#include "projects/shipped/examples.h"
#include "resources/help.h"
#include "tests/app/window_harness.h"

#include <QApplication>
#include <QComboBox>
#include <QDialog>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QKeySequenceEdit>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <QSettings>
#include <QTableView>
#include <QToolButton>
#include <QTreeView>

#include <fstream>
#include <vector>

using namespace residua;
using namespace residua::app;

class TestWindowHabits : public WindowHarness {
    Q_OBJECT

private slots:
    void init()
    {
        m_project = newProject(projects::findExample("linear-ancre")->project);
        QVERIFY(!m_project.empty());
        QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope,
                           QString::fromStdString(folder("settings").string()));
        QSettings().clear();
        openWindow({1280, 800}, Memory::UserSettings);
    }

    void cleanup() { m_window.reset(); }

    void panelsStandWhereTheyWereLeft()
    {
        m_window->openProject(m_project);
        dock("paretoDock")->hide();
        dock("runsDock")->raise();
        m_window->close();
        openWindow({1280, 800}, Memory::UserSettings);
        m_window->openProject(m_project);
        QTRY_VERIFY(dock("lossDock")->isVisible());
        QVERIFY(dock("paretoDock")->isHidden());
        QVERIFY(!dock("runsDock")->widget()->visibleRegion().isEmpty()); // in front
    }

    /// This also holds if a project of the other kind left the layout.
    void onlyAProjectThatClassifiesShowsItsConfusion()
    {
        const std::filesystem::path classifies = folder("classifies");
        const projects::Project project = projects::findExample("small-vit")->project;
        QCOMPARE(project.network.objective, projects::Objective::Classification);
        QVERIFY(projects::saveProject(classifies, {project, {}}).ok());
        for (const auto& path : {m_project, classifies, m_project}) {
            m_window->openProject(path);
            QTRY_VERIFY(dock("lossDock")->isVisible());
            QCOMPARE(dock("confusionDock")->isHidden(), path == m_project);
            m_window->close();
            openWindow({1280, 800}, Memory::UserSettings);
        }
    }

    void droppedFilesOpenAProjectOrADialog()
    {
        QVERIFY(drop({m_project}));
        QCOMPARE(m_window->session().directory(), m_project);
        QVERIFY(drop({m_project / "project.json"}));
        const std::filesystem::path other = folder("other");
        QVERIFY(projects::saveProject(other, {projects::findExample("linear-ancre")->project, {}}).ok());
        auto& samples = m_window->workspace().view<SamplesPanel>(); // which waits for a text
        QVERIFY(drop({other}, &samples));
        QCOMPARE(m_window->session().directory(), other);
        QVERIFY(drop({m_project}, samples.findChild<QLineEdit*>("samplePrompt")));
        QCOMPARE(m_window->session().directory(), m_project);
        const std::filesystem::path text = folder("a text.jsonl");
        std::ofstream(text) << "{\"text\": \"of one line\"}\n";
        QVERIFY(drop({text}));
        QCOMPARE(visible<QLineEdit>(QStringLiteral("newPath"))->text(), QString::fromStdString(text.string()));
        QVERIFY(visible<QComboBox>(QStringLiteral("newData"))->currentText().startsWith("JSON Lines"));
        visible<QDialog>(QStringLiteral("newProjectDialog"))->close();
        std::filesystem::create_directories(folder("model"));
        std::ofstream(folder("model") / "config.json") << "{}";
        QVERIFY(drop({folder("model")}));
        const auto* import = visible<QDialog>(QStringLiteral("importDialog"));
        QVERIFY(import);
        QCOMPARE(import->findChild<QLineEdit*>(QStringLiteral("importFolder"))->text(),
                 QString::fromStdString(folder("model").string()));
        QVERIFY(drop({m_project, text}));
        QVERIFY2(m_window->findChild<Banner*>()->text().contains("2 files"),
                 qPrintable(m_window->findChild<Banner*>()->text()));
    }

    /// Help opens by key, from the inspector and from the palette, and also without a project.
    void helpExplainsTheSelection()
    {
        m_window->actions().explain->trigger();
        QCOMPARE(explained(), std::string(resources::kHelpIndex));
        m_window->openProject(m_project);
        m_window->documents().choose(SectionPlace{Section::Topology});
        visible<QToolButton>(QStringLiteral("explainPlace"))->click();
        QCOMPARE(explained(), std::string("ancre"));
        m_window->documents().choose(SectionPlace{Section::Data});
        pressF1(*m_window);
        QCOMPARE(explained(), std::string("linear-regression"));
        m_window->documents().choose(SectionPlace{Section::Runs});
        QVERIFY(!visible<QToolButton>(QStringLiteral("explainPlace"))); // nothing is computed there

        m_window->workspace().showPalette();
        auto* const search = visible<QLineEdit>(QStringLiteral("paletteSearch"));
        search->setText(QStringLiteral("no item is called so"));
        pressF1(*search);
        QCOMPARE(explained(), std::string(resources::kHelpIndex)); // the place's: there are no runs to explain
        search->setText(QStringLiteral("highway"));
        pressF1(*search);
        QCOMPARE(explained(), std::string("highway"));
        emit m_window->workspace().view<PaletteView>().explainRequested({PaletteKind::Node, "attention", {}, {}, {}});
        QCOMPARE(explained(), std::string("nodes-sequence"));
        m_window->actions().methods->trigger();
        QCOMPARE(explained(), std::string(resources::kHelpIndex));
    }

    /// The palette's context menu explains the item.
    void thePalettesMenuExplains()
    {
        m_window->openProject(m_project);
        m_window->workspace().showPalette();
        auto* const tree = visible<QTreeView>(QStringLiteral("paletteTree"));
        const QModelIndex item = tree->model()->index(0, 0, tree->model()->index(0, 0)); // plain
        tree->setCurrentIndex(item);
        emit tree->customContextMenuRequested(tree->visualRect(item).center());
        QMenu* const menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
        QVERIFY(menu);
        menu->actions().front()->trigger();
        menu->close();
        QCOMPARE(explained(), std::string("plain"));
    }

    void recentProjectsAreALineOnTheStartPage()
    {
        m_window->openProject(m_project);
        m_window->showStartPage();
        QToolButton* line = buttonSaying(QString::fromStdString(m_project.filename().string()));
        QVERIFY(line != nullptr);
        QTest::mouseClick(line, Qt::LeftButton);
        QCOMPARE(m_window->session().directory(), m_project);
    }

    void unsavedWorkIsTakenUpAndDiscardedAndBroughtBack()
    {
        QVERIFY(m_window->openCommands().openExample("linear-ancre").ok());
        QVERIFY(m_window->session().perform(projects::SetField{"/name", {"Half done"}}).ok());
        m_window->close();
        openWindow();
        QVERIFY(buttonSaying("Half done") != nullptr);
        QTest::mouseClick(buttonNamed("Discard Half done"), Qt::LeftButton);
        QTRY_VERIFY(buttonSaying("Half done") == nullptr);
        QVERIFY(m_window->bannerText().contains("Half done"));
        QTest::mouseClick(visibleButton("Bring it back"), Qt::LeftButton);
        QTRY_VERIFY(buttonSaying("Half done") != nullptr);
        QTest::mouseClick(buttonSaying("Half done"), Qt::LeftButton);
        QCOMPARE(project().name, std::string("Half done"));
        QVERIFY(m_window->session().isDraft() && m_window->session().modified());
    }

    void anotherProgramsChangeIsOfferedWithItsDescription()
    {
        m_window->openProject(m_project);
        projects::Project other = project();
        other.training.steps = 77;
        QVERIFY(projects::saveProject(m_project, {other, {}}).ok());
        QTRY_VERIFY(m_window->bannerText().contains("77"));
        QTest::mouseClick(visibleButton("Load them"), Qt::LeftButton);
        QCOMPARE(project().training.steps, std::int64_t(77));
        QVERIFY(!m_window->isWindowModified());
        QTest::keyClick(m_window.get(), Qt::Key_Z, Qt::ControlModifier); // by mistake
        QVERIFY(project().training.steps != 77);
    }

    void aProblemLeadsToItsPlace()
    {
        m_window->openProject(m_project);
        QVERIFY(m_window->session().perform(projects::SetField{"/training/batch", {"0"}}).ok());
        auto* list = m_window->findChild<QListWidget*>(QStringLiteral("problemsList"));
        QTRY_VERIFY(list->isVisible() && list->count() > 0);
        QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, list->visualItemRect(list->item(0)).center());
        QCOMPARE(m_window->documents().place(), Place(SectionPlace{Section::Training}));
    }

    void aKeyIsChangedInItsTableAndStays()
    {
        m_window->openProject(m_project);
        m_window->actions().keys->trigger();
        auto* table = m_window->findChild<KeysDialog*>()->findChild<QTableView*>();
        QVERIFY(QTest::qWaitForWindowActive(table->window()));
        const QModelIndexList rows = table->model()->match(table->model()->index(0, KeyBindings::Command),
                                                           Qt::DisplayRole, "Matrix", 1, Qt::MatchContains);
        QCOMPARE(rows.size(), 1);
        const QModelIndex cell = rows.front().siblingAtColumn(KeyBindings::Keys);
        table->scrollTo(cell);
        table->setCurrentIndex(cell);
        table->edit(cell);
        auto* editor = table->findChild<QKeySequenceEdit*>();
        QVERIFY(editor != nullptr);
        QTest::keyClick(editor, Qt::Key_M, Qt::ControlModifier);
        QTRY_COMPARE(m_window->actions().matrix->shortcut(), QKeySequence("Ctrl+M"));
        table->window()->close();
        m_window->close();
        openWindow({1280, 800}, Memory::UserSettings);
        QCOMPARE(m_window->actions().matrix->shortcut(), QKeySequence("Ctrl+M"));
        QVERIFY(m_window->actions().matrix->toolTip().contains("Ctrl+M"));
    }

    void returnInTheSearchForKeysResetsNothing()
    {
        m_window->openProject(m_project);
        m_window->actions().keys->trigger();
        auto* dialog = m_window->findChild<KeysDialog*>();
        QVERIFY(QTest::qWaitForWindowActive(dialog));
        auto* table = dialog->findChild<QTableView*>();
        table->model()->setData(table->model()->index(0, KeyBindings::Keys), QKeySequence("Ctrl+Alt+N"));
        QTest::keyClick(dialog->findChild<QLineEdit*>(), Qt::Key_Return);
        QCoreApplication::processEvents();
        QVERIFY(dialog->isVisible());
        QCOMPARE(table->model()->index(0, KeyBindings::Keys).data().toString(), QString("Ctrl+Alt+N"));
    }

    void devicesAreDescribedAndRefusalsExplained()
    {
        m_window->openProject(m_project);
        QComboBox* device = nullptr;
        for (QComboBox* box : m_window->findChildren<QComboBox*>()) {
            device = box->accessibleName() == "Device" ? box : device;
        }
        QVERIFY(device != nullptr);
        QTRY_VERIFY(device->count() > 0);
        bool cpu = false;
        for (int i = 0; i < device->count(); ++i) {
            const bool usable = device->model()->flags(device->model()->index(i, 0)) & Qt::ItemIsEnabled;
            cpu = cpu || device->itemText(i).contains("CPU");
            QVERIFY(usable || !device->itemData(i, Qt::ToolTipRole).toString().isEmpty());
        }
        QVERIFY(cpu);
    }

private:
    /// Drops files in the middle of the widget, or of the window. Returns whether they were taken.
    bool drop(const std::vector<std::filesystem::path>& paths, QWidget* on = nullptr)
    {
        QWidget& target = on ? *on : *m_window;
        QMimeData data;
        QList<QUrl> urls;
        for (const std::filesystem::path& path : paths) {
            urls << QUrl::fromLocalFile(QString::fromStdString(path.string()));
        }
        data.setUrls(urls);
        const QPoint middle = target.rect().center();
        QDragEnterEvent enter(middle, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&target, &enter);
        QDropEvent drop(middle, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&target, &drop);
        return enter.isAccepted() && drop.isAccepted();
    }

    QDockWidget* dock(const char* name) const { return m_window->findChild<QDockWidget*>(QString::fromLatin1(name)); }

    /// The topic that is shown; empty where none is.
    std::string explained() const
    {
        const auto* const help = m_window->findChild<HelpWindow*>();
        return help && help->isVisible() ? help->page().topic() : std::string();
    }
    void pressF1(QWidget& widget)
    {
        m_window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
        widget.setFocus();
        QTest::keyClick(&widget, Qt::Key_F1);
    }

    /// A line of the start page.
    QToolButton* buttonSaying(const QString& text) const
    {
        for (QToolButton* each : m_window->findChildren<QToolButton*>()) {
            if (each->isVisible() && each->text().contains(text)) {
                return each;
            }
        }
        return nullptr;
    }
    QToolButton* buttonNamed(const QString& name) const
    {
        for (QToolButton* each : m_window->findChildren<QToolButton*>()) {
            if (each->isVisible() && each->accessibleName() == name) {
                return each;
            }
        }
        return nullptr;
    }
    /// A choice of the banner.
    QPushButton* visibleButton(const QString& text) const
    {
        for (QPushButton* each : m_window->findChildren<QPushButton*>()) {
            if (each->isVisible() && each->text() == text) {
                return each;
            }
        }
        return nullptr;
    }
};

int main(int argc, char** argv)
{
    QApplication application(argc, argv);
    QCoreApplication::setOrganizationName(QStringLiteral("Residua"));
    QCoreApplication::setApplicationName(QStringLiteral("habits"));
    TestWindowHabits test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_window_habits.moc"
