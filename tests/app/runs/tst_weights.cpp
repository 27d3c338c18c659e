// SPDX-License-Identifier: GPL-3.0-or-later
// Runs whose first weights come from elsewhere, made in the window: of a teacher's run, and of a file. Their files are
// those of the terminal's commands.
#include "app/actions/open_commands.h"
#include "app/actions/window_actions.h"
#include "app/runs/runs_panel.h"
#include "app/runs/weights_dialog.h"
#include "app/workspace/tower_bar.h"
#include "app/workspace/workspace.h"
#include "engine/base/api/environment.h"
#include "engine/runs/results/run_upkeep.h"
#include "projects/base/whole_file.h"
#include "tests/app/window_harness.h"
#include "tests/cli/ran_program.h"
#include "tests/support/test_program.h"

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPointer>
#include <QPushButton>
#include <QSignalSpy>
#include <QTreeView>
#include <QTreeWidget>

using namespace residua;
using namespace residua::app;
namespace fs = std::filesystem;

class TestWeights : public WindowHarness {
    Q_OBJECT

private slots:
    void init() { openWindowOn(quickLanguage()); }
    void cleanup() { m_window.reset(); }

    /// The first press lists what fits, the second makes the run, whose files are those of `teach`.
    void aRunTeachesAStudent()
    {
        const QString teacher = train();
        auto* tree = m_window->findChild<QTreeView*>(QStringLiteral("runsTree"));
        tree->setCurrentIndex(tree->model()->index(0, 0));
        m_window->findChild<QAction*>(QStringLiteral("run:teach"))->trigger();
        QVERIFY(opened());
        QCOMPARE(QDir::cleanPath(line("weightsTeacher")->text()), teacher);
        QVERIFY(!line("weightsFile")->isVisible());
        auto* weight = m_dialog->findChild<QDoubleSpinBox*>(QStringLiteral("weightsWeight"));
        QCOMPARE(weight->value(), 0.5);
        QCOMPARE(weight->minimum(), 0.0);
        weight->selectAll();
        QTest::keyClicks(weight, "0.7");
        auto* temperature = m_dialog->findChild<QDoubleSpinBox*>(QStringLiteral("weightsTemperature"));
        QVERIFY(temperature->minimum() > 0);
        temperature->setValue(3);
        QTest::keyClicks(line("weightsOutput"), m_folder->filePath("window"));
        press();
        QTRY_VERIFY2(table().isVisible(), qPrintable(reason()));
        QVERIFY(!QDir(m_folder->filePath("window")).exists());
        QVERIFY(table().topLevelItemCount() > 10);
        for (int i = 0; i < table().topLevelItemCount(); ++i) {
            QVERIFY(table().topLevelItem(i)->text(0).startsWith("teacher."));
            QCOMPARE(table().topLevelItem(i)->text(2), QString("fits"));
        }
        const projects::Project before = m_window->session().wholeProject();
        press();
        QTRY_VERIFY(!m_dialog);
        QVERIFY2(m_window->bannerText().contains("resume"), qPrintable(m_window->bannerText()));
        QVERIFY(m_window->session().wholeProject() == before && !m_window->session().modified());
        const cli::Ran made =
            cli::runProcess({"teach", QString::fromStdString(m_project.string()), "--teacher", teacher, "--weight",
                             "0.7", "--temperature", "3", "-o", m_folder->filePath("terminal")});
        QVERIFY2(made.code == 0, qPrintable(made.errors));
        sameFiles();
    }

    /// The dialog shows the terminal's error. It hides the table when a field is changed.
    void aTeacherThatDoesNotFitIsRefused()
    {
        const QString teacher = train();
        m_window->actions().teach->trigger();
        QVERIFY(opened());
        QCOMPARE(QDir::cleanPath(line("weightsTeacher")->text()), teacher); // the run in front
        auto* name = m_dialog->findChild<QComboBox*>(QStringLiteral("weightsName"));
        QCOMPARE(name->currentText(), QString("teacher"));
        name->lineEdit()->selectAll();
        QTest::keyClicks(name->lineEdit(), "network");
        press();
        QTRY_VERIFY(!reason().isEmpty());
        const cli::Ran refused = cli::runProcess(
            {"teach", QString::fromStdString(m_project.string()), "--teacher", teacher, "--name", "network"});
        QVERIFY2(refused.code != 0 && refused.errors.contains(reason()), qPrintable(refused.errors + reason()));
        name->setEditText("teacher");
        QVERIFY(reason().isEmpty());
        press();
        QTRY_VERIFY(table().isVisible());
        QCOMPARE(button().text(), QString("Make the run"));
        name->setEditText("other");
        QVERIFY(!table().isVisible());
        QCOMPARE(button().text(), QString("Show what fits"));
        line("weightsTeacher")->clear();
        QVERIFY(!button().isEnabled());
    }

    /// A file for one tower of two, from the menu of its tab, as `import --onto --tower` loads it.
    void aFileIsLoadedIntoATower()
    {
        const QString run = train();
        const auto steps = engine::resumableSteps(run.toStdString());
        const fs::path file = engine::checkpointDirectory(run.toStdString(), steps.back()) / "model.safetensors";
        m_window->actions().duplicateTower->trigger();
        QVERIFY(m_window->session().save().ok());
        TowerBar& bar = m_window->workspace().towers();
        QTRY_VERIFY(bar.isVisible());
        const QString name = QString::fromStdString(m_window->session().wholeProject().towers[0].network.name);
        emit bar.customContextMenuRequested(bar.tabRect(bar.currentIndex()).center());
        auto* menu = bar.findChild<QMenu*>(QStringLiteral("towerMenu"));
        QVERIFY(menu && menu->actions().contains(m_window->actions().loadWeights));
        menu->close();
        m_window->actions().loadWeights->trigger();
        QVERIFY(opened());
        auto* tower = m_dialog->findChild<QComboBox*>(QStringLiteral("weightsTower"));
        QVERIFY(tower->isVisible());
        QCOMPARE(tower->currentText(),
                 QString::fromStdString(m_window->session().project().network.name) == name ? name : QString());
        tower->setEditText(name);
        line("weightsFile")->setText(QString::fromStdString(file.string()));
        line("weightsOutput")->setText(m_folder->filePath("window"));
        press();
        QTRY_VERIFY2(table().isVisible(), qPrintable(reason()));
        QVERIFY(table().topLevelItem(0)->text(0).startsWith(name + "."));
        press();
        QTRY_VERIFY(!m_dialog);
        const cli::Ran made = cli::runProcess({"import", QString::fromStdString(file.string()), "--onto",
                                               QString::fromStdString(m_project.string()), "--tower", name, "-o",
                                               m_folder->filePath("terminal")});
        QVERIFY2(made.code == 0, qPrintable(made.errors));
        sameFiles();
    }

    /// A dropped file of tensors opens the dialog. Without a saved project it says what to do.
    void aDroppedFileNeedsASavedProject()
    {
        QVERIFY(m_window->session().start({quickLanguage(), {}}).ok());
        m_window->openCommands().takeDropped(folder("a.safetensors"));
        QVERIFY(opened());
        QVERIFY(line("weightsFile")->text().endsWith("a.safetensors"));
        press();
        QVERIFY2(reason().contains("save this one"), qPrintable(reason()));
        m_window->openProject(m_project);
        QTRY_VERIFY(!m_dialog);
        m_window->openCommands().takeDropped(folder("a.safetensors"));
        QVERIFY(opened());
        press();
        QTRY_VERIFY2(reason().contains("a.safetensors"), qPrintable(reason())); // it does not exist
    }

private:
    QString train()
    {
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        m_window->actions().run.run->trigger();
        const bool done = QTest::qWaitFor([&] { return ended.count() == 1; }, kPatience) &&
                          QTest::qWaitFor(
                              [this] {
                                  const auto& runs = m_window->workspace().runsModel().runs();
                                  return !runs.empty() && runs.front().status == engine::RunStatus::Finished;
                              },
                              kPatience);
        return done ? QString::fromStdString(m_window->runs().runDirectory().string()) : QString();
    }

    bool opened()
    {
        return QTest::qWaitFor(
            [this] {
                m_dialog = m_window->findChild<WeightsDialog*>();
                return m_dialog && m_dialog->isVisible();
            },
            kPatience);
    }

    /// The run of the window and the one of the terminal have the same project and the same weights.
    void sameFiles()
    {
        for (const char* file : {"project/project.json", "checkpoints/step-00000000/model.safetensors"}) {
            const auto window = readFile(folder("window") / file);
            const auto terminal = readFile(folder("terminal") / file);
            QVERIFY2(window && terminal, file);
            QVERIFY2(*window == *terminal, file);
        }
    }

    [[nodiscard]] QLineEdit* line(const char* name) const
    {
        return m_dialog->findChild<QLineEdit*>(QLatin1String(name));
    }
    [[nodiscard]] QPushButton& button() const { return *m_dialog->findChild<QPushButton*>("weightsGo"); }
    [[nodiscard]] QTreeWidget& table() const { return *m_dialog->findChild<QTreeWidget*>("weightsTable"); }
    [[nodiscard]] QString reason() const
    {
        const auto* label = m_dialog->findChild<QLabel*>(QStringLiteral("weightsReason"));
        return label->isVisible() ? label->text() : QString();
    }
    void press() { QTest::mouseClick(&button(), Qt::LeftButton); }

    QPointer<WeightsDialog> m_dialog;
};

RESIDUA_TEST_IN(QApplication, TestWeights)
#include "tst_weights.moc"
